//! The fields of single kinds that the cluster sets.

/// A field of some kinds that is dropped.
pub(crate) struct Row {
    pub(crate) kinds: &'static [&'static str],
    /// Keys with slashes between them. The path leads through lists.
    pub(crate) path: &'static str,
    pub(crate) when: When,
}

/// When a field is dropped.
#[derive(Clone, Copy)]
pub(crate) enum When {
    Always,
    /// Its value is this one.
    Is(Known),
    /// Its value is not this text.
    IsNot(&'static str),
    /// Its value is that of the field beside it.
    Like(&'static str),
    /// Each item of the list has a name made of the object's and this; the others stay.
    Items(Item),
    /// Nothing shows that somebody chose the number.
    Allocated,
    /// The families are the only one of the cluster.
    OneFamily,
    /// An autoscaler of the input sets it.
    Scaled,
    /// The policy is the one for the tag of the image.
    PolicyOfTag,
    /// The object does not set `spec.manualSelector`.
    NotManual,
    /// An annotation says that a controller injects it.
    Injected,
    /// The annotation `openshift.io/host.generated` says so.
    GeneratedHost,
    /// A service account token made by hand.
    Token,
}

/// A value that is known.
#[derive(Clone, Copy)]
pub(crate) enum Known {
    Text(&'static str),
    Number(&'static str),
    True,
    False,
    /// `{}`, a mapping without entries.
    Empty,
    /// Some of these fields, with these values.
    Fields(&'static [(&'static str, Self)]),
    /// A list of this one text.
    One(&'static str),
}

/// Items of lists that the cluster adds.
#[derive(Clone, Copy)]
pub(crate) enum Item {
    /// The volumes and mounts of service account tokens.
    TokenVolume,
    /// The tolerations of nodes that are not ready or not reachable.
    NodeToleration,
    /// The Secrets of a service account.
    AccountSecret,
}

const fn row(kinds: &'static [&'static str], path: &'static str, when: When) -> Row {
    Row { kinds, path, when }
}

use Item::{AccountSecret, NodeToleration, TokenVolume};
use Known::{Empty, False, Fields, Number, One, Text, True};
use When::{
    Allocated, Always, GeneratedHost, Injected, Is, IsNot, Items, Like, NotManual, OneFamily,
    PolicyOfTag, Scaled, Token,
};

/// Annotations that controllers set, by kind.
pub(crate) const ANNOTATIONS: &[(&str, &str)] = &[
    ("PersistentVolumeClaim", "pv.kubernetes.io/bind-completed"),
    ("PersistentVolumeClaim", "pv.kubernetes.io/bound-by-controller"),
    ("PersistentVolumeClaim", "volume.kubernetes.io/storage-provisioner"),
    ("PersistentVolumeClaim", "volume.beta.kubernetes.io/storage-provisioner"),
    ("PersistentVolumeClaim", "volume.kubernetes.io/selected-node"),
    ("Secret", "kubernetes.io/service-account.uid"),
    ("HorizontalPodAutoscaler", "autoscaling.alpha.kubernetes.io/*"),
    ("ServiceAccount", "openshift.io/internal-registry-pull-secret-ref"),
];

/// The annotations by which a controller is asked to fill in `caBundle`.
pub(crate) const INJECTIONS: &[&str] = &[
    "cert-manager.io/inject-ca-from",
    "cert-manager.io/inject-ca-from-secret",
    "cert-manager.io/inject-apiserver-ca",
    "service.beta.openshift.io/inject-cabundle",
    "service.alpha.openshift.io/inject-cabundle",
];

const WEBHOOKS: &[&str] = &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];
const SCALED: &[&str] =
    &["Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DeploymentConfig"];

/// Fields that the cluster sets, by the kinds that have them.
#[rustfmt::skip]
pub(crate) const ROWS: &[Row] = &[
    row(&["Service"], "spec/clusterIP", IsNot("None")),
    row(&["Service"], "spec/clusterIPs", IsNot("None")),
    row(&["Service"], "spec/ipFamilies", OneFamily),
    row(&["Service"], "spec/ipFamilyPolicy", Is(Text("SingleStack"))),
    row(&["Service"], "spec/ports/nodePort", Allocated),
    row(&["Service"], "spec/healthCheckNodePort", Allocated),
    row(&["PersistentVolumeClaim"], "spec/volumeName", Always),
    row(&["PersistentVolumeClaim"], "spec/volumeMode", Is(Text("Filesystem"))),
    row(&["StatefulSet"], "spec/volumeClaimTemplates/status", Always),
    row(&["StatefulSet"], "spec/volumeClaimTemplates/spec/volumeMode", Is(Text("Filesystem"))),
    row(&["Pod"], "spec/nodeName", Always),
    row(&["Pod"], "spec/priority", Always),
    row(&["Pod"], "spec/preemptionPolicy", Always),
    row(&["Pod"], "spec/ephemeralContainers", Always),
    row(SCALED, "spec/replicas", Scaled),
    row(&["Job"], "spec/selector", NotManual),
    row(&["Job"], "spec/suspend", Is(False)),
    row(&["CronJob"], "spec/suspend", Is(False)),
    row(&["CronJob"], "spec/jobTemplate/spec/suspend", Is(False)),
    row(&["DeploymentConfig"], "spec/triggers/imageChangeParams/lastTriggeredImage", Always),
    row(&["BuildConfig"], "spec/triggers/imageChange/lastTriggeredImageID", Always),
    row(&["ImageStream"], "spec/tags/generation", Always),
    row(&["ImageStream"], "spec/tags/importPolicy", Is(Empty)),
    row(&["Route"], "spec/host", GeneratedHost),
    row(&["Route"], "spec/wildcardPolicy", Is(Text("None"))),
    row(&["ServiceAccount"], "secrets", Items(AccountSecret)),
    row(&["ServiceAccount"], "imagePullSecrets", Items(AccountSecret)),
    row(&["Secret"], "data", Token),
    row(WEBHOOKS, "webhooks/clientConfig/caBundle", Injected),
    row(&["APIService"], "spec/caBundle", Injected),
    row(&["CustomResourceDefinition"], "spec/conversion/webhook/clientConfig/caBundle", Injected),
    row(&["CustomResourceDefinition"], "spec/conversion", Is(Fields(&[("strategy", Text("None"))]))),
];

/// Fields of the pods of an object, or of its pod template, below `spec`.
#[rustfmt::skip]
pub(crate) const POD_ROWS: &[Row] = &[
    row(&[], "serviceAccount", Always),
    row(&["Pod"], "volumes", Items(TokenVolume)),
    row(&["Pod"], "containers/volumeMounts", Items(TokenVolume)),
    row(&["Pod"], "initContainers/volumeMounts", Items(TokenVolume)),
    row(&["Pod"], "tolerations", Items(NodeToleration)),
];

/// Defaults of the API server.
#[rustfmt::skip]
pub(crate) const DEFAULTS: &[Row] = &[
    row(&["Deployment"], "spec/revisionHistoryLimit", Is(Number("10"))),
    row(&["Deployment"], "spec/progressDeadlineSeconds", Is(Number("600"))),
    row(&["Deployment"], "spec/strategy", Is(Fields(&[("type", Text("RollingUpdate")), ("rollingUpdate", Fields(&[("maxSurge", Text("25%")), ("maxUnavailable", Text("25%"))]))]))),
    row(&["StatefulSet"], "spec/revisionHistoryLimit", Is(Number("10"))),
    row(&["StatefulSet"], "spec/podManagementPolicy", Is(Text("OrderedReady"))),
    row(&["StatefulSet"], "spec/updateStrategy", Is(Fields(&[("type", Text("RollingUpdate")), ("rollingUpdate", Fields(&[("partition", Number("0"))]))]))),
    row(&["StatefulSet"], "spec/persistentVolumeClaimRetentionPolicy", Is(Fields(&[("whenDeleted", Text("Retain")), ("whenScaled", Text("Retain"))]))),
    row(&["StatefulSet"], "spec/volumeClaimTemplates/apiVersion", Is(Text("v1"))),
    row(&["StatefulSet"], "spec/volumeClaimTemplates/kind", Is(Text("PersistentVolumeClaim"))),
    row(&["DaemonSet"], "spec/revisionHistoryLimit", Is(Number("10"))),
    row(&["DaemonSet"], "spec/updateStrategy", Is(Fields(&[("type", Text("RollingUpdate")), ("rollingUpdate", Fields(&[("maxSurge", Number("0")), ("maxUnavailable", Number("1"))]))]))),
    row(&["DeploymentConfig"], "spec/revisionHistoryLimit", Is(Number("10"))),
    row(&["DeploymentConfig"], "spec/test", Is(False)),
    row(&["DeploymentConfig"], "spec/strategy/activeDeadlineSeconds", Is(Number("21600"))),
    row(&["DeploymentConfig"], "spec/strategy/resources", Is(Empty)),
    row(&["DeploymentConfig"], "spec/strategy/rollingParams", Is(Fields(&[("updatePeriodSeconds", Number("1")), ("intervalSeconds", Number("1")), ("timeoutSeconds", Number("600")), ("maxSurge", Text("25%")), ("maxUnavailable", Text("25%"))]))),
    row(&["DeploymentConfig"], "spec/strategy", Is(Fields(&[("type", Text("Rolling"))]))),
    row(&["BuildConfig"], "spec/resources", Is(Empty)),
    row(&["Job"], "spec/backoffLimit", Is(Number("6"))),
    row(&["Job"], "spec/completionMode", Is(Text("NonIndexed"))),
    row(&["Job"], "spec/manualSelector", Is(False)),
    row(&["Job"], "spec/podReplacementPolicy", Is(Text("TerminatingOrFailed"))),
    row(&["CronJob"], "spec/concurrencyPolicy", Is(Text("Allow"))),
    row(&["CronJob"], "spec/successfulJobsHistoryLimit", Is(Number("3"))),
    row(&["CronJob"], "spec/failedJobsHistoryLimit", Is(Number("1"))),
    row(&["CronJob"], "spec/jobTemplate/spec/backoffLimit", Is(Number("6"))),
    row(&["CronJob"], "spec/jobTemplate/spec/completionMode", Is(Text("NonIndexed"))),
    row(&["Service"], "spec/type", Is(Text("ClusterIP"))),
    row(&["Service"], "spec/sessionAffinity", Is(Text("None"))),
    row(&["Service"], "spec/sessionAffinityConfig", Is(Fields(&[("clientIP", Fields(&[("timeoutSeconds", Number("10800"))]))]))),
    row(&["Service"], "spec/internalTrafficPolicy", Is(Text("Cluster"))),
    row(&["Service"], "spec/externalTrafficPolicy", Is(Text("Cluster"))),
    row(&["Service"], "spec/allocateLoadBalancerNodePorts", Is(True)),
    row(&["Service"], "spec/ports/protocol", Is(Text("TCP"))),
    row(&["Service"], "spec/ports/targetPort", Like("port")),
];

/// Defaults of the API server for pods, below `spec`.
#[rustfmt::skip]
pub(crate) const POD_DEFAULTS: &[Row] = &[
    row(&["Pod"], "enableServiceLinks", Is(True)),
    row(&[], "dnsPolicy", Is(Text("ClusterFirst"))),
    row(&[], "restartPolicy", Is(Text("Always"))),
    row(&[], "schedulerName", Is(Text("default-scheduler"))),
    row(&[], "securityContext", Is(Empty)),
    row(&[], "terminationGracePeriodSeconds", Is(Number("30"))),
    row(&[], "volumes/configMap/defaultMode", Is(Number("420"))),
    row(&[], "volumes/secret/defaultMode", Is(Number("420"))),
    row(&[], "volumes/projected/defaultMode", Is(Number("420"))),
    row(&[], "volumes/projected/sources/serviceAccountToken/expirationSeconds", Is(Number("3600"))),
    row(&[], "volumes/projected/sources/downwardAPI/items/fieldRef/apiVersion", Is(Text("v1"))),
    row(&[], "volumes/downwardAPI/defaultMode", Is(Number("420"))),
    row(&[], "volumes/downwardAPI/items/fieldRef/apiVersion", Is(Text("v1"))),
    row(&[], "volumes/hostPath/type", Is(Text(""))),
    row(&[], "volumes/ephemeral/volumeClaimTemplate/spec/volumeMode", Is(Text("Filesystem"))),
];

/// Defaults of the API server for containers.
#[rustfmt::skip]
pub(crate) const CONTAINER_DEFAULTS: &[Row] = &[
    row(&[], "imagePullPolicy", PolicyOfTag),
    row(&[], "terminationMessagePath", Is(Text("/dev/termination-log"))),
    row(&[], "terminationMessagePolicy", Is(Text("File"))),
    row(&[], "resources", Is(Empty)),
    row(&[], "ports/protocol", Is(Text("TCP"))),
    row(&[], "env/valueFrom/fieldRef/apiVersion", Is(Text("v1"))),
    row(&[], "lifecycle/postStart/httpGet/scheme", Is(Text("HTTP"))),
    row(&[], "lifecycle/preStop/httpGet/scheme", Is(Text("HTTP"))),
];

/// The probes of a container.
pub(crate) const PROBES: &[&str] = &["livenessProbe", "readinessProbe", "startupProbe"];

/// Defaults of the API server for probes.
#[rustfmt::skip]
pub(crate) const PROBE_DEFAULTS: &[Row] = &[
    row(&[], "timeoutSeconds", Is(Number("1"))),
    row(&[], "periodSeconds", Is(Number("10"))),
    row(&[], "successThreshold", Is(Number("1"))),
    row(&[], "failureThreshold", Is(Number("3"))),
    row(&[], "httpGet/scheme", Is(Text("HTTP"))),
    row(&[], "grpc/service", Is(Text(""))),
];

/// The family of the addresses of most clusters.
pub(crate) const FAMILY: Known = One("IPv4");
