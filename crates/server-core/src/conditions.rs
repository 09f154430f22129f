//! Conditions in the status of objects.

use serde_json::Value;

/// A condition. All texts of a missing one are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Condition<'v> {
    /// `True`, `False` or `Unknown`.
    pub status: &'v str,
    /// The reason, for programs.
    pub reason: &'v str,
    /// The message, for people.
    pub message: &'v str,
    /// The time of the last change of the status.
    pub since: &'v str,
}

/// Finds a condition by its type in the `conditions` of a status.
pub fn find<'v>(conditions: Option<&'v Value>, kind: &str) -> Condition<'v> {
    let text = |one: &'v Value, key: &str| one.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut conditions = conditions.and_then(Value::as_array).into_iter().flatten();
    let found = conditions.find(|one| text(one, "type") == kind);
    found.map_or_else(Condition::default, |one| Condition {
        status: text(one, "status"),
        reason: text(one, "reason"),
        message: text(one, "message"),
        since: text(one, "lastTransitionTime"),
    })
}
