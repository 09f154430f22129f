//! Which kinds belong to no namespace.
//!
//! A kind that the table does not have is taken to be in a namespace, as kustomize does.

use crate::identity::{Identity, group};
use crate::kinds::{count, table};
use krm_yaml::Value;

/// API groups and their kinds that belong to the cluster.
static CLUSTER: [[&str; 2]; count("cluster")] = table("cluster");

/// Whether objects of this group and kind are in a namespace.
pub fn is_namespaced(group: &str, kind: &str) -> bool {
    CLUSTER.binary_search(&[group, kind]).is_err()
}

/// The namespace of objects that name none, of kinds that belong to one.
const DEFAULT_NAMESPACE: &str = "default";

/// A namespace as objects name it: `default` if they name none.
pub fn or_default(namespace: &str) -> &str {
    match namespace {
        "" => DEFAULT_NAMESPACE,
        namespace => namespace,
    }
}

/// A namespace as identities hold it: empty if it is `default`.
pub fn unless_default(namespace: &str) -> &str {
    match namespace {
        DEFAULT_NAMESPACE => "",
        namespace => namespace,
    }
}

/// The namespace that an object is in: `default` if it names none, none if its kind has none.
pub fn effective_namespace(identity: &Identity) -> &str {
    if is_namespaced(&identity.group, &identity.kind) {
        or_default(&identity.namespace)
    } else {
        ""
    }
}

/// An identity with the [namespace that the object is in](effective_namespace).
pub fn effective(identity: Identity) -> Identity {
    let namespace = effective_namespace(&identity);
    if namespace == identity.namespace {
        return identity;
    }
    Identity { namespace: namespace.to_owned(), ..identity }
}

/// Puts an object that names no namespace into this one, and the service accounts that a role is
/// bound to, which must name one.
pub fn set_namespace(object: &mut Value<'_>, namespace: &str) {
    let kind = object.str_at(&["kind"]).unwrap_or_default().to_owned();
    let group = group(object.str_at(&["apiVersion"]).unwrap_or_default()).to_owned();
    if is_namespaced(&group, &kind)
        && let Some(metadata) = object.mapping_at("metadata")
    {
        fill(metadata, namespace);
    }
    if matches!(kind.as_str(), "RoleBinding" | "ClusterRoleBinding") {
        let subjects = object.get_mut("subjects").and_then(Value::items_mut);
        for subject in subjects.into_iter().flatten() {
            if subject.str_at(&["kind"]) == Some("ServiceAccount") {
                fill(subject, namespace);
            }
        }
    }
}

fn fill(mapping: &mut Value<'_>, namespace: &str) {
    let old = mapping.get("namespace");
    if old.is_none_or(|old| old.is_null() || old.as_str() == Some("")) {
        mapping.insert("namespace".into(), Value::string(namespace.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::is_namespaced;

    #[test]
    fn unknown_kinds_are_in_a_namespace() {
        assert!(is_namespaced("", "Service"));
        assert!(is_namespaced("rbac.authorization.k8s.io", "RoleBinding"));
        assert!(is_namespaced("example.com", "Namespace"));
        assert!(!is_namespaced("", "Namespace"));
        assert!(!is_namespaced("rbac.authorization.k8s.io", "ClusterRole"));
    }
}
