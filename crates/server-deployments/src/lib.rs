//! Deployment Manager as a service: deployments with their manifests, types and operations.
//!
//! | module | purpose |
//! |---|---|
//! | `service` | reads deployments, and starts changes |
//! | `recovery` | a lock for each deployment; operations of stopped servers |
//! | `change` | the steps of a change |
//! | `listing` | pages of deployments, and operations |
//! | `manifest` | stored manifests, types and their instances |
//! | `expansion` | calls to the engine, with admission and limits |
//! | `fetch` | templates by URL |
//! | `web` | files of allowed hosts, over HTTPS, from public addresses |
//! | `input` | request bodies |
//! | `repository` | reads and writes records |
//! | `record` | the records: deployments, operations, locks |
//! | `args` | command-line arguments |
//!
//! A change has one write that counts. Its manifest is written first, under a name that nothing
//! refers to; the write of the deployment then makes it the newest one. So a server that ends at
//! any moment leaves the deployment as it was, or as the request wants it. Objects of a cluster are
//! changed before that write, and the operation records each of them. A change that is refused
//! leaves the deployment as it was. One that ends half-way leaves its manifests, the objects that
//! the cluster has now, and the state `failed` or `interrupted`.

mod args;
mod change;
mod expansion;
mod fetch;
mod input;
mod listing;
mod manifest;
mod record;
mod recovery;
mod repository;
mod service;
#[cfg(test)]
mod tests;
mod web;

pub use args::Args;
pub use change::{ChangeRequest, ChangeResult, Problem};
pub use expansion::Texts;
pub use fetch::Fetcher;
pub use input::{Input, check_name, check_namespace, read};
pub use listing::Page;
pub use manifest::{Import, Manifest};
pub use record::{ChangeKind, Deployment, KEPT_MANIFESTS, Operation, Progress, State, Target};
pub use service::{Dependencies, Deployments, Shown, Started};
pub use web::Host;
