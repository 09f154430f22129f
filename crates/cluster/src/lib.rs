//! Changes to a cluster with the permissions of the caller: server-side apply, and deletion of
//! applied objects.
//!
//! | module | purpose |
//! |---|---|
//! | `cluster` | the entry point: apply, update, delete |
//! | `single` | requests about single objects: reading, creating, permissions, events |
//! | `run` | one change and its steps |
//! | `wait` | Namespaces and CustomResourceDefinitions that other objects need |
//! | [`order`] | the order of objects |
//! | `plan` | validation of objects, and the waves of their deletion |
//! | `preview` | the changes that an apply would make |
//! | [`readiness`] | whether a live object is ready |
//! | `owner` | the owner annotation and label |
//! | `resources` | discovery of resources, cached |
//! | `api` | requests, responses and retries |
//! | `caller` | impersonation |
//! | [`failure`], [`types`] | argument and result types |

mod api;
mod caller;
mod cluster;
pub mod failure;
pub mod order;
mod owner;
mod plan;
mod preview;
pub mod readiness;
mod resources;
mod run;
mod single;
pub mod types;
mod wait;

pub use cluster::{Cluster, Limits};
pub use failure::{Cause, Failure, add_values};
pub use owner::owner_of;
pub use plan::waves;
pub use preview::Preview;
pub use run::holds_others;
pub use single::Kind;
pub use types::{Conflicts, Object, Owner, Progress, Prune, Recorded, Step, What, record};
