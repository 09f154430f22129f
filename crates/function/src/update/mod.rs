//! Updates an existing object to what its Template creates now.
//!
//! A function receives its own earlier output as input. An object with the same identity keeps its
//! path, index and comments, and the labels and annotations that others set. Other fields that the
//! Template does not set are removed, unless `update: merge` is given. Items of lists are paired by
//! key or content. A second run changes nothing.
//!
//! A changed item loses the id annotations, by which orchestrators restore old comments and key
//! order: that would undo the changes. An item that a Composition changed without moving items of a
//! list keeps them, since kpt then restores only comments that it did not send.

pub(crate) mod changes;
pub(crate) mod keep;
pub(crate) mod rules;

use crate::update::changes::Changes;
use krm_core::annotations::{self, IDS, annotate};
use krm_core::item_keys::ITEM_KEYS;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Cursor, DuplicateKeys, Value};

/// How an object is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It becomes what the Template creates, but keeps labels and annotations that the Template
    /// does not set.
    Replace,
    /// It keeps every field that the Template does not set.
    Merge,
}

/// The result of updating an object.
pub(crate) struct Updated<'v> {
    /// The object, each part with the node that it replaces; none if it stays as it is.
    pub(crate) value: Option<Value<'v>>,
    pub(crate) changes: Changes,
}

/// Updates an object to what its Template creates now. `value` has no annotations of a file;
/// `marks` are written into its annotations. `hides` tells whether the text of a part is a secret.
pub(crate) fn update<'v>(
    old: Cursor<'_>,
    mut value: Value<'v>,
    manner: Manner,
    marks: &[(&'static str, &str)],
    hides: &dyn Fn(&Value<'_>) -> bool,
) -> Updated<'v> {
    let mut ignored = Diagnostics::new();
    let Some(old_value) = old.value(DuplicateKeys::LastWins, &mut ignored) else {
        // It cannot be read: all of it changes.
        return Updated { value: Some(value.without_origin()), changes: Changes::default() };
    };
    let old_value = old_value.into_owned();
    match manner {
        Manner::Merge => merge(&mut value, &old_value),
        Manner::Replace => keep_metadata(&mut value, &old_value),
    }
    keep_namespace(&mut value, &old_value);
    let kept = keep::keep(&mut value, &old_value, hides);
    let mut changes = Changes::of(&old_value, &value, hides);
    changes.kept = kept;
    for (key, text) in marks {
        annotate(&mut value, *key, text);
    }
    if value == old_value {
        return Updated { value: None, changes };
    }
    annotations::remove(&mut value, IDS);
    value.adopt(&old_value, &ITEM_KEYS);
    Updated { value: Some(value), changes }
}

/// Keeps a namespace that the Template does not set: a later function may have set it.
fn keep_namespace<'v>(value: &mut Value<'v>, old: &Value<'v>) {
    let Some(namespace) = old.at(&["metadata", "namespace"]) else {
        return;
    };
    if let Some(metadata) = value.mapping_at("metadata")
        && metadata.get("namespace").is_none()
    {
        metadata.insert("namespace".into(), namespace.clone());
    }
}

/// Keeps the labels and annotations that the Template does not set: the orchestrator's, and those
/// that others have put there.
fn keep_metadata<'v>(value: &mut Value<'v>, old: &Value<'v>) {
    for key in ["labels", "annotations"] {
        let kept = old.at(&["metadata", key]).and_then(Value::entries);
        let kept = kept.filter(|kept| !kept.is_empty());
        let Some(kept) = kept else { continue };
        let own = value.mapping_at("metadata").and_then(|metadata| metadata.mapping_at(key));
        let Some(own) = own else { continue };
        for (name, old) in kept {
            if own.get(name).is_none() {
                own.insert(name.clone(), old.clone());
            }
        }
    }
}

/// Keeps what the Template does not set. Items of lists correspond if they have the same
/// key.
fn merge<'v>(value: &mut Value<'v>, old: &Value<'v>) {
    if let Some(entries) = old.entries() {
        if value.entries().is_none() {
            return;
        }
        for (key, old) in entries {
            match value.get_mut(key) {
                Some(own) => merge(own, old),
                None => value.insert(key.clone(), old.clone()),
            }
        }
    } else if let Some(old) = old.items()
        && let Some(items) = value.items_mut()
        && let Some(key) = ITEM_KEYS.of_both(items, old)
    {
        let pairs = key.pairs(items, old);
        for (item, pair) in items.iter_mut().zip(&pairs) {
            if let Some(old) = pair.and_then(|at| old.get(at)) {
                merge(item, old);
            }
        }
        *items = krm_yaml::in_order_of(std::mem::take(items), &pairs, old);
    }
}
