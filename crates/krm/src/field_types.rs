//! The types that Kubernetes requires of fields.
//!
//! The table is small on purpose: fields that templates set, of kinds in every cluster. It omits
//! fields that accept any text, such as `cpu`.

use crate::identity::{group, is_built_in};
use crate::pods;

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A string.
    String,
    /// A number.
    Number,
    /// A bool.
    Bool,
    /// A number, or the name of a port.
    Port,
    /// A number, or a percentage such as `25%`.
    Share,
}

/// Fields by their path in an object or a part of it. Lists are traversed, `*` is any key.
pub type Fields = &'static [(&'static [&'static str], Type)];

use Type::{Bool, Number, Port, Share, String as Text};

/// Fields of objects of every kind.
const METADATA: Fields =
    &[(&["metadata", "labels", "*"], Text), (&["metadata", "annotations", "*"], Text)];

/// Fields of a `spec` with a pod template.
pub const POD_TEMPLATE: Fields = &[
    (&["template", "metadata", "labels", "*"], Text),
    (&["template", "metadata", "annotations", "*"], Text),
];

/// Of kinds, by the last part of their groups.
#[rustfmt::skip]
const KINDS: &[(&[&str], Fields)] = &[
    (
        &[
            "Deployment",
            "DeploymentConfig",
            "ReplicaSet",
            "ReplicationController",
            "StatefulSet",
        ],
        &[
            (&["spec", "replicas"], Number),
            (&["spec", "minReadySeconds"], Number),
            (&["spec", "revisionHistoryLimit"], Number),
            (&["spec", "progressDeadlineSeconds"], Number),
            (&["spec", "paused"], Bool),
            (&["spec", "triggers", "imageChangeParams", "automatic"], Bool),
            (&["spec", "strategy", "rollingUpdate", "maxSurge"], Share),
            (&["spec", "strategy", "rollingUpdate", "maxUnavailable"], Share),
        ],
    ),
    (
        &[
            "Deployment",
            "ReplicaSet",
            "StatefulSet",
            "DaemonSet",
            "PodDisruptionBudget",
        ],
        &[(&["spec", "selector", "matchLabels", "*"], Text)],
    ),
    (
        &["DeploymentConfig", "ReplicationController", "Service"],
        &[(&["spec", "selector", "*"], Text)],
    ),
    (
        &["Job"],
        &[
            (&["spec", "parallelism"], Number),
            (&["spec", "completions"], Number),
            (&["spec", "backoffLimit"], Number),
            (&["spec", "activeDeadlineSeconds"], Number),
            (&["spec", "ttlSecondsAfterFinished"], Number),
        ],
    ),
    (
        &["CronJob"],
        &[
            (&["spec", "schedule"], Text),
            (&["spec", "suspend"], Bool),
            (&["spec", "startingDeadlineSeconds"], Number),
            (&["spec", "successfulJobsHistoryLimit"], Number),
            (&["spec", "failedJobsHistoryLimit"], Number),
            (&["spec", "jobTemplate", "spec", "parallelism"], Number),
            (&["spec", "jobTemplate", "spec", "completions"], Number),
            (&["spec", "jobTemplate", "spec", "backoffLimit"], Number),
            (&["spec", "jobTemplate", "spec", "activeDeadlineSeconds"], Number),
            (&["spec", "jobTemplate", "spec", "ttlSecondsAfterFinished"], Number),
        ],
    ),
    (
        &["Service"],
        &[
            (&["spec", "ports", "name"], Text),
            (&["spec", "ports", "port"], Number),
            (&["spec", "ports", "nodePort"], Number),
            (&["spec", "ports", "targetPort"], Port),
            (&["spec", "healthCheckNodePort"], Number),
            (&["spec", "externalName"], Text),
            (&["spec", "publishNotReadyAddresses"], Bool),
        ],
    ),
    (
        &["HorizontalPodAutoscaler"],
        &[
            (&["spec", "minReplicas"], Number),
            (&["spec", "maxReplicas"], Number),
            (&["spec", "targetCPUUtilizationPercentage"], Number),
        ],
    ),
    (
        &["Route"],
        &[
            (&["spec", "host"], Text),
            (&["spec", "to", "name"], Text),
            (&["spec", "to", "weight"], Number),
        ],
    ),
    (
        &["NetworkPolicy"],
        &[
            (&["spec", "ingress", "ports", "port"], Port),
            (&["spec", "egress", "ports", "port"], Port),
        ],
    ),
    (
        &["PodDisruptionBudget"],
        &[
            (&["spec", "minAvailable"], Share),
            (&["spec", "maxUnavailable"], Share),
        ],
    ),
    (
        &["SecurityContextConstraints"],
        &[
            (&["priority"], Number),
            (&["allowHostDirVolumePlugin"], Bool),
            (&["allowHostIPC"], Bool),
            (&["allowHostNetwork"], Bool),
            (&["allowHostPID"], Bool),
            (&["allowHostPorts"], Bool),
            (&["allowPrivilegeEscalation"], Bool),
            (&["allowPrivilegedContainer"], Bool),
            (&["defaultAllowPrivilegeEscalation"], Bool),
            (&["readOnlyRootFilesystem"], Bool),
        ],
    ),
    (&["ConfigMap"], &[(&["data", "*"], Text)]),
    (
        &["Secret"],
        &[(&["data", "*"], Text), (&["stringData", "*"], Text)],
    ),
];

/// Fields of the specification of a pod.
pub const POD: Fields = &[
    (&["serviceAccountName"], Text),
    (&["nodeSelector", "*"], Text),
    (&["terminationGracePeriodSeconds"], Number),
    (&["activeDeadlineSeconds"], Number),
    (&["priority"], Number),
    (&["hostNetwork"], Bool),
    (&["automountServiceAccountToken"], Bool),
    (&["securityContext", "runAsUser"], Number),
    (&["securityContext", "runAsGroup"], Number),
    (&["securityContext", "fsGroup"], Number),
    (&["securityContext", "runAsNonRoot"], Bool),
    (&["volumes", "name"], Text),
    (&["volumes", "secret", "defaultMode"], Number),
    (&["volumes", "configMap", "defaultMode"], Number),
];

/// Fields of a container.
pub const CONTAINER: Fields = &[
    (&["name"], Text),
    (&["image"], Text),
    (&["command"], Text),
    (&["args"], Text),
    (&["env", "name"], Text),
    (&["env", "value"], Text),
    (&["ports", "name"], Text),
    (&["ports", "containerPort"], Number),
    (&["ports", "hostPort"], Number),
    (&["securityContext", "runAsUser"], Number),
    (&["securityContext", "runAsNonRoot"], Bool),
    (&["securityContext", "privileged"], Bool),
    (&["securityContext", "readOnlyRootFilesystem"], Bool),
    (&["securityContext", "allowPrivilegeEscalation"], Bool),
    (&["volumeMounts", "name"], Text),
    (&["volumeMounts", "mountPath"], Text),
    (&["volumeMounts", "readOnly"], Bool),
];

/// The probes of a container.
pub const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];
/// Fields of a probe.
pub const PROBE: Fields = &[
    (&["initialDelaySeconds"], Number),
    (&["periodSeconds"], Number),
    (&["timeoutSeconds"], Number),
    (&["successThreshold"], Number),
    (&["failureThreshold"], Number),
    (&["httpGet", "port"], Port),
    (&["tcpSocket", "port"], Port),
    (&["grpc", "port"], Number),
];

impl Type {
    /// Its name, with an article.
    pub const fn with_article(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Number => "a number",
            Self::Bool => "`true` or `false`",
            Self::Port => "a number or the name of a port",
            Self::Share => "a number or a percentage",
        }
    }

    /// Its name.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Bool => "bool",
            Self::Number | Self::Port | Self::Share => "number",
        }
    }

    /// Whether Kubernetes rejects this text here because it takes the number or the bool only.
    pub fn rejects(self, text: &str) -> bool {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        match self {
            Self::String => false,
            Self::Number | Self::Bool => true,
            Self::Port | Self::Share => is_integer,
        }
    }
}

/// The lists of containers in the specification of a pod.
pub const CONTAINERS: [&str; 2] = ["containers", "initContainers"];

/// The fields of objects of a kind, apart from their pods.
pub fn of_kind(api_version: &str, kind: &str) -> impl Iterator<Item = Fields> {
    let is_known = is_built_in(group(api_version));
    let kinds = KINDS.iter().filter(move |_| is_known);
    let own = kinds.filter(move |(kinds, _)| kinds.contains(&kind));
    std::iter::once(METADATA).chain(own.map(|(_, fields)| *fields))
}

/// The type of a field in objects of a kind, by its keys from the object down; `None` if the table
/// does not have it.
pub fn of_field(api_version: &str, kind: &str, keys: &[&str]) -> Option<Type> {
    let own = of_kind(api_version, kind).find_map(|fields| find(fields, keys));
    if own.is_some() || !is_built_in(group(api_version)) {
        return own;
    }
    let below = keys.strip_prefix(pods::spec(kind)?)?;
    match below {
        [list, probe, field @ ..] if CONTAINERS.contains(list) && PROBES.contains(probe) => {
            find(PROBE, field)
        }
        [list, field @ ..] if CONTAINERS.contains(list) => find(CONTAINER, field),
        field => find(POD, field),
    }
}

fn find(fields: Fields, keys: &[&str]) -> Option<Type> {
    let is_meant = |path: &[&str]| {
        let mut pairs = path.iter().zip(keys);
        path.len() == keys.len() && pairs.all(|(own, key)| *own == "*" || own == key)
    };
    let mut fields = fields.iter();
    fields.find_map(|(path, kind)| is_meant(path).then_some(*kind))
}

#[cfg(test)]
mod tests {
    use super::{Type, of_field};

    #[test]
    fn fields_are_found_by_their_path() {
        let check = |kind, path: &str, expected| {
            let keys: Vec<&str> = path.split('.').collect();
            assert_eq!(of_field("apps/v1", kind, &keys), expected, "{kind} {path}");
        };
        check("Deployment", "spec.replicas", Some(Type::Number));
        check("Deployment", "metadata.labels.a", Some(Type::String));
        let container = "spec.template.spec.containers";
        check("Deployment", &format!("{container}.ports.containerPort"), Some(Type::Number));
        check("Deployment", &format!("{container}.livenessProbe.httpGet.port"), Some(Type::Port));
        check("Deployment", "spec.template.spec.hostNetwork", Some(Type::Bool));
        check("Deployment", "spec.port", None);
        check("ConfigMap", "spec.replicas", None);
        assert_eq!(of_field("example.org/v1", "Deployment", &["spec", "replicas"]), None);
    }

    #[test]
    fn texts_that_a_port_or_a_share_may_be() {
        assert!(Type::Number.rejects("web"));
        assert!(Type::Port.rejects("8080"));
        assert!(!Type::Port.rejects("web"));
        assert!(Type::Share.rejects("3"));
        assert!(!Type::Share.rejects("25%"));
    }
}
