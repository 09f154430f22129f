//! The fields that name other objects or select them, besides those that kustomize knows.

use std::borrow::Cow;

use krm_core::label_fields::{Field, field};
use krm_template_composition::{FieldSpec, Kind, NAME_REFERENCES, Named, fields_of};

/// A field of a kind that names objects.
const fn by(group: &'static str, kind: &'static str, path: &'static str) -> Field {
    field(group, "", kind, path, false)
}

const fn named(group: &'static str, kind: &'static str, fields: &'static [Field]) -> Named {
    Named { group, version: "", kind, fields }
}

/// The fields of kinds that kustomize does not know.
#[rustfmt::skip]
const OTHERS: &[Named] = &[
    named("", "DeploymentConfig", &[
        by("", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ]),
    named("", "Service", &[
        by("", "Route", "spec/to/name"),
        by("", "Route", "spec/alternateBackends/name"),
        by("gateway.networking.k8s.io", "", "spec/rules/backendRefs/name"),
    ]),
    named("", "Secret", &[
        by("gateway.networking.k8s.io", "Gateway", "spec/listeners/tls/certificateRefs/name"),
        by("", "BuildConfig", "spec/source/sourceSecret/name"),
        by("", "BuildConfig", "spec/output/pushSecret/name"),
        by("", "BuildConfig", "spec/strategy/sourceStrategy/pullSecret/name"),
        by("", "BuildConfig", "spec/strategy/dockerStrategy/pullSecret/name"),
        by("", "BuildConfig", "spec/triggers/generic/secretReference/name"),
        by("", "BuildConfig", "spec/triggers/github/secretReference/name"),
    ]),
    named("gateway.networking.k8s.io", "Gateway", &[
        by("gateway.networking.k8s.io", "", "spec/parentRefs/name"),
    ]),
    named("", "PersistentVolumeClaim", &[
        by("", "PersistentVolumeClaim", "spec/dataSource/name"),
        by("", "PersistentVolumeClaim", "spec/dataSourceRef/name"),
    ]),
];

/// Kinds that have the fields of a Deployment.
const LIKE_DEPLOYMENT: &[&str] = &["DeploymentConfig", "ReplicaSet"];

/// All fields that name objects, with the kinds that they name.
pub(crate) fn all<'k>() -> impl Iterator<Item = (Kind<'k>, Cow<'k, FieldSpec>)> {
    let known = || NAME_REFERENCES.iter().flat_map(fields_of);
    let deployments = known().filter(|(_, from)| from.kind == "Deployment");
    let like = deployments.flat_map(|(to, from)| {
        LIKE_DEPLOYMENT.iter().map(move |kind| {
            let kind = (*kind).to_owned();
            let group = String::new();
            let own = FieldSpec { group, kind, ..from.clone().into_owned() };
            (to, Cow::Owned(own))
        })
    });
    known().chain(like).chain(OTHERS.iter().flat_map(fields_of))
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
