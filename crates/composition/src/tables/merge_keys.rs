//! The fields that identify the items of a list when a patch is merged into it.
//!
//! Source: the `OpenAPI` schema of Kubernetes that is built into kustomize 5.8
//! (`x-kubernetes-patch-strategy`, `x-kubernetes-patch-merge-key`, `x-kubernetes-list-map-keys`). A
//! list that is not in the tables is replaced as a whole, as are the lists of custom kinds.

use krm_core::identity::group;

/// The type of a field, or of the items of a list.
#[derive(Debug)]
pub(crate) struct Type {
    /// The fields that identify items, if this is a list whose items are merged; none for scalars.
    /// The same item has the same value in the first field, and in the others if it has them.
    pub(crate) keys: Option<&'static [&'static str]>,
    /// Fields below, in the mapping or in each item.
    fields: &'static [(&'static str, &'static Self)],
}

impl Type {
    /// The type of a field.
    pub(crate) fn field(&self, name: &str) -> &'static Self {
        let mut fields = self.fields.iter();
        let found = fields.find(|(known, _)| *known == name);
        found.map_or(&PLAIN, |(_, inner)| inner)
    }
}

/// The type of objects of an API version and kind; by default that of the kind of the patch, as
/// upstream.
pub(crate) fn of(api_version: &str, kind: &str, patch_kind: &str) -> &'static Type {
    let find = |kind| {
        let mut kinds = KINDS.iter();
        let known = kinds
            .find(|(versions, kinds, _)| versions.contains(&api_version) && kinds.contains(&kind));
        known.map(|(_, _, known)| *known)
    };
    let of_group = || {
        let is_known = GROUPS.contains(&group(api_version));
        if is_known { &OBJECT } else { &PLAIN }
    };
    find(kind)
        .or_else(|| find(patch_kind))
        .unwrap_or_else(of_group)
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
    Type {
        keys: Some(keys),
        fields,
    }
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
    &[
        ("env", &BY_NAME),
        ("volumeDevices", &BY_DEVICE_PATH),
        ("volumeMounts", &BY_MOUNT_PATH),
    ],
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
static WORKLOAD: Type = mapping(&[
    ("metadata", &METADATA),
    ("spec", &WITH_TEMPLATE),
    ("status", &CONDITIONS),
]);
static CRON_JOB: Type = mapping(&[
    ("metadata", &METADATA),
    ("spec", &mapping(&[("jobTemplate", &JOB_TEMPLATE)])),
]);
static POD: Type = mapping(&[
    ("metadata", &METADATA),
    ("spec", &POD_SPEC),
    (
        "status",
        &mapping(&[("conditions", &BY_TYPE), ("podIPs", &BY_IP)]),
    ),
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
    (
        "status",
        &mapping(&[("addresses", &BY_TYPE), ("conditions", &BY_TYPE)]),
    ),
]);
static COMPONENT_STATUS: Type = mapping(&[("metadata", &METADATA), ("conditions", &BY_TYPE)]);
static WEBHOOKS: Type = mapping(&[("metadata", &METADATA), ("webhooks", &BY_NAME)]);
static CSI_NODE: Type = mapping(&[
    ("metadata", &METADATA),
    ("spec", &mapping(&[("drivers", &BY_NAME)])),
]);

/// API versions, kinds, and their types.
static KINDS: &[(&[&str], &[&str], &Type)] = &[
    (
        &["apps/v1"],
        &["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"],
        &WORKLOAD,
    ),
    (&["batch/v1"], &["Job"], &WORKLOAD),
    (&["batch/v1", "batch/v1beta1"], &["CronJob"], &CRON_JOB),
    (&["v1"], &["ReplicationController"], &WORKLOAD),
    (&["v1"], &["Pod"], &POD),
    (&["v1"], &["PodTemplate"], &POD_TEMPLATE_OBJECT),
    (&["v1"], &["Service"], &SERVICE),
    (&["v1"], &["ServiceAccount"], &SERVICE_ACCOUNT),
    (
        &["v1"],
        &["Namespace", "PersistentVolumeClaim"],
        &WITH_STATUS,
    ),
    (&["v1"], &["Node"], &NODE),
    (&["v1"], &["ComponentStatus"], &COMPONENT_STATUS),
    (
        &[
            "admissionregistration.k8s.io/v1",
            "admissionregistration.k8s.io/v1beta1",
        ],
        &[
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
        ],
        &WEBHOOKS,
    ),
    (
        &[
            "apiregistration.k8s.io/v1",
            "apiregistration.k8s.io/v1beta1",
        ],
        &["APIService"],
        &WITH_STATUS,
    ),
    (
        &["policy/v1", "policy/v1beta1"],
        &["PodDisruptionBudget"],
        &WITH_STATUS,
    ),
    (
        &["storage.k8s.io/v1", "storage.k8s.io/v1beta1"],
        &["CSINode"],
        &CSI_NODE,
    ),
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
    use super::of;

    #[track_caller]
    fn check(api_version: &str, kind: &str, path: &[&str], keys: Option<&[&str]>) {
        let object = of(api_version, kind, "");
        let field = path.iter().fold(object, |known, name| known.field(name));
        assert_eq!(field.keys, keys);
    }

    #[test]
    fn keys_are_those_of_the_kind() {
        let env = ["spec", "template", "spec", "containers", "env"];
        check("apps/v1", "Deployment", &env, Some(&["name"]));
        check("apps/v1beta1", "Deployment", &env, None);
        check("example.com/v1", "Deployment", &env, None);
        let ports = [
            "spec",
            "jobTemplate",
            "spec",
            "template",
            "spec",
            "containers",
            "ports",
        ];
        let keys = ["containerPort", "protocol"];
        check("batch/v1", "CronJob", &ports, Some(&keys));
        check("v1", "ConfigMap", &["metadata", "finalizers"], Some(&[]));
        check("example.com/v1", "Web", &["metadata", "finalizers"], None);
        let patched = of("apps/v1", "Web", "Deployment");
        assert!(
            patched
                .field("spec")
                .field("template")
                .field("spec")
                .field("volumes")
                .keys
                .is_some()
        );
    }
}
