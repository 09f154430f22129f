//! The objects that are left out: made by the cluster, by a controller, or by a tool.

/// Objects of some kinds that are left out.
pub(crate) struct LeftOut {
    pub(crate) kinds: &'static [&'static str],
    pub(crate) condition: Condition,
    /// The reason, for the report.
    pub(crate) reason: &'static str,
}

/// When an object is left out.
#[derive(Clone, Copy)]
pub(crate) enum Condition {
    Always,
    /// One of its `ownerReferences` is a controller.
    Controlled,
    /// Its `status` says that it has finished.
    Finished,
    /// Its Service is missing, or has a selector.
    OfSelector,
    /// It has an annotation with this key.
    Annotated(&'static str),
    /// It has a label with a value.
    Labelled(&'static str, &'static str),
    /// Its name is one of these.
    Named(&'static [&'static str]),
    /// Its name begins with this.
    Begins(&'static str),
    /// Its field `type` has this value.
    Typed(&'static str),
    /// Its `type` is this, and its name is one that the cluster generates for a service account.
    Generated(&'static str, &'static str),
    /// Its name is one of these, and it holds nothing else.
    Bare(&'static [&'static str]),
    /// It has no field `spec.service`.
    Local,
}

const fn row(
    kinds: &'static [&'static str],
    condition: Condition,
    reason: &'static str,
) -> LeftOut {
    LeftOut { kinds, condition, reason }
}

use Condition::{
    Always, Annotated, Bare, Begins, Controlled, Finished, Generated, Labelled, Local, Named,
    OfSelector, Typed,
};

/// The first row that fits says why an object is left out.
#[rustfmt::skip]
pub(crate) const LEFT_OUT: &[LeftOut] = &[
    row(&["Event", "Lease", "Binding", "ComponentStatus", "PodMetrics", "NodeMetrics"], Always, "it records what the cluster does"),
    row(&["Node", "PersistentVolume", "VolumeAttachment", "CSINode"], Always, "it belongs to the cluster"),
    row(&["ControllerRevision"], Always, "a controller creates it"),
    row(&["Build", "Image", "ImageStreamTag", "ImageStreamImage", "ImageTag"], Always, "OpenShift creates it from a BuildConfig or ImageStream"),
    row(&["Endpoints", "EndpointSlice"], Annotated(super::system::LEADER), "it elects a leader"),
    row(&["Endpoints", "EndpointSlice"], OfSelector, "the cluster creates it from the selector of its Service"),
    row(&["Pod", "ReplicaSet", "Job"], Controlled, "its controller creates it"),
    row(&["ReplicationController"], Annotated("openshift.io/deployment-config.name"), "its DeploymentConfig creates it"),
    row(&["ReplicationController"], Controlled, "its controller creates it"),
    row(&["Pod"], Annotated("kubernetes.io/config.mirror"), "the kubelet creates it"),
    row(&["Pod", "Job"], Finished, "it has finished"),
    row(&["APIService"], Local, "the API server creates it"),
    row(&["Secret"], Generated("kubernetes.io/service-account-token", "-token-"), "the cluster creates it for a ServiceAccount"),
    row(&["Secret"], Generated("kubernetes.io/dockercfg", "-dockercfg-"), "OpenShift creates it for a ServiceAccount"),
    row(&["Secret"], Typed("helm.sh/release.v1"), "Helm keeps its releases in it"),
    row(&["Secret"], Typed("bootstrap.kubernetes.io/token"), "it joins nodes to the cluster"),
    row(&["ConfigMap"], Named(&["kube-root-ca.crt", "openshift-service-ca.crt"]), "the cluster creates it in each namespace"),
    row(&["ConfigMap"], Annotated(super::system::LEADER), "it elects a leader"),
    row(&["ServiceAccount"], Bare(&["default", "builder", "deployer"]), "the cluster creates it in each namespace"),
    row(&["Service"], Labelled("provider", "kubernetes"), "it is the API server"),
    row(&["RoleBinding"], Begins("system:"), "the cluster creates it in each namespace"),
    row(&["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"], Labelled("kubernetes.io/bootstrapping", "rbac-defaults"), "the cluster creates it"),
];

/// Names that no parameter may change: they are made of other fields, or known outside.
pub(crate) const FIXED_NAMES: &[&str] =
    &["APIService", "CSIDriver", "CustomResourceDefinition", "Namespace", "Project"];
