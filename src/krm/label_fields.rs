//! The fields in which a label must be so that workloads keep selecting their own pods.

/// A field in the objects of some kinds; an empty group, version or kind is any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) kind: &'static str,
    /// Keys with slashes between them, from the object down. Lists on the way are gone through;
    /// `[]` after a key marks one that is never added.
    pub(crate) path: &'static str,
    /// Whether kustomize adds the field where it is missing.
    pub(crate) create: bool,
}

pub(crate) const fn field(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    path: &'static str,
    create: bool,
) -> Field {
    Field {
        group,
        version,
        kind,
        path,
        create,
    }
}

/// The fields for labels besides `metadata.labels`, which every object has.
///
/// Source: kustomize 5.8, `commonLabels` with its pod templates and volume claims
/// (`api/internal/konfig/builtinpluginconsts`).
#[rustfmt::skip]
pub(crate) const LABEL_FIELDS: &[Field] = &[
    field("", "v1", "ReplicationController", "spec/template/metadata/labels", true),
    field("", "", "Deployment", "spec/template/metadata/labels", true),
    field("", "", "ReplicaSet", "spec/template/metadata/labels", true),
    field("", "", "DaemonSet", "spec/template/metadata/labels", true),
    field("apps", "", "StatefulSet", "spec/template/metadata/labels", true),
    field("batch", "", "Job", "spec/template/metadata/labels", true),
    field("batch", "", "CronJob", "spec/jobTemplate/metadata/labels", true),
    field("batch", "", "CronJob", "spec/jobTemplate/spec/template/metadata/labels", true),
    field("", "v1", "Service", "spec/selector", true),
    field("", "v1", "ReplicationController", "spec/selector", true),
    field("", "", "Deployment", "spec/selector/matchLabels", true),
    field("apps", "", "Deployment", "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels", false),
    field("apps", "", "Deployment", "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels", false),
    field("apps", "", "Deployment", "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels", false),
    field("apps", "", "Deployment", "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels", false),
    field("apps", "", "Deployment", "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels", false),
    field("", "", "ReplicaSet", "spec/selector/matchLabels", true),
    field("", "", "DaemonSet", "spec/selector/matchLabels", true),
    field("apps", "", "StatefulSet", "spec/selector/matchLabels", true),
    field("apps", "", "StatefulSet", "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels", false),
    field("apps", "", "StatefulSet", "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels", false),
    field("apps", "", "StatefulSet", "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels", false),
    field("apps", "", "StatefulSet", "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels", false),
    field("apps", "", "StatefulSet", "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels", false),
    field("batch", "", "Job", "spec/selector/matchLabels", false),
    field("batch", "", "CronJob", "spec/jobTemplate/spec/selector/matchLabels", false),
    field("policy", "", "PodDisruptionBudget", "spec/selector/matchLabels", false),
    field("networking.k8s.io", "", "NetworkPolicy", "spec/podSelector/matchLabels", false),
    field("networking.k8s.io", "", "NetworkPolicy", "spec/ingress/from/podSelector/matchLabels", false),
    field("networking.k8s.io", "", "NetworkPolicy", "spec/egress/to/podSelector/matchLabels", false),
    field("apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels", true),
];

/// Those of OpenShift's kinds, which kustomize does not know.
#[rustfmt::skip]
const OPENSHIFT: &[Field] = &[
    field("apps.openshift.io", "", "DeploymentConfig", "spec/selector", false),
    field("apps.openshift.io", "", "DeploymentConfig", "spec/template/metadata/labels", true),
];

/// When a Template sets its labels in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Create {
    /// Always: `metadata.labels` at the end of the path is added where it is missing.
    Always,
    /// `matchLabels` is added to a selector that holds something else (`matchExpressions`).
    InSelector,
    /// Never: only a field that already holds a label gets more.
    Never,
}

/// The fields in which a Template sets its labels in objects of a group and kind.
///
/// These are kustomize's and OpenShift's, with one rule of our own: a selector that is missing or
/// empty is never added. A Service without one has its endpoints filled by hand, a workload without
/// one selects by the labels of its pod template, and an empty one means "all pods".
pub(crate) fn for_template(
    group: &str,
    kind: &str,
) -> impl Iterator<Item = (&'static str, Create)> {
    let all = LABEL_FIELDS.iter().chain(OPENSHIFT);
    let fields = all.filter(move |field| field.kind == kind && field.is_of(group));
    fields.map(|field| (field.path, field.creation()))
}

impl Field {
    /// Whether kinds of this API group have the field. A version without a group is one of the core
    /// group.
    fn is_of(&self, group: &str) -> bool {
        match (self.group, self.version) {
            ("", "") => true,
            (own, _) => own == group,
        }
    }

    fn creation(&self) -> Create {
        match self.path.rsplit('/').next() {
            Some("labels") => Create::Always,
            Some("matchLabels") if self.create => Create::InSelector,
            _ => Create::Never,
        }
    }
}
