//! Changes to a cluster with the permissions of the caller: server-side apply, and deletion of
//! applied objects.
//!
//! | module | purpose |
//! |---|---|
//! | `cluster` | the entry point: apply, update, delete |
//! | `run` | one change and its steps |
//! | `wait` | Namespaces and CustomResourceDefinitions that other objects need |
//! | `plan` | validation and order of objects |
//! | `owner` | the owner annotation and label |
//! | `resources` | discovery of resources, cached |
//! | `api` | requests, responses and retries |
//! | `caller` | impersonation |
//! | [`failure`], [`types`] | argument and result types |

mod api;
mod caller;
mod cluster;
pub mod failure;
mod owner;
mod plan;
mod resources;
mod run;
pub mod types;
mod wait;

pub use cluster::{Cluster, Limits};
pub use failure::Failure;
pub use types::{Object, Owner, Progress, Prune, Recorded, Step, What, record};
