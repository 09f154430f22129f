//! The status of an instance: its conditions, and its objects.

use jiff::Timestamp;
use krm_core::secrets::KnownSecrets;
use serde_json::{Map, Value, json};

use super::record::Instance;
use krm_template_server_core::auth::User;
use krm_template_server_core::groups::Group;
use krm_template_server_core::ops::units::rfc3339;

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

    /// Returns the status and the reason of a condition.
    pub(super) fn condition(&self, kind: &str) -> Option<(&str, &str)> {
        let conditions = self.fields.get("conditions")?.as_array()?;
        let text = |one: &Value, key: &str| one.get(key).and_then(Value::as_str).map(str::to_owned);
        let found = conditions.iter().find(|one| text(one, "type").as_deref() == Some(kind))?;
        Some((found.get("status")?.as_str()?, found.get("reason")?.as_str()?))
    }

    pub(super) fn is_ready(&self) -> bool {
        self.condition("Ready").is_some_and(|(status, _)| status == "True")
    }

    /// Sets a condition. The time changes only with the status.
    pub(super) fn set(&mut self, kind: &str, is_true: bool, reason: &str, message: &str) {
        let status = if is_true { "True" } else { "False" };
        let message = self.secrets.masked(message).into_owned();
        let cut = message.floor_char_boundary(MAX_MESSAGE.min(message.len()));
        let conditions = self.fields.entry("conditions").or_insert_with(|| json!([]));
        if !conditions.is_array() {
            *conditions = json!([]);
        }
        let Some(conditions) = conditions.as_array_mut() else {
            return;
        };
        let is_it = |one: &Value| one.get("type").and_then(Value::as_str) == Some(kind);
        let before = conditions.iter().find(|one| is_it(one));
        let kept = before.filter(|one| one.get("status").and_then(Value::as_str) == Some(status));
        let time = kept.and_then(|one| one.get("lastTransitionTime")).cloned();
        let time = time.unwrap_or_else(|| json!(rfc3339(Timestamp::now())));
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
        match conditions.iter_mut().find(|one| is_it(one)) {
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
        assert_eq!(status.condition("Ready"), Some(("True", "Created")));
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
        assert_eq!(status.condition("Stalled"), Some(("True", "Invalid")));
        assert_eq!(status.condition("Reconciling"), Some(("False", "Invalid")));
        assert_eq!(status.fields["observedGeneration"], 3);
        // A value is masked before it could be cut.
        status.secrets.add("hunter2hunter2");
        let message = format!("{}hunter2hunter2", "x".repeat(1_017));
        status.conclude(false, "Invalid", &message, true);
        assert!(!status.value().to_string().contains("hunter"));
    }
}
