//! Changes to a cluster, with the rights of the caller: server-side apply, and deletion of what was
//! applied.
//!
//! | module | purpose |
//! |---|---|
//! | `cluster` | applying, updating, deleting |
//! | `run` | one change, and the steps that it has made |
//! | `wait` | Namespaces and CustomResourceDefinitions that others need |
//! | `plan` | objects that are checked and in order |
//! | `owner` | marks of the deployment on its objects |
//! | `resources` | the paths of kinds, by discovery |
//! | `api` | requests and answers; retries |
//! | `caller` | impersonation |
//! | [`failure`], [`types`] | the types of arguments and results |

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
