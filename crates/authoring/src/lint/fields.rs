//! Rules about fields for which Kubernetes requires a type.
//!
//! The table is small on purpose: fields that templates set, of kinds in every cluster. It omits
//! fields that accept several types, such as `targetPort` or `cpu`.

use crate::lint::context::{Context, place};
use krm_core::identity::{group, is_built_in};
use krm_core::pods;
use krm_template_engine::{Dialect, Object, ParameterType, Part, Path, parts};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Scalar, View};

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    String,
    Number,
    Bool,
}

/// Fields by their path in the object. Lists are traversed, `*` is any key.
type Fields = &'static [(&'static [&'static str], Type)];

use Type::{Bool, Number, String as Text};

/// Fields of objects of every kind.
const METADATA: Fields = &[
    (&["metadata", "labels", "*"], Text),
    (&["metadata", "annotations", "*"], Text),
];

/// Of a `spec` with pods in it.
const POD_TEMPLATE: Fields = &[
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
        ],
    ),
    (
        &["Service"],
        &[
            (&["spec", "ports", "name"], Text),
            (&["spec", "ports", "port"], Number),
            (&["spec", "ports", "nodePort"], Number),
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
    (&["ConfigMap"], &[(&["data", "*"], Text)]),
    (
        &["Secret"],
        &[(&["data", "*"], Text), (&["stringData", "*"], Text)],
    ),
];

/// Of the specification of pods.
const POD: Fields = &[
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

/// Fields of a container in a pod.
const CONTAINER: Fields = &[
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

/// Of the probes of a container.
const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];
const PROBE: Fields = &[
    (&["initialDelaySeconds"], Number),
    (&["periodSeconds"], Number),
    (&["timeoutSeconds"], Number),
    (&["successThreshold"], Number),
    (&["failureThreshold"], Number),
];

pub(super) fn string_expected(context: &Context<'_>, object: &Object<'_>, found: &mut Diagnostics) {
    check(Text, context, object, found);
}

pub(super) fn number_expected(context: &Context<'_>, object: &Object<'_>, found: &mut Diagnostics) {
    check(Number, context, object, found);
}

pub(super) fn bool_expected(context: &Context<'_>, object: &Object<'_>, found: &mut Diagnostics) {
    check(Bool, context, object, found);
}

/// Reports fields that must be `expected` and have another type.
fn check(expected: Type, context: &Context<'_>, object: &Object<'_>, found: &mut Diagnostics) {
    let is_secret = is_secret(object);
    each_field(object, &mut |value, path, kind| {
        if kind == expected
            && let Some(actual) = type_of(context, object, value)
            && actual != expected
        {
            let shown = if is_secret {
                format!("a {}", actual.noun())
            } else {
                shown(context, value, actual)
            };
            found.push(
                Diagnostic::error(format!(
                    "`{}` must be {}, found {shown}",
                    path.key().unwrap_or_else(|| parent_key(path)),
                    expected.with_article(),
                ))
                .at(place(&object.look(), value))
                .conceal(is_secret)
                .field(path.to_string())
                .maybe_hint(hint(context, object, value, expected)),
            );
        }
    });
}

/// Whether the content of an object must not be shown.
fn is_secret(object: &Object<'_>) -> bool {
    object.value.str_at(&["kind"]) == Some("Secret")
}

impl Type {
    const fn with_article(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Number => "a number",
            Self::Bool => "`true` or `false`",
        }
    }

    const fn noun(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Bool => "bool",
        }
    }
}

fn parent_key<'p>(path: &Path<'p>) -> &'p str {
    match path {
        Path::Index(list, _) => list.key().unwrap_or("item"),
        _ => "item",
    }
}

/// Values longer than this are not shown.
const LONG: usize = 60;

fn shown(context: &Context<'_>, value: View<'_>, actual: Type) -> String {
    let noun = actual.noun();
    match value.scalar() {
        Some(Scalar::Bool(flag)) => format!("the {noun} `{flag}`"),
        Some(Scalar::Number(digits)) if digits.len() <= LONG => {
            format!("the {noun} `{digits}`")
        }
        Some(Scalar::String(text))
            if text.len() <= LONG && context.is_known(&text) && actual == Type::String =>
        {
            format!("the {noun} `{text}`")
        }
        _ => format!("a {noun}"),
    }
}

/// The type of a field's value; `None` if it is unknown or there is no value.
fn type_of(context: &Context<'_>, object: &Object<'_>, value: View<'_>) -> Option<Type> {
    match value.scalar()? {
        Scalar::Bool(_) => Some(Type::Bool),
        Scalar::Number(_) => Some(Type::Number),
        Scalar::String(text) if context.is_known(&text) => Some(Type::String),
        Scalar::String(_) => type_of_unknown(context, object, value),
        Scalar::Null => None,
    }
}

/// The type of a text with remaining references, from the references and their parameters.
fn type_of_unknown(context: &Context<'_>, object: &Object<'_>, value: View<'_>) -> Option<Type> {
    let node = object.document.cursor(value.origin()?);
    let text = node.text().ok()??;
    let dialect = context.template.dialect();
    let mut raw = Vec::new();
    for part in parts(&text, dialect) {
        let (name, is_raw) = match part {
            Part::String { name, .. } => (name, false),
            Part::Raw { name, .. } => (name, true),
            Part::Text(_) | Part::Escaped { .. } | Part::Foreign { .. } => continue,
        };
        let parameters = context.template.parameters();
        // Another rule reports undeclared parameters.
        let declared = parameters.iter().find(|one| one.name == name)?;
        if !is_raw {
            return Some(Type::String);
        }
        raw.push(declared.kind);
    }
    match raw.as_slice() {
        [ParameterType::Bool] => Some(Type::Bool),
        [ParameterType::Int | ParameterType::Number] => Some(Type::Number),
        _ => None,
    }
}

/// The hint how to write the value.
fn hint(
    context: &Context<'_>,
    object: &Object<'_>,
    value: View<'_>,
    expected: Type,
) -> Option<String> {
    let node = object.document.cursor(value.origin()?);
    let written = node.text().ok()??;
    let dialect = context.template.dialect();
    let parts: Vec<Part<'_>> = parts(&written, dialect).collect();
    match (parts.as_slice(), expected) {
        ([Part::Raw { name, .. }], Type::String) => {
            let reference = string_reference(dialect, name);
            Some(format!("`{reference}` inserts a string"))
        }
        ([Part::String { name, .. }], Type::Number | Type::Bool) => {
            let reference = raw_reference(dialect, name);
            Some(format!(
                "`{reference}` inserts the value as a number or a bool"
            ))
        }
        ([Part::Text(_)], Type::String) if is_secret(object) => Some("put it in quotes".to_owned()),
        ([Part::Text(_)], Type::String) => Some(format!("put it in quotes: `\"{}\"`", node.raw())),
        ([Part::Text(text)], Type::Number) if text.parse::<f64>().is_ok() => {
            Some(format!("write it without quotes: `{text}`"))
        }
        ([Part::Text(text @ ("true" | "false"))], Type::Bool) => {
            Some(format!("write it without quotes: `{text}`"))
        }
        _ => None,
    }
}

fn string_reference(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::Proposal => format!("$({name})"),
        Dialect::OpenShift => format!("${{{name}}}"),
    }
}

fn raw_reference(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::Proposal => format!("$(({name}))"),
        Dialect::OpenShift => format!("\"${{{{{name}}}}}\""),
    }
}

/// Visits a field: its value, its path, and the required type.
type Visit<'f> = dyn FnMut(View<'_>, &Path<'_>, Type) + 'f;

/// Visits all fields of the table that an object has.
fn each_field(object: &Object<'_>, visit: &mut Visit<'_>) {
    let root = Path::Root(&object.field);
    let value = View::from(&object.value);
    each(value, &root, METADATA, visit);
    let kind = object.value.str_at(&["kind"]).unwrap_or_default();
    if !is_built_in(group(
        object.value.str_at(&["apiVersion"]).unwrap_or_default(),
    )) {
        return;
    }
    for (kinds, fields) in KINDS {
        if kinds.contains(&kind) {
            each(value, &root, fields, visit);
        }
    }
    pods_of(kind, value, &root, visit);
}

/// The fields of the pods that an object has or creates.
fn pods_of(kind: &str, object: View<'_>, root: &Path<'_>, visit: &mut Visit<'_>) {
    if let Some(maker) = pods::maker(kind) {
        follow(object, maker, root, &mut |spec, path| {
            each(spec, path, POD_TEMPLATE, visit);
        });
    }
    if let Some(spec) = pods::spec(kind) {
        follow(object, spec, root, &mut |spec, path| {
            pod(spec, path, visit);
        });
    }
}

fn pod(spec: View<'_>, path: &Path<'_>, visit: &mut Visit<'_>) {
    each(spec, path, POD, visit);
    for list in ["containers", "initContainers"] {
        follow(spec, &[list], path, &mut |container, path| {
            each(container, path, CONTAINER, visit);
            for probe in PROBES {
                follow(container, &[probe], path, &mut |probe, path| {
                    each(probe, path, PROBE, visit);
                });
            }
        });
    }
}

fn each(value: View<'_>, path: &Path<'_>, fields: Fields, visit: &mut Visit<'_>) {
    for (keys, kind) in fields {
        follow(value, keys, path, &mut |value, path| {
            visit(value, path, *kind);
        });
    }
}

/// Visits all values under `keys`.
pub(super) fn follow(
    value: View<'_>,
    keys: &[&str],
    path: &Path<'_>,
    found: &mut dyn FnMut(View<'_>, &Path<'_>),
) {
    if let Some(items) = value.items() {
        for (index, item) in items.enumerate() {
            follow(item, keys, &Path::Index(path, index), found);
        }
        return;
    }
    match keys {
        [] => found(value, path),
        ["*", rest @ ..] => {
            for (name, value) in value.entries().into_iter().flatten() {
                follow(value, rest, &Path::Key(path, &name), found);
            }
        }
        [key, rest @ ..] => {
            if let Some(value) = value.get(key) {
                follow(value, rest, &Path::Key(path, key), found);
            }
        }
    }
}
