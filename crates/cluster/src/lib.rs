//! Changes to a cluster with the permissions of the caller: server-side apply, and deletion of
//! applied objects.
//!
//! | module | purpose |
//! |---|---|
//! | `cluster` | the entry point: changes, previews, single objects |
//! | `run` | one change and its steps, or its preview |
//! | `wait` | Namespaces and CustomResourceDefinitions that other objects need |
//! | `plan` | validation of objects, and their order |
//! | [`readiness`] | whether a live object is ready |
//! | `resources` | discovery of resources, cached |
//! | `api` | requests, responses and retries |
//! | `caller` | impersonation |
//! | [`failure`], [`types`] | arguments and results, the owner annotation |

mod api;
mod caller;
mod cluster;
pub mod failure;
mod plan;
pub mod readiness;
mod resources;
mod run;
pub mod types;
mod wait;

pub use cluster::{Cluster, Kind, Limits};
pub use failure::{Cause, Failure, add_values};
pub use plan::{apply_waves, deletion_waves};
pub use run::{Preview, holds_others};
pub use types::{
    Conflicts, Object, Owner, Progress, Prune, Recorded, Step, What, owner_of, record,
};
