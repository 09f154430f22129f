//! Objects to apply, and the steps of a change.

use std::collections::BTreeMap;
use std::future::Future;

use krm_core::visible::hex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use krm_template_server_core::Result;

/// The deployment that owns objects in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The kind of the owner.
    pub kind: String,
    /// The namespace of the owner, and the default namespace of its objects.
    pub namespace: String,
    /// The name of the owner.
    pub name: String,
}

/// An object to apply, or a `v1` `List` of objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Object(pub Value);

/// The group, kind, namespace and name of an object.
pub type Key<'k> = (&'k str, &'k str, &'k str, &'k str);

/// An object that was applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recorded {
    /// The API version with which it was applied.
    pub api_version: String,
    /// The field `kind` of the object.
    pub kind: String,
    /// The namespace; empty for a cluster-scoped object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The field `metadata.name` of the object.
    pub name: String,
    /// The uid, which distinguishes it from other objects of the same name; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
}

impl Recorded {
    /// Creates a reference to an object, without a uid.
    pub fn new(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        let [api_version, kind, namespace, name] =
            [api_version, kind, namespace, name].map(str::to_owned);
        Self { api_version, kind, namespace, name, uid: String::new() }
    }

    /// Returns the identity of an object, without its uid.
    pub fn of(object: &Value) -> Self {
        let [api_version, kind, namespace, name] =
            ["/apiVersion", "/kind", "/metadata/namespace", "/metadata/name"]
                .map(|path| object.pointer(path).and_then(Value::as_str).unwrap_or_default());
        Self::new(api_version, kind, namespace, name)
    }

    /// Sets the namespace that the cluster gives to the object.
    pub fn place(&mut self, is_namespaced: bool, default: &str) {
        if !is_namespaced {
            self.namespace.clear();
        } else if self.namespace.is_empty() {
            default.clone_into(&mut self.namespace);
        }
    }

    /// Returns the API group, empty for `v1`.
    pub fn group(&self) -> &str {
        group(&self.api_version)
    }

    /// Returns what identifies the object: group, kind, namespace and name.
    pub fn key(&self) -> Key<'_> {
        (self.group(), &self.kind, &self.namespace, &self.name)
    }

    /// Returns `true` if both have the same group, kind, namespace and name.
    pub fn is_same(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

/// Returns the group of an API version.
pub(super) fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Other objects wait until it is ready.
    Waiting,
    /// It was created or changed.
    Applied,
    /// It was applied without a change.
    Unchanged,
    /// It was deleted from the cluster.
    Deleted,
    /// It did not exist, so nothing was deleted.
    Gone,
    /// It was not deleted, because its kind needs [`Prune::All`].
    Kept,
    /// It was not deleted, because it does not belong to this deployment.
    Foreign,
    /// It could not be changed.
    Failed,
}

/// One step of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The object that the step is about.
    #[serde(flatten)]
    pub object: Recorded,
    /// The result for the object.
    pub what: What,
    /// Details of the result, for people; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// An observer of the steps of a change.
pub trait Progress: Send {
    /// Receives a step. The next step begins when this returns.
    ///
    /// # Errors
    /// If the change must stop.
    fn step(&mut self, step: &Step) -> impl Future<Output = Result<()>> + Send;
}

/// The kinds of objects that are deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prune {
    /// All kinds except Namespaces, PersistentVolumeClaims and CustomResourceDefinitions, whose
    /// deletion deletes other objects or data.
    #[default]
    Default,
    /// All kinds, with the objects and the data that depend on them.
    All,
}

/// The treatment of fields that other managers own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflicts {
    /// The change fails.
    #[default]
    Fail,
    /// The change takes them over.
    Overwrite,
}

/// Returns the objects of a deployment after some steps, in the order in which they were applied.
/// `before` are the objects before the steps.
pub fn record(before: &[Recorded], steps: &[Step]) -> Vec<Recorded> {
    let counts = |what| !matches!(what, What::Waiting | What::Kept | What::Failed);
    let steps = steps.iter().filter(|step| counts(step.what));
    // Only the last step of an object counts.
    let mut last = BTreeMap::new();
    for (index, step) in steps.clone().enumerate() {
        last.insert(step.object.key(), index);
    }
    let untouched = before.iter().filter(|one| !last.contains_key(&one.key()));
    let applied = steps.enumerate().filter(|(index, step)| {
        matches!(step.what, What::Applied | What::Unchanged)
            && last.get(&step.object.key()) == Some(index)
    });
    let applied = applied.map(|(_, step)| &step.object);
    untouched.chain(applied).cloned().collect()
}

/// The annotation that names the owner: `KIND/NAMESPACE/NAME`.
const OWNER: &str = "template.krm.dev/owner";

/// The label that selects all objects of an owner.
const INSTANCE: &str = "template.krm.dev/instance-id";

/// The number of bytes of the hash in the label.
const BYTES: usize = 16;

impl Owner {
    /// Returns the value of the annotation `template.krm.dev/owner`.
    pub fn annotation(&self) -> String {
        format!("{}/{}/{}", self.kind, self.namespace, self.name)
    }

    /// Returns the value of the label `template.krm.dev/instance-id`.
    pub fn instance_id(&self) -> String {
        let hash = Sha256::digest(self.annotation().as_bytes());
        hex(hash.get(..BYTES).unwrap_or_default())
    }

    /// Adds the annotation and the label to an object.
    pub fn mark(&self, metadata: &mut Map<String, Value>) {
        put(metadata, "annotations", OWNER, self.annotation());
        put(metadata, "labels", INSTANCE, self.instance_id());
    }

    /// Removes the annotation and the label if the manifest has them.
    pub(super) fn unmark(metadata: &mut Map<String, Value>) {
        for (field, key) in [("annotations", OWNER), ("labels", INSTANCE)] {
            if let Some(Value::Object(entries)) = metadata.get_mut(field) {
                entries.shift_remove(key);
            }
        }
    }

    /// Returns `true` if a live object belongs to this owner.
    pub fn has(&self, live: &Value) -> bool {
        owner_of(live) == Some(&self.annotation())
    }
}

/// Returns the owner annotation of a live object.
pub fn owner_of(live: &Value) -> Option<&str> {
    let annotations = live.get("metadata")?.get("annotations")?;
    annotations.get(OWNER)?.as_str()
}

/// Adds an entry to a map of the metadata. A value that is not a map is left for the cluster to
/// refuse.
fn put(metadata: &mut Map<String, Value>, field: &str, key: &str, text: String) {
    let entries = metadata.entry(field).or_insert(Value::Null);
    if entries.is_null() {
        *entries = json!({});
    }
    if let Some(entries) = entries.as_object_mut() {
        entries.insert(key.to_owned(), Value::String(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(what: What, name: &str, uid: &str) -> Step {
        let object =
            Recorded { uid: uid.to_owned(), ..Recorded::new("v1", "ConfigMap", "shop", name) };
        Step { object, what, message: String::new() }
    }

    #[test]
    fn a_record_has_the_order_of_the_last_apply() {
        let first = [step(What::Applied, "b", "1"), step(What::Applied, "c", "2")];
        let before = record(&[], &first);
        let second = [
            step(What::Applied, "a", "3"),
            step(What::Applied, "b", "4"),
            step(What::Deleted, "c", "2"),
        ];
        let after = record(&before, &second);
        let found: Vec<(&str, &str)> =
            after.iter().map(|one| (one.name.as_str(), one.uid.as_str())).collect();
        assert_eq!(found, [("a", "3"), ("b", "4")]);
    }
}
