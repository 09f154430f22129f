//! Fields of a mapping that its kind does not have.

use std::borrow::Cow;
use std::fmt::Display;

use krm_yaml::Cursor;
use krm_yaml::diagnostic::Diagnostic;
use krm_yaml::suggest::closest;

/// Names that other tools have, and the fields that mean the same here.
const MEANT: &[(&str, &str)] = &[
    ("default", "value"),
    ("defaultValue", "value"),
    ("params", "parameters"),
    ("variables", "parameters"),
    ("vars", "parameters"),
    ("inputs", "parameters"),
    ("values", "parameters"),
    ("resources", "objects"),
    ("items", "objects"),
    ("manifests", "objects"),
    ("resources", "files"),
    ("commonLabels", "labels"),
    ("commonAnnotations", "annotations"),
    ("min", "minimum"),
    ("max", "maximum"),
    ("allowedValues", "enum"),
    ("choices", "enum"),
    ("options", "enum"),
    ("oneOf", "enum"),
    ("regex", "pattern"),
    ("allowedPattern", "pattern"),
    ("title", "displayName"),
    ("label", "displayName"),
    ("help", "description"),
    ("sensitive", "secret"),
    ("noEcho", "secret"),
    ("section", "group"),
];

/// The known field that a name probably means: in the words of another tool, or misspelt.
pub fn meant<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let mut elsewhere = MEANT.iter().filter(|(other, _)| *other == name);
    let elsewhere = elsewhere.find_map(|(_, field)| known.clone().find(|known| known == field));
    elsewhere.or_else(|| closest(name, known))
}

/// A field that is not known.
pub struct Unknown<'d> {
    pub(crate) entry: Cursor<'d>,
    /// The name of the field.
    pub key: Cow<'d, str>,
    /// The known field that it is probably meant to be.
    pub meant: Option<&'static str>,
}

impl<'d> Unknown<'d> {
    fn of(entry: Cursor<'d>, key: Cow<'d, str>, known: &[&'static str]) -> Self {
        Self { entry, meant: meant(&key, known.iter().copied()), key }
    }

    /// The message for a field of `what`.
    pub fn message(&self, what: &str) -> String {
        ["unknown field `", &self.key, "` of ", what].concat()
    }

    /// A diagnostic with the place, the field below `path`, and the field that is meant.
    pub fn locate(&self, diagnostic: Diagnostic, path: impl Display) -> Diagnostic {
        diagnostic
            .at(self.entry.key_place())
            .field(format!("{path}{}", self.key))
            .maybe_hint(self.meant.map(|name| format!("did you mean `{name}`?")))
    }
}

/// The fields of a mapping that are not among `known`.
pub fn unknown<'d>(node: Cursor<'d>, known: &[&'static str]) -> impl Iterator<Item = Unknown<'d>> {
    node.children().filter_map(move |entry| {
        let key = entry.key().ok()?;
        let is_known = known.contains(&key.as_ref()) || entry.is_merge_key();
        (!is_known).then(|| Unknown::of(entry, key, known))
    })
}

/// The entries of a mapping with the keys `known`, each as [`Cursor::get`] finds it, and the fields
/// that are not among these, in one walk.
pub fn sorted<'d, const N: usize>(
    node: Cursor<'d>,
    known: &[&'static str; N],
) -> ([Option<Cursor<'d>>; N], Vec<Unknown<'d>>) {
    let mut found = [None; N];
    let mut unknown = Vec::new();
    let mut merges = false;
    for entry in node.children() {
        let Ok(key) = entry.key() else { continue };
        let slot = known.iter().position(|name| *name == key);
        if let Some(slot) = slot.and_then(|slot| found.get_mut(slot)) {
            *slot = Some(entry);
        } else if entry.is_merge_key() {
            merges = true;
        } else {
            unknown.push(Unknown::of(entry, key, known));
        }
    }
    if merges {
        found = node.get_all(*known);
    }
    (found, unknown)
}
