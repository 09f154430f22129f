//! Deployment Manager as a service: deployments with their manifests, types and operations.
//!
//! | module | purpose |
//! |---|---|
//! | `service` | reads, and the start of changes |
//! | `recovery` | operations whose servers have ended |
//! | `change` | the steps of a change |
//! | `lock` | one change at a time |
//! | `listing` | lists for people |
//! | `types` | the types of manifests, and their instances |
//! | `expander` | expansions, one after the other and within limits |
//! | `manifest` | what a stored manifest holds |
//! | `expansion` | a configuration expanded by the engine |
//! | `fetch` | templates that are named by their addresses |
//! | `web` | files of allowed hosts, over HTTPS |
//! | `public` | which addresses of the Internet are public |
//! | `input` | the body of a request |
//! | `books` | reading and writing records |
//! | `record` | the records: deployments, operations, locks |
//! | `args` | arguments |

mod args;
mod books;
mod change;
mod expander;
mod expansion;
mod fetch;
mod input;
mod listing;
mod lock;
mod manifest;
mod public;
mod record;
mod recovery;
mod service;
#[cfg(test)]
mod tests;
mod types;
mod web;

pub use args::Args;
pub use change::{Ended, Problem, Wanted};
pub use expansion::Texts;
pub use fetch::Fetcher;
pub use input::{Input, check_name, check_namespace, read};
pub use listing::Page;
pub use manifest::{Import, Manifest};
pub use record::{Change, Deployment, KEPT_MANIFESTS, Operation, Progress, State, Target};
pub use service::{Deployments, Needs, Shown, Started};
pub use web::Host;
