//! The rights that requests for deployments need.
//!
//! The namespaced resource `deployments` of `template.krm.dev`, with the subresources `manifests` and
//! `operations`, exists for authorization only: a rule about paths would apply to all namespaces.

use http::Method;

use crate::api::Incoming;
use crate::request::{DEFAULT_NAMESPACE, DeploymentPath};
use krm_template_server_core::{Attributes, Group, Kind};

/// Returns `true` if a method only reads.
pub(crate) fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Returns the namespace in the query, or the default namespace.
pub(super) fn namespace(incoming: &Incoming) -> &str {
    let given = incoming.query.first("namespace");
    given.filter(|name| !name.is_empty()).unwrap_or(DEFAULT_NAMESPACE)
}

/// Returns the right that a request needs. The namespace of an operation is in the operation, so the
/// right to it is checked later.
pub(crate) fn of_request<'a>(
    incoming: &'a Incoming,
    path: &'a DeploymentPath,
) -> Option<Attributes<'a>> {
    let namespace = namespace(incoming);
    let is_read = is_read(&incoming.method);
    Some(match path {
        DeploymentPath::Operation(_) => return None,
        DeploymentPath::Types | DeploymentPath::Instances(_) => to("list", namespace, ""),
        DeploymentPath::Deployments if is_read => to("list", namespace, ""),
        // As in Kubernetes, what is not stored needs the right to store it.
        DeploymentPath::Deployments | DeploymentPath::Expand => to("create", namespace, ""),
        DeploymentPath::Deployment(name) => {
            let verb = match incoming.method {
                Method::PUT => "update",
                Method::DELETE => "delete",
                _ => "get",
            };
            to(verb, namespace, name)
        }
        DeploymentPath::Manifests(name) => to_manifests("list", namespace, name),
        DeploymentPath::Manifest(name, _) => to_manifests("get", namespace, name),
    })
}

/// Returns the right to do something with a deployment, or with all if the name is empty.
pub(crate) fn to<'a>(verb: &'a str, namespace: &'a str, name: &'a str) -> Attributes<'a> {
    let of = (Group::Krm, Kind::Template);
    Attributes { resource: "deployments", ..Attributes::on(verb, of, namespace, name) }
}

/// Returns the right to the manifests of a deployment, which have all values, also secrets.
pub(crate) fn to_manifests<'a>(verb: &'a str, namespace: &'a str, name: &'a str) -> Attributes<'a> {
    Attributes { subresource: "manifests", ..to(verb, namespace, name) }
}

/// Returns the right to read the operations of a deployment.
pub(crate) fn to_operations<'a>(namespace: &'a str, name: &'a str) -> Attributes<'a> {
    Attributes { subresource: "operations", ..to("get", namespace, name) }
}
