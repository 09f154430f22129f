//! Sets of fields, and their encoding as `FieldsV1`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

/// A step from a field to a child. The order of steps is the same as in Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// A field of a map.
    Field(String),
    /// An item of a list, by the names and JSON values of its key fields.
    Key(Vec<(String, String)>),
    /// An item of a set, as JSON.
    Item(String),
    /// An item of a list, by its index.
    Index(i64),
}

impl Step {
    pub(super) fn field(name: &str) -> Self {
        Self::Field(name.to_owned())
    }

    /// Returns the step to a list item, by the value of a key field.
    pub(super) fn key(field: &str, value: &Value) -> Self {
        Self::Key(vec![(field.to_owned(), value.to_string())])
    }

    pub(super) fn item(value: &Value) -> Self {
        Self::Item(value.to_string())
    }

    /// Decodes a key of `FieldsV1`, split at its first `:`.
    fn decode(kind: &str, rest: &str) -> Option<Self> {
        Some(match kind {
            "f" => Self::field(rest),
            "v" => Self::item(&serde_json::from_str(rest).ok()?),
            "k" => {
                let Value::Object(fields) = serde_json::from_str(rest).ok()? else {
                    return None;
                };
                let fields: BTreeMap<_, _> = fields.into_iter().collect();
                Self::Key(
                    fields.into_iter().map(|(name, value)| (name, value.to_string())).collect(),
                )
            }
            "i" => Self::Index(rest.parse().ok()?),
            _ => return None,
        })
    }

    /// Encodes the step as a key of `FieldsV1`.
    fn encode(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, value)| format!("{}:{value}", json!(name))).collect();
                format!("k:{{{}}}", fields.join(","))
            }
            Self::Item(value) => format!("v:{value}"),
            Self::Index(index) => format!("i:{index}"),
        }
    }

    /// Appends the step in the format of messages.
    fn show(&self, path: &mut String) {
        let _ = match self {
            Self::Field(name) => write!(path, ".{name}"),
            Self::Key(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
                write!(path, "[{}]", fields.join(","))
            }
            Self::Item(value) => write!(path, "[={value}]"),
            Self::Index(index) => write!(path, "[{index}]"),
        };
    }
}

/// A set of fields, as a tree: the root is the object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    /// Whether the field itself is in the set.
    own: bool,
    /// The children of the field. None of them is empty.
    children: BTreeMap<Step, Self>,
}

impl Fields {
    /// Returns the set with only the root, a leaf.
    pub(super) fn leaf() -> Self {
        Self { own: true, children: BTreeMap::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.own && self.children.is_empty()
    }

    /// Adds the field itself, written as `.`.
    pub(super) fn insert_self(&mut self) {
        self.own = true;
    }

    /// Adds a set below the root.
    pub(super) fn insert(&mut self, step: Step, fields: Self) {
        if !fields.is_empty() {
            self.children.entry(step).or_default().add(fields);
        }
    }

    /// Returns `true` if the field itself is in the set.
    pub(super) const fn has_self(&self) -> bool {
        self.own
    }

    /// Returns the sets below each step.
    pub(super) fn below(&mut self) -> impl Iterator<Item = (&Step, &mut Self)> {
        self.children.iter_mut()
    }

    /// Returns the set below a step.
    pub(super) fn get(&self, step: &Step) -> Option<&Self> {
        self.children.get(step)
    }

    /// Adds all fields of another set.
    pub(super) fn add(&mut self, other: Self) {
        self.own |= other.own;
        for (step, fields) in other.children {
            self.children.entry(step).or_default().add(fields);
        }
    }

    /// Removes the fields of another set, but not their children.
    pub(super) fn subtract(&mut self, other: &Self) {
        self.own &= !other.own;
        for (step, fields) in &other.children {
            let Some(child) = self.children.get_mut(step) else {
                continue;
            };
            child.subtract(fields);
            if child.is_empty() {
                self.children.remove(step);
            }
        }
    }

    /// Returns the fields in both sets.
    pub(super) fn intersection(&self, other: &Self) -> Self {
        let mut both = Self { own: self.own && other.own, children: BTreeMap::new() };
        for (step, fields) in &self.children {
            if let Some(other) = other.children.get(step) {
                both.insert(step.clone(), fields.intersection(other));
            }
        }
        both
    }

    /// Returns the paths of all fields. The fields of each map come before their children.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.list(&mut String::new(), &mut paths);
        paths
    }

    fn list(&self, path: &mut String, paths: &mut Vec<String>) {
        let end = path.len();
        for (step, _) in self.children.iter().filter(|(_, child)| child.own) {
            step.show(path);
            paths.push(path.clone());
            path.truncate(end);
        }
        for (step, child) in &self.children {
            step.show(path);
            child.list(path, paths);
            path.truncate(end);
        }
    }

    /// Decodes `FieldsV1`. Returns `None` if it is malformed.
    pub(super) fn decode(value: &Value) -> Option<Self> {
        let mut fields = Self::decode_tree(value)?;
        fields.own = false;
        Some(fields)
    }

    fn decode_tree(value: &Value) -> Option<Self> {
        let mut fields = Self::default();
        for (key, value) in value.as_object()? {
            if key == "." {
                fields.own = true;
                continue;
            }
            let (kind, rest) = key.split_once(':')?;
            if !matches!(kind, "f" | "v" | "k" | "i") {
                // A later version may define this kind of step.
                continue;
            }
            let step = Step::decode(kind, rest)?;
            let mut child = Self::decode_tree(value)?;
            child.own |= value.as_object().is_some_and(Map::is_empty);
            fields.insert(step, child);
        }
        Some(fields)
    }

    /// Encodes the set as `FieldsV1`.
    pub(super) fn encode(&self) -> Value {
        let mut encoded = Map::new();
        if self.own && !self.children.is_empty() {
            encoded.insert(".".to_owned(), json!({}));
        }
        encoded.extend(self.children.iter().map(|(step, child)| (step.encode(), child.encode())));
        Value::Object(encoded)
    }
}
