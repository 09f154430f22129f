//! The fields that identify the items of a list when a patch is merged into it.
//!
//! Source: the `OpenAPI` schema of Kubernetes that is built into kustomize 5.8
//! (`x-kubernetes-patch-strategy`, `x-kubernetes-patch-merge-key`, `x-kubernetes-list-map-keys`). A
//! list that is not in the tables is replaced as a whole, as are the lists of custom kinds, except
//! those that a [`Schema`] of the user knows and those of what looks like a pod template.

use crate::tables::schema::{Part, Schema};
use krm_core::identity::{group, is_built_in};
use krm_yaml::Value;

/// The type of a field, or of the items of a list.
#[derive(Debug)]
pub(crate) struct Type {
    /// The fields that identify items, if this is a list whose items are merged; none for scalars.
    /// The same item has the same value in the first field, and in the others if it has them.
    keys: Option<&'static [&'static str]>,
    /// Fields below, in the mapping or in each item.
    fields: &'static [(&'static str, &'static Self)],
}

/// The known type of a field, or of the items of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known<'k> {
    /// A type in the tables.
    Type(&'static Type),
    /// A part of the schema that the user names.
    Part(Part<'k>),
    /// A field of a custom kind.
    Custom,
    /// A field of which nothing is known: its lists are replaced.
    Unknown,
}

impl<'k> Known<'k> {
    /// The fields that identify items, if this is a list whose items are merged; none for scalars.
    pub(crate) fn keys(self) -> Option<Vec<&'k str>> {
        match self {
            Self::Type(known) => known.keys.map(<[_]>::to_vec),
            Self::Part(part) => part.keys(),
            Self::Custom | Self::Unknown => None,
        }
    }

    /// The type of a field.
    pub(crate) fn field(self, name: &str) -> Self {
        match self {
            Self::Type(known) => {
                let mut fields = known.fields.iter();
                let found = fields.find(|(known, _)| *known == name);
                Self::Type(found.map_or(&PLAIN, |(_, inner)| inner))
            }
            Self::Part(part) => part.field(name).map_or(Self::Custom, Self::Part),
            Self::Custom => Self::Custom,
            Self::Unknown => Self::Unknown,
        }
    }

    /// The type of a field with a value: in a custom kind, a pod template if it looks like one.
    pub(crate) fn field_of(self, name: &str, value: &Value<'_>) -> Self {
        match self.field(name) {
            Self::Custom if is_pod_template(name, value) => Self::Type(&POD_TEMPLATE),
            known => known,
        }
    }
}

/// Whether a field looks like a pod template: its name or its metadata tell so, and the containers
/// in its `spec` have names.
fn is_pod_template(name: &str, value: &Value<'_>) -> bool {
    let is_template = name.ends_with("emplate") || value.get("metadata").is_some();
    let containers = value.at(&["spec", "containers"]).and_then(Value::items);
    let is_named = |item: &Value<'_>| item.str_at(&["name"]).is_some();
    is_template && containers.is_some_and(|items| !items.is_empty() && items.iter().all(is_named))
}

/// Finds the type of objects of an API version and kind, in a schema, otherwise in the tables.
pub(crate) fn known<'k>(
    schema: Option<&'k Schema>,
    api_version: &str,
    kind: &str,
    patch_kind: &str,
) -> Known<'k> {
    let part = schema.and_then(|schema| schema.of(api_version, kind));
    part.map_or_else(|| of(api_version, kind, patch_kind), Known::Part)
}

/// As [`known`] in a Kustomization: a schema takes the place of the tables, unless it is added to
/// them, and pod templates of custom kinds are not merged.
pub(crate) fn known_to_kustomize<'k>(
    schema: Option<&'k Schema>,
    api_version: &str,
    kind: &str,
    patch_kind: &str,
) -> Known<'k> {
    let part = schema.and_then(|schema| schema.of(api_version, kind));
    match (part, schema) {
        (Some(part), _) => Known::Part(part),
        (None, Some(schema)) if !schema.is_added => Known::Unknown,
        _ => match of(api_version, kind, patch_kind) {
            Known::Custom => Known::Unknown,
            known => known,
        },
    }
}

/// The type of objects of an API version and kind; by default that of the kind of the patch, as
/// upstream.
fn of<'k>(api_version: &str, kind: &str, patch_kind: &str) -> Known<'k> {
    let find = |kind| {
        let mut kinds = KINDS.iter();
        let known = kinds
            .find(|(versions, kinds, _)| versions.contains(&api_version) && kinds.contains(&kind));
        known.map(|(_, _, known)| Known::Type(known))
    };
    let of_group = || match group(api_version) {
        known if GROUPS.contains(&known) => Known::Type(&OBJECT),
        // To kustomize and its users, OpenShift's kinds are custom ones.
        group if group.ends_with(".openshift.io") || !is_built_in(group) => Known::Custom,
        _ => Known::Type(&PLAIN),
    };
    find(kind).or_else(|| find(patch_kind)).unwrap_or_else(of_group)
}

/// A type without lists that are merged.
static PLAIN: Type = mapping(&[]);

const fn mapping(fields: &'static [(&'static str, &'static Type)]) -> Type {
    Type { keys: None, fields }
}

const fn list(
    keys: &'static [&'static str],
    fields: &'static [(&'static str, &'static Type)],
) -> Type {
    Type { keys: Some(keys), fields }
}

static SCALARS: Type = list(&[], &[]);
static BY_NAME: Type = list(&["name"], &[]);
static BY_TYPE: Type = list(&["type"], &[]);
static BY_IP: Type = list(&["ip"], &[]);
static BY_UID: Type = list(&["uid"], &[]);
static BY_DEVICE_PATH: Type = list(&["devicePath"], &[]);
static BY_MOUNT_PATH: Type = list(&["mountPath"], &[]);
static CONTAINER_PORTS: Type = list(&["containerPort", "protocol"], &[]);
static SERVICE_PORTS: Type = list(&["port", "protocol"], &[]);
static SPREAD: Type = list(&["topologyKey", "whenUnsatisfiable"], &[]);

static METADATA: Type = mapping(&[("finalizers", &SCALARS), ("ownerReferences", &BY_UID)]);
static CONDITIONS: Type = mapping(&[("conditions", &BY_TYPE)]);

static CONTAINERS: Type = list(
    &["name"],
    &[
        ("env", &BY_NAME),
        ("ports", &CONTAINER_PORTS),
        ("volumeDevices", &BY_DEVICE_PATH),
        ("volumeMounts", &BY_MOUNT_PATH),
    ],
);
static EPHEMERAL_CONTAINERS: Type = list(
    &["name"],
    &[("env", &BY_NAME), ("volumeDevices", &BY_DEVICE_PATH), ("volumeMounts", &BY_MOUNT_PATH)],
);
static POD_SPEC: Type = mapping(&[
    ("containers", &CONTAINERS),
    ("ephemeralContainers", &EPHEMERAL_CONTAINERS),
    ("hostAliases", &BY_IP),
    ("imagePullSecrets", &BY_NAME),
    ("initContainers", &CONTAINERS),
    ("topologySpreadConstraints", &SPREAD),
    ("volumes", &BY_NAME),
]);
static POD_TEMPLATE: Type = mapping(&[("metadata", &METADATA), ("spec", &POD_SPEC)]);
static WITH_TEMPLATE: Type = mapping(&[("template", &POD_TEMPLATE)]);
static JOB_TEMPLATE: Type = mapping(&[("metadata", &METADATA), ("spec", &WITH_TEMPLATE)]);

static OBJECT: Type = mapping(&[("metadata", &METADATA)]);
static WITH_STATUS: Type = mapping(&[("metadata", &METADATA), ("status", &CONDITIONS)]);
static WORKLOAD: Type =
    mapping(&[("metadata", &METADATA), ("spec", &WITH_TEMPLATE), ("status", &CONDITIONS)]);
static CRON_JOB: Type =
    mapping(&[("metadata", &METADATA), ("spec", &mapping(&[("jobTemplate", &JOB_TEMPLATE)]))]);
static POD: Type = mapping(&[
    ("metadata", &METADATA),
    ("spec", &POD_SPEC),
    ("status", &mapping(&[("conditions", &BY_TYPE), ("podIPs", &BY_IP)])),
]);
static POD_TEMPLATE_OBJECT: Type = mapping(&[("metadata", &METADATA), ("template", &POD_TEMPLATE)]);
static SERVICE: Type = mapping(&[
    ("metadata", &METADATA),
    ("spec", &mapping(&[("ports", &SERVICE_PORTS)])),
    ("status", &CONDITIONS),
]);
static SERVICE_ACCOUNT: Type = mapping(&[("metadata", &METADATA), ("secrets", &BY_NAME)]);
static NODE: Type = mapping(&[
    ("metadata", &METADATA),
    ("spec", &mapping(&[("podCIDRs", &SCALARS)])),
    ("status", &mapping(&[("addresses", &BY_TYPE), ("conditions", &BY_TYPE)])),
]);
static COMPONENT_STATUS: Type = mapping(&[("metadata", &METADATA), ("conditions", &BY_TYPE)]);
static WEBHOOKS: Type = mapping(&[("metadata", &METADATA), ("webhooks", &BY_NAME)]);
static CSI_NODE: Type =
    mapping(&[("metadata", &METADATA), ("spec", &mapping(&[("drivers", &BY_NAME)]))]);

/// API versions, kinds, and their types.
static KINDS: &[(&[&str], &[&str], &Type)] = &[
    (&["apps/v1"], &["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"], &WORKLOAD),
    (&["batch/v1"], &["Job"], &WORKLOAD),
    (&["batch/v1", "batch/v1beta1"], &["CronJob"], &CRON_JOB),
    (&["v1"], &["ReplicationController"], &WORKLOAD),
    (&["v1"], &["Pod"], &POD),
    (&["v1"], &["PodTemplate"], &POD_TEMPLATE_OBJECT),
    (&["v1"], &["Service"], &SERVICE),
    (&["v1"], &["ServiceAccount"], &SERVICE_ACCOUNT),
    (&["v1"], &["Namespace", "PersistentVolumeClaim"], &WITH_STATUS),
    (&["v1"], &["Node"], &NODE),
    (&["v1"], &["ComponentStatus"], &COMPONENT_STATUS),
    (
        &["admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1beta1"],
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
        &WEBHOOKS,
    ),
    (
        &["apiregistration.k8s.io/v1", "apiregistration.k8s.io/v1beta1"],
        &["APIService"],
        &WITH_STATUS,
    ),
    (&["policy/v1", "policy/v1beta1"], &["PodDisruptionBudget"], &WITH_STATUS),
    (&["storage.k8s.io/v1", "storage.k8s.io/v1beta1"], &["CSINode"], &CSI_NODE),
];

/// The API groups of Kubernetes itself, whose objects have known metadata.
const GROUPS: &[&str] = &[
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
];

#[cfg(test)]
mod tests {
    use super::known;

    #[track_caller]
    fn check(api_version: &str, kind: &str, path: &[&str], keys: Option<&[&str]>) {
        let object = known(None, api_version, kind, "");
        let field = path.iter().fold(object, |known, name| known.field(name));
        assert_eq!(field.keys().as_deref(), keys);
    }

    #[test]
    fn keys_are_those_of_the_kind() {
        let env = ["spec", "template", "spec", "containers", "env"];
        check("apps/v1", "Deployment", &env, Some(&["name"]));
        check("apps/v1beta1", "Deployment", &env, None);
        check("example.com/v1", "Deployment", &env, None);
        let ports = ["spec", "jobTemplate", "spec", "template", "spec", "containers", "ports"];
        let keys = ["containerPort", "protocol"];
        check("batch/v1", "CronJob", &ports, Some(&keys));
        check("v1", "ConfigMap", &["metadata", "finalizers"], Some(&[]));
        check("example.com/v1", "Web", &["metadata", "finalizers"], None);
        let patched = known(None, "apps/v1", "Web", "Deployment");
        assert!(
            patched.field("spec").field("template").field("spec").field("volumes").keys().is_some()
        );
    }
}
