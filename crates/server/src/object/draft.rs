//! A Template as received: its fields in order, including unknown ones, and its numbers unchanged.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::groups::Group;
use crate::object::json::{self, Data, Node};
use crate::object::types::OBJECT_META;

/// A Template that can be changed and stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The API group.
    pub group: Group,
    /// The fields of `metadata`, including unknown ones. Known fields have the right type.
    pub metadata: Map<String, Value>,
    /// The other fields except `kind` and `apiVersion`, in their original order, as compact JSON.
    ///
    /// `objects` keeps the JSON text of the client. In OpenShift's group, `objects` is always
    /// present, and other empty fields are omitted.
    fields: Vec<(String, String)>,
    /// The text of the body, if it was YAML.
    yaml: Option<String>,
}

impl Draft {
    /// Creates a Template from a checked object.
    pub(crate) fn new(group: Group, object: &Node<'_>, yaml: Option<String>) -> Self {
        let metadata = object.get("metadata").map(|node| metadata(node.entries()));
        let mut fields: Vec<(String, String)> = Vec::new();
        for (key, value) in object.entries() {
            if matches!(key.as_ref(), "kind" | "apiVersion" | "metadata") {
                continue;
            }
            if group == Group::OpenShift && is_left_out(key, value) {
                fields.retain(|(name, _)| *name != **key);
                continue;
            }
            let mut text = String::with_capacity(value.text.len());
            match key.as_ref() {
                "labels" if group == Group::OpenShift => texts(value).write(&mut text),
                "objects" => json::compact(value.text, &mut text),
                _ => value.write(&mut text),
            }
            match fields.iter_mut().find(|(name, _)| *name == **key) {
                Some((_, old)) => *old = text,
                None => fields.push((key.clone().into_owned(), text)),
            }
        }
        if group == Group::OpenShift && !fields.iter().any(|(name, _)| name == "objects") {
            let is_after = |(name, _): &(String, _)| matches!(&**name, "parameters" | "labels");
            let at = fields.iter().position(is_after).unwrap_or(fields.len());
            fields.insert(at, ("objects".to_owned(), "null".to_owned()));
        }
        Self {
            group,
            metadata: metadata.unwrap_or_default(),
            fields,
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
        let value = |text: &str| Node::parse(text).map(|node| node.to_value());
        for (key, text) in &mut self.fields {
            if let Some(old) = old.field(key)
                && text != old
                && value(text) == value(old)
            {
                old.clone_into(text);
            }
        }
    }

    /// Returns the complete object, with `kind` and `apiVersion`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut object = Map::new();
        object.insert("kind".to_owned(), Value::from("Template"));
        object.insert(
            "apiVersion".to_owned(),
            Value::from(self.group.api_version()),
        );
        object.insert("metadata".to_owned(), Value::Object(self.metadata.clone()));
        for (key, text) in &self.fields {
            let value = Node::parse(text).map_or(Value::Null, |node| node.to_value());
            object.insert(key.clone(), value);
        }
        Value::Object(object)
    }
}

/// Returns `true` if Go omits this empty field of a Template in OpenShift's group.
fn is_left_out(key: &str, value: &Node<'_>) -> bool {
    match key {
        "message" => value.as_str().is_empty(),
        "parameters" => value.items().is_empty(),
        "labels" => value.entries().is_empty(),
        _ => false,
    }
}

/// Replaces nulls in labels with empty strings, as Go decodes them.
fn texts<'t>(labels: &Node<'t>) -> Node<'t> {
    let mut labels = labels.clone();
    if let Data::Object(entries) = &mut labels.data {
        let nulls = entries
            .iter_mut()
            .filter(|(_, value)| value.data == Data::Null);
        for (_, value) in nulls {
            value.data = Data::String(Cow::Borrowed(""));
        }
    }
    labels
}

/// Returns the fields of `metadata` without empty ones, as Go decodes and encodes them.
fn metadata(entries: &[(Cow<'_, str>, Node<'_>)]) -> Map<String, Value> {
    let mut fields = json::object(entries);
    fields.retain(|key, value| {
        // An empty list resets the managers.
        !OBJECT_META.has(key) || !is_empty(value) || (key == "managedFields" && value.is_array())
    });
    for key in ["labels", "annotations"] {
        for value in fields
            .get_mut(key)
            .and_then(Value::as_object_mut)
            .into_iter()
            .flat_map(Map::values_mut)
        {
            if value.is_null() {
                *value = Value::from("");
            }
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
/// changed parameters.
pub(crate) fn values_as_text(parameters: &mut Node<'_>) -> Vec<usize> {
    let mut indexes = Vec::new();
    let Data::Array(items) = &mut parameters.data else {
        return indexes;
    };
    for (index, item) in items.iter_mut().enumerate() {
        let Data::Object(entries) = &mut item.data else {
            continue;
        };
        for (key, value) in entries {
            if key == "value" && matches!(value.data, Data::Number | Data::Bool(_)) {
                value.data = Data::String(Cow::Owned(value.text.to_owned()));
                indexes.push(index);
            }
        }
    }
    indexes
}
