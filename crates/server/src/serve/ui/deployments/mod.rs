//! Pages about deployments. They only read: the API and its client make changes.
//!
//! | file | purpose |
//! |---|---|
//! | `mod` | from a path to a page |
//! | `list` | the deployments of a namespace |
//! | `deployment` | a deployment with its manifests, operations and resources |
//! | `manifest` | a manifest with its layout as a tree |
//! | `node` | what a node of the tree is |
//! | `tree` | the nodes of a layout |
//! | `changes` | what two manifests differ in |
//! | `place` | addresses, and the rights to what they show |
//! | `texts` | texts in HTML, times, and commands |

mod changes;
mod deployment;
mod list;
mod manifest;
mod node;
mod place;
mod texts;
mod tree;

use super::super::answer::Answer;
use super::visit::Visit;
use crate::status::{Result, Status};

pub(super) use place::HOME;
use place::Place;

/// Answers a request for a page about deployments.
pub(super) async fn answer(visit: &Visit<'_>, path: &[&str]) -> Result<Answer> {
    match path {
        [] => list::page(visit).await,
        [name] => deployment::page(visit, &Place::of(visit, name)).await,
        [name, "manifests", "diff"] => changes::page(visit, &Place::of(visit, name)).await,
        [name, "manifests", manifest] => {
            manifest::page(visit, &Place::of(visit, name), manifest).await
        }
        _ => Err(Status::no_such_path()),
    }
}
