//! Strips the fields that the cluster sets in objects of single kinds.

use std::borrow::Cow;

use crate::fields::kinds::{FAMILY, INJECTIONS, Item, Known, Row, When};
use crate::options::Options;
use crate::read::cluster::Cluster;
use crate::strip::evidence::Evidence;
use crate::strip::system;
use crate::strip::tables::{Action, Table};
use crate::visit::{self, each_container};
use krm_core::annotations::remove_empty;
use krm_core::identity::{Identity, is_built_in};
use krm_core::pods;
use krm_yaml::{Scalar, Value};

/// The options and facts on which the fields of an object depend.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Facts<'f> {
    kind: &'f str,
    name: &'f str,
    /// The service account of its pods, if it names one.
    account: Option<String>,
    is_scaled: bool,
    is_manual: bool,
    is_injected: bool,
    has_generated_host: bool,
    is_token: bool,
    evidence: Evidence,
    options: &'f Options,
}

impl<'f> Facts<'f> {
    /// Of an object that was not stripped yet.
    pub(super) fn of(
        (object, identity): (&Value<'_>, &'f Identity),
        table: &Table,
        cluster: &Cluster,
        options: &'f Options,
    ) -> Self {
        let Identity { kind, namespace, name, .. } = identity;
        let metadata = object.get("metadata");
        let annotations = metadata.and_then(|metadata| metadata.get("annotations"));
        let annotation = |key: &str| annotations?.get(key)?.as_str();
        let is_true = |field: &Value<'_>| field.scalar() == Some(&Scalar::Bool(true));
        let account = || {
            let names_tokens = table.asks(|when| matches!(when, When::Items(Item::TokenVolume)));
            let spec = pods::spec(kind).filter(|_| names_tokens)?;
            object.at(spec)?.str_at(&["serviceAccountName"])
        };
        let manual = || object.at(system::job(kind)?)?.get("manualSelector");
        let allocates = table.asks(|when| matches!(when, When::Allocated));
        let has_containers =
            !options.exact && is_built_in(&identity.group) && pods::spec(kind).is_some();
        let applied = annotations.filter(|_| allocates || has_containers);
        Self {
            kind,
            name,
            account: account().map(str::to_owned),
            is_scaled: table.asks(|when| matches!(when, When::Scaled))
                && cluster.is_scaled(kind, namespace, name),
            is_manual: manual().is_some_and(is_true),
            is_injected: table.asks(|when| matches!(when, When::Injected))
                && INJECTIONS.iter().any(|key| annotation(key).is_some()),
            has_generated_host: kind == "Route"
                && annotation("openshift.io/host.generated") == Some("true"),
            is_token: kind == "Secret"
                && object.str_at(&["type"]) == Some("kubernetes.io/service-account-token"),
            evidence: Evidence::of(object, (metadata, applied), allocates),
            options,
        }
    }

    /// Drops the fields that the cluster sets. `say` takes a line of the report for each field that
    /// somebody may miss.
    pub(super) fn strip(&self, object: &mut Value<'_>, table: &Table, say: &mut dyn FnMut(String)) {
        table.fields.each(object, &mut |parent, key, action| match action {
            Action::Drop => drop(parent.remove(key)),
            Action::Row(row) => self.row(parent, key, row, say),
            Action::PodLabels => {
                if let Some(labels) = parent.get_mut(key) {
                    system::pod_labels(labels, self.options);
                }
            }
            Action::PodAnnotations => system::pod_annotations(parent, self.options),
            Action::JobLabels if self.is_manual => {}
            Action::JobLabels => system::job_labels(parent, self.options),
        });
    }

    fn row(&self, parent: &mut Value<'_>, key: &str, row: &Row, say: &mut dyn FnMut(String)) {
        let Some(field) = parent.get(key) else {
            return;
        };
        if let When::Items(items) = row.when {
            if self.are_added(items, field) {
                parent.remove(key);
            } else if let Some(list) = parent.get_mut(key).and_then(Value::items_mut) {
                list.retain(|item| !self.is_added(items, item));
            }
        } else if self.drops(row, parent, field, say) {
            parent.remove(key);
        }
    }

    fn drops(
        &self,
        row: &Row,
        parent: &Value<'_>,
        field: &Value<'_>,
        say: &mut dyn FnMut(String),
    ) -> bool {
        match row.when {
            When::Always => true,
            When::Is(known) => known.is(field),
            When::IsNot(text) => {
                let first = field.items().and_then(<[_]>::first);
                first.unwrap_or(field).as_str() != Some(text)
            }
            When::Like(other) => parent.get(other).is_some_and(|other| other == field),
            When::OneFamily => {
                let policy = parent.str_at(&["ipFamilyPolicy"]);
                FAMILY.is(field) && policy.is_none_or(|policy| policy == "SingleStack")
            }
            When::Allocated => {
                let drops = !self.evidence.shows_choice(parent, field);
                if drops && !self.evidence.is_some() {
                    let path = row.path.replace('/', ".");
                    say(format!(
                        "dropped `{path}`, {}: nothing shows whether somebody chose it; `--keep {}` keeps it",
                        field.to_json(),
                        row.path.rsplit('/').next().unwrap_or_default()
                    ));
                }
                drops
            }
            When::Scaled => self.is_scaled,
            When::PolicyOfTag => {
                let image = parent.str_at(&["image"]).unwrap_or_default();
                field.as_str() == Some(policy_of(image))
            }
            When::NotManual => !self.is_manual,
            When::Injected => self.is_injected,
            When::GeneratedHost => self.has_generated_host,
            When::Items(_) | When::Token => false,
        }
    }

    /// Whether the cluster added all items of a list.
    fn are_added(&self, items: Item, list: &Value<'_>) -> bool {
        let all = list.items().unwrap_or_default();
        !all.is_empty() && all.iter().all(|item| self.is_added(items, item))
    }

    /// Whether the cluster added an item of a list.
    fn is_added(&self, items: Item, item: &Value<'_>) -> bool {
        let name = item.str_at(&["name"]).unwrap_or_default();
        let begins = |start: &str| name.starts_with(start);
        match items {
            Item::TokenVolume => {
                let account = self.account.as_deref();
                begins("kube-api-access-")
                    || begins("default-token-")
                    || account.is_some_and(|account| begins(&format!("{account}-token-")))
            }
            Item::NodeToleration => {
                let key = item.str_at(&["key"]);
                let is_node = matches!(
                    key,
                    Some("node.kubernetes.io/not-ready" | "node.kubernetes.io/unreachable")
                );
                let seconds = item.get("tolerationSeconds");
                is_node
                    && item.str_at(&["effect"]) == Some("NoExecute")
                    && seconds.is_some_and(|seconds| Known::Number("300").is(seconds))
            }
            Item::AccountSecret => {
                begins(&format!("{}-token-", self.name))
                    || begins(&format!("{}-dockercfg-", self.name))
            }
        }
    }

    /// Rules that do not fit into a table of fields.
    pub(super) fn codes(&self, object: &mut Value<'_>, say: &mut dyn FnMut(String)) {
        match self.kind {
            "Secret" if self.is_token => {
                for key in ["token", "ca.crt", "service-ca.crt", "namespace"] {
                    if !self.options.keeps(&["data"], key)
                        && let Some(data) = object.get_mut("data")
                    {
                        data.remove(key);
                    }
                }
                remove_empty(object, "data");
            }
            "Route" if self.has_generated_host && !self.options.keeps(&[], "spec/host") => {
                if let Some(metadata) = object.get_mut("metadata") {
                    if let Some(annotations) = metadata.get_mut("annotations") {
                        annotations.remove("openshift.io/host.generated");
                    }
                    remove_empty(metadata, "annotations");
                }
            }
            "DeploymentConfig" => blank_images(object),
            "ImageStream" => imported_images(object),
            "PersistentVolumeClaim" => {
                for field in ["dataSource", "dataSourceRef"] {
                    if object.at(&["spec", field]).is_some() {
                        say(format!(
                            "kept `spec.{field}`: it must exist where the Template is used"
                        ));
                    }
                }
            }
            _ => {}
        }
        self.added_containers(object, say);
    }

    /// Reports containers that `kubectl apply` did not send.
    fn added_containers(&self, object: &Value<'_>, say: &mut dyn FnMut(String)) {
        let Some(path) = pods::spec(self.kind) else {
            return;
        };
        let Some(applied) = self.evidence.containers(path) else {
            return;
        };
        let Some(spec) = object.at(path) else {
            return;
        };
        for list in ["initContainers", "containers"] {
            let containers = spec.get(list).and_then(Value::items).into_iter().flatten();
            let names = containers.filter_map(|one| one.str_at(&["name"]));
            for name in names.filter(|name| !applied.contains(name)) {
                say(format!(
                    "kept the container `{name}`, which `kubectl apply` did not send: a webhook may add it"
                ));
            }
        }
    }
}

impl Known {
    /// Whether a value is this one.
    pub(crate) fn is(self, value: &Value<'_>) -> bool {
        match self {
            Self::Text(text) => value.as_str() == Some(text),
            Self::Number(digits) => {
                matches!(value.scalar(), Some(Scalar::Number(own)) if own == digits)
            }
            Self::True => value.scalar() == Some(&Scalar::Bool(true)),
            Self::False => value.scalar() == Some(&Scalar::Bool(false)),
            Self::Empty => value.entries().is_some_and(<[_]>::is_empty),
            Self::Fields(fields) => {
                let is_known = |(key, value): &(Cow<'_, str>, Value<'_>)| {
                    let mut known = fields.iter();
                    known.any(|(name, known)| key == *name && known.is(value))
                };
                let entries = value.entries().unwrap_or_default();
                !entries.is_empty() && entries.iter().all(is_known)
            }
            Self::One(text) => {
                let is_text =
                    |items: &[Value<'_>]| matches!(items, [one] if one.as_str() == Some(text));
                value.items().is_some_and(is_text)
            }
        }
    }
}

/// The policy that the API server fills in for an image.
fn policy_of(image: &str) -> &'static str {
    let (name, digest) = image.split_once('@').unzip();
    let name = name.unwrap_or(image);
    let last = name.rsplit('/').next().unwrap_or_default();
    let tag = last.split_once(':').map(|(_, tag)| tag);
    match (tag, digest) {
        (Some("latest"), _) | (None, None) => "Always",
        _ => "IfNotPresent",
    }
}

/// An image that a trigger fills in goes back to one space.
fn blank_images(object: &mut Value<'_>) {
    let triggers = object.at(&["spec", "triggers"]).and_then(Value::items);
    let mut filled: Vec<String> = Vec::new();
    for trigger in triggers.into_iter().flatten() {
        let Some(params) = trigger.get("imageChangeParams") else {
            continue;
        };
        let names = params.get("containerNames").and_then(Value::items);
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        filled.extend(names.map(str::to_owned));
    }
    let Some(spec) = object.at_mut(&["spec", "template", "spec"]) else {
        return;
    };
    each_container(spec, &mut |container| {
        let name = container.str_at(&["name"]).unwrap_or_default();
        let is_filled = filled.iter().any(|one| *one == name);
        if is_filled && let Some(image) = container.get_mut("image") {
            image.set(Value::string(" ").data);
        }
    });
}

/// A tag whose image is in the internal registry goes back to where it was imported from.
fn imported_images(object: &mut Value<'_>) {
    visit::each(object, "spec/tags", &mut |tags| {
        for tag in tags.items_mut().into_iter().flatten() {
            let imported = tag.str_at(&["annotations", "openshift.io/imported-from"]);
            let Some(imported) = imported.map(str::to_owned) else {
                continue;
            };
            let kind = tag.str_at(&["from", "kind"]);
            let name = tag.str_at(&["from", "name"]).unwrap_or_default();
            let is_internal = name.starts_with("image-registry.openshift-image-registry.svc")
                || name.starts_with("docker-registry.default.svc")
                || name.starts_with("172.30.");
            let is_local =
                kind == Some("ImageStreamImage") || kind == Some("DockerImage") && is_internal;
            if is_local {
                let from = [("kind", "DockerImage".to_owned()), ("name", imported)];
                let from = from.map(|(key, text)| (key.into(), Value::string(text)));
                tag.insert("from".into(), Value::mapping(from.into()));
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::policy_of;

    #[test]
    fn the_policy_depends_on_the_tag() {
        for image in ["web", "example.org:5000/web", "web:latest", "a/b:latest"] {
            assert_eq!(policy_of(image), "Always", "{image}");
        }
        for image in ["web:1", "example.org:5000/web:1", "web@sha256:00", "a/web:1@sha256:00"] {
            assert_eq!(policy_of(image), "IfNotPresent", "{image}");
        }
    }
}
