//! Kinds whose objects are pods or make pods.

/// The kinds of Kubernetes and OpenShift that make pods, with the field path of the job or workload
/// that has the pod template.
const MAKERS: &[(&str, &[&str])] = &[
    ("CronJob", &["spec", "jobTemplate", "spec"]),
    ("DaemonSet", &["spec"]),
    ("Deployment", &["spec"]),
    ("DeploymentConfig", &["spec"]),
    ("Job", &["spec"]),
    ("ReplicaSet", &["spec"]),
    ("ReplicationController", &["spec"]),
    ("StatefulSet", &["spec"]),
];

/// The field path of the mapping that has the pod template as `template`, if objects of this kind
/// make pods.
pub(crate) fn maker(kind: &str) -> Option<&'static [&'static str]> {
    let mut makers = MAKERS.iter();
    makers.find_map(|(own, path)| (*own == kind).then_some(*path))
}

/// The field path of the pod itself or of the pod template: it has `metadata` and `spec`.
pub(crate) fn pod(kind: &str) -> Option<Vec<&'static str>> {
    match kind {
        "Pod" => Some(Vec::new()),
        kind => Some([maker(kind)?, &["template"]].concat()),
    }
}
