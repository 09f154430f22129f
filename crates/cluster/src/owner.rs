//! The annotation and label that mark the objects of a deployment.

use krm_core::visible::hex;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::types::Owner;

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
