//! The status of an instance: its conditions, and its objects.

use jiff::Timestamp;
use krm_core::secrets::KnownSecrets;
use serde_json::{Map, Value, json};

use super::store::Instance;
use krm_template_server_core::conditions::{Condition, find};
use krm_template_server_core::{Group, User, rfc3339};

/// The beginning of a hash of objects that has a key. Others tell of the values in Secrets, and are
/// not shown.
pub(super) const KEYED: &str = "k.";

/// The maximum length of the message of a condition in bytes.
const MAX_MESSAGE: usize = 1_024;

/// The condition that an upgrade would change something.
pub(super) const UPGRADE: &str = "UpgradeAvailable";

/// The status of an instance, as a value that can be changed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Status {
    group: Group,
    generation: i64,
    pub(super) fields: Map<String, Value>,
    /// The values that no message may show.
    pub(super) secrets: KnownSecrets,
    /// The user who acts.
    pub(super) user: Option<User>,
}

impl Status {
    pub(super) fn of(instance: &Instance) -> Self {
        let mut fields = match instance.draft.value("status") {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        without_digest(&mut fields);
        Self {
            group: instance.group(),
            generation: instance.generation(),
            fields,
            secrets: KnownSecrets::default(),
            user: None,
        }
    }

    pub(super) fn value(&self) -> Value {
        Value::Object(self.fields.clone())
    }

    pub(super) fn condition(&self, kind: &str) -> Condition<'_> {
        find(self.fields.get("conditions"), kind)
    }

    pub(super) fn is_ready(&self) -> bool {
        self.condition("Ready").status == "True"
    }

    /// Sets a condition. The time changes only with the status.
    pub(super) fn set(&mut self, kind: &str, is_true: bool, reason: &str, message: &str) {
        let status = if is_true { "True" } else { "False" };
        let message = self.secrets.masked(message).into_owned();
        let cut = message.floor_char_boundary(MAX_MESSAGE.min(message.len()));
        let before = self.condition(kind);
        let is_kept = before.status == status && !before.since.is_empty();
        let time = if is_kept { before.since.to_owned() } else { rfc3339(Timestamp::now()) };
        let mut condition = json!({
            "type": kind,
            "status": status,
            "lastTransitionTime": time,
            "reason": reason,
            "message": message.get(..cut).unwrap_or_default(),
        });
        if self.group == Group::Krm
            && let Some(fields) = condition.as_object_mut()
        {
            fields.insert("observedGeneration".to_owned(), json!(self.generation));
        }
        let conditions = self.fields.entry("conditions").or_insert_with(|| json!([]));
        if !conditions.is_array() {
            *conditions = json!([]);
        }
        let Some(conditions) = conditions.as_array_mut() else {
            return;
        };
        let is_it = |one: &&mut Value| one.get("type").and_then(Value::as_str) == Some(kind);
        match conditions.iter_mut().find(is_it) {
            Some(one) => *one = condition,
            None => conditions.push(condition),
        }
    }

    /// Sets the conditions of our group. `stalled` means that only a change of the instance helps.
    pub(super) fn conclude(&mut self, is_ready: bool, reason: &str, message: &str, stalled: bool) {
        self.fields.insert("observedGeneration".to_owned(), json!(self.generation));
        self.set("Ready", is_ready, reason, message);
        let is_reconciling = !is_ready && !stalled;
        self.set("Reconciling", is_reconciling, reason, "");
        self.set("Stalled", stalled, reason, if stalled { message } else { "" });
    }
}

/// Removes a hash without a key, which an earlier version has written.
pub(super) fn without_digest(fields: &mut Map<String, Value>) {
    let hash = fields.get("templateHash").and_then(Value::as_str);
    if hash.is_some_and(|hash| !hash.starts_with(KEYED)) {
        fields.shift_remove("templateHash");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(group: Group) -> Status {
        Status {
            group,
            generation: 3,
            fields: Map::new(),
            secrets: KnownSecrets::default(),
            user: None,
        }
    }

    #[test]
    fn a_condition_keeps_its_time_while_its_status_does() {
        let mut status = empty(Group::OpenShift);
        status.set("Ready", false, "Waiting", "a");
        status.fields["conditions"][0]["lastTransitionTime"] = json!("then");
        status.set("Ready", false, "Failed", "b");
        assert_eq!(status.fields["conditions"][0]["lastTransitionTime"], "then");
        status.set("Ready", true, "Created", "");
        assert_ne!(status.fields["conditions"][0]["lastTransitionTime"], "then");
        let ready = status.condition("Ready");
        assert_eq!((ready.status, ready.reason), ("True", "Created"));
        let keys = status.fields["conditions"][0].as_object().unwrap().keys();
        // As OpenShift's controller writes them.
        let expected = ["type", "status", "lastTransitionTime", "reason", "message"];
        assert!(keys.eq(expected));
    }

    #[test]
    fn a_hash_without_a_key_is_not_shown() {
        let mut fields = Map::new();
        fields.insert("templateHash".to_owned(), json!("k.4711"));
        without_digest(&mut fields);
        assert_eq!(fields["templateHash"], "k.4711");
        fields.insert("templateHash".to_owned(), json!("k4711"));
        without_digest(&mut fields);
        assert_eq!(fields.get("templateHash"), None);
    }

    #[test]
    fn a_message_is_bounded() {
        let mut status = empty(Group::Krm);
        status.conclude(false, "Invalid", &"ü".repeat(2_000), true);
        let message = status.fields["conditions"][0]["message"].as_str().unwrap();
        assert_eq!(message.len(), 1_024);
        for (kind, expected) in [("Stalled", "True"), ("Reconciling", "False")] {
            let found = status.condition(kind);
            assert_eq!((found.status, found.reason), (expected, "Invalid"));
        }
        assert_eq!(status.fields["observedGeneration"], 3);
        // A value is masked before it could be cut.
        status.secrets.add("hunter2hunter2");
        let message = format!("{}hunter2hunter2", "x".repeat(1_017));
        status.conclude(false, "Invalid", &message, true);
        assert!(!status.value().to_string().contains("hunter"));
    }
}
