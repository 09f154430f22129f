//! Puts the labels of a Template on its objects.

use std::borrow::Cow;

use crate::krm::identity::group;
use crate::krm::label_fields::{Branch, Create, Sets, for_template};
use krm_yaml::{Data, Scalar, Value};

/// Labels in the order they are written.
pub(crate) type Labels = [(String, String)];

/// Sets the labels on `metadata.labels`. Returns `false` if labels that were there had to go
/// because they are not a mapping of strings, as `oc` does.
pub(crate) fn on_metadata(object: &mut Value<'_>, labels: &Labels) -> bool {
    let Some(metadata) = object.mapping_at("metadata") else {
        return true;
    };
    let fits = match metadata.get("labels").map(|labels| &labels.data) {
        Some(Data::Mapping(entries)) => entries.iter().all(|(_, value)| value.as_str().is_some()),
        Some(Data::Scalar(Scalar::Null)) | None => true,
        Some(_) => false,
    };
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
    let Some(next) = next else { return };
    on_field(next, branch.sets, labels);
    for inner in &branch.children {
        on_branch(next, inner, labels);
    }
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
