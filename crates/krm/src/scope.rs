//! Which kinds belong to no namespace.
//!
//! The table holds those of Kubernetes 1.33 and OpenShift 4, and the custom ones that nearly every
//! cluster has. A kind that is not in it is taken to be in a namespace, as kustomize does.

use crate::identity::{Identity, group};
use krm_yaml::Value;

/// API groups and their kinds that belong to the cluster.
const CLUSTER: &[(&str, &[&str])] = &[
    ("", &["ComponentStatus", "Namespace", "Node", "PersistentVolume"]),
    (
        "admissionregistration.k8s.io",
        &[
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "MutatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ],
    ),
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["APIService"]),
    ("authentication.k8s.io", &["SelfSubjectReview", "TokenReview"]),
    (
        "authorization.k8s.io",
        &["SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"],
    ),
    ("authorization.openshift.io", &["ClusterRole", "ClusterRoleBinding"]),
    ("cert-manager.io", &["ClusterIssuer"]),
    ("certificates.k8s.io", &["CertificateSigningRequest", "ClusterTrustBundle"]),
    ("flowcontrol.apiserver.k8s.io", &["FlowSchema", "PriorityLevelConfiguration"]),
    ("gateway.networking.k8s.io", &["GatewayClass"]),
    ("image.openshift.io", &["Image"]),
    ("network.openshift.io", &["ClusterNetwork", "HostSubnet", "NetNamespace"]),
    ("networking.k8s.io", &["IPAddress", "IngressClass", "ServiceCIDR"]),
    ("node.k8s.io", &["RuntimeClass"]),
    ("oauth.openshift.io", &["OAuthClient", "OAuthClientAuthorization"]),
    ("policy", &["PodSecurityPolicy"]),
    ("project.openshift.io", &["Project", "ProjectRequest"]),
    ("rbac.authorization.k8s.io", &["ClusterRole", "ClusterRoleBinding"]),
    ("resource.k8s.io", &["DeviceClass", "ResourceSlice"]),
    ("scheduling.k8s.io", &["PriorityClass"]),
    ("security.openshift.io", &["SecurityContextConstraints"]),
    ("snapshot.storage.k8s.io", &["VolumeSnapshotClass", "VolumeSnapshotContent"]),
    (
        "storage.k8s.io",
        &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"],
    ),
    ("user.openshift.io", &["Group", "Identity", "User", "UserIdentityMapping"]),
];

/// Whether objects of this group and kind are in a namespace.
pub fn is_namespaced(group: &str, kind: &str) -> bool {
    !CLUSTER.iter().any(|(own, kinds)| *own == group && kinds.contains(&kind))
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
