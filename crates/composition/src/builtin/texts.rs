//! Labels, annotations and other strings by their keys.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use crate::engine::step::Context;
use crate::fields::field_spec::{FieldSpec, MissingField};
use crate::fields::field_tree::FieldTrees;
use crate::resources::resource::{AliasedEntry, Resource, changeable};
use crate::values::quote::{text_of_float, text_of_number};
use krm_yaml::diagnostic::Severity;
use krm_yaml::{Data, EntryLine, FieldPath, Scalar, Value, ViewMut};

/// Strings by their keys; numbers and bools are spelled as kustomize spells them.
pub(crate) type StringMap = BTreeMap<String, Text>;

/// A string that may be written as a number or bool.
#[derive(Clone, Debug)]
pub(crate) struct Text(pub(crate) String);

impl Text {
    fn value(&self) -> Value<'static> {
        Value::string(self.0.clone())
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(Spelling).map(Self)
    }
}

/// Accepts any scalar, and spells it as text.
struct Spelling;

impl Visitor<'_> for Spelling {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> std::result::Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_unit<E: Error>(self) -> std::result::Result<String, E> {
        Ok(String::new())
    }

    fn visit_bool<E: Error>(self, flag: bool) -> std::result::Result<String, E> {
        Ok(flag.to_string())
    }

    fn visit_i64<E: Error>(self, number: i64) -> std::result::Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> std::result::Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> std::result::Result<String, E> {
        Ok(text_of_float(number))
    }
}

/// Gives the fractions under `key` the spelling that they are written with: `1.10` stays `1.10`.
/// Whole numbers become decimal, as in kustomize. Warns of numbers that either spells differently.
pub(crate) fn keep_spelling(key: &'static str, texts: &mut StringMap, context: &mut Context<'_>) {
    let transformer = context.transformer;
    let entries = transformer.config.get(key).and_then(Value::entries);
    for (name, value) in entries.unwrap_or_default() {
        let Data::Scalar(Scalar::Number(digits)) = &value.data else {
            continue;
        };
        let text = text_of_number(digits);
        let field = FieldPath::root().key(key).key(name.as_ref());
        let place = transformer.place_of(&field);
        let written = place.as_ref().and_then(|place| {
            let text = place.source.text();
            text.get(place.range.clone())
        });
        let Some(written) = written.filter(|written| text != *written) else {
            continue;
        };
        let is_whole = digits.parse::<i64>().is_ok() || digits.parse::<u64>().is_ok();
        let problem = if is_whole {
            format!("`{written}` is a number, and becomes the string `{text}`")
        } else {
            texts.insert(name.clone().into_owned(), Text(written.to_owned()));
            format!("`{written}` is a number, of which kustomize makes the string `{text}`")
        };
        let mut warning = transformer.error(&field, problem);
        warning.severity = Severity::Warning;
        let hint = format!("put it in quotes: `\"{written}\"`");
        context.diagnostics.push(warning.hint(hint));
    }
}

/// Sets entries of the mappings at `fields` of all resources that may be changed.
pub(crate) fn set_entries(
    resources: &mut [Resource<'_>],
    fields: &[FieldSpec],
    entries: &StringMap,
    context: &mut Context<'_>,
) {
    if entries.is_empty() {
        return;
    }
    let line = |(key, text): (&String, &Text)| EntryLine::of(key, text.value()).map(Arc::new);
    let mut entries = Entries {
        fields,
        trees: FieldTrees::default(),
        lines: entries.iter().map(line).collect(),
        bytes: entries.iter().map(|(key, Text(text))| key.len() + text.len()).sum(),
        texts: entries,
    };
    for resource in changeable(resources) {
        entries.set(resource, context);
    }
}

/// Entries to be set in many objects.
struct Entries<'t> {
    fields: &'t [FieldSpec],
    trees: FieldTrees,
    texts: &'t StringMap,
    /// Each as a line, if it takes one.
    lines: Vec<Option<Arc<EntryLine>>>,
    /// What they take of the budget.
    bytes: usize,
}

impl Entries<'_> {
    fn set(&mut self, resource: &mut Resource<'_>, context: &mut Context<'_>) {
        let tree = self.trees.of_resource(resource, self.fields.iter());
        let mut created = vec![Created::default(); self.texts.len()];
        let set = &mut |index: usize, mut mapping: ViewMut<'_, '_>| {
            if !mapping.view().is_mapping() {
                return Err("expected a mapping there".to_owned());
            }
            if !context.budget.take(self.bytes) {
                return Ok(());
            }
            let entries = self.texts.iter().zip(&self.lines);
            for (((key, text), line), created) in entries.zip(&mut created) {
                if mapping.view().get(key).is_none() {
                    created.count += 1;
                    let field = self.fields.get(index);
                    let own = field.and_then(|field| in_metadata(&field.path));
                    created.mapping = created.mapping.or(own);
                }
                let mapping = mapping.reborrow();
                if let Some(line) = line {
                    mapping.insert(line);
                } else {
                    let key = Cow::Owned(key.clone());
                    mapping.value_mut().insert(key, text.value());
                }
            }
            Ok(())
        };
        let problems = tree.visit(resource.view_mut(), MissingField::Mapping, set);
        context.problems(resource, problems);
        resource.drop_changed_shared();
        for ((key, Text(text)), created) in self.texts.iter().zip(created) {
            if created.count > 1
                && let Some(mapping) = created.mapping
            {
                resource.shared.push(AliasedEntry {
                    mapping,
                    key: key.clone(),
                    value: text.clone(),
                });
            }
        }
    }
}

/// Fields of an object in which an entry was created.
#[derive(Clone, Copy, Default)]
struct Created {
    count: usize,
    /// The mapping in `metadata`, if it is one of them.
    mapping: Option<&'static str>,
}

/// The mapping in `metadata` that a path names.
fn in_metadata(path: &str) -> Option<&'static str> {
    match path {
        "metadata/labels" => Some("labels"),
        "metadata/annotations" => Some("annotations"),
        _ => None,
    }
}
