//! Schema validation of our group's Templates, with kube-apiserver's messages for custom resources.
//!
//! Source: `functionconfig/template.crd.yaml`, and `kube-openapi/pkg/validation`.

use serde_json::Value;

use super::json;
use krm_template_server_core::Cause;

/// The reason of a cause for a value of the wrong type.
pub(crate) const WRONG_TYPE: &str = "FieldValueTypeInvalid";

/// The rule for the value of a field.
enum Rule {
    Any,
    Text,
    /// A string that is not empty.
    Name,
    Bool,
    Number,
    /// An integer that is not negative.
    Length,
    List,
    OneOf(&'static [&'static str]),
}

const TYPES: &[&str] =
    &["string", "int", "integer", "number", "bool", "boolean", "base64", "array", "map", "object"];

/// The fields of a parameter in alphabetical order, and whether they may be null.
const PARAMETER: [(&str, Rule, bool); 18] = [
    ("description", Rule::Text, true),
    ("displayName", Rule::Text, true),
    ("enum", Rule::List, true),
    ("from", Rule::Text, true),
    ("generate", Rule::OneOf(&["expression", ""]), false),
    ("group", Rule::Text, true),
    ("maxLength", Rule::Length, true),
    ("maximum", Rule::Number, true),
    ("minLength", Rule::Length, true),
    ("minimum", Rule::Number, true),
    ("name", Rule::Name, false),
    ("omitEmpty", Rule::Bool, true),
    ("parameterType", Rule::OneOf(TYPES), false),
    ("pattern", Rule::Text, true),
    ("required", Rule::Bool, true),
    ("secret", Rule::Bool, true),
    ("type", Rule::OneOf(TYPES), false),
    ("value", Rule::Any, true),
];

/// Returns the errors in all fields except `metadata`. No error contains the value of a parameter.
pub(crate) fn check(object: &Value) -> Vec<Cause> {
    let mut found = FieldErrors(Vec::new());
    for key in ["labels", "objectLabels"] {
        if let Some(labels) = object.get(key) {
            found.labels(key, labels);
        }
    }
    if let Some(message) = object.get("message") {
        found.value("message", message, &Rule::Text, true);
    }
    match object.get("objects") {
        Some(objects) if !objects.is_null() => found.objects(objects),
        _ => found.required("objects"),
    }
    if let Some(parameters) = object.get("parameters") {
        found.parameters(parameters);
    }
    if let Some(values) = object.get("values")
        && !matches!(values, Value::Object(_) | Value::Null)
    {
        found.wrong_type("values", values, "object");
    }
    found.0
}

/// The errors of the fields of an object.
pub(crate) struct FieldErrors(pub(crate) Vec<Cause>);

impl FieldErrors {
    pub(crate) fn add(&mut self, reason: &'static str, field: &str, message: impl Into<String>) {
        self.0.push(Cause::new(reason, field, message));
    }

    pub(crate) fn required(&mut self, field: &str) {
        self.add("FieldValueRequired", field, "Required value");
    }

    fn wrong_type(&mut self, field: &str, node: &Value, wanted: &str) {
        let found = kind(node);
        let message = format!(
            "Invalid value: {found:?}: {field} in body must be of type {wanted}: {found:?}"
        );
        self.add(WRONG_TYPE, field, message);
    }

    /// Checks labels, or groups of labels.
    fn labels(&mut self, field: &str, node: &Value) {
        let Value::Array(groups) = node else {
            return self.texts(field, node);
        };
        for (index, group) in groups.iter().enumerate() {
            let field = format!("{field}[{index}]");
            if !group.is_object() {
                self.wrong_type(&field, group, "object");
                continue;
            }
            match group.get("pairs") {
                Some(pairs) => self.texts(&format!("{field}.pairs"), pairs),
                None => self.required(&format!("{field}.pairs")),
            }
            for key in ["includeSelectors", "includeTemplates"] {
                if let Some(flag) = group.get(key) {
                    self.value(&format!("{field}.{key}"), flag, &Rule::Bool, true);
                }
            }
        }
    }

    fn texts(&mut self, field: &str, node: &Value) {
        match node {
            Value::Null => {}
            Value::Object(entries) => {
                for (key, value) in entries {
                    self.value(&format!("{field}.{key}"), value, &Rule::Text, false);
                }
            }
            _ => self.wrong_type(field, node, "object"),
        }
    }

    fn objects(&mut self, node: &Value) {
        let Value::Array(items) = node else {
            return self.wrong_type("objects", node, "array");
        };
        for (index, item) in items.iter().enumerate() {
            if !item.is_object() {
                self.wrong_type(&format!("objects[{index}]"), item, "object");
            }
        }
    }

    fn parameters(&mut self, node: &Value) {
        let items = match node {
            Value::Null => return,
            Value::Array(items) => items,
            _ => return self.wrong_type("parameters", node, "array"),
        };
        let mut names = std::collections::BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let path = format!("parameters[{index}]");
            if !item.is_object() {
                self.wrong_type(&path, item, "object");
                continue;
            }
            for (key, rule, may_be_null) in &PARAMETER {
                if let Some(value) = item.get(key) {
                    self.value(&format!("{path}.{key}"), value, rule, *may_be_null);
                }
            }
            let Some(name) = item.get("name") else {
                self.required(&format!("{path}.name"));
                continue;
            };
            if let Value::String(name) = name
                && !names.insert(name)
            {
                let mut key = String::from("{\"name\":");
                json::quote(name, &mut key);
                self.add("FieldValueDuplicate", &path, format!("Duplicate value: {key}}}"));
            }
        }
    }

    fn value(&mut self, field: &str, node: &Value, rule: &Rule, may_be_null: bool) {
        let invalid = |why: &str| format!("Invalid value: {node}: {field} in body should be {why}");
        match (rule, node) {
            (Rule::Any, _)
            | (Rule::Text, Value::String(_))
            | (Rule::Bool, Value::Bool(_))
            | (Rule::Number, Value::Number(_))
            | (Rule::List, Value::Array(_)) => {}
            (_, Value::Null) if may_be_null => {}
            (Rule::Name, Value::String(text)) => {
                if text.is_empty() {
                    self.add("FieldValueInvalid", field, invalid("at least 1 chars long"));
                }
            }
            (Rule::OneOf(known), Value::String(text)) => {
                if !known.contains(&text.as_str()) {
                    let known: Vec<String> = known.iter().map(|word| format!("{word:?}")).collect();
                    let known = known.join(", ");
                    let message = format!("Unsupported value: {text:?}: supported values: {known}");
                    self.add("FieldValueNotSupported", field, message);
                }
            }
            (Rule::Length, Value::Number(number)) if kind(node) == "integer" => {
                let text = number.to_string();
                if text.starts_with('-') && text != "-0" {
                    self.add("FieldValueInvalid", field, invalid("greater than or equal to 0"));
                }
            }
            (Rule::Text | Rule::Name | Rule::OneOf(_), _) => self.wrong_type(field, node, "string"),
            (Rule::Bool, _) => self.wrong_type(field, node, "boolean"),
            (Rule::Number, _) => self.wrong_type(field, node, "number"),
            (Rule::Length, _) => self.wrong_type(field, node, "integer"),
            (Rule::List, _) => self.wrong_type(field, node, "array"),
        }
    }
}

/// Returns the JSON Schema type of a value.
fn kind(node: &Value) -> &'static str {
    match node {
        Value::Bool(_) => "boolean",
        Value::Number(number) if !number.to_string().contains(['.', 'e']) => "integer",
        _ => json::kind(node),
    }
}
