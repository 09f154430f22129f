//! Labels, annotations and other texts by their keys.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use crate::composition::engine::context::Context;
use crate::composition::fields::field_spec::{FieldSpec, Made};
use crate::composition::values::quote::text_of_number;
use krm_yaml::diagnostic::Severity;
use krm_yaml::{Data, FieldPath, Scalar, Value};

/// Texts by their keys; numbers and bools are spelled as kustomize spells them.
pub(crate) type Texts = BTreeMap<String, Text>;

/// A text that may be written as a number or bool.
#[derive(Clone, Debug)]
pub(crate) struct Text(pub(crate) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => Ok(Self(text)),
            serde_json::Value::Null => Ok(Self(String::new())),
            serde_json::Value::Bool(flag) => Ok(Self(flag.to_string())),
            serde_json::Value::Number(number) => Ok(Self(text_of_number(&number))),
            _ => Err(D::Error::custom(
                "expected a string, found a list or mapping",
            )),
        }
    }
}

/// Warns of numbers under `key` that are spelled otherwise as texts: `1.10` would be `1.1`.
pub(crate) fn warn_of_numbers(key: &'static str, context: &mut Context<'_, '_>) {
    let transformer = context.transformer;
    let entries = transformer.config.get(key).and_then(Value::entries);
    for (name, value) in entries.unwrap_or_default() {
        let Data::Scalar(Scalar::Number(digits)) = &value.data else {
            continue;
        };
        let text = serde_json::from_str(digits).map(|number| text_of_number(&number));
        let field = FieldPath::root().key(key).key(name.as_ref());
        let place = transformer.place_of(&field);
        let written = place.as_ref().and_then(|place| {
            let text = place.source.text();
            text.get(place.range.clone())
        });
        if let (Ok(text), Some(written)) = (text, written)
            && text != written
        {
            let problem = format!("`{written}` is a number, and becomes the string `{text}`");
            let mut warning = transformer.error(&field, problem);
            warning.severity = Severity::Warning;
            context.diagnostics.push(warning.hint("put it in quotes"));
        }
    }
}

/// Sets entries of the mappings that `fields` lead to.
pub(crate) fn set_entries(
    object: &mut Value<'_>,
    fields: &[FieldSpec],
    entries: &Texts,
) -> std::result::Result<(), String> {
    let fields = fields.iter().filter(|field| field.is_for(object));
    for field in fields.collect::<Vec<_>>() {
        field.visit(object, Made::Mapping, &mut |mapping| {
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
