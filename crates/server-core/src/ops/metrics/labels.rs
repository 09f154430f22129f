//! The labels of metrics, and their possible values.

use prometheus_client::encoding::EncodeLabelSet;

use crate::groups::{Group, Kind};

/// The replacement for unknown values.
const OTHER: &str = "other";

const VERBS: [&str; 14] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
    "head",
    "options",
    "post",
    "put",
    "connect",
    "trace",
];
const GROUPS: [&str; 5] = [
    "",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "template.krm.dev",
    "template.openshift.io",
];
const RESOURCES: [&str; 7] = [
    "",
    "processedtemplates",
    "selfsubjectaccessreviews",
    "selfsubjectreviews",
    "selfsubjectrulesreviews",
    "templateinstances",
    "templates",
];
const SUBRESOURCES: [&str; 4] = ["", "processed", "schema", "status"];

/// The labels of a request's metrics. Unknown values become `other`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The Kubernetes verb, such as `list`; for other paths, the HTTP method in lower case.
    pub verb: &'a str,
    /// The API group; empty for other paths.
    pub group: &'a str,
    /// The plural name of the resource; empty for other paths.
    pub resource: &'a str,
    /// The subresource; empty if there is none.
    pub subresource: &'a str,
}

/// The dialect of an expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// A Template of a group.
    Template(Group),
    /// A configuration of Deployment Manager.
    DeploymentManager,
}

/// The outcome of an expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It created its objects without an error.
    Ok,
    /// The Template or the values are invalid.
    Invalid,
    /// It exceeded a size limit.
    Limit,
    /// It exceeded the time limit.
    Timeout,
    /// It failed with an internal error.
    Error,
}

/// An operation of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reading an object by its key.
    Get,
    /// Reading a page of objects.
    List,
    /// Writing an object that does not exist.
    Create,
    /// Writing an object of a known revision.
    Update,
    /// Removing an object of a known revision.
    Delete,
    /// Opening a watch, without its events.
    Watch,
}

/// The labels of counted requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RequestLabels {
    verb: &'static str,
    group: &'static str,
    resource: &'static str,
    subresource: &'static str,
    code: u16,
}

/// The labels of request durations: fewer, because a histogram has many series.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct TimeLabels {
    verb: &'static str,
    group: &'static str,
    resource: &'static str,
    subresource: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ExpansionLabels {
    dialect: &'static str,
    outcome: &'static str,
}

/// The labels of store operations.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct StoreLabels {
    store: &'static str,
    operation: &'static str,
}

/// The labels of stored objects.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ObjectsLabels {
    resource: &'static str,
}

/// The labels of instances.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct InstanceLabels {
    pub(super) group: &'static str,
    pub(super) ready: &'static str,
}

/// The label with the result of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ResultLabels {
    pub(super) result: &'static str,
}

/// The label with the reason of a failed step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ReasonLabels {
    pub(super) reason: &'static str,
}

/// The label with the option that names files.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct OptionLabels {
    pub(super) option: &'static str,
}

impl RequestLabels {
    pub(super) fn new(request: Request<'_>, code: u16) -> Self {
        Self {
            verb: known(&VERBS, request.verb),
            group: known(&GROUPS, request.group),
            resource: known(&RESOURCES, request.resource),
            subresource: known(&SUBRESOURCES, request.subresource),
            code,
        }
    }
}

impl TimeLabels {
    pub(super) const fn new(labels: &RequestLabels) -> Self {
        Self {
            verb: labels.verb,
            group: labels.group,
            resource: labels.resource,
            subresource: labels.subresource,
        }
    }
}

impl ExpansionLabels {
    pub(super) const fn new(dialect: Dialect, outcome: Outcome) -> Self {
        let dialect = match dialect {
            Dialect::Template(Group::Krm) => "proposal",
            Dialect::Template(Group::OpenShift) => "openshift",
            Dialect::DeploymentManager => "deployment-manager",
        };
        let outcome = match outcome {
            Outcome::Ok => "ok",
            Outcome::Invalid => "invalid",
            Outcome::Limit => "limit",
            Outcome::Timeout => "timeout",
            Outcome::Error => "error",
        };
        Self { dialect, outcome }
    }
}

impl StoreLabels {
    pub(super) const fn new(store: &'static str, operation: Operation) -> Self {
        let operation = match operation {
            Operation::Get => "get",
            Operation::List => "list",
            Operation::Create => "create",
            Operation::Update => "update",
            Operation::Delete => "delete",
            Operation::Watch => "watch",
        };
        Self { store, operation }
    }
}

impl ObjectsLabels {
    pub(super) const fn new(group: Group, kind: Kind) -> Self {
        let resource = match (group, kind) {
            (Group::Krm, Kind::Template) => "templates.template.krm.dev",
            (Group::OpenShift, Kind::Template) => "templates.template.openshift.io",
            (Group::Krm, Kind::Instance) => "templateinstances.template.krm.dev",
            (Group::OpenShift, Kind::Instance) => "templateinstances.template.openshift.io",
        };
        Self { resource }
    }
}

fn known(values: &'static [&'static str], value: &str) -> &'static str {
    values.iter().find(|&&one| one == value).copied().unwrap_or(OTHER)
}
