//! The fields that kustomize changes where a configuration names none.
//!
//! Source: kustomize 5.8, `api/internal/konfig/builtinpluginconsts`.

use krm_core::label_fields::{Field, field};

#[rustfmt::skip]
pub(crate) const ANNOTATIONS: &[Field] = &[
    field("", "", "", "metadata/annotations", true),
    field("", "v1", "ReplicationController", "spec/template/metadata/annotations", true),
    field("", "", "Deployment", "spec/template/metadata/annotations", true),
    field("", "", "ReplicaSet", "spec/template/metadata/annotations", true),
    field("", "", "DaemonSet", "spec/template/metadata/annotations", true),
    field("", "", "StatefulSet", "spec/template/metadata/annotations", true),
    field("batch", "", "Job", "spec/template/metadata/annotations", true),
    field("batch", "", "CronJob", "spec/jobTemplate/metadata/annotations", true),
    field("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/annotations", true),
];

/// The fields for labels, besides those of [`LABEL_FIELDS`](krm_core::label_fields::LABEL_FIELDS).
#[rustfmt::skip]
pub(crate) const LABELS: &[Field] = &[
    field("", "", "", "metadata/labels", true),
];

#[rustfmt::skip]
pub(crate) const PREFIX: &[Field] = &[
    field("", "", "", "metadata/name", false),
];

#[rustfmt::skip]
pub(crate) const SUFFIX: &[Field] = &[
    field("", "", "", "metadata/name", false),
];

#[rustfmt::skip]
pub(crate) const NAMESPACE: &[Field] = &[
    field("", "", "Namespace", "metadata/name", true),
    field("apiregistration.k8s.io", "", "APIService", "spec/service/namespace", true),
    field("apiextensions.k8s.io", "", "CustomResourceDefinition", "spec/conversion/webhook/clientConfig/service/namespace", false),
];

#[rustfmt::skip]
pub(crate) const REPLICAS: &[Field] = &[
    field("", "", "Deployment", "spec/replicas", true),
    field("", "", "ReplicationController", "spec/replicas", true),
    field("", "", "ReplicaSet", "spec/replicas", true),
    field("", "", "StatefulSet", "spec/replicas", true),
];

#[rustfmt::skip]
pub(crate) const IMAGES: &[Field] = &[
    field("", "", "", "spec/containers[]/image", true),
    field("", "", "", "spec/initContainers[]/image", true),
    field("", "", "", "spec/volumes[]/image/reference", true),
    field("", "", "", "spec/template/spec/containers[]/image", true),
    field("", "", "", "spec/template/spec/initContainers[]/image", true),
    field("", "", "", "spec/template/spec/volumes[]/image/reference", true),
];
