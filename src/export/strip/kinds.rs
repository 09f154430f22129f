//! Strips the fields that the cluster sets in objects of single kinds.

use crate::export::cluster::Cluster;
use crate::export::fields::kinds::{
    CONTAINER_DEFAULTS, DEFAULTS, FAMILY, INJECTIONS, Item, Known, POD_DEFAULTS, POD_ROWS,
    PROBE_DEFAULTS, PROBES, ROWS, Row, When,
};
use crate::export::options::Options;
use crate::export::strip::evidence::Evidence;
use crate::export::visit::{self, at_mut, each_container};
use crate::krm::pods;
use krm_yaml::{Data, Scalar, Value};

/// The options and facts on which the fields of an object depend.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Facts<'f> {
    kind: &'f str,
    name: String,
    /// The service account of its pods.
    account: String,
    is_scaled: bool,
    is_manual: bool,
    is_injected: bool,
    has_generated_host: bool,
    is_token: bool,
    evidence: Evidence,
    options: &'f Options,
}

impl<'f> Facts<'f> {
    pub(super) fn of(
        object: &Value<'_>,
        kind: &'f str,
        cluster: &Cluster,
        options: &'f Options,
    ) -> Self {
        let text = |keys: &[&str]| object.str_at(keys).unwrap_or_default();
        let annotation = |key: &str| object.str_at(&["metadata", "annotations", key]);
        let name = text(&["metadata", "name"]).to_owned();
        let pod = pods::pod(kind).unwrap_or_default();
        let account = [pod.as_slice(), &["spec", "serviceAccountName"]].concat();
        let account = object
            .str_at(&account)
            .filter(|_| pods::pod(kind).is_some());
        Self {
            kind,
            account: account.unwrap_or("default").to_owned(),
            is_scaled: cluster.is_scaled(kind, text(&["metadata", "namespace"]), &name),
            is_manual: object.at(&["spec", "manualSelector"]) == Some(&Value::from(true)),
            is_injected: INJECTIONS.iter().any(|key| annotation(key).is_some()),
            has_generated_host: annotation("openshift.io/host.generated") == Some("true"),
            is_token: text(&["type"]) == "kubernetes.io/service-account-token",
            evidence: Evidence::of(object),
            name,
            options,
        }
    }

    /// Strips an object.
    pub(super) fn strip(&self, object: &mut Value<'_>, say: &mut dyn FnMut(String)) {
        let pod = pods::pod(self.kind);
        let spec = pod.map(|pod| [pod.as_slice(), &["spec"]].concat());
        self.rows(object, ROWS, &[], say);
        if let Some(path) = &spec
            && let Some(spec) = at_mut(object, path)
        {
            self.rows(spec, POD_ROWS, path, say);
        }
        self.codes(object, say);
        if self.options.keeps_defaults {
            return;
        }
        self.rows(object, DEFAULTS, &[], say);
        if let Some(path) = &spec
            && let Some(spec) = at_mut(object, path)
        {
            self.defaults_of_pod(spec, path, say);
        }
    }

    fn defaults_of_pod(&self, spec: &mut Value<'_>, path: &[&str], say: &mut dyn FnMut(String)) {
        self.rows(spec, POD_DEFAULTS, path, say);
        let below = |key: &'static str| [path, &[key]].concat();
        each_container(spec, &mut |container| {
            self.rows(container, CONTAINER_DEFAULTS, &below("containers"), say);
            for probe in PROBES {
                if let Some(field) = container.get_mut(probe) {
                    let path = [below("containers").as_slice(), &[*probe]].concat();
                    self.rows(field, PROBE_DEFAULTS, &path, say);
                }
            }
        });
    }

    fn rows(
        &self,
        value: &mut Value<'_>,
        rows: &[Row],
        prefix: &[&str],
        say: &mut dyn FnMut(String),
    ) {
        for row in rows {
            let is_meant = row.kinds.is_empty() || row.kinds.contains(&self.kind);
            if !is_meant || self.options.keeps(prefix, row.path) {
                continue;
            }
            if let When::Items(items) = row.when {
                visit::remove_items(value, row.path, &|item| self.is_added(items, item));
                continue;
            }
            visit::remove(value, row.path, &mut |parent, field| {
                self.drops(row, parent, field, say)
            });
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
                let one = field.items().and_then(<[_]>::first).unwrap_or(field);
                one.as_str() != Some(text)
            }
            When::Like(other) => parent.get(other) == Some(field),
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

    /// Whether the cluster added an item of a list.
    fn is_added(&self, items: Item, item: &Value<'_>) -> bool {
        let name = item.str_at(&["name"]).unwrap_or_default();
        let begins = |start: &str| name.starts_with(start);
        match items {
            Item::TokenVolume => {
                begins("kube-api-access-")
                    || begins("default-token-")
                    || begins(&format!("{}-token-", self.account))
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
    fn codes(&self, object: &mut Value<'_>, say: &mut dyn FnMut(String)) {
        match self.kind {
            "Secret" if self.is_token => {
                for key in ["token", "ca.crt", "service-ca.crt", "namespace"] {
                    if !self.options.keeps(&["data"], key) {
                        visit::remove(object, &format!("data/{key}"), &mut |_, _| true);
                    }
                }
                visit::remove(object, "data", &mut |_, data| {
                    data.entries().is_some_and(<[_]>::is_empty)
                });
            }
            "Route" if self.has_generated_host && !self.options.keeps(&[], "spec/host") => {
                if let Some(metadata) = object.get_mut("metadata") {
                    if let Some(annotations) = metadata.get_mut("annotations") {
                        annotations.remove("openshift.io/host.generated");
                    }
                    crate::krm::annotations::remove_empty(metadata, "annotations");
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
        let Some(pod) = pods::pod(self.kind) else {
            return;
        };
        let Some(applied) = self.evidence.containers(&pod) else {
            return;
        };
        let Some(spec) = object.at(&[pod.as_slice(), &["spec"]].concat()) else {
            return;
        };
        for list in ["initContainers", "containers"] {
            let containers = spec.get(list).and_then(Value::items).unwrap_or_default();
            let names = containers.iter().filter_map(|one| one.str_at(&["name"]));
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
        match (self, &value.data) {
            (Self::Text(text), _) => value.as_str() == Some(text),
            (Self::Number(digits), Data::Scalar(Scalar::Number(own))) => own == digits,
            (Self::True, Data::Scalar(Scalar::Bool(flag))) => *flag,
            (Self::False, Data::Scalar(Scalar::Bool(flag))) => !flag,
            (Self::Empty, Data::Mapping(entries)) => entries.is_empty(),
            (Self::Fields(fields), Data::Mapping(entries)) => {
                !entries.is_empty()
                    && entries.iter().all(|(key, value)| {
                        let mut known = fields.iter();
                        known.any(|(name, known)| key == name && known.is(value))
                    })
            }
            (Self::One(text), Data::Sequence(items)) => {
                matches!(items.as_slice(), [one] if one.as_str() == Some(text))
            }
            _ => false,
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

/// An image that a trigger fills in goes back to one blank.
fn blank_images(object: &mut Value<'_>) {
    let triggers = object.at(&["spec", "triggers"]).and_then(Value::items);
    let mut filled: Vec<String> = Vec::new();
    for trigger in triggers.unwrap_or_default() {
        let Some(params) = trigger.get("imageChangeParams") else {
            continue;
        };
        let names = params.get("containerNames").and_then(Value::items);
        let names = names.unwrap_or_default().iter().filter_map(Value::as_str);
        filled.extend(names.map(str::to_owned));
    }
    let Some(spec) = at_mut(object, &["spec", "template", "spec"]) else {
        return;
    };
    each_container(spec, &mut |container| {
        let name = container.str_at(&["name"]).unwrap_or_default();
        if filled.iter().any(|one| one == name)
            && let Some(image) = container.get_mut("image")
        {
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
        for image in [
            "web:1",
            "example.org:5000/web:1",
            "web@sha256:00",
            "a/web:1@sha256:00",
        ] {
            assert_eq!(policy_of(image), "IfNotPresent", "{image}");
        }
    }
}
