//! The fields that name other objects or select them, besides those that kustomize knows.

use std::borrow::Cow;

use krm_template_composition::{FieldSpec, Kind, name_references};

/// Kinds that have the fields of a Deployment.
const LIKE_DEPLOYMENT: &[&str] = &["DeploymentConfig", "ReplicaSet"];

/// All fields that name objects, with the kinds that they name.
pub(crate) fn all<'k>() -> impl Iterator<Item = (Kind<'k>, Cow<'k, FieldSpec>)> {
    let known = || name_references("names");
    let deployments = known().filter(|(_, from)| from.kind == "Deployment");
    let like = deployments.flat_map(|(to, from)| {
        LIKE_DEPLOYMENT.iter().map(move |kind| {
            let kind = (*kind).to_owned();
            let group = String::new();
            (to, Cow::Owned(FieldSpec { group, kind, ..from.clone().into_owned() }))
        })
    });
    known().chain(like).chain(name_references("other-names"))
}

/// The name of an image stream with a tag, in fields with `kind: ImageStreamTag`.
pub(crate) const IMAGE_STREAM_TAGS: &[&str] = &[
    "spec/output/to",
    "spec/triggers/imageChangeParams/from",
    "spec/triggers/imageChange/from",
    "spec/strategy/sourceStrategy/from",
    "spec/strategy/dockerStrategy/from",
    "spec/tags/from",
];

/// Label selectors in the specification of a pod.
pub(crate) const POD_SELECTORS: &[&str] = &[
    "affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector",
    "affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector",
    "affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector",
    "affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector",
    "topologySpreadConstraints/labelSelector",
];

/// Label selectors of kinds, besides those that get the labels of a Template.
#[rustfmt::skip]
pub(crate) const SELECTORS: &[(&str, &str)] = &[
    ("NetworkPolicy", "spec/podSelector"),
    ("NetworkPolicy", "spec/ingress/from/podSelector"),
    ("NetworkPolicy", "spec/egress/to/podSelector"),
    ("PodMonitor", "spec/selector"),
    ("ServiceMonitor", "spec/selector"),
    ("PodDisruptionBudget", "spec/selector"),
    ("Deployment", "spec/selector"),
    ("StatefulSet", "spec/selector"),
    ("DaemonSet", "spec/selector"),
    ("ReplicaSet", "spec/selector"),
    ("Job", "spec/selector"),
    ("CronJob", "spec/jobTemplate/spec/selector"),
];
