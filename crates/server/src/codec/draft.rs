//! An object as received: its fields in order, including unknown ones, and its numbers unchanged.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::field_types;
use super::json;
use super::normalize::{self, entries, is_empty, without_nulls};
use krm_template_server_core::{Cause, Group, Kind};

/// The fields of an object as JSON text.
pub(crate) type Texts<'t> = IndexMap<String, &'t RawValue>;

/// A Template or TemplateInstance that can be changed and stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The API group, which decides the `apiVersion`.
    pub group: Group,
    /// The kind of the object.
    pub kind: Kind,
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
    /// The fields that the user may not set, found by asking for permissions. They are reported with
    /// the errors of validation.
    pub(crate) refused: Vec<Cause>,
}

impl Draft {
    /// Creates an object of a kind from a checked value. `texts` has the JSON text of unchanged
    /// fields.
    pub(crate) fn new(
        group: Group,
        kind: Kind,
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
        if kind == Kind::Instance {
            normalize::instance(group, &mut parsed);
        }
        let mut fields: Vec<(String, String)> = Vec::with_capacity(parsed.len());
        for (key, value) in &mut parsed {
            let mut text = String::new();
            match texts.get(key) {
                _ if kind == Kind::Instance => json::write(value, &mut text),
                _ if key == "labels" && group == Group::OpenShift => {
                    *value = without_nulls(value.take());
                    json::write(value, &mut text);
                }
                Some(unchanged) => json::compact(unchanged.get(), &mut text),
                None => json::write(value, &mut text),
            }
            fields.push((key.clone(), text));
        }
        let has_objects = (group, kind) == (Group::OpenShift, Kind::Template);
        if has_objects && !fields.iter().any(|(name, _)| name == "objects") {
            let is_after = |(name, _): &(String, _)| matches!(&**name, "parameters" | "labels");
            let at = fields.iter().position(is_after).unwrap_or(fields.len());
            fields.insert(at, ("objects".to_owned(), "null".to_owned()));
        }
        Self {
            group,
            kind,
            metadata: normalize::metadata(metadata),
            fields,
            parsed,
            yaml,
            refused: Vec::new(),
        }
    }

    /// Creates an object from its JSON text in the store.
    pub(crate) fn stored(group: Group, kind: Kind, text: &str, yaml: Option<String>) -> Self {
        let fields: Texts<'_> = serde_json::from_str(text).unwrap_or_default();
        let metadata = fields.get("metadata").map(|text| text.get());
        let metadata = metadata.and_then(|text| json::value(text).ok());
        let is_field =
            |(key, _): &(String, _)| !matches!(key.as_str(), "kind" | "apiVersion" | "metadata");
        let fields = fields.into_iter().filter(is_field);
        Self {
            group,
            kind,
            metadata: normalize::metadata(metadata.unwrap_or_default()),
            fields: fields.map(|(key, text)| (key, text.get().to_owned())).collect(),
            parsed: Map::new(),
            yaml,
            refused: Vec::new(),
        }
    }

    /// Returns a string in `metadata`, such as `name`. Empty if it is not set.
    pub fn text(&self, key: &str) -> &str {
        self.metadata.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the name. Empty if it is not set yet.
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// Returns the namespace. Empty if the client did not set it.
    pub fn namespace(&self) -> &str {
        self.text("namespace")
    }

    /// Returns the finalizers, in order.
    pub fn finalizers(&self) -> impl Iterator<Item = &str> {
        let items = self.metadata.get("finalizers").and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Returns `true` if it has a `deletionTimestamp`. It is deleted with its last finalizer.
    pub fn is_being_deleted(&self) -> bool {
        !self.text("deletionTimestamp").is_empty()
    }

    /// Returns a field other than `metadata`, as compact JSON.
    pub fn field(&self, key: &str) -> Option<&str> {
        self.fields().find(|(name, _)| *name == key).map(|(_, text)| text)
    }

    /// Returns the value of a field other than `metadata`; null if it is missing.
    pub fn value(&self, key: &str) -> Value {
        let value = self.field(key).and_then(|text| json::value(text).ok());
        value.unwrap_or_default()
    }

    /// Sets a field other than `metadata`.
    pub(crate) fn set(&mut self, key: &str, value: &Value) {
        self.parsed.shift_remove(key);
        let mut new = String::new();
        json::write(value, &mut new);
        match self.fields.iter_mut().find(|(name, _)| name == key) {
            Some((_, text)) => *text = new,
            None => self.fields.push((key.to_owned(), new)),
        }
    }

    /// Returns the fields except `kind`, `apiVersion` and `metadata`, in order, as compact JSON.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(key, text)| (key.as_str(), text.as_str()))
    }

    /// Returns the bytes of these fields.
    pub(crate) fn length(&self) -> usize {
        self.fields().map(|(key, text)| key.len() + text.len()).sum()
    }

    /// Returns the same fields as stored: in OpenShift's group, empty `objects` become null.
    pub(crate) fn stored_fields(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_none = |key: &str, text: &str| {
            self.group == Group::OpenShift && key == "objects" && text == "[]"
        };
        self.fields().map(move |(key, text)| (key, if is_none(key, text) { "null" } else { text }))
    }

    /// Returns the text of the body, if it was YAML.
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
        self.value_with(parsed, |key| field_types::is_field((self.group, self.kind), key))
    }

    /// Returns the complete object, with `kind` and `apiVersion`.
    pub fn to_value(&self) -> Value {
        self.value_with(Map::new(), |_| true)
    }

    /// Returns the object with the fields of a Template only.
    pub(crate) fn to_known_value(&self) -> Value {
        self.value_with(Map::new(), |key| field_types::is_field((self.group, self.kind), key))
    }

    fn value_with(
        &self,
        mut parsed: Map<String, Value>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Value {
        let mut object = Map::new();
        object.insert("kind".to_owned(), Value::from(self.kind.name()));
        object.insert("apiVersion".to_owned(), Value::from(self.group.api_version()));
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
            let text = texts.get(index).and_then(|item| item.as_ref()?.get("value"));
            let text = text.map_or_else(|| value.to_string(), |text| text.get().to_owned());
            *value = Value::String(text);
            indexes.push(index);
        }
    }
    indexes
}
