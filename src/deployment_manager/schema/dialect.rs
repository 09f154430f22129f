//! Schemas for the validator, rewritten where Python's jsonschema reads them differently.

use jsonschema::{Draft, Keyword, ValidationError, Validator};
use krm_yaml::Value;
use serde_json::Value as Json;

use crate::deployment_manager::schema::expression::expression;
use crate::deployment_manager::schema::pointer::{target, to_json};
use crate::deployment_manager::schema::types::{DATA, NAMED};

/// Compiles a schema of Draft 4 with the rules of Python: its regular expressions, its floats, and
/// references that are only looked up where they are needed.
pub(super) fn compile(schema: &Value<'static>) -> Result<Validator, ValidationError<'static>> {
    compile_json(to_json(schema), schema)
}

/// Compiles a schema whose references lead into `root`.
pub(super) fn compile_json(
    mut schema: Json,
    root: &Value<'static>,
) -> Result<Validator, ValidationError<'static>> {
    rewrite(&mut schema, root);
    build(schema)
}

/// Compiles a schema; its own address does not matter, as references are within it.
fn build(mut schema: Json) -> Result<Validator, ValidationError<'static>> {
    if let Some(fields) = schema.as_object_mut() {
        for key in ["id", "$schema"] {
            if fields.get(key).is_some_and(|value| !value.is_object()) {
                fields.shift_remove(key);
            }
        }
    }
    jsonschema::options()
        .with_draft(Draft::Draft4)
        .should_validate_formats(false)
        .with_keyword("multipleOf", |_, divisor, _| {
            Ok(Box::new(MultipleOf(divisor.clone())))
        })
        .build(&schema)
}

/// A validator of texts that match a regular expression of Python somewhere.
pub(super) fn matcher(pattern: &str) -> Option<Validator> {
    build(serde_json::json!({"pattern": expression(pattern)})).ok()
}

fn rewrite(schema: &mut Json, root: &Value<'static>) {
    match schema {
        Json::Array(items) => items.iter_mut().for_each(|item| rewrite(item, root)),
        Json::Object(fields) => {
            if let Some(Json::String(reference)) = fields.get_mut("$ref") {
                match target(root, reference) {
                    // Setting defaults reports it, if it is needed.
                    None => return fields.clear(),
                    Some(found) if std::ptr::eq(found, root) => "#".clone_into(reference),
                    Some(_) => *reference = escape(reference),
                }
            }
            for (key, value) in fields {
                rewrite_field(key, value, root);
            }
        }
        _ => {}
    }
}

/// A reference whose characters are escaped as in an address, such as `%20`.
fn escape(reference: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(reference.len());
    for byte in reference.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn rewrite_field(key: &str, value: &mut Json, root: &Value<'static>) {
    match value {
        Json::String(pattern) if key == "pattern" => {
            *pattern = expression(pattern).into_owned();
        }
        Json::Object(schemas) if NAMED.contains(&key) => {
            for (_, schema) in schemas.iter_mut() {
                rewrite(schema, root);
            }
            if key == "patternProperties" {
                let named = std::mem::take(schemas).into_iter();
                *schemas = named
                    .map(|(pattern, schema)| (expression(&pattern).into_owned(), schema))
                    .collect();
            }
        }
        _ if DATA.contains(&key) => {}
        _ => rewrite(value, root),
    }
}

/// `multipleOf` as Python computes it: by a float, the quotient must be a whole number.
struct MultipleOf(Json);

impl MultipleOf {
    fn fits(&self, instance: &Json) -> bool {
        let (Json::Number(number), Json::Number(divisor)) = (instance, &self.0) else {
            return true;
        };
        let spelled = (number.to_string(), divisor.to_string());
        if let (Ok(number), Ok(divisor)) = (spelled.0.parse::<i128>(), spelled.1.parse::<i128>()) {
            return number.checked_rem(divisor).is_none_or(|rest| rest == 0);
        }
        let (Some(number), Some(by)) = (number.as_f64(), divisor.as_f64()) else {
            return true;
        };
        if spelled.1.contains(['.', 'e', 'E']) {
            (number / by).fract() == 0.0
        } else {
            number % by == 0.0
        }
    }
}

impl<'i> Keyword<'i> for MultipleOf {
    fn validate(&self, instance: &'i Json) -> Result<(), ValidationError<'i>> {
        if self.fits(instance) {
            Ok(())
        } else {
            Err(ValidationError::custom("not a multiple"))
        }
    }

    fn is_valid(&self, instance: &'i Json) -> bool {
        self.fits(instance)
    }
}

#[cfg(test)]
mod tests {
    use super::matcher;

    #[test]
    fn regular_expressions_match_what_they_match_in_python() {
        for (pattern, text, fits) in [
            ("^a$", "a\n", true),
            ("^a\\Z", "a\n", false),
            ("(?P<q>x)y", "xy", true),
            ("^(?!b).*x", "ax", true),
            ("^(?!b).*x", "bx", false),
            ("b", "abc", true),
        ] {
            let matcher = matcher(pattern).unwrap();
            assert_eq!(matcher.is_valid(&text.into()), fits, "{pattern} {text:?}");
        }
    }
}
