//! The kinds of Kubernetes that a type may name, with the API version they have today.

use krm_core::kind_names::plural;

const KINDS: &[(&str, &[&str])] = &[
    (
        "v1",
        &[
            "ConfigMap",
            "Endpoints",
            "LimitRange",
            "Namespace",
            "Node",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "Pod",
            "PodTemplate",
            "ReplicationController",
            "ResourceQuota",
            "Secret",
            "Service",
            "ServiceAccount",
        ],
    ),
    ("apps/v1", &["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"]),
    ("batch/v1", &["CronJob", "Job"]),
    ("autoscaling/v2", &["HorizontalPodAutoscaler"]),
    ("networking.k8s.io/v1", &["Ingress", "IngressClass", "NetworkPolicy"]),
    ("policy/v1", &["PodDisruptionBudget"]),
    ("rbac.authorization.k8s.io/v1", &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]),
    ("storage.k8s.io/v1", &["StorageClass"]),
    ("scheduling.k8s.io/v1", &["PriorityClass"]),
    ("apiextensions.k8s.io/v1", &["CustomResourceDefinition"]),
];

/// The API version of a kind.
pub(super) fn api_version_of(kind: &str) -> Option<&'static str> {
    let found = KINDS.iter().find(|(_, kinds)| kinds.contains(&kind));
    found.map(|(api_version, _)| *api_version)
}

/// The kind of a collection such as `services`, in any version of its group.
pub(super) fn kind_of_plural(api_version: &str, name: &str) -> Option<&'static str> {
    let group = |api_version: &str| match api_version.split_once('/') {
        Some((group, _)) => group.to_owned(),
        None => String::new(),
    };
    // Kinds of `extensions` have other groups today.
    let is_meant =
        |known: &str| group(api_version) == "extensions" || group(known) == group(api_version);
    let mut kinds = KINDS.iter().filter(|(known, _)| is_meant(known));
    kinds.find_map(|(_, kinds)| {
        let mut kinds = kinds.iter().copied();
        kinds.find(|kind| plural(&kind.to_lowercase()) == name)
    })
}
