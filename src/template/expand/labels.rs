//! Puts the labels of a Template on its objects.

use std::borrow::Cow;

use crate::krm::identity::group;
use crate::krm::label_fields::{Branch, Create, Sets, for_template};
use krm_yaml::{Cursor, Data, Patched, Value};

/// Labels in the order they are written.
pub(crate) type Labels = [(String, String)];

/// Sets the labels on `metadata.labels`. Returns `false` if labels that were there had to go
/// because they are not a mapping of strings, as `oc` does.
pub(crate) fn on_object(object: &mut Value<'_>, labels: &Labels) -> bool {
    let metadata = object.mapping_at("metadata");
    metadata.is_none_or(|metadata| on_metadata(metadata, labels))
}

/// As [`on_object`], for an object that is not read as a whole. `None` if it must be.
pub(crate) fn on_metadata_of<'d>(
    object: &mut Patched<'d>,
    metadata: Cursor<'d>,
    labels: &Labels,
) -> Option<()> {
    let is_changed = object.changed_mut(metadata).is_some();
    let own = metadata
        .get("labels")
        .filter(|own| own.is_mapping() && !is_changed);
    let fits = match own {
        Some(own) => on_labels(object.value_mut(own), labels),
        None => on_metadata(object.value_mut(metadata), labels),
    };
    fits.then_some(())
}

/// Sets the labels on `metadata.labels`, if that is a mapping of strings.
fn on_labels(own: &mut Value<'_>, labels: &Labels) -> bool {
    let fits = are_strings(own);
    if fits {
        set_all(own, labels);
    }
    fits
}

fn are_strings(labels: &Value<'_>) -> bool {
    let mut entries = labels.entries().unwrap_or_default().iter();
    entries.all(|(_, value)| value.as_str().is_some())
}

fn on_metadata(metadata: &mut Value<'_>, labels: &Labels) -> bool {
    let own = metadata.get("labels").filter(|own| !own.is_null());
    let fits = own.is_none_or(|own| own.entries().is_some() && are_strings(own));
    if !fits {
        metadata.insert(Cow::Borrowed("labels"), Value::mapping(Vec::new()));
        if let Some(old) = metadata.get_mut("labels") {
            old.origin = None;
        }
    }
    if let Some(own) = metadata.mapping_at("labels") {
        set_all(own, labels);
    }
    fits
}

fn set_all(mapping: &mut Value<'_>, labels: &Labels) {
    for (key, value) in labels {
        mapping.insert(Cow::Owned(key.clone()), Value::string(value.clone()));
    }
}

/// Sets the labels on the selectors of an object and on the pod templates they select.
pub(crate) fn on_selectors(object: &mut Value<'_>, labels: &Labels) {
    if labels.is_empty() {
        return;
    }
    let kind = object.str_at(&["kind"]).unwrap_or_default();
    let group = group(object.str_at(&["apiVersion"]).unwrap_or_default());
    for branch in for_template(group, kind) {
        on_branch(object, branch, labels);
    }
}

fn on_branch(value: &mut Value<'_>, branch: &Branch, labels: &Labels) {
    if let Data::Sequence(items) = &mut value.data {
        for item in items {
            on_branch(item, branch, labels);
        }
        return;
    }
    let next = match branch.create {
        Create::Always => value.mapping_at(branch.key),
        Create::InSelector if has_entries(value) => value.mapping_at(branch.key),
        Create::InSelector | Create::Never => value.get_mut(branch.key),
    };
    if let Some(next) = next {
        on_next(next, branch, labels);
    }
}

/// Sets the labels on the value under the key of a branch, and in it.
fn on_next(next: &mut Value<'_>, branch: &Branch, labels: &Labels) {
    on_field(next, branch.sets, labels);
    for inner in &branch.children {
        on_branch(next, inner, labels);
    }
}

/// As [`on_selectors`], for an object that is not read as a whole. `None` if it must be: a mapping
/// on the way is missing.
pub(crate) fn on_selectors_of(
    object: &mut Patched<'_>,
    api_version: &str,
    kind: &str,
    labels: &Labels,
) -> Option<()> {
    if labels.is_empty() {
        return Some(());
    }
    let root = object.root().cursor();
    let mut branches = for_template(group(api_version), kind).iter();
    branches.try_for_each(|branch| on_branch_of(object, root, branch, labels))
}

fn on_branch_of<'d>(
    object: &mut Patched<'d>,
    node: Cursor<'d>,
    branch: &Branch,
    labels: &Labels,
) -> Option<()> {
    if node.is_sequence() {
        let mut items = node.children();
        return items.try_for_each(|item| on_branch_of(object, item, branch, labels));
    }
    let Some(next) = node.get(branch.key) else {
        return (branch.create == Create::Never).then_some(());
    };
    if branch.sets != Sets::No {
        next.is_mapping().then_some(())?;
        on_next(object.value_mut(next), branch, labels);
        return Some(());
    }
    (next.is_mapping() || next.is_sequence()).then_some(())?;
    let mut inner = branch.children.iter();
    inner.try_for_each(|inner| on_branch_of(object, next, inner, labels))
}

fn on_field(value: &mut Value<'_>, sets: Sets, labels: &Labels) {
    if sets == Sets::No {
        return;
    }
    if let Data::Sequence(items) = &mut value.data {
        for item in items {
            on_field(item, sets, labels);
        }
    } else if sets == Sets::Yes || has_entries(value) {
        set_all(value, labels);
    }
}

fn has_entries(value: &Value<'_>) -> bool {
    value.entries().is_some_and(|entries| !entries.is_empty())
}
