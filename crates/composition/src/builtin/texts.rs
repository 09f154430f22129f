//! Labels, annotations and other strings by their keys.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use crate::engine::step::Context;
use crate::fields::field_spec::{FieldSpec, MissingField};
use crate::resources::resource::{Resource, Shared};
use crate::values::quote::{text_of_float, text_of_number};
use krm_yaml::diagnostic::{Diagnostic, Severity};
use krm_yaml::{Data, FieldPath, Scalar, Value};

/// Strings by their keys; numbers and bools are spelled as kustomize spells them.
pub(crate) type Texts = BTreeMap<String, Text>;

/// A string that may be written as a number or bool.
#[derive(Clone, Debug)]
pub(crate) struct Text(pub(crate) String);

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
pub(crate) fn keep_spelling(key: &'static str, texts: &mut Texts, context: &mut Context<'_>) {
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

/// Sets entries of the mappings at `fields`.
pub(crate) fn set_entries(
    resource: &mut Resource<'_>,
    fields: &[FieldSpec],
    entries: &Texts,
    context: &mut Context<'_>,
) {
    if entries.is_empty() {
        return;
    }
    let mut created: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let sizes = entries
        .iter()
        .map(|(key, Text(text))| key.len() + text.len());
    let size: usize = sizes.sum();
    let text = |key| resource.str_at(&[key]).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let fields = fields.iter();
    let fields = fields.filter(|field| field.is_for_type(api_version, kind));
    let fields: Vec<&FieldSpec> = fields.collect();
    let object = resource.value_mut();
    let mut outcome = Ok(());
    for field in fields {
        outcome = outcome.and_then(|()| {
            field.visit(object, MissingField::Mapping, &mut |mapping| {
                if !matches!(mapping.data, Data::Mapping(_)) {
                    return Err("expected a mapping there".to_owned());
                }
                if !context.budget.take(size) {
                    return Ok(());
                }
                for (key, Text(text)) in entries {
                    if mapping.get(key).is_none() {
                        created.entry(key).or_default().push(&field.path);
                    }
                    mapping.insert(Cow::Owned(key.clone()), Value::string(text.clone()));
                }
                Ok(())
            })
        });
    }
    context.outcome(resource, outcome);
    let is_set = |shared: &Shared| entries.contains_key(&shared.key);
    if resource.shared.iter().any(is_set) {
        warn_of_shared(resource, context, &own_error);
    }
    created.retain(|_, paths| paths.len() > 1);
    for (key, paths) in created {
        let mut own = paths.iter();
        let own = own.find_map(|path| match path.strip_prefix("metadata/")? {
            "labels" => Some("labels"),
            "annotations" => Some("annotations"),
            _ => None,
        });
        if let Some((mapping, Text(text))) = own.zip(entries.get(key)) {
            resource.shared.push(Shared {
                mapping,
                key: key.to_owned(),
                value: text.clone(),
                count: paths.len(),
            });
        }
    }
}

/// Warns if a label or annotation has changed in some fields, and stays in others: kustomize has one
/// value for all fields in which one transformer has created it. `error` places a message.
pub(crate) fn warn_of_shared(
    resource: &mut Resource<'_>,
    context: &mut Context<'_>,
    error: &dyn Fn(String, &Context<'_>) -> Diagnostic,
) {
    let all = std::mem::take(&mut resource.shared);
    let texts = texts_of(
        resource.value(),
        &all.iter().map(|shared| shared.key.as_str()).collect(),
    );
    let mut kept = Vec::new();
    for shared in &all {
        let Shared {
            mapping,
            key,
            value,
            count: before,
        } = shared;
        let now = resource.str_at(&["metadata", mapping, key]);
        let (left, others) = same(&texts, key, value);
        let problem = if now == Some(value) {
            if left >= *before || others == 0 {
                kept.push(Shared {
                    count: left,
                    ..shared.clone()
                });
                continue;
            }
            format!(
                "`{key}` changes only in some fields: it stays `{value}` in others, where kustomize changes it, too"
            )
        } else {
            format!(
                "`{key}` changes only in `metadata.{mapping}`: it stays `{value}` in other fields, where kustomize changes it, too"
            )
        };
        if now.is_some() && left > 0 && context.is_of_kustomization {
            let warning = Diagnostic {
                severity: Severity::Warning,
                ..error(problem, context)
            };
            let hint = "to change it in all fields, change it in the Kustomization that adds it";
            context.diagnostics.push(warning.hint(hint));
        }
    }
    resource.shared = kept;
}

/// An error at the transformer itself.
pub(crate) fn own_error(problem: String, context: &Context<'_>) -> Diagnostic {
    context.transformer.error(&FieldPath::root(), problem)
}

/// The texts of the entries of an object that have one of these keys, by key.
fn texts_of<'v>(object: &'v Value<'_>, keys: &BTreeSet<&str>) -> BTreeMap<&'v str, Vec<&'v str>> {
    let mut texts = BTreeMap::new();
    if !keys.is_empty() {
        add_texts(object, keys, &mut texts);
    }
    texts
}

fn add_texts<'v>(
    value: &'v Value<'_>,
    keys: &BTreeSet<&str>,
    texts: &mut BTreeMap<&'v str, Vec<&'v str>>,
) {
    for (key, value) in value.entries().unwrap_or_default() {
        if let Some(text) = value.as_str()
            && keys.contains(&**key)
        {
            texts.entry(key).or_default().push(text);
        }
        add_texts(value, keys, texts);
    }
    for item in value.items().unwrap_or_default() {
        add_texts(item, keys, texts);
    }
}

/// The numbers of entries with a key that have this text, and that have another one.
fn same(texts: &BTreeMap<&str, Vec<&str>>, key: &str, text: &str) -> (usize, usize) {
    let all = texts.get(key).map(Vec::as_slice).unwrap_or_default();
    let same = all.iter().filter(|other| **other == text).count();
    (same, all.len() - same)
}
