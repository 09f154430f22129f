//! The rights in a namespace that a request for deployments needs, besides that to its path.
//!
//! A path has no namespace, so a rule about paths applies to all of them. The namespaced resource
//! `deployments` of `template.krm.dev` exists for authorization only.

use http::Method;

use crate::serve::incoming::Incoming;
use crate::wire::path::{DEFAULT_NAMESPACE, DeploymentPath};
use krm_template_server_core::auth::Attributes;
use krm_template_server_core::groups::Group;

/// Returns `true` if a method only reads.
pub(in crate::serve) fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Returns the namespace in the query, or the default namespace.
pub(super) fn namespace(incoming: &Incoming) -> &str {
    let given = incoming.query.first("namespace");
    given
        .filter(|name| !name.is_empty())
        .unwrap_or(DEFAULT_NAMESPACE)
}

/// Returns the right that a request needs, if its path is of a namespace. The namespace of an
/// operation is in the operation.
pub(in crate::serve) fn of_request<'a>(
    incoming: &'a Incoming,
    path: &'a DeploymentPath,
) -> Option<Attributes<'a>> {
    let (verb, name) = match path {
        DeploymentPath::Expand | DeploymentPath::Operation(_) => return None,
        DeploymentPath::Types | DeploymentPath::Instances(_) => ("list", ""),
        DeploymentPath::Deployments if is_read(&incoming.method) => ("list", ""),
        DeploymentPath::Deployments => ("create", ""),
        DeploymentPath::Deployment(name)
        | DeploymentPath::Manifests(name)
        | DeploymentPath::Manifest(name, _) => {
            let verb = match incoming.method {
                Method::PUT => "update",
                Method::DELETE => "delete",
                _ => "get",
            };
            (verb, name.as_str())
        }
    };
    Some(to(verb, namespace(incoming), name))
}

/// Returns the right to do something with a deployment, or with all if the name is empty.
pub(in crate::serve) fn to<'a>(verb: &'a str, namespace: &'a str, name: &'a str) -> Attributes<'a> {
    Attributes {
        verb,
        group: Group::Krm.name(),
        version: Group::Krm.version(),
        resource: "deployments",
        namespace,
        name,
        ..Attributes::default()
    }
}
