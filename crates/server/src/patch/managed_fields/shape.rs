//! The parts of an object that have their own owners.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::field_set::{Fields, Step};
use crate::codec::field_types::{OBJECT_META, is_field, is_parameter_field};
use crate::patch::merge::{kind, with_map};
use krm_template_server_core::{Group, Kind};

/// The shape of a part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// An atomic value, which is owned as a whole.
    Leaf,
    Object(Group),
    Instance(Group),
    /// The `spec` of an instance.
    Spec(Group),
    Status,
    /// The Template in an instance of OpenShift's group.
    Inline,
    /// The metadata of that Template, without system fields.
    InlineMetadata,
    Requester,
    Metadata,
    /// A map whose strings have owners of their own.
    Labels,
    /// A map whose values, of any type, have owners of their own.
    Values,
    /// A list of parameters, keyed by `name`.
    Parameters,
    Parameter,
    /// A list of owner references, keyed by `uid`.
    OwnerReferences,
    /// A list of strings, each with owners of its own.
    Set,
}

/// The fields of `metadata` that the server sets. They have no owner.
///
/// Source: `stripSet` of `managedfields`. Upstream rejects the two fields of a deletion earlier.
const SYSTEM: [&str; 11] = [
    "name",
    "namespace",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
];

/// Returns `true` if the server sets this field of `metadata`.
pub(super) fn is_system(name: &str) -> bool {
    SYSTEM.contains(&name)
}

/// The differences between two objects.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The fields that are new or have another value.
    pub(super) changed: Fields,
    pub(super) removed: Fields,
}

impl Changes {
    /// Compares two objects. Ignores system fields.
    pub(super) fn between(group: Group, before: &Value, after: &Value) -> Self {
        Shape::of(group, after).compare(Some(before), Some(after))
    }

    fn at(step: &Step, below: Self, all: &mut Self) {
        all.changed.insert(step.clone(), below.changed);
        all.removed.insert(step.clone(), below.removed);
    }
}

impl Shape {
    /// Returns the shape of an object, by its kind.
    pub(super) fn of(group: Group, object: &Value) -> Self {
        let kind = object.get("kind").and_then(Value::as_str);
        match kind.and_then(Kind::named) {
            Some(Kind::Instance) => Self::Instance(group),
            _ => Self::Object(group),
        }
    }

    /// Returns the shape of a field, or `None` if it has no owner.
    fn field(self, name: &str) -> Option<Self> {
        Some(match (self, name) {
            (Self::Object(_) | Self::Instance(_) | Self::Inline, "apiVersion" | "kind") => {
                return None;
            }
            (Self::Object(_) | Self::Instance(_), "metadata") => Self::Metadata,
            (Self::Instance(group), "spec") => Self::Spec(group),
            (Self::Instance(_), "status") => Self::Status,
            (Self::Spec(Group::OpenShift), "template") => Self::Inline,
            (Self::Spec(_), "requester") => Self::Requester,
            (Self::Inline, "metadata") => Self::InlineMetadata,
            (Self::Inline, "labels") | (Self::InlineMetadata, "labels" | "annotations") => {
                Self::Labels
            }
            (Self::Object(_), "labels")
            | (Self::Object(Group::Krm), "objectLabels")
            | (Self::Metadata, "labels" | "annotations") => Self::Labels,
            (Self::Object(Group::Krm), "values") | (Self::Spec(Group::Krm), "parameters") => {
                Self::Values
            }
            (Self::Object(Group::Krm), "parameters") => Self::Parameters,
            (Self::Metadata, "finalizers") => Self::Set,
            (Self::Metadata, "ownerReferences") => Self::OwnerReferences,
            (Self::Metadata, name) if is_system(name) => return None,
            // Unknown fields cannot be applied.
            (Self::Object(group), name) if !is_field((group, Kind::Template), name) => return None,
            (Self::Instance(group), name) if !is_field((group, Kind::Instance), name) => {
                return None;
            }
            (Self::Metadata, name) if !OBJECT_META.has(name) => return None,
            (Self::Parameter, name) if !is_parameter_field(name) => return None,
            _ => Self::Leaf,
        })
    }

    /// Returns `true` for a struct, which itself has no owner.
    fn is_struct(self) -> bool {
        matches!(
            self,
            Self::Object(_)
                | Self::Instance(_)
                | Self::Spec(_)
                | Self::Status
                | Self::Inline
                | Self::InlineMetadata
                | Self::Requester
                | Self::Metadata
        )
    }

    /// Returns `true` for a type of Go, in which a null field is the same as a missing one. Our
    /// kinds are custom resources, except for their metadata.
    fn is_typed(self) -> bool {
        matches!(
            self,
            Self::Object(Group::OpenShift)
                | Self::Instance(Group::OpenShift)
                | Self::Spec(Group::OpenShift)
                | Self::Inline
                | Self::InlineMetadata
                | Self::Metadata
        )
    }

    fn is_map(self) -> bool {
        self.is_struct() || matches!(self, Self::Labels | Self::Values | Self::Parameter)
    }

    fn is_list(self) -> bool {
        matches!(self, Self::Parameters | Self::OwnerReferences | Self::Set)
    }

    /// Returns the step to a list item and the shape of the item, or `None` if it has no key.
    fn item(self, item: &Value) -> Option<(Step, Self)> {
        let (key, shape) = match self {
            Self::Parameters => ("name", Self::Parameter),
            Self::OwnerReferences => ("uid", Self::Leaf),
            Self::Set => return item.is_string().then(|| (Step::item(item), Self::Leaf)),
            _ => return None,
        };
        let value = item.get(key).filter(|value| value.is_string())?;
        Some((Step::key(key, value), shape))
    }

    /// Returns the parts of a value, or `None` if it is a leaf, or has another shape.
    fn parts(self, value: &Value) -> Option<BTreeMap<Step, (Self, &Value)>> {
        match value {
            Value::Null if self != Self::Leaf => Some(BTreeMap::new()),
            Value::Object(fields) if self.is_map() => Some(
                fields
                    .iter()
                    .filter_map(|(name, value)| {
                        Some((Step::field(name), (self.field(name)?, value)))
                    })
                    .collect(),
            ),
            Value::Array(items) if self.is_list() => {
                let mut parts = BTreeMap::new();
                for item in items {
                    let (step, shape) = self.item(item)?;
                    if parts.insert(step, (shape, item)).is_some() {
                        return None;
                    }
                }
                Some(parts)
            }
            _ => None,
        }
    }

    fn compare(self, before: Option<&Value>, after: Option<&Value>) -> Changes {
        let none = || Some(BTreeMap::new());
        let parts = (
            before.map_or_else(none, |value| self.parts(value)),
            after.map_or_else(none, |value| self.parts(value)),
        );
        let (Some(old), Some(new)) = parts else {
            return compare_leaf(before, after);
        };
        if old.is_empty() && new.is_empty() {
            return if self.is_struct() { Changes::default() } else { compare_leaf(before, after) };
        }
        let mut changes = Changes::default();
        let steps: BTreeSet<&Step> = old.keys().chain(new.keys()).collect();
        for step in steps {
            let (old, new) = (old.get(step), new.get(step));
            let Some((shape, _)) = old.or(new) else {
                continue;
            };
            let (old, new) = (self.value(step, old), self.value(step, new));
            Changes::at(step, shape.compare(old, new), &mut changes);
        }
        if !self.is_struct() && before.is_none() {
            changes.changed.insert_self();
        }
        if !self.is_struct() && after.is_none() {
            changes.removed.insert_self();
        }
        changes
    }

    /// Returns the value of a part for a comparison. OpenShift's Templates always have `objects`.
    fn value<'a>(self, step: &Step, part: Option<&(Self, &'a Value)>) -> Option<&'a Value> {
        let value =
            part.map(|(_, value)| *value).filter(|value| !(self.is_typed() && value.is_null()));
        let always = self == Self::Object(Group::OpenShift) && *step == Step::field("objects");
        if always { Some(value.unwrap_or(&Value::Null)) } else { value }
    }

    /// Returns the fields of an applied value. An empty list has none.
    pub(super) fn fields(self, value: &Value) -> Fields {
        self.fields_without(value, &Fields::default())
    }

    /// Returns the fields of a value after the removal of others.
    fn fields_without(self, value: &Value, removed: &Fields) -> Fields {
        let parts = match self.parts(value) {
            Some(parts) if !parts.is_empty() => parts,
            _ if self.is_struct() || (self.is_list() && value.is_array()) => {
                return Fields::default();
            }
            _ => return Fields::leaf(),
        };
        let mut fields = Fields::default();
        let nothing = Fields::default();
        let mut is_empty = true;
        for (step, (shape, value)) in parts {
            let removed = removed.get(&step).unwrap_or(&nothing);
            if self.removes(&step, shape, removed) {
                continue;
            }
            is_empty = false;
            let mut below = shape.fields_without(value, removed);
            if self.is_list() {
                below.insert_self();
            }
            fields.insert(step, below);
        }
        // A value that has lost all its parts is null.
        if is_empty && !self.is_struct() {
            return Fields::leaf();
        }
        fields
    }

    /// Returns `true` if a set of fields to remove has a part itself. Structs and the keys of
    /// parameters stay.
    fn removes(self, step: &Step, shape: Self, removed: &Fields) -> bool {
        let is_key = self == Self::Parameter && *step == Step::field("name");
        removed.has_self() && !shape.is_struct() && !is_key
    }

    /// Merges an applied value into a live one.
    pub(super) fn merge(self, live: &mut Value, applied: &Value) {
        match applied {
            Value::Null if self.parts(live).is_some_and(|parts| !parts.is_empty()) => {}
            Value::Object(fields) if self.is_map() => {
                with_map(live, |live| self.merge_map(live, fields));
            }
            Value::Array(items) if self.is_list() => {
                let current = std::mem::take(live);
                *live = match current {
                    Value::Array(current) => self.merge_list(current, items),
                    _ => self.merge_list(Vec::new(), items),
                };
            }
            _ => live.clone_from(applied),
        }
    }

    fn merge_map(self, live: &mut Map<String, Value>, applied: &Map<String, Value>) {
        for (name, value) in applied {
            let Some(shape) = self.field(name) else {
                continue;
            };
            match (self, value) {
                (Self::Labels, Value::Null) => {
                    live.insert(name.clone(), json!(""));
                }
                _ => shape.merge(live.entry(name).or_insert(Value::Null), value),
            }
        }
        if self.is_typed() {
            let cleared =
                |name: &str| applied.get(name) == Some(&Value::Null) && self.field(name).is_some();
            live.retain(|name, value| !(value.is_null() && cleared(name)));
        }
    }

    /// Merges lists. Applied items keep their order, and other live items keep their place between
    /// them.
    fn merge_list(self, live: Vec<Value>, applied: &[Value]) -> Value {
        let steps = |items: &[Value]| -> Vec<Option<Step>> {
            items.iter().map(|item| self.item(item).map(|(step, _)| step)).collect()
        };
        let (live_steps, applied_steps) = (steps(&live), steps(applied));
        let applied_set: BTreeSet<&Step> = applied_steps.iter().flatten().collect();
        let mut shared: BTreeMap<&Step, Value> = BTreeMap::new();
        let mut alone = Vec::new();
        for (step, item) in live_steps.iter().zip(live) {
            match step.as_ref().filter(|step| applied_set.contains(step)) {
                Some(step) => {
                    shared.insert(step, item);
                    alone.push(None);
                }
                None => alone.push(Some(item)),
            }
        }
        let mut before = live_steps.iter().zip(alone).peekable();
        let mut merged = Vec::new();
        let mut wanted = applied_steps
            .iter()
            .flatten()
            .filter(|step| shared.contains_key(step))
            .cloned()
            .collect::<std::collections::VecDeque<_>>();
        for (step, item) in applied_steps.iter().zip(applied) {
            // Live items that are not applied come before the next shared item.
            while let Some((place, _)) = before.peek() {
                if place.is_some() && place.as_ref() == wanted.front() {
                    break;
                }
                merged.extend(before.next().and_then(|(_, alone)| alone));
            }
            if step.is_some() && step.as_ref() == wanted.front() {
                wanted.pop_front();
                before.next();
            }
            let mut value = step.as_ref().and_then(|step| shared.remove(step)).unwrap_or_default();
            let shape = self.item(item).map_or(Self::Leaf, |(_, shape)| shape);
            shape.merge(&mut value, item);
            merged.push(value);
        }
        merged.extend(before.filter_map(|(_, alone)| alone));
        Value::Array(merged)
    }

    /// Removes the fields that a manager applied before, unless they have an owner.
    ///
    /// Source: `prune`, `addBackOwnedItems` and `addBackDanglingItems` of
    /// `structured-merge-diff/merge`.
    pub(super) fn prune(self, value: &mut Value, before: &Fields, owned: &Fields) {
        let named = |mut fields: Fields| {
            self.own_named(&mut fields);
            fields
        };
        let (before, all) = (named(before.clone()), named(self.fields(value)));
        let mut kept = named(self.fields_without(value, &before));
        kept.add(named(owned.clone()));
        let mut removed = all.clone();
        removed.subtract(&kept);
        let kept = named(self.fields_without(value, &removed));
        let mut removed = all;
        removed.subtract(&kept);
        self.remove(value, &removed.intersection(&before));
    }

    /// Adds the fields of structs that have parts in the set.
    ///
    /// Source: `EnsureNamedFieldsAreMembers` of `structured-merge-diff/fieldpath`.
    fn own_named(self, fields: &mut Fields) {
        let is_declared = self.is_struct() || self == Self::Parameter;
        for (step, below) in fields.below() {
            if is_declared {
                below.insert_self();
            }
            let shape = match (self, step) {
                (_, Step::Field(name)) => self.field(name),
                (Self::Parameters, Step::Key(_)) => Some(Self::Parameter),
                _ => None,
            };
            if let Some(shape) = shape {
                shape.own_named(below);
            }
        }
    }

    /// Removes fields from a value. What loses all its parts becomes null.
    fn remove(self, value: &mut Value, removed: &Fields) {
        let has_parts = self.parts(value).is_some_and(|parts| !parts.is_empty());
        if !has_parts || removed.is_empty() {
            return;
        }
        let keep = |step: &Step, shape: Self, part: &mut Value| {
            let Some(removed) = removed.get(step) else {
                return true;
            };
            if self.removes(step, shape, removed) {
                return false;
            }
            shape.remove(part, removed);
            !(self.is_typed() && part.is_null())
        };
        let is_empty = match value {
            Value::Object(fields) => {
                fields.retain(|name, part| {
                    let shape = self.field(name);
                    shape.is_none_or(|shape| keep(&Step::field(name), shape, part))
                });
                fields.is_empty()
            }
            Value::Array(items) => {
                items.retain_mut(|item| match self.item(item) {
                    Some((step, shape)) => keep(&step, shape, item),
                    None => true,
                });
                items.is_empty()
            }
            _ => false,
        };
        if is_empty {
            *value = Value::Null;
        }
    }

    /// Checks that a value can be applied, with the messages of kube-apiserver.
    pub(super) fn check(self, value: &Value, path: &str) -> Result<(), String> {
        match value {
            Value::Null => Ok(()),
            Value::Object(fields) if self.is_map() => {
                fields.iter().try_for_each(|(name, value)| {
                    self.field(name)
                        .map_or(Ok(()), |shape| shape.check(value, &format!("{path}.{name}")))
                })
            }
            Value::Array(items) if self.is_list() => self.check_list(items, path),
            _ if self.is_map() => Err(format!("{path}: expected map, got {}", kind(value))),
            _ if self.is_list() => Err(format!("{path}: expected list, got {}", kind(value))),
            _ => Ok(()),
        }
    }

    fn check_list(self, items: &[Value], path: &str) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let Some((step, shape)) = self.item(item) else {
                return Err(self.no_key(index, item, path));
            };
            shape.check(item, &format!("{path}[{index}]"))?;
            let mut fields = Fields::default();
            fields.insert(step.clone(), Fields::leaf());
            if !seen.insert(step) {
                let keys = fields.paths().concat();
                return Err(format!("{path}: duplicate entries for key {keys}"));
            }
        }
        Ok(())
    }

    /// Returns the error for a list item without a key.
    fn no_key(self, index: usize, item: &Value, path: &str) -> String {
        let key = match self {
            Self::Parameters => "name",
            Self::OwnerReferences => "uid",
            _ => return format!("{path}[{index}]: expected string, got {}", kind(item)),
        };
        format!(
            "{path}: element {index}: associative list with keys has an element that omits key \
             field {key:?} (and doesn't have default value)"
        )
    }
}

fn compare_leaf(before: Option<&Value>, after: Option<&Value>) -> Changes {
    match (before, after) {
        (Some(_), None) => Changes { removed: Fields::leaf(), ..Changes::default() },
        (before, after) if before == after => Changes::default(),
        _ => Changes { changed: Fields::leaf(), ..Changes::default() },
    }
}
