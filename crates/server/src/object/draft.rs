//! A Template as received: its fields in order, including unknown ones, and its numbers unchanged.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::object::json;
use crate::object::types::{self, OBJECT_META};
use krm_template_server_core::groups::Group;

/// The fields of an object as JSON text.
pub(crate) type Texts<'t> = IndexMap<String, &'t RawValue>;

/// A Template that can be changed and stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The API group, which decides the `apiVersion` of the Template.
    pub group: Group,
    /// The fields of `metadata`, including unknown ones. Known fields have the right type.
    pub metadata: Map<String, Value>,
    /// The other fields except `kind` and `apiVersion`, in their original order, as compact JSON.
    ///
    /// Fields keep the JSON text of the client. In OpenShift's group, `objects` is always present,
    /// and other empty fields are omitted.
    fields: Vec<(String, String)>,
    /// The values of fields that have just been parsed, until [`Draft::take_known_value`].
    parsed: Map<String, Value>,
    /// The text of the body, if it was YAML.
    yaml: Option<String>,
}

impl Draft {
    /// Creates a Template from a checked object. `texts` has the JSON text of unchanged fields.
    pub(crate) fn new(
        group: Group,
        object: Value,
        texts: &Texts<'_>,
        yaml: Option<String>,
    ) -> Self {
        // Fields can be many: they stay in their map.
        let mut parsed = entries(object);
        let metadata = parsed.shift_remove("metadata").unwrap_or_default();
        parsed.retain(|key, value| {
            let is_type = matches!(key.as_str(), "kind" | "apiVersion");
            !is_type && (group != Group::OpenShift || !is_left_out(key, value))
        });
        let mut fields: Vec<(String, String)> = Vec::with_capacity(parsed.len());
        for (key, value) in &mut parsed {
            let mut text = String::new();
            match texts.get(key) {
                _ if key == "labels" && group == Group::OpenShift => {
                    *value = without_nulls(value.take());
                    json::write(value, &mut text);
                }
                Some(unchanged) => json::compact(unchanged.get(), &mut text),
                None => json::write(value, &mut text),
            }
            fields.push((key.clone(), text));
        }
        if group == Group::OpenShift && !fields.iter().any(|(name, _)| name == "objects") {
            let is_after = |(name, _): &(String, _)| matches!(&**name, "parameters" | "labels");
            let at = fields.iter().position(is_after).unwrap_or(fields.len());
            fields.insert(at, ("objects".to_owned(), "null".to_owned()));
        }
        Self {
            group,
            metadata: self::metadata(metadata),
            fields,
            parsed,
            yaml,
        }
    }

    /// Creates a Template from its JSON text in the store.
    pub(crate) fn stored(group: Group, text: &str, yaml: Option<String>) -> Self {
        let fields: Texts<'_> = serde_json::from_str(text).unwrap_or_default();
        let metadata = fields.get("metadata").map(|text| text.get());
        let metadata = metadata.and_then(|text| json::value(text).ok());
        let is_field =
            |(key, _): &(String, _)| !matches!(key.as_str(), "kind" | "apiVersion" | "metadata");
        let fields = fields.into_iter().filter(is_field);
        Self {
            group,
            metadata: self::metadata(metadata.unwrap_or_default()),
            fields: fields
                .map(|(key, text)| (key, text.get().to_owned()))
                .collect(),
            parsed: Map::new(),
            yaml,
        }
    }

    /// Returns a string in `metadata`, such as `name`. Empty if it is not set.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        self.metadata
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Returns the name. Empty if it is not set yet.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// Returns the namespace. Empty if the client did not set it.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.text("namespace")
    }

    /// Returns the finalizers, in order.
    pub fn finalizers(&self) -> impl Iterator<Item = &str> {
        let items = self.metadata.get("finalizers").and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Returns `true` if it has a `deletionTimestamp`. It is deleted with its last finalizer.
    #[must_use]
    pub fn is_being_deleted(&self) -> bool {
        !self.text("deletionTimestamp").is_empty()
    }

    /// Returns a field other than `metadata`, as compact JSON.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<&str> {
        self.fields()
            .find(|(name, _)| *name == key)
            .map(|(_, text)| text)
    }

    /// Returns the fields except `kind`, `apiVersion` and `metadata`, in order, as compact JSON.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields
            .iter()
            .map(|(key, text)| (key.as_str(), text.as_str()))
    }

    /// Returns the bytes of these fields.
    pub(crate) fn length(&self) -> usize {
        self.fields()
            .map(|(key, text)| key.len() + text.len())
            .sum()
    }

    /// Returns the same fields as stored: in OpenShift's group, empty `objects` become null.
    pub(crate) fn stored_fields(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_none = |key: &str, text: &str| {
            self.group == Group::OpenShift && key == "objects" && text == "[]"
        };
        self.fields()
            .map(move |(key, text)| (key, if is_none(key, text) { "null" } else { text }))
    }

    /// Returns the text of the body, if it was YAML.
    #[must_use]
    pub fn yaml(&self) -> Option<&str> {
        self.yaml.as_deref()
    }

    /// Keeps the JSON text of the old fields whose value is unchanged.
    pub(crate) fn keep_spelling(&mut self, old: &Self) {
        let old: BTreeMap<&str, &str> = old.fields().collect();
        for (key, text) in &mut self.fields {
            if let Some(&old) = old.get(key.as_str())
                && text != old
                && json::value(text) == json::value(old)
            {
                old.clone_into(text);
            }
        }
    }

    /// Returns the object like [`Draft::to_known_value`], without parsing what has just been parsed.
    pub(crate) fn take_known_value(&mut self) -> Value {
        let parsed = std::mem::take(&mut self.parsed);
        self.value_with(parsed, |key| types::is_field(self.group, key))
    }

    /// Returns the complete object, with `kind` and `apiVersion`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        self.value_with(Map::new(), |_| true)
    }

    /// Returns the object with the fields of a Template only.
    pub(crate) fn to_known_value(&self) -> Value {
        self.value_with(Map::new(), |key| types::is_field(self.group, key))
    }

    fn value_with(
        &self,
        mut parsed: Map<String, Value>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Value {
        let mut object = Map::new();
        object.insert("kind".to_owned(), Value::from("Template"));
        object.insert(
            "apiVersion".to_owned(),
            Value::from(self.group.api_version()),
        );
        object.insert("metadata".to_owned(), Value::Object(self.metadata.clone()));
        let fields = self.fields.iter();
        for (key, text) in fields.filter(|(key, _)| is_wanted(key)) {
            let value = parsed.get_mut(key).map(Value::take);
            let value = value.or_else(|| json::value(text).ok());
            object.insert(key.clone(), value.unwrap_or_default());
        }
        Value::Object(object)
    }
}

/// Returns `true` if Go omits this empty field of a Template in OpenShift's group.
fn is_left_out(key: &str, value: &Value) -> bool {
    matches!(key, "message" | "parameters" | "labels") && is_empty(value)
}

/// Replaces nulls in labels with empty strings, as Go decodes them.
fn without_nulls(mut labels: Value) -> Value {
    let values = labels.as_object_mut().into_iter().flat_map(Map::values_mut);
    for value in values.filter(|value| value.is_null()) {
        *value = Value::from("");
    }
    labels
}

/// Returns the fields of an object, none of another value.
fn entries(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(entries) => entries,
        _ => Map::new(),
    }
}

/// Returns the fields of `metadata` without empty ones, as Go decodes and encodes them.
fn metadata(metadata: Value) -> Map<String, Value> {
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
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Converts numbers and bools in the `value` of parameters to strings. Returns the indexes of the
/// changed parameters. `text` is the JSON text of the parameters.
pub(crate) fn values_as_text(parameters: &mut Value, text: &str) -> Vec<usize> {
    let texts = LazyCell::new(|| -> Vec<Option<Texts<'_>>> {
        serde_json::from_str(text).unwrap_or_default()
    });
    let mut indexes = Vec::new();
    let items = parameters.as_array_mut().into_iter().flatten();
    for (index, item) in items.enumerate() {
        if let Some(value) = item.get_mut("value")
            && matches!(value, Value::Number(_) | Value::Bool(_))
        {
            let text = texts
                .get(index)
                .and_then(|item| item.as_ref()?.get("value"));
            let text = text.map_or_else(|| value.to_string(), |text| text.get().to_owned());
            *value = Value::String(text);
            indexes.push(index);
        }
    }
    indexes
}
