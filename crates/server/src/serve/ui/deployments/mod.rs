//! Pages about deployments. They are read-only: changes need the API or its client.
//!
//! | file | purpose |
//! |---|---|
//! | `mod` | routing of requests |
//! | `list` | the deployments of a namespace |
//! | `deployment` | a deployment with its manifests, operations and resources |
//! | `manifest` | a manifest with its layout as a tree |
//! | `node` | the details of a node |
//! | `tree` | the nodes of a layout |
//! | `changes` | the differences between two manifests |
//! | `address` | addresses of pages, and authorization |
//! | `texts` | texts in HTML, times, and commands |

mod address;
mod changes;
mod deployment;
mod list;
mod manifest;
mod node;
mod texts;
mod tree;

use http::Method;

use super::super::answer::Answer;
use super::super::deployments::rights;
use super::visit::Visit;
use crate::wire::endpoint;
use krm_template_server_core::status::{Result, Status};
use krm_template_server_deployments::deployments::Target;

use address::Address;
pub(super) use address::HOME;

/// Handles a request for a page about deployments.
pub(super) async fn answer(visit: &Visit<'_>, path: &[&str]) -> Result<Answer> {
    if visit.incoming.method == Method::POST {
        return Err(endpoint::not_allowed());
    }
    let (verb, target) = match path {
        // Without a namespace, the list has those of all namespaces.
        [] => {
            let namespace = visit.incoming.query.text("namespace").trim().to_owned();
            let name = String::new();
            ("list", Target { namespace, name })
        }
        [name, ..] => ("get", Address::of(visit, name).target),
    };
    let wanted = rights::to(verb, &target.namespace, &target.name);
    visit.state.authorize(&visit.user, &wanted).await?;
    match path {
        [] => list::page(visit).await,
        [name] => deployment::page(visit, &Address::of(visit, name)).await,
        [name, "manifests", "diff"] => changes::page(visit, &Address::of(visit, name)).await,
        [name, "manifests", manifest] => {
            manifest::page(visit, &Address::of(visit, name), manifest).await
        }
        _ => Err(Status::no_such_path()),
    }
}
