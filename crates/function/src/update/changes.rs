//! Describes field changes for the function's results.

use krm_core::item_keys::ITEM_KEYS;
use krm_core::visible::counted;
use krm_yaml::Value;

/// How many fields a message names.
const MAX_NAMED: usize = 10;
/// How many characters of a value a message shows.
const MAX_SHOWN: usize = 40;

/// The fields that change.
#[derive(Default)]
pub(crate) struct Changes {
    /// Those that are added, or get another value.
    changed: Vec<Change>,
    /// The paths of those that the Template does not set, in the object as it was.
    removed: Vec<String>,
    /// Whether an update that merges would have kept one of the removed fields.
    pub(crate) can_be_kept: bool,
    /// Fields kept by the annotation `template.krm.dev/keep`.
    pub(crate) kept: Vec<String>,
}

struct Change {
    path: String,
    /// `old → new`, or `added`.
    how: String,
}

/// Compares two versions of an object.
struct Comparison<'c> {
    changes: Changes,
    hides: &'c dyn Fn(&Value<'_>) -> bool,
    is_secret: bool,
    path: String,
}

impl Changes {
    /// Compares an object with what becomes of it. `hides` tells whether the text of a part of the
    /// new one is a secret.
    pub(crate) fn of(old: &Value<'_>, new: &Value<'_>, hides: &dyn Fn(&Value<'_>) -> bool) -> Self {
        let mut comparison = Comparison {
            changes: Self::default(),
            hides,
            is_secret: new.str_at(&["kind"]) == Some("Secret"),
            path: String::new(),
        };
        comparison.compare(old, new);
        comparison.changes
    }

    /// Leaves a field out that a later function sets again.
    pub(crate) fn forget(&mut self, path: &str) {
        self.changed.retain(|change| change.path != path);
    }

    /// Names the fields; nothing if none changes.
    pub(crate) fn message(&self) -> Option<String> {
        let mut parts = Vec::new();
        let count = self.changed.len();
        if count > 0 {
            let named = self.changed.iter();
            let named = named.map(|change| format!("`{}` {}", change.path, change.how));
            parts.push(format!(
                "{} changed: {}",
                counted(count, "field"),
                listed(named, count, ", ")
            ));
        }
        let removed = self.removed.iter().map(|path| format!("`{path}`"));
        if !self.removed.is_empty() {
            parts.push(format!("removed {}", listed(removed, self.removed.len(), " and ")));
        }
        parts.extend(self.kept.iter().cloned());
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// At most [`MAX_NAMED`] of `count`, and how many more there are.
fn listed(all: impl Iterator<Item = String>, count: usize, before_last: &str) -> String {
    let mut named: Vec<String> = all.take(MAX_NAMED).collect();
    let more = count.saturating_sub(named.len());
    if more > 0 {
        named.push(format!("{more} more"));
    }
    let last = named.pop().unwrap_or_default();
    if named.is_empty() {
        return last;
    }
    let before_last = if more > 0 { " and " } else { before_last };
    format!("{}{before_last}{last}", named.join(", "))
}

/// A scalar as JSON, at most [`MAX_SHOWN`] characters of it. Of other values nothing is shown: a part
/// may be a secret.
pub(crate) fn shown(value: &Value<'_>) -> String {
    if value.entries().is_some() {
        return "{…}".to_owned();
    }
    if value.items().is_some() {
        return "[…]".to_owned();
    }
    let json = value.to_json();
    if json.chars().count() <= MAX_SHOWN {
        return json;
    }
    let start: String = json.chars().take(MAX_SHOWN - 1).collect();
    format!("{start}…")
}

impl Comparison<'_> {
    fn compare(&mut self, old: &Value<'_>, new: &Value<'_>) {
        let length = self.path.len();
        if let (Some(old_entries), Some(entries)) = (old.entries(), new.entries()) {
            for (key, old) in old_entries {
                let _ = krm_yaml::write_key(&mut self.path, key, length == 0);
                match new.get(key) {
                    Some(new) => self.compare(old, new),
                    None => self.removed(true),
                }
                self.path.truncate(length);
            }
            for (key, new) in entries {
                if old.get(key).is_none() {
                    let _ = krm_yaml::write_key(&mut self.path, key, length == 0);
                    self.add("added".to_owned());
                    let _ = new;
                    self.path.truncate(length);
                }
            }
        } else if let (Some(old), Some(new)) = (old.items(), new.items()) {
            self.items(old, new);
        } else if old != new {
            let hidden = self.is_hidden(new);
            let how = if hidden {
                "(hidden) → (hidden)".to_owned()
            } else {
                format!("{} → {}", shown(old), shown(new))
            };
            self.add(how);
        }
    }

    fn items(&mut self, old: &[Value<'_>], new: &[Value<'_>]) {
        let length = self.path.len();
        let key = ITEM_KEYS.of_both(new, old);
        let pairs = ITEM_KEYS.pairs(new, old);
        let mut partners = vec![None; old.len()];
        for (new, pair) in new.iter().zip(&pairs) {
            if let Some(partner) = pair.and_then(|at| partners.get_mut(at)) {
                *partner = Some(new);
            }
        }
        let step =
            |path: &mut String, item: &Value<'_>, index| match key.and_then(|key| key.step(item)) {
                Some(step) => path.push_str(&step),
                None => drop(krm_yaml::write_index(path, index)),
            };
        for (index, (old, new)) in old.iter().zip(partners).enumerate() {
            step(&mut self.path, old, index);
            match new {
                Some(new) => self.compare(old, new),
                None => self.removed(key.is_some()),
            }
            self.path.truncate(length);
        }
        for (index, (new, pair)) in new.iter().zip(&pairs).enumerate() {
            if pair.is_none() {
                step(&mut self.path, new, index);
                self.add("added".to_owned());
                self.path.truncate(length);
            }
        }
        if !pairs.iter().flatten().is_sorted() {
            self.add("in another order".to_owned());
        }
    }

    fn add(&mut self, how: String) {
        self.changes.changed.push(Change { path: self.path.clone(), how });
    }

    fn removed(&mut self, can_be_kept: bool) {
        self.changes.removed.push(self.path.clone());
        self.changes.can_be_kept |= can_be_kept;
    }

    fn is_hidden(&self, new: &Value<'_>) -> bool {
        let is_data = ["data.", "stringData.", "data[", "stringData["]
            .iter()
            .any(|field| self.path.starts_with(field));
        self.is_secret && is_data || (self.hides)(new)
    }
}

#[cfg(test)]
mod tests {
    use super::{Changes, MAX_NAMED};
    use krm_yaml::Value;

    #[test]
    fn so_many_fields_are_named_and_the_others_counted() {
        let message = |count: usize| {
            let entries = (0..count).map(|at| (format!("f{at}").into(), Value::from(true)));
            let old = Value::mapping(entries.collect());
            Changes::of(&old, &Value::mapping(Vec::new()), &|_| false).message()
        };
        assert_eq!(message(0), None);
        assert_eq!(message(1).unwrap(), "removed `f0`");
        assert_eq!(message(3).unwrap(), "removed `f0`, `f1` and `f2`");
        assert!(message(MAX_NAMED).unwrap().ends_with("`f8` and `f9`"));
        let more = message(MAX_NAMED + 2).unwrap();
        assert!(more.ends_with("`f9` and 2 more"), "{more}");
    }

    #[test]
    fn a_change_shows_the_old_and_the_new_value() {
        let old = Value::mapping(vec![("replicas".into(), Value::from(true))]);
        let new = Value::mapping(vec![("replicas".into(), Value::from(false))]);
        let message = |hidden| Changes::of(&old, &new, &|_| hidden).message().unwrap();
        assert_eq!(message(false), "1 field changed: `replicas` true → false");
        assert_eq!(message(true), "1 field changed: `replicas` (hidden) → (hidden)");
    }
}
