//! The fields in which a label must be so that workloads keep selecting their own pods.
//!
//! The table is kustomize 5.8's for `commonLabels` and its pod template and volume claim labels,
//! with OpenShift's `DeploymentConfig` added and one rule of our own: a selector that is not there,
//! or is empty, is never made. A Service without one has its endpoints filled by hand, a workload
//! without one selects by the labels of its pod template, and an empty one means "all pods".

/// A place for labels in the objects of a kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelField {
    /// The API group; `None` for any.
    pub(crate) group: Option<&'static str>,
    /// The kind; `None` for any.
    pub(crate) kind: Option<&'static str>,
    /// Keys from the object down to the labels; each item of a list on the way counts.
    pub(crate) path: &'static [&'static str],
    /// When the field is made or filled.
    pub(crate) create: Create,
}

/// When labels are put into a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Create {
    /// Always: `metadata.labels` at the end of the path is made where it is missing.
    Always,
    /// `matchLabels` is made in a selector that holds something else (`matchExpressions`).
    InSelector,
    /// Never: only a field that holds a label already gets more.
    Never,
}

impl LabelField {
    /// Whether the field belongs to objects of this group and kind.
    pub(crate) fn is_of(&self, group: &str, kind: &str) -> bool {
        self.group.is_none_or(|own| own == group) && self.kind.is_none_or(|own| own == kind)
    }
}

const fn field(
    group: Option<&'static str>,
    kind: &'static str,
    create: Create,
    path: &'static [&'static str],
) -> LabelField {
    LabelField {
        group,
        kind: Some(kind),
        path,
        create,
    }
}

use Create::{Always, InSelector, Never};

const APPS: Option<&str> = Some("apps");
const BATCH: Option<&str> = Some("batch");
const CORE: Option<&str> = Some("");
const OPENSHIFT_APPS: Option<&str> = Some("apps.openshift.io");

const SELECTOR: &[&str] = &["spec", "selector"];
const MATCH_LABELS: &[&str] = &["spec", "selector", "matchLabels"];
const POD_TEMPLATE: &[&str] = &["spec", "template", "metadata", "labels"];
const CLAIMS: &[&str] = &["spec", "volumeClaimTemplates", "metadata", "labels"];
const JOB_TEMPLATE: &[&str] = &["spec", "jobTemplate", "metadata", "labels"];
const JOB_POD_TEMPLATE: &[&str] = &[
    "spec",
    "jobTemplate",
    "spec",
    "template",
    "metadata",
    "labels",
];
const JOB_MATCH_LABELS: &[&str] = &["spec", "jobTemplate", "spec", "selector", "matchLabels"];
const POD_SELECTOR: &[&str] = &["spec", "podSelector", "matchLabels"];
const INGRESS: &[&str] = &["spec", "ingress", "from", "podSelector", "matchLabels"];
const EGRESS: &[&str] = &["spec", "egress", "to", "podSelector", "matchLabels"];
const SPREAD: &[&str] = &[
    "spec",
    "template",
    "spec",
    "topologySpreadConstraints",
    "labelSelector",
    "matchLabels",
];
const AFFINITY_PREFERRED: &[&str] = &[
    "spec",
    "template",
    "spec",
    "affinity",
    "podAffinity",
    "preferredDuringSchedulingIgnoredDuringExecution",
    "podAffinityTerm",
    "labelSelector",
    "matchLabels",
];
const AFFINITY_REQUIRED: &[&str] = &[
    "spec",
    "template",
    "spec",
    "affinity",
    "podAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "labelSelector",
    "matchLabels",
];
const ANTI_AFFINITY_PREFERRED: &[&str] = &[
    "spec",
    "template",
    "spec",
    "affinity",
    "podAntiAffinity",
    "preferredDuringSchedulingIgnoredDuringExecution",
    "podAffinityTerm",
    "labelSelector",
    "matchLabels",
];
const ANTI_AFFINITY_REQUIRED: &[&str] = &[
    "spec",
    "template",
    "spec",
    "affinity",
    "podAntiAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "labelSelector",
    "matchLabels",
];

/// Where the labels of a Template go besides `metadata.labels`, which every object has.
pub(crate) const LABEL_FIELDS: &[LabelField] = &[
    field(CORE, "Service", Never, SELECTOR),
    field(CORE, "ReplicationController", Never, SELECTOR),
    field(CORE, "ReplicationController", Always, POD_TEMPLATE),
    field(OPENSHIFT_APPS, "DeploymentConfig", Never, SELECTOR),
    field(OPENSHIFT_APPS, "DeploymentConfig", Always, POD_TEMPLATE),
    field(None, "Deployment", InSelector, MATCH_LABELS),
    field(None, "Deployment", Always, POD_TEMPLATE),
    field(APPS, "Deployment", Never, AFFINITY_PREFERRED),
    field(APPS, "Deployment", Never, AFFINITY_REQUIRED),
    field(APPS, "Deployment", Never, ANTI_AFFINITY_PREFERRED),
    field(APPS, "Deployment", Never, ANTI_AFFINITY_REQUIRED),
    field(APPS, "Deployment", Never, SPREAD),
    field(None, "ReplicaSet", InSelector, MATCH_LABELS),
    field(None, "ReplicaSet", Always, POD_TEMPLATE),
    field(None, "DaemonSet", InSelector, MATCH_LABELS),
    field(None, "DaemonSet", Always, POD_TEMPLATE),
    field(APPS, "StatefulSet", InSelector, MATCH_LABELS),
    field(APPS, "StatefulSet", Always, POD_TEMPLATE),
    field(APPS, "StatefulSet", Always, CLAIMS),
    field(APPS, "StatefulSet", Never, AFFINITY_PREFERRED),
    field(APPS, "StatefulSet", Never, AFFINITY_REQUIRED),
    field(APPS, "StatefulSet", Never, ANTI_AFFINITY_PREFERRED),
    field(APPS, "StatefulSet", Never, ANTI_AFFINITY_REQUIRED),
    field(APPS, "StatefulSet", Never, SPREAD),
    field(BATCH, "Job", Never, MATCH_LABELS),
    field(BATCH, "Job", Always, POD_TEMPLATE),
    field(BATCH, "CronJob", Never, JOB_MATCH_LABELS),
    field(BATCH, "CronJob", Always, JOB_TEMPLATE),
    field(BATCH, "CronJob", Always, JOB_POD_TEMPLATE),
    field(Some("policy"), "PodDisruptionBudget", Never, MATCH_LABELS),
    field(
        Some("networking.k8s.io"),
        "NetworkPolicy",
        Never,
        POD_SELECTOR,
    ),
    field(Some("networking.k8s.io"), "NetworkPolicy", Never, INGRESS),
    field(Some("networking.k8s.io"), "NetworkPolicy", Never, EGRESS),
];
