//! Marks of a deployment on its objects.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::types::Owner;

/// The annotation that names the owner: `KIND/NAMESPACE/NAME`.
const OWNER: &str = "template.krm.dev/owner";

/// The label by which all objects of an owner are found.
const INSTANCE: &str = "template.krm.dev/instance-id";

/// How many bytes of the hash are in the label.
const BYTES: usize = 16;

impl Owner {
    /// The value of the annotation `template.krm.dev/owner`.
    #[must_use]
    pub fn annotation(&self) -> String {
        format!("{}/{}/{}", self.kind, self.namespace, self.name)
    }

    /// The value of the label `template.krm.dev/instance-id`.
    #[must_use]
    pub fn instance_id(&self) -> String {
        let hash = Sha256::digest(self.annotation().as_bytes());
        hash.iter()
            .take(BYTES)
            .fold(String::new(), |mut text, byte| {
                // A text takes everything.
                let _ = write!(text, "{byte:02x}");
                text
            })
    }

    /// Puts the marks on an object.
    pub(super) fn mark(&self, metadata: &mut Map<String, Value>) {
        put(metadata, "annotations", OWNER, self.annotation());
        put(metadata, "labels", INSTANCE, self.instance_id());
    }

    /// Takes the marks away that an author has written.
    pub(super) fn unmark(metadata: &mut Map<String, Value>) {
        for (field, key) in [("annotations", OWNER), ("labels", INSTANCE)] {
            if let Some(Value::Object(entries)) = metadata.get_mut(field) {
                entries.shift_remove(key);
            }
        }
    }

    /// Whether an object of the cluster is this owner's.
    pub(super) fn has(&self, live: &Value) -> bool {
        owner_of(live) == Some(&self.annotation())
    }
}

/// The owner that an object of the cluster names.
pub(super) fn owner_of(live: &Value) -> Option<&str> {
    let annotations = live.get("metadata")?.get("annotations")?;
    annotations.get(OWNER)?.as_str()
}

/// Adds an entry to a map of the metadata. Something else in its place stays for the cluster to
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
