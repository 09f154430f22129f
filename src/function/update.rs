//! An object that stands among the items becomes what its Template makes of it now.

use crate::diagnostic::{Diagnostics, Result};
use crate::krm::annotations::{IDS, OWNER, annotate, remove_empty};
use crate::yaml::{self, Cursor, Data, DuplicateKeys, Edit, Scalar, Value};

/// Keys that tell the items of a list apart, as kustomize has them (kyaml's associative keys).
const ITEM_KEYS: &[&str] = &[
    "mountPath",
    "devicePath",
    "ip",
    "type",
    "topologyKey",
    "name",
    "containerPort",
    "port",
];

/// How an object is brought up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// It becomes what the Template makes, but for labels and annotations that this does not set.
    Replace,
    /// It keeps every field that the Template does not set.
    Merge,
}

/// What became of an object.
pub(super) struct Updated {
    pub(super) edits: Vec<Edit>,
    /// How many fields changed, its owner not counted.
    pub(super) fields: usize,
}

/// Edits that make an item what its Template makes of it now. `value` says nothing of where the
/// item is kept; `owner` is written into its annotations.
pub(super) fn update(
    old: Cursor<'_>,
    mut value: Value<'_>,
    manner: Manner,
    owner: Option<&str>,
) -> Result<Updated> {
    let mut ignored = Diagnostics::new();
    let Some(old_value) = old.value(DuplicateKeys::LastWins, &mut ignored) else {
        // It cannot be read: all of it changes.
        let edits = yaml::update(old, value)?;
        return Ok(Updated { edits, fields: 1 });
    };
    let old_value = old_value.into_owned();
    match manner {
        Manner::Merge => merge(&mut value, &old_value),
        Manner::Replace => keep_metadata(&mut value, &old_value),
    }
    let fields = changed_fields(&old_value, &value);
    if let Some(owner) = owner {
        annotate(&mut value, OWNER, owner);
    }
    if value == old_value {
        return Ok(Updated {
            edits: Vec::new(),
            fields,
        });
    }
    if let Some(metadata) = value.get_mut("metadata") {
        if let Some(annotations) = metadata.get_mut("annotations") {
            for id in IDS {
                annotations.remove(id);
            }
        }
        remove_empty(metadata, "annotations");
    }
    let edits = yaml::update(old, value)?;
    Ok(Updated { edits, fields })
}

/// Keeps the labels and annotations that the Template does not set: the orchestrator's, and those
/// that others have put there.
fn keep_metadata<'v>(value: &mut Value<'v>, old: &Value<'v>) {
    for key in ["labels", "annotations"] {
        let kept = old.at(&["metadata", key]).and_then(Value::entries);
        let kept = kept.filter(|kept| !kept.is_empty());
        let Some(kept) = kept else { continue };
        let own = value
            .mapping_at("metadata")
            .and_then(|metadata| metadata.mapping_at(key));
        let Some(own) = own else { continue };
        for (name, old) in kept {
            if own.get(name).is_none() {
                own.insert(name.clone(), old.clone());
            }
        }
    }
}

/// Keeps what the Template does not set. Items of lists are the same thing if they have the same
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
        && let Some(key) = item_key(items, old)
    {
        for old in old {
            match items
                .iter_mut()
                .find(|item| text(item, key) == text(old, key))
            {
                Some(own) => merge(own, old),
                None => items.push(old.clone()),
            }
        }
    }
}

/// The key that tells apart the items of both lists.
fn item_key(items: &[Value<'_>], old: &[Value<'_>]) -> Option<&'static str> {
    let tells_apart = |list: &[Value<'_>], key: &str| {
        let mut names: Vec<_> = list.iter().filter_map(|item| text(item, key)).collect();
        names.sort_unstable();
        names.dedup();
        names.len() == list.len()
    };
    let keys = ITEM_KEYS.iter().copied();
    let mut keys = keys.filter(|key| tells_apart(items, key) && tells_apart(old, key));
    keys.next().filter(|_| !items.is_empty())
}

/// The text or number under `key`.
fn text<'v>(item: &'v Value<'_>, key: &str) -> Option<&'v str> {
    match &item.get(key)?.data {
        Data::Scalar(Scalar::String(text) | Scalar::Number(text)) => Some(text),
        _ => None,
    }
}

/// How many fields differ: each that came, went or changed, and of a whole that came or went only
/// itself.
fn changed_fields(old: &Value<'_>, new: &Value<'_>) -> usize {
    if let (Some(old), Some(entries)) = (old.entries(), new.entries()) {
        let gone = old.iter().filter(|(key, _)| new.get(key).is_none()).count();
        let find = |key: &str| old.iter().find(|(name, _)| name == key);
        let changed = entries.iter().map(|(key, new)| match find(key) {
            Some((_, old)) => changed_fields(old, new),
            None => 1,
        });
        gone + changed.sum::<usize>()
    } else if let (Some(old), Some(new)) = (old.items(), new.items()) {
        let both = old
            .iter()
            .zip(new)
            .map(|(old, new)| changed_fields(old, new));
        both.sum::<usize>() + old.len().abs_diff(new.len())
    } else {
        usize::from(old != new)
    }
}
