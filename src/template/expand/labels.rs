//! Puts the labels of a Template on its objects.

use std::borrow::Cow;

use crate::krm::identity::group;
use crate::krm::label_fields::{Create, for_template};
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
    let kind = object.str_at(&["kind"]).unwrap_or_default().to_owned();
    let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
    let group = group(api_version).to_owned();
    for (path, create) in for_template(&group, &kind) {
        on_path(object, path, create, labels);
    }
}

/// `path` has slashes between its keys; it is empty at the labels themselves.
fn on_path(value: &mut Value<'_>, path: &'static str, create: Create, labels: &Labels) {
    if let Data::Sequence(items) = &mut value.data {
        for item in items {
            on_path(item, path, create, labels);
        }
        return;
    }
    if path.is_empty() {
        let holds_one = value.entries().is_some_and(|entries| !entries.is_empty());
        if holds_one || create != Create::Never {
            set_all(value, labels);
        }
        return;
    }
    let (key, rest) = path.split_once('/').unwrap_or((path, ""));
    let key = key.strip_suffix("[]").unwrap_or(key);
    let make = match create {
        Create::Always => matches!((key, rest), ("metadata", "labels") | ("labels", "")),
        Create::InSelector => {
            key == "matchLabels" && value.entries().is_some_and(|entries| !entries.is_empty())
        }
        Create::Never => false,
    };
    let next = if make {
        value.mapping_at(key)
    } else {
        value.get_mut(key)
    };
    if let Some(next) = next {
        on_path(next, rest, create, labels);
    }
}
