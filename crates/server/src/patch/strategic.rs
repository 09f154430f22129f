//! Strategic merge patches, for `template.openshift.io` only.
//!
//! The types of that group declare no merge keys: lists are replaced and maps are merged, as in a
//! merge patch. In addition, there are directives, `metadata.finalizers` is a set, and owner
//! references are merged by uid.
//!
//! Source: `strategicpatch` of `k8s.io/apimachinery`.

use serde_json::{Map, Value};

use super::merge::{malformed, with_map};
use krm_template_server_core::Result;

/// The directive for a map or a list item: `replace`, `delete` or `merge`.
const PATCH: &str = "$patch";
/// The directive with the list of keys to keep.
const RETAIN_KEYS: &str = "$retainKeys";
/// The prefix of a directive with the items to remove from a list.
const DELETE_ITEMS: &str = "$deleteFromPrimitiveList/";
/// The prefix of a directive with the order of a list. It is ignored.
const ORDER: &str = "$setElementOrder/";

/// The position of a patched map in the object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Object,
    Metadata,
    Other,
}

impl Level {
    fn below(self, key: &str) -> Self {
        if self == Self::Object && key == "metadata" { Self::Metadata } else { Self::Other }
    }

    /// Returns `true` if the field contains the owner references, which are merged by uid.
    fn is_owners(self, key: &str) -> bool {
        self == Self::Metadata && key == "ownerReferences"
    }

    /// Returns `true` if the list in the field is a set.
    fn is_set(self, key: &str) -> bool {
        self == Self::Metadata && key == "finalizers"
    }
}

/// Applies a strategic merge patch. Keys keep their order; new ones follow.
///
/// # Errors
///
/// 400 for an unknown or malformed directive, or a patch that is not an object. The object may be
/// partially changed in that case.
pub fn apply(object: &mut Value, patch: &Value) -> Result<()> {
    let Value::Object(patch) = patch else {
        return Err(malformed("the patch is not an object"));
    };
    with_map(object, |fields| merge(fields, patch, Level::Object))
}

fn merge(fields: &mut Map<String, Value>, patch: &Map<String, Value>, level: Level) -> Result<()> {
    match patch.get(PATCH) {
        None => {}
        Some(Value::String(directive)) if directive == "merge" => {}
        Some(Value::String(directive)) if directive == "delete" => {
            fields.clear();
            return Ok(());
        }
        Some(Value::String(directive)) if directive == "replace" => {
            fields.clear();
        }
        Some(_) => return Err(malformed("unknown patch type found")),
    }
    retain_keys(fields, patch, level)?;
    delete_items(fields, patch, level)?;
    fields.retain(|key, _| patch.get(key) != Some(&Value::Null));
    for (key, value) in patch {
        if value.is_null() || is_directive(key) {
            continue;
        }
        merge_field(fields, key, value, level)?;
    }
    Ok(())
}

fn merge_field(
    fields: &mut Map<String, Value>,
    key: &str,
    value: &Value,
    level: Level,
) -> Result<()> {
    if value.is_object() && !fields.get(key).is_some_and(Value::is_object) {
        match taken(value) {
            Some(value) => _ = fields.insert(key.to_owned(), value),
            None => _ = fields.shift_remove(key),
        }
        return Ok(());
    }
    let current = fields.entry(key).or_insert(Value::Null);
    match (current, value) {
        (current, Value::Object(patch)) => {
            with_map(current, |fields| merge(fields, patch, level.below(key)))?;
        }
        (Value::Array(items), Value::Array(added)) if level.is_set(key) => {
            for item in added {
                if !items.contains(item) {
                    items.push(item.clone());
                }
            }
        }
        (current, Value::Array(owners)) if level.is_owners(key) => {
            let mut items = match current.take() {
                Value::Array(items) => items,
                _ => Vec::new(),
            };
            merge_owners(&mut items, owners)?;
            *current = Value::Array(items);
        }
        (current, Value::Array(items)) if level == Level::Object && key != "objects" => {
            *current = items.iter().map(without_directives).collect();
        }
        (current, value) => current.clone_from(value),
    }
    Ok(())
}

/// Returns a map that takes the place of something else, without its nulls. What has a directive is
/// left out.
///
/// Source: `removeDirectives` of `strategicpatch`.
fn taken(value: &Value) -> Option<Value> {
    let Value::Object(fields) = value else {
        return Some(value.clone());
    };
    if fields.contains_key(PATCH) {
        return None;
    }
    let fields = fields.iter().filter(|(key, value)| !value.is_null() && !is_directive(key));
    let fields = fields.filter_map(|(key, value)| Some((key.clone(), taken(value)?)));
    Some(Value::Object(fields.collect()))
}

/// Merges owner references by uid. `$patch: delete` removes one.
fn merge_owners(items: &mut Vec<Value>, owners: &[Value]) -> Result<()> {
    for owner in owners {
        let Some(uid) = owner.get("uid").filter(|uid| uid.is_string()) else {
            return Err(malformed("map: does not contain declared merge key: uid"));
        };
        let at = items.iter().position(|item| item.get("uid") == Some(uid));
        match (at.and_then(|at| items.get_mut(at)), owner) {
            (Some(_), owner) if owner.get(PATCH) == Some(&Value::from("delete")) => {
                items.retain(|item| item.get("uid") != Some(uid));
            }
            (Some(item), Value::Object(patch)) => {
                with_map(item, |fields| merge(fields, patch, Level::Other))?;
            }
            (None, owner) if owner.get(PATCH).is_none() => items.push(owner.clone()),
            _ => {}
        }
    }
    Ok(())
}

/// Removes the keys that `$retainKeys` does not list, except `kind` and `apiVersion` of the object.
fn retain_keys(
    fields: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    level: Level,
) -> Result<()> {
    let Some(kept) = patch.get(RETAIN_KEYS) else {
        return Ok(());
    };
    let Value::Array(kept) = kept else {
        return Err(malformed("invalid format of $retainKeys"));
    };
    let kept: std::collections::BTreeSet<&str> = kept.iter().filter_map(Value::as_str).collect();
    let strange = |(key, value): (&String, &Value)| {
        !value.is_null() && !is_directive(key) && !kept.contains(key.as_str())
    };
    if patch.iter().any(strange) {
        return Err(malformed("invalid format of $retainKeys"));
    }
    let always = |key: &str| level == Level::Object && matches!(key, "apiVersion" | "kind");
    fields.retain(|key, _| kept.contains(key.as_str()) || always(key));
    Ok(())
}

/// Removes the items that `$deleteFromPrimitiveList` lists.
fn delete_items(
    fields: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    level: Level,
) -> Result<()> {
    for (key, deleted) in patch {
        let Some(name) = key.strip_prefix(DELETE_ITEMS) else {
            continue;
        };
        let Value::Array(deleted) = deleted else {
            return Err(malformed("invalid format of $deleteFromPrimitiveList"));
        };
        if let Some(Value::Array(items)) = fields.get_mut(name).filter(|_| level.is_set(name)) {
            items.retain(|item| !deleted.contains(item));
        }
    }
    Ok(())
}

/// Returns a list item without its directives, which are not part of the object.
fn without_directives(item: &Value) -> Value {
    match item {
        Value::Object(fields) => fields
            .iter()
            .filter(|(key, _)| !is_directive(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

fn is_directive(key: &str) -> bool {
    key == PATCH || key == RETAIN_KEYS || key.starts_with(DELETE_ITEMS) || key.starts_with(ORDER)
}
