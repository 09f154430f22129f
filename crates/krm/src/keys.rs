//! Keys that are not written as the fields of a type: unknown ones, and ones in another case. For Go,
//! the case does not matter, and the last of two keys in sorted order counts.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::fields::meant;
use krm_yaml::{FieldPath, Step, Value};

/// Writes names as `` `a`, `b`, `c` ``.
pub fn backticked(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The message and the hint for an unknown field.
pub(crate) fn unknown_field(name: &str, known: &[&str]) -> (String, Option<String>) {
    let hint = match meant(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if matches!(name, "name" | "namespace") => format!("did you mean `metadata.{name}`?"),
        None if known.is_empty() => "it has no fields of its own".to_owned(),
        None => format!("its fields are {}", backticked(known)),
    };
    (format!("unknown field `{name}`"), Some(hint))
}

/// The fields that Go may take for one another, because it ignores the case of keys: the one that
/// `key` means.
pub fn in_any_case<'f>(
    key: &str,
    fields: impl Iterator<Item = &'f str> + Clone,
) -> Option<&'f str> {
    let mut exact = fields.clone().filter(|name| *name == key);
    let mut all = fields.filter(|name| name.eq_ignore_ascii_case(key));
    exact.next().or_else(|| all.next())
}

/// A key that is not written as a field of its type.
#[derive(Debug)]
pub struct OddKey {
    /// The key.
    pub key: String,
    /// The path of its mapping, in the spelling of the types.
    pub mapping: FieldPath,
    /// The path of its value, as it is written.
    pub written: FieldPath,
    /// The field that it means; none if it is unknown.
    pub field: Option<&'static str>,
    /// Whether another key means the same field, and counts.
    pub is_hidden: bool,
    known: &'static [&'static str],
}

impl OddKey {
    /// The message and the hint.
    pub fn in_words(&self) -> (String, Option<String>) {
        match self.field {
            Some(field) => (spelled(&self.key, field), None),
            None => unknown_field(&self.key, self.known),
        }
    }
}

/// The message for a key in another case.
pub fn spelled(key: &str, field: &str) -> String {
    format!("`{key}` is spelled `{field}`")
}

/// Notes the keys that are not written as fields, while a value is read as Go reads it.
pub struct AnyCase {
    ignores_unknown: bool,
    found: RefCell<Found>,
}

/// The keys found so far, and the path of the value that is being read: in the spelling of the
/// types, and as it is written.
#[derive(Default)]
struct Found {
    keys: Vec<OddKey>,
    path: FieldPath,
    written: FieldPath,
}

impl AnyCase {
    /// Unknown keys are errors, unless they are ignored.
    #[must_use]
    pub fn new(ignores_unknown: bool) -> Self {
        Self { ignores_unknown, found: RefCell::default() }
    }

    /// The keys that are not written as the fields of their types, from the outside in. If unknown
    /// keys are ignored, they are among these.
    pub fn into_keys(self) -> Vec<OddKey> {
        self.found.into_inner().keys
    }

    // These are cold, as they would otherwise be part of the code for each type.

    /// The value of an entry is read from now on.
    #[cold]
    pub(crate) fn enter(&self, field: &str, key: &str) {
        let mut found = self.found.borrow_mut();
        found.path.push(Step::Key(field.to_owned()));
        found.written.push(Step::Key(key.to_owned()));
    }

    /// An item is read from now on.
    #[cold]
    pub(crate) fn enter_item(&self, index: usize) {
        let mut found = self.found.borrow_mut();
        found.path.push(Step::Index(index));
        found.written.push(Step::Index(index));
    }

    #[cold]
    pub(crate) fn leave(&self) {
        let mut found = self.found.borrow_mut();
        found.path.pop();
        found.written.pop();
    }
}

/// The fields of a mapping whose keys may have another case.
pub(crate) struct Fields<'v> {
    known: &'static [&'static str],
    /// The key that counts for each of them: Go sorts the keys, and the last one counts.
    keys: BTreeMap<&'static str, &'v str>,
}

impl<'v> Fields<'v> {
    #[cold]
    pub(crate) fn of(
        entries: &'v [(Cow<'_, str>, Value<'_>)],
        known: &'static [&'static str],
    ) -> Self {
        let mut keys = BTreeMap::new();
        for (key, _) in entries {
            if let Some(field) = in_any_case(key, known.iter().copied()) {
                let last = keys.entry(field).or_insert(key.as_ref());
                *last = (*last).max(key);
            }
        }
        Self { known, keys }
    }
}

impl Fields<'_> {
    #[cold]
    pub(crate) fn meant<'v>(&self, key: &'v str, any_case: &AnyCase) -> Option<&'v str> {
        let field = in_any_case(key, self.known.iter().copied());
        let is_hidden = field.is_some_and(|field| self.keys.get(field) != Some(&key));
        if field.is_none() && !any_case.ignores_unknown {
            return Some(key);
        }
        if field != Some(key) {
            let found = &mut *any_case.found.borrow_mut();
            found.keys.push(OddKey {
                key: key.to_owned(),
                mapping: found.path.clone(),
                written: found.written.clone().key(key),
                field,
                is_hidden,
                known: self.known,
            });
        }
        field.filter(|_| !is_hidden)
    }
}
