//! Deployment Manager as a service: deployments with their manifests, types and operations.
//!
//! | module | purpose |
//! |---|---|
//! | `service` | what requests read, and the changes that they start |
//! | `recovery` | operations whose servers have ended |
//! | `change` | the steps of a change |
//! | `lock` | one change at a time |
//! | `types` | the types of manifests, and their instances |
//! | `expansion` | a configuration expanded by the engine |
//! | `input` | what a request sends |
//! | `books` | reading and writing what is stored |
//! | `record` | what is stored |
//! | `args` | arguments |

mod args;
mod books;
mod change;
mod expansion;
mod input;
mod lock;
mod record;
mod recovery;
mod service;
mod types;

pub use args::Args;
pub use change::{Ended, Problem, Wanted};
pub use expansion::Texts;
pub use input::{Input, check_name, check_namespace, read};
pub use record::{Change, Deployment, KEPT_MANIFESTS, Operation, Progress, State, Target};
pub use service::{Deployments, Needs, Shown, Started};
