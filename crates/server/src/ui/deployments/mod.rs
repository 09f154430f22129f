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

use super::visit::Visit;
use crate::deployments::rights;
use crate::http::Answer;
use crate::request::resources;
use krm_template_server_core::{Result, Status};
use krm_template_server_deployments::Target;

use address::Address;
pub(super) use address::HOME;
pub(super) use changes::changed;
pub(super) use texts::moment;

/// Handles a request for a page about deployments.
pub(super) async fn answer(visit: &Visit<'_>, path: &[&str]) -> Result<Answer> {
    if visit.incoming.method == Method::POST {
        return Err(resources::not_allowed());
    }
    let [name, rest @ ..] = path else {
        return list::page(visit).await;
    };
    let address = Address::of(visit, name);
    if rest.is_empty() {
        let Target { namespace, name } = &address.target;
        let wanted = rights::to("get", namespace, name);
        visit.state.authorize(&visit.user, &wanted).await?;
        return deployment::page(visit, &address).await;
    }
    address.check_manifests(visit).await?;
    match rest {
        ["manifests", "diff"] => changes::page(visit, &address).await,
        ["manifests", manifest] => manifest::page(visit, &address, manifest).await,
        _ => Err(Status::no_such_path()),
    }
}
