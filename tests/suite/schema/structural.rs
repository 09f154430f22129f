//! Schemas as a `CustomResourceDefinition` takes them: `OpenAPI` 3.0, without references, every part
//! of a known type or open.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::schema::kinds;

/// Says of a part that it may hold any JSON.
const OPEN: &str = "x-kubernetes-preserve-unknown-fields";

/// Keywords that Kubernetes rejects, or that have no meaning in a CRD.
const LEFT_OUT: &[&str] = &["$schema", "title", "format", "anyOf"];

/// The schema of a kind.
pub(super) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::openapi3().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings
        .with_transform(RecursiveTransform(describe))
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    close(&mut schema);
    schema
}

/// The schema of a kind as a CRD has it at the root, where Kubernetes itself checks what every
/// object has.
pub(super) fn of_resource(mut schema: Value) -> Value {
    if let Some(properties) = properties(&mut schema) {
        for (name, of) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
            properties.insert(name.to_owned(), json!({ "type": of }));
        }
    }
    drop_null(&mut schema);
    schema
}

/// Drops `null` from enumerations. Kubernetes refuses it there even if it is listed, but drops a null
/// field that is not nullable.
///
/// Source: `pkg/validation/validate` of kube-openapi, and `PruneNonNullableNullsWithoutDefaults` of
/// apiextensions-apiserver.
fn drop_null(schema: &mut Value) {
    let Value::Object(fields) = schema else {
        return;
    };
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.retain(|value| !value.is_null());
        fields.remove("nullable");
    }
    for part in ["items", "additionalProperties"] {
        if let Some(part) = fields.get_mut(part) {
            drop_null(part);
        }
    }
    for (_, property) in properties(schema).into_iter().flatten() {
        drop_null(property);
    }
}

fn properties(schema: &mut Value) -> Option<&mut Map<String, Value>> {
    schema.get_mut("properties")?.as_object_mut()
}

/// Makes a schema structural, with all that is in it.
fn close(schema: &mut Value) {
    let Value::Object(fields) = schema else {
        return;
    };
    fields.retain(|field, _| !LEFT_OUT.contains(&field.as_str()));
    // Fields that are not declared: Kubernetes drops them unless it is told to keep them.
    if let Some(Value::Bool(open)) = fields.get("additionalProperties") {
        let open = *open;
        fields.remove("additionalProperties");
        if open {
            fields.insert(OPEN.to_owned(), true.into());
        }
    }
    if !fields.contains_key("type") {
        fields.remove("nullable");
        fields.insert(OPEN.to_owned(), true.into());
    }
    for part in ["items", "additionalProperties"] {
        if let Some(part) = fields.get_mut(part) {
            close(part);
        }
    }
    for (_, property) in properties(schema).into_iter().flatten() {
        close(property);
    }
}

/// Puts the description first, and on one line where the source has broken it.
pub(super) fn describe(schema: &mut Schema) {
    let Some(fields) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::String(description)) = fields.shift_remove("description") {
        let description = description.replace('\n', " ");
        fields.shift_insert(0, "description".to_owned(), description.into());
    }
}

/// All that our schemas need of what a CRD may hold.
const KNOWN: &[&str] = &[
    "additionalProperties",
    "description",
    "enum",
    "items",
    "maxProperties",
    "maximum",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "properties",
    "required",
    "type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    OPEN,
];

/// The rules of a structural schema, as the reference of Kubernetes has them.
fn check(schema: &Value, path: &str) {
    let fields = schema.as_object().cloned().unwrap_or_default();
    assert!(!fields.is_empty(), "{path}: {schema}");
    for field in fields.keys() {
        assert!(KNOWN.contains(&field.as_str()), "{path}: {field}");
    }
    let is_open = fields.get(OPEN) == Some(&Value::Bool(true));
    assert!(is_open || fields.contains_key("type"), "{path}: no type");
    assert!(fields.get("type").is_none_or(Value::is_string), "{path}");
    if let Some(values) = fields.get("enum").and_then(Value::as_array) {
        assert!(!values.iter().any(Value::is_null), "{path}: null");
        assert_eq!(fields.get("nullable"), None, "{path}: nullable");
    }
    if fields.get("x-kubernetes-list-type").is_some() {
        let required = schema.pointer("/items/required");
        assert_eq!(required, fields.get("x-kubernetes-list-map-keys"), "{path}");
    }
    for part in ["items", "additionalProperties"] {
        if let Some(part) = fields.get(part) {
            check(part, &format!("{path}[]"));
        }
    }
    let properties = fields.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        check(property, &format!("{path}.{name}"));
    }
}

/// Checks our kinds against the rules of a structural schema.
pub(super) fn every_kind_is_structural() {
    check(&of_resource(schema::<kinds::Template>()), "");
    check(&of_resource(schema::<kinds::TemplateInstance>()), "");
    check(&of_resource(schema::<kinds::ParameterValues>()), "");
    check(&of_resource(schema::<kinds::Composition>()), "");
}
