//! Kinds whose objects are pods or make pods.

/// The kinds of Kubernetes and OpenShift that are pods or make them, with the field path of the
/// specification of the pods.
const SPECS: &[(&str, &[&str])] = &[
    (
        "CronJob",
        &["spec", "jobTemplate", "spec", "template", "spec"],
    ),
    ("DaemonSet", &["spec", "template", "spec"]),
    ("Deployment", &["spec", "template", "spec"]),
    ("DeploymentConfig", &["spec", "template", "spec"]),
    ("Job", &["spec", "template", "spec"]),
    ("Pod", &["spec"]),
    ("ReplicaSet", &["spec", "template", "spec"]),
    ("ReplicationController", &["spec", "template", "spec"]),
    ("StatefulSet", &["spec", "template", "spec"]),
];

/// The field path of the specification of the pods.
#[must_use]
pub fn spec(kind: &str) -> Option<&'static [&'static str]> {
    let mut specs = SPECS.iter();
    specs.find_map(|(own, path)| (*own == kind).then_some(*path))
}

/// The field path of the pod itself or of the pod template: it has `metadata` and `spec`.
#[must_use]
pub fn pod(kind: &str) -> Option<&'static [&'static str]> {
    spec(kind)?.strip_suffix(&["spec"])
}

/// The field path of the mapping that has the pod template as `template`, if objects of this kind
/// make pods.
#[must_use]
pub fn maker(kind: &str) -> Option<&'static [&'static str]> {
    pod(kind)?.strip_suffix(&["template"])
}
