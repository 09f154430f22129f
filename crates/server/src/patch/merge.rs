//! JSON merge patches, RFC 7396.

use serde_json::{Map, Value};

use crate::codec::json;
pub(super) use crate::codec::json::kind;
use krm_template_server_core::{Result, Status};

/// Reads the body of a merge patch, or of a strategic merge patch. Returns it with texts about its
/// duplicate keys.
///
/// # Errors
///
/// 400 unless the body is a JSON object.
pub fn parse(body: &[u8]) -> Result<(Value, Vec<String>)> {
    let mut repeated = Vec::new();
    match read(body, &mut repeated)? {
        object @ Value::Object(_) => Ok((object, repeated)),
        Value::Null => Err(Status::bad_request("Invalid JSON Patch")),
        other => Err(wrong_type("", "object", &other)),
    }
}

/// Reads the body of a patch. Adds texts about its duplicate keys.
pub(super) fn read(body: &[u8], repeated: &mut Vec<String>) -> Result<Value> {
    let text = std::str::from_utf8(body).map_err(|_| malformed("invalid UTF-8"))?;
    json::value_with(text, repeated).map_err(|why| malformed(&why))
}

/// Returns the error for a value of the wrong type. The path is empty for a whole patch.
pub(super) fn wrong_type(path: &str, wanted: &str, found: &Value) -> Box<Status> {
    malformed(&json::wrong_type(path, wanted, found))
}

/// Returns the error for a malformed patch.
pub(super) fn malformed(why: &str) -> Box<Status> {
    Status::bad_request(format!("error decoding patch: {why}"))
}

/// Applies a merge patch. The keys of the object keep their order; new ones follow.
pub fn apply(object: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *object = patch;
        return;
    };
    with_map(object, |fields| {
        // One pass for all removals: each single removal would move every key after it.
        fields.retain(|key, _| patch.get(key) != Some(&Value::Null));
        for (key, value) in patch.into_iter().filter(|(_, value)| !value.is_null()) {
            apply(fields.entry(key).or_insert(Value::Null), value);
        }
    });
}

/// Changes the map of an object. Replaces any other value with an empty object first.
pub(super) fn with_map<T>(
    value: &mut Value,
    change: impl FnOnce(&mut Map<String, Value>) -> T,
) -> T {
    let mut fields = match value.take() {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    let result = change(&mut fields);
    *value = Value::Object(fields);
    result
}
