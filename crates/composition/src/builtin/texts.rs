//! Labels, annotations and other strings by their keys.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use crate::engine::step::Context;
use crate::fields::field_spec::{FieldSpec, MissingField};
use crate::values::quote::{text_of_float, text_of_number};
use krm_yaml::diagnostic::Severity;
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
    object: &mut Value<'_>,
    fields: &[FieldSpec],
    entries: &Texts,
) -> std::result::Result<(), String> {
    let fields = fields.iter().filter(|field| field.is_for(object));
    for field in fields.collect::<Vec<_>>() {
        field.visit(object, MissingField::Mapping, &mut |mapping| {
            if !matches!(mapping.data, Data::Mapping(_)) {
                return Err("expected a mapping there".to_owned());
            }
            for (key, Text(text)) in entries {
                mapping.insert(Cow::Owned(key.clone()), Value::string(text.clone()));
            }
            Ok(())
        })?;
    }
    Ok(())
}
