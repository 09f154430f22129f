//! Field managers and their fields: `metadata.managedFields`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::field_set::Fields;
use super::shape::Changes;
use krm_template_server_core::Group;

/// The maximum number of managers with the operation `Update`. The oldest are merged into one.
///
/// Source: `DefaultMaxUpdateManagers` of `managedfields`.
const MAX_UPDATERS: usize = 10;

/// The manager that replaces the merged managers.
const OLD_CHANGES: &str = "ancient-changes";

/// The client that writes an object.
#[derive(Clone, Copy, Debug)]
pub struct Writer<'a> {
    /// The query parameter `fieldManager`, or else the User-Agent up to its `/`. Empty if unknown.
    pub manager: &'a str,
    /// The current time in RFC 3339 format, in UTC with whole seconds.
    pub time: &'a str,
    /// The written subresource. Empty for the object itself.
    pub subresource: &'a str,
}

/// The operation of a manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    Apply,
    Update,
}

impl Operation {
    const fn name(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// The identity of a manager.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id {
    pub(super) manager: String,
    pub(super) operation: Operation,
    /// The API version of an update. Empty for an apply.
    version: String,
    subresource: String,
}

impl Id {
    pub(super) fn new(group: Group, operation: Operation, writer: &Writer<'_>) -> Self {
        let manager = if writer.manager.is_empty() { "unknown" } else { writer.manager };
        let version = match operation {
            Operation::Apply => "",
            Operation::Update => group.api_version(),
        };
        Self {
            manager: manager.to_owned(),
            operation,
            version: version.to_owned(),
            subresource: writer.subresource.to_owned(),
        }
    }

    /// Formats the manager for the message of a conflict.
    pub(super) fn shown(&self) -> String {
        let mut text = format!("{:?}", self.manager);
        if !self.subresource.is_empty() {
            text = format!("{text} with subresource {:?}", self.subresource);
        }
        match self.operation {
            Operation::Apply => text,
            Operation::Update => format!("{text} using {}", self.version),
        }
    }
}

/// The fields of a manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Managed {
    /// The API version of the fields.
    version: String,
    pub(super) time: Option<Timestamp>,
    pub(super) fields: Fields,
}

/// All managers of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Managers(pub(super) BTreeMap<Id, Managed>);

impl Managers {
    /// Returns the managers of an object, or `None` if an entry is malformed.
    pub(super) fn of(object: &Value) -> Option<Self> {
        let entries = match entries(object) {
            None | Some(Value::Null) => return Some(Self::default()),
            Some(entries) => entries.as_array()?,
        };
        entries.iter().map(decode).collect::<Option<_>>().map(Self)
    }

    /// Returns the managers in the written object, or else in the old object: clients that do not
    /// know the field do not clear it.
    pub(super) fn given(before: Option<&Value>, after: &Value) -> Self {
        if resets(after) {
            return Self::default();
        }
        Self::of(after)
            .filter(|managers| !managers.0.is_empty())
            .or_else(|| before.and_then(Self::of))
            .unwrap_or_default()
    }

    /// Removes changed and removed fields from all managers. Also removes fields of another API
    /// version, which cannot be compared.
    pub(super) fn release(&mut self, group: Group, changes: &Changes) {
        self.0.retain(|_, managed| {
            managed.fields.subtract(&changes.changed);
            managed.fields.subtract(&changes.removed);
            managed.version == group.api_version() && !managed.fields.is_empty()
        });
    }

    /// Adds fields to a manager.
    pub(super) fn own(&mut self, group: Group, id: Id, fields: Fields, time: Option<Timestamp>) {
        let version = group.api_version().to_owned();
        let managed = self.0.entry(id).or_insert_with(|| Managed {
            version,
            time: None,
            fields: Fields::default(),
        });
        managed.fields.add(fields);
        managed.time = time;
    }

    /// Merges the oldest managers with the operation `Update`, if there are too many.
    pub(super) fn cap(&mut self, group: Group) {
        let mut updaters: Vec<Id> =
            self.0.keys().filter(|id| id.operation == Operation::Update).cloned().collect();
        let Some(over) = updaters.len().checked_sub(MAX_UPDATERS).filter(|over| *over > 0) else {
            return;
        };
        updaters.sort_by_key(|id| self.0.get(id).and_then(|managed| managed.time));
        let writer = Writer { manager: OLD_CHANGES, time: "", subresource: "" };
        let bucket = Id::new(group, Operation::Update, &writer);
        for id in updaters.iter().take(over + 1) {
            if let Some(managed) = self.0.remove(id) {
                self.own(group, bucket.clone(), managed.fields, managed.time);
            }
        }
    }

    /// Writes the managers into an object with `metadata`.
    pub(super) fn write(self, object: &mut Value) {
        let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
            return;
        };
        if self.0.is_empty() {
            metadata.shift_remove("managedFields");
            return;
        }
        let mut entries: Vec<(Id, Managed)> = self.0.into_iter().collect();
        entries.sort_by(|(left_id, left), (right_id, right)| {
            (left_id.operation, left.time)
                .cmp(&(right_id.operation, right.time))
                .then_with(|| left_id.cmp(right_id))
        });
        let entries = entries.iter().map(|(id, managed)| encode(id, managed)).collect();
        metadata.insert("managedFields".to_owned(), entries);
    }
}

/// Parses an RFC 3339 time, truncated to seconds.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    let time: Timestamp = text.parse().ok()?;
    Timestamp::from_second(time.as_second()).ok()
}

fn entries(object: &Value) -> Option<&Value> {
    object.get("metadata")?.get("managedFields")
}

/// Returns `true` if an object resets its managers: by an empty list, or one empty entry.
fn resets(object: &Value) -> bool {
    let empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    match entries(object).and_then(Value::as_array).map(Vec::as_slice) {
        Some([]) => true,
        Some([Value::Object(entry)]) => entry.values().all(empty),
        _ => false,
    }
}

fn decode(entry: &Value) -> Option<(Id, Managed)> {
    let entry = entry.as_object()?;
    let text = |name: &str| match entry.get(name) {
        None | Some(Value::Null) => Some(String::new()),
        Some(value) => value.as_str().map(str::to_owned),
    };
    let operation = match text("operation")?.as_str() {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        _ => return None,
    };
    let version = text("apiVersion").filter(|version| !version.is_empty())?;
    if text("fieldsType")? != "FieldsV1" {
        return None;
    }
    let fields = match entry.get("fieldsV1") {
        None | Some(Value::Null) => Fields::default(),
        Some(fields) => Fields::decode(fields)?,
    };
    let time = match text("time")?.as_str() {
        "" => None,
        text => Some(time(text)?),
    };
    let id = Id {
        manager: text("manager")?,
        operation,
        version: if operation == Operation::Update { version.clone() } else { String::new() },
        subresource: text("subresource")?,
    };
    Some((id, Managed { version, time, fields }))
}

fn encode(id: &Id, managed: &Managed) -> Value {
    let mut entry = Map::new();
    let mut put = |name: &str, value: Value| entry.insert(name.to_owned(), value);
    if !id.manager.is_empty() {
        put("manager", json!(id.manager));
    }
    put("operation", json!(id.operation.name()));
    put("apiVersion", json!(managed.version));
    if let Some(time) = managed.time {
        put("time", json!(time.to_string()));
    }
    put("fieldsType", json!("FieldsV1"));
    put("fieldsV1", managed.fields.encode());
    if !id.subresource.is_empty() {
        put("subresource", json!(id.subresource));
    }
    Value::Object(entry)
}
