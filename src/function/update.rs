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

use crate::krm::annotations::{self, IDS, OWNER, annotate};
use crate::krm::item_keys::ITEM_KEYS;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Cursor, DuplicateKeys, Value};

/// How an object is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// It becomes what the Template creates, but keeps labels and annotations that the Template
    /// does not set.
    Replace,
    /// It keeps every field that the Template does not set.
    Merge,
}

/// The result of updating an object.
pub(super) struct Updated<'v> {
    /// The object, each part with the node that it replaces; none if it stays as it is.
    pub(super) value: Option<Value<'v>>,
    /// How many fields changed, its owner not counted.
    pub(super) fields: usize,
    pub(super) removed: Removed,
}

/// The fields and items that an object loses because its Template does not set them.
#[derive(Default)]
pub(super) struct Removed {
    /// Their paths in the object as it was.
    paths: Vec<String>,
    /// Whether [`Manner::Merge`] would have kept one of them.
    can_be_kept: bool,
}

/// How many of the removed fields a message names.
const MAX_NAMED: usize = 10;

/// Updates an object to what its Template creates now. `value` has no annotations of a file;
/// `owner` is written into its annotations.
pub(super) fn update<'v>(
    old: Cursor<'_>,
    mut value: Value<'v>,
    manner: Manner,
    owner: Option<&str>,
) -> Updated<'v> {
    let mut ignored = Diagnostics::new();
    let Some(old_value) = old.value(DuplicateKeys::LastWins, &mut ignored) else {
        // It cannot be read: all of it changes.
        return Updated {
            value: Some(value.without_origin()),
            fields: 1,
            removed: Removed::default(),
        };
    };
    let old_value = old_value.into_owned();
    match manner {
        Manner::Merge => merge(&mut value, &old_value),
        Manner::Replace => keep_metadata(&mut value, &old_value),
    }
    let fields = changed_fields(&old_value, &value);
    let mut removed = Removed::default();
    removed.find(&old_value, &value, &mut String::new());
    if let Some(owner) = owner {
        annotate(&mut value, OWNER, owner);
    }
    if value == old_value {
        return Updated {
            value: None,
            fields,
            removed,
        };
    }
    annotations::remove(&mut value, IDS);
    value.adopt(&old_value, &ITEM_KEYS);
    Updated {
        value: Some(value),
        fields,
        removed,
    }
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

impl Removed {
    /// Adds what `old` has at `path` and `new` does not have.
    fn find(&mut self, old: &Value<'_>, new: &Value<'_>, path: &mut String) {
        let length = path.len();
        if let (Some(old), Some(_)) = (old.entries(), new.entries()) {
            for (key, old) in old {
                let _ = krm_yaml::write_key(path, key, length == 0);
                self.add(old, new.get(key), path, true);
                path.truncate(length);
            }
        } else if let (Some(old), Some(new)) = (old.items(), new.items()) {
            let key = ITEM_KEYS.of_both(new, old);
            let mut partners = vec![None; old.len()];
            for (new, pair) in new.iter().zip(ITEM_KEYS.pairs(new, old)) {
                if let Some(partner) = pair.and_then(|at| partners.get_mut(at)) {
                    *partner = Some(new);
                }
            }
            for (index, (old, new)) in old.iter().zip(partners).enumerate() {
                match key.and_then(|key| key.step(old)) {
                    Some(step) => path.push_str(&step),
                    None => drop(krm_yaml::write_index(path, index)),
                }
                self.add(old, new, path, key.is_some());
                path.truncate(length);
            }
        }
    }

    fn add(
        &mut self,
        old: &Value<'_>,
        new: Option<&Value<'_>>,
        path: &mut String,
        can_be_kept: bool,
    ) {
        if let Some(new) = new {
            self.find(old, new, path);
        } else {
            self.paths.push(path.clone());
            self.can_be_kept |= can_be_kept;
        }
    }

    /// Names what was removed; `None` if nothing was.
    pub(super) fn message(&self) -> Option<String> {
        let mut named: Vec<String> = self.paths.iter().map(|path| format!("`{path}`")).collect();
        let more = named.len().saturating_sub(MAX_NAMED);
        if more > 0 {
            named.truncate(MAX_NAMED);
            named.push(format!("{more} more"));
        }
        let last = named.pop()?;
        Some(match named.as_slice() {
            [] => format!("removed {last}"),
            named => format!("removed {} and {last}", named.join(", ")),
        })
    }

    /// Whether `update: merge` would have kept some of it.
    pub(super) const fn can_be_kept(&self) -> bool {
        self.can_be_kept
    }
}

/// How many fields differ: each that was added, removed or changed, and of a whole that was added
/// or removed only itself. Items in another order count as one.
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
        let pairs = ITEM_KEYS.pairs(new, old);
        let gone = old.len() - pairs.iter().flatten().count();
        let changed = new.iter().zip(&pairs).map(|(new, pair)| {
            let old = pair.and_then(|at| old.get(at));
            old.map_or(1, |old| changed_fields(old, new))
        });
        let moved = usize::from(!pairs.iter().flatten().is_sorted());
        gone + moved + changed.sum::<usize>()
    } else {
        usize::from(old != new)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_NAMED, Removed};
    use krm_yaml::Value;

    #[test]
    fn so_many_fields_are_named_and_the_others_counted() {
        let message = |count: usize| {
            let entries = (0..count).map(|at| (format!("f{at}").into(), Value::from(true)));
            let old = Value::mapping(entries.collect());
            let mut removed = Removed::default();
            removed.find(&old, &Value::mapping(Vec::new()), &mut String::new());
            removed.message()
        };
        assert_eq!(message(0), None);
        assert_eq!(message(1).unwrap(), "removed `f0`");
        assert_eq!(message(3).unwrap(), "removed `f0`, `f1` and `f2`");
        assert!(message(MAX_NAMED).unwrap().ends_with("`f8` and `f9`"));
        let more = message(MAX_NAMED + 2).unwrap();
        assert!(more.ends_with("`f9` and 2 more"), "{more}");
    }
}
