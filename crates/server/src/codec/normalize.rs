//! Normalization as Go's `encoding/json` does it: without empty fields, and, in OpenShift's
//! TemplateInstances, without unknown ones.

use serde_json::{Map, Value, json};

use super::field_types::{OBJECT_META, REFERENCE, is_openshift_parameter_field};
use krm_template_server_core::Group;

/// The fields of `status.conditions`, which Go never omits, and their empty values.
const CONDITION: [(&str, &str); 5] = [
    ("type", "\"\""),
    ("status", "\"\""),
    ("lastTransitionTime", "null"),
    ("reason", "\"\""),
    ("message", "\"\""),
];

/// Gives the fields of an instance the form in which Go decodes and encodes them. In OpenShift's
/// group, unknown fields are dropped, as there.
pub(crate) fn instance(group: Group, fields: &mut Map<String, Value>) {
    let [spec, status] = ["spec", "status"].map(|key| {
        let given = fields.shift_remove(key).unwrap_or_default();
        entries(given)
    });
    let (spec, status) = match group {
        Group::Krm => (spec, status),
        Group::OpenShift => {
            fields.clear();
            (openshift_spec(spec), openshift_status(status))
        }
    };
    fields.insert("spec".to_owned(), Value::Object(spec));
    fields.insert("status".to_owned(), Value::Object(status));
}

fn openshift_spec(mut given: Map<String, Value>) -> Map<String, Value> {
    let template = entries(given.shift_remove("template").unwrap_or_default());
    let mut spec = Map::new();
    spec.insert("template".to_owned(), Value::Object(openshift_template(template)));
    for key in ["secret", "requester"] {
        if let Some(Value::Object(mut fields)) = given.shift_remove(key) {
            let known: &[&str] = match key {
                "secret" => &["name"],
                _ => &["username", "uid", "groups", "extra"],
            };
            fields.retain(|key, value| known.contains(&key.as_str()) && !is_empty(value));
            spec.insert(key.to_owned(), Value::Object(fields));
        }
    }
    spec
}

fn openshift_template(mut given: Map<String, Value>) -> Map<String, Value> {
    let own = metadata(given.shift_remove("metadata").unwrap_or_default());
    let mut template = Map::new();
    template.insert("metadata".to_owned(), Value::Object(own));
    for key in ["message", "objects", "parameters", "labels"] {
        let value = given.shift_remove(key).unwrap_or_default();
        let value = match (key, value) {
            ("objects", value) => value,
            (_, value) if is_empty(&value) => continue,
            ("parameters", Value::Array(items)) => items.into_iter().map(parameter).collect(),
            ("labels", labels) => without_nulls(labels),
            (_, value) => value,
        };
        template.insert(key.to_owned(), value);
    }
    template
}

fn parameter(given: Value) -> Value {
    let mut fields = entries(given);
    fields.retain(|key, value| {
        is_openshift_parameter_field(key)
            && (key == "name" || !is_empty(value) && *value != Value::Bool(false))
    });
    if !fields.get("name").is_some_and(Value::is_string) {
        fields.insert("name".to_owned(), json!(""));
    }
    Value::Object(fields)
}

fn openshift_status(mut given: Map<String, Value>) -> Map<String, Value> {
    let items = |value: Value| match value {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    let conditions = items(given.shift_remove("conditions").unwrap_or_default());
    let objects = items(given.shift_remove("objects").unwrap_or_default());
    let mut status = Map::new();
    if !conditions.is_empty() {
        let conditions = conditions.into_iter().map(condition).collect();
        status.insert("conditions".to_owned(), Value::Array(conditions));
    }
    if !objects.is_empty() {
        let objects = objects.into_iter().map(|object| {
            let mut object = entries(object);
            let mut named = entries(object.shift_remove("ref").unwrap_or_default());
            named.retain(|key, value| REFERENCE.has(key) && !is_empty(value));
            json!({ "ref": named })
        });
        status.insert("objects".to_owned(), objects.collect());
    }
    status
}

fn condition(given: Value) -> Value {
    let mut given = entries(given);
    let fields = CONDITION.iter().map(|(key, empty)| {
        let value = given.shift_remove(*key).filter(|value| !value.is_null());
        let empty = || serde_json::from_str(empty).unwrap_or_default();
        ((*key).to_owned(), value.unwrap_or_else(empty))
    });
    Value::Object(fields.collect())
}

/// Replaces nulls in labels with empty strings, as Go decodes them.
pub(crate) fn without_nulls(mut labels: Value) -> Value {
    let values = labels.as_object_mut().into_iter().flat_map(Map::values_mut);
    for value in values.filter(|value| value.is_null()) {
        *value = Value::from("");
    }
    labels
}

/// Returns the fields of an object, none of another value.
pub(crate) fn entries(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(entries) => entries,
        _ => Map::new(),
    }
}

/// Returns the fields of `metadata` without empty ones, as Go decodes and encodes them.
pub(crate) fn metadata(metadata: Value) -> Map<String, Value> {
    let mut fields = entries(metadata);
    fields.retain(|key, value| {
        // An empty list resets the managers.
        !OBJECT_META.has(key) || !is_empty(value) || (key == "managedFields" && value.is_array())
    });
    for key in ["labels", "annotations"] {
        if let Some(value) = fields.get_mut(key) {
            *value = without_nulls(value.take());
        }
    }
    fields
}

/// Returns `true` if Go omits a field with this value.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
