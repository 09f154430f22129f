//! The lists of our kinds and of Kubernetes's own that kustomize merges by name.
//!
//! A file given as `openapi: {path: …}` takes the place of what kustomize knows itself, for the
//! rest of the build and in all of its kustomizations. So the merge keys of Kubernetes are here
//! once more, or a patch of a Deployment would replace its containers.

use serde_json::{Map, Value, json};

use crate::schema::kind::{Kind, VERSION};
use krm_template::template::OPENSHIFT_GROUP;

const MAP_KEYS: &str = "x-kubernetes-list-map-keys";

/// The document for kustomize's `openapi: {path: …}`.
pub(super) fn openapi(kinds: &[Kind]) -> Value {
    let ours = kinds.iter().flat_map(|kind| {
        let schema = merged(&kind.structural);
        versions(kind)
            .into_iter()
            .filter_map(move |(group, version)| Some((group, version, kind.name, schema.clone()?)))
    });
    let mut definitions: Map<String, Value> = ours.chain(kubernetes()).map(definition).collect();
    definitions.insert("PodSpec".to_owned(), pod_spec());
    definitions.insert("Container".to_owned(), container());
    json!({ "definitions": definitions })
}

/// The groups and versions that a kind is read in.
fn versions(kind: &Kind) -> Vec<(&'static str, &'static str)> {
    let own = (kind.group, VERSION);
    match kind.name {
        "Template" => vec![own, (OPENSHIFT_GROUP, "v1"), ("", "v1")],
        _ => vec![own],
    }
}

/// The name and the schema that kustomize finds a kind by.
fn definition((group, version, kind, mut schema): (&str, &str, &str, Value)) -> (String, Value) {
    let name = format!("{group}.{version}.{kind}");
    if let Some(fields) = schema.as_object_mut() {
        fields.insert(
            "x-kubernetes-group-version-kind".to_owned(),
            json!([{ "group": group, "version": version, "kind": kind }]),
        );
    }
    (name.trim_start_matches('.').to_owned(), schema)
}

/// The parts of a schema that lead to lists merged by key; none if there are none.
fn merged(schema: &Value) -> Option<Value> {
    if let Some(key) = schema.pointer(&format!("/{MAP_KEYS}/0")).and_then(Value::as_str) {
        let items = schema.get("items").and_then(merged);
        return Some(list(&[key], &items.unwrap_or_else(plain)));
    }
    let properties: Map<String, Value> = schema
        .get("properties")?
        .as_object()?
        .iter()
        .filter_map(|(name, property)| Some((name.clone(), merged(property)?)))
        .collect();
    (!properties.is_empty()).then(|| json!({ "type": "object", "properties": properties }))
}

/// Kubernetes's kinds with lists to merge: group, version, kind and schema.
fn kubernetes() -> Vec<(&'static str, &'static str, &'static str, Value)> {
    let reference = || json!({ "$ref": "#/definitions/PodSpec" });
    let pod = || fields([("spec", reference())]);
    let template = || fields([("template", pod())]);
    let workload = || fields([("spec", template())]);
    let cron_job = || fields([("spec", fields([("jobTemplate", workload())]))]);
    let service = || fields([("spec", fields([("ports", named(&["port", "protocol"]))]))]);
    let webhooks = || fields([("webhooks", named(&["name"]))]);
    let hooks = "admissionregistration.k8s.io";
    vec![
        ("", "v1", "Pod", pod()),
        ("", "v1", "PodTemplate", template()),
        ("", "v1", "ReplicationController", workload()),
        ("", "v1", "Service", service()),
        ("", "v1", "ServiceAccount", fields([("secrets", named(&["name"]))])),
        ("apps", "v1", "DaemonSet", workload()),
        ("apps", "v1", "Deployment", workload()),
        ("apps", "v1", "ReplicaSet", workload()),
        ("apps", "v1", "StatefulSet", workload()),
        ("batch", "v1", "CronJob", cron_job()),
        ("batch", "v1", "Job", workload()),
        ("batch", "v1beta1", "CronJob", cron_job()),
        (hooks, "v1", "MutatingWebhookConfiguration", webhooks()),
        (hooks, "v1", "ValidatingWebhookConfiguration", webhooks()),
    ]
}

fn pod_spec() -> Value {
    let containers = || list(&["name"], &json!({ "$ref": "#/definitions/Container" }));
    fields([
        ("containers", containers()),
        ("initContainers", containers()),
        ("ephemeralContainers", containers()),
        ("volumes", named(&["name"])),
        ("imagePullSecrets", named(&["name"])),
        ("hostAliases", named(&["ip"])),
        ("topologySpreadConstraints", named(&["topologyKey", "whenUnsatisfiable"])),
    ])
}

fn container() -> Value {
    fields([
        ("env", named(&["name"])),
        ("ports", named(&["containerPort", "protocol"])),
        ("volumeMounts", named(&["mountPath"])),
        ("volumeDevices", named(&["devicePath"])),
    ])
}

fn fields<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let properties = Map::from_iter(fields.map(|(name, schema)| (name.to_owned(), schema)));
    json!({ "type": "object", "properties": properties })
}

/// An object without such lists.
fn plain() -> Value {
    json!({ "type": "object" })
}

/// A list merged by `keys` whose items have no such list in them.
fn named(keys: &[&str]) -> Value {
    list(keys, &plain())
}

/// A list of which kustomize takes items with equal `keys` for the same. Where there are several,
/// it goes by the first one if an item does not have them all.
fn list(keys: &[&str], items: &Value) -> Value {
    let mut list = json!({
        "type": "array",
        "items": items,
        "x-kubernetes-patch-strategy": "merge",
        "x-kubernetes-patch-merge-key": keys.first(),
    });
    if let (2.., Some(fields)) = (keys.len(), list.as_object_mut()) {
        fields.insert(MAP_KEYS.to_owned(), json!(keys));
        fields.insert("x-kubernetes-list-type".to_owned(), "map".into());
    }
    list
}
