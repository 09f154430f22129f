//! The messages of Python's jsonschema, written from the keyword, the instance and the schema.

use jsonschema::error::ValidationErrorKind;
use krm_yaml::Value;

use crate::deployment_manager::repr::{repr, text};

/// An error in an instance.
pub(super) struct Violation<'v> {
    /// The instance.
    pub(super) instance: &'v Value<'static>,
    /// The keyword that it violates.
    pub(super) keyword: &'v str,
    /// The schema with this keyword.
    pub(super) schema: &'v Value<'static>,
    /// The error that the validator found.
    pub(super) kind: &'v ValidationErrorKind,
}

/// The messages, without the path: several properties may need a missing one. `fits` tells whether
/// the instance fits a branch of `oneOf`.
pub(super) fn messages(violation: &Violation<'_>, fits: impl Fn(usize) -> bool) -> Vec<String> {
    let Violation {
        instance,
        keyword,
        schema,
        kind,
    } = *violation;
    let found = repr(instance);
    let limit = schema.get(keyword).map(repr).unwrap_or_default();
    let of = |keyword: &str| schema.get(keyword).map(repr).unwrap_or_default();
    let message = match keyword {
        "type" => format!("{found} is not of type {}", types(schema.get("type"))),
        "required" => format!("{} is a required property", missing(kind)),
        "enum" => format!("{found} is not one of {limit}"),
        "dependencies" => {
            let missing = missing(kind);
            let of = depends(schema, instance, &missing).into_iter();
            let of = of.map(|of| format!("{missing} is a dependency of {of}"));
            return of.collect();
        }
        "pattern" => format!("{found} does not match {limit}"),
        "additionalProperties" => additional_properties(schema, instance, kind),
        "additionalItems" => additional_items(schema, instance),
        "minLength" | "minItems" => format!("{found} is too short"),
        "maxLength" | "maxItems" => format!("{found} is too long"),
        "minimum" => format!("{found} is less than the minimum of {limit}"),
        "exclusiveMinimum" => {
            let limit = of("minimum");
            format!("{found} is less than or equal to the minimum of {limit}")
        }
        "maximum" => format!("{found} is greater than the maximum of {limit}"),
        "exclusiveMaximum" => {
            let limit = of("maximum");
            format!("{found} is greater than or equal to the maximum of {limit}")
        }
        "multipleOf" => format!("{found} is not a multiple of {limit}"),
        "uniqueItems" => format!("{found} has non-unique elements"),
        "minProperties" => format!("{found} does not have enough properties"),
        "maxProperties" => format!("{found} has too many properties"),
        "oneOf" if matches!(kind, ValidationErrorKind::OneOfMultipleValid { .. }) => {
            several(schema, &found, fits)
        }
        "anyOf" | "oneOf" => format!("{found} is not valid under any of the given schemas"),
        "not" => format!("{limit} is not allowed for {found}"),
        _ => format!("{found} does not fit `{keyword}`"),
    };
    vec![message]
}

/// `'string', 'null'`.
fn types(types: Option<&Value<'static>>) -> String {
    let names = match types.and_then(Value::items) {
        Some(names) => names.iter().map(repr).collect(),
        None => types.map(repr).into_iter().collect::<Vec<_>>(),
    };
    names.join(", ")
}

fn missing(kind: &ValidationErrorKind) -> String {
    match kind {
        ValidationErrorKind::Required { property } => text(property.as_str().unwrap_or_default()),
        _ => String::new(),
    }
}

/// The properties of `instance` that need the missing one.
fn depends(schema: &Value<'static>, instance: &Value<'static>, missing: &str) -> Vec<String> {
    let dependencies = schema.get("dependencies").and_then(Value::entries);
    let dependencies = dependencies.unwrap_or_default().iter();
    let found = dependencies.filter(|(key, needed)| {
        let needed = needed.items().unwrap_or_default();
        instance.get(key).is_some() && needed.iter().any(|one| repr(one) == missing)
    });
    found.map(|(key, _)| text(key)).collect()
}

fn additional_properties(
    schema: &Value<'static>,
    instance: &Value<'static>,
    kind: &ValidationErrorKind,
) -> String {
    let mut names: Vec<String> =
        if let ValidationErrorKind::AdditionalProperties { unexpected } = kind {
            unexpected.iter().map(|name| text(name)).collect()
        } else {
            // If the schema has no properties at all, the validator does not name them.
            let entries = instance.entries().unwrap_or_default().iter();
            entries.map(|(name, _)| text(name)).collect()
        };
    let patterns = schema.get("patternProperties").and_then(Value::entries);
    let Some(patterns) = patterns else {
        let was = if names.len() == 1 { "was" } else { "were" };
        let names = names.join(", ");
        return format!("Additional properties are not allowed ({names} {was} unexpected)");
    };
    names.sort();
    let mut patterns: Vec<String> = patterns.iter().map(|(pattern, _)| text(pattern)).collect();
    patterns.sort();
    let does = if names.len() == 1 { "does" } else { "do" };
    let (names, patterns) = (names.join(", "), patterns.join(", "));
    format!("{names} {does} not match any of the regexes: {patterns}")
}

fn additional_items(schema: &Value<'static>, instance: &Value<'static>) -> String {
    let known = schema
        .get("items")
        .and_then(Value::items)
        .map_or(0, <[_]>::len);
    let items = instance.items().unwrap_or_default().iter().skip(known);
    let items: Vec<String> = items.map(repr).collect();
    let was = if items.len() == 1 { "was" } else { "were" };
    let items = items.join(", ");
    format!("Additional items are not allowed ({items} {was} unexpected)")
}

/// The branches of `oneOf` that fit: the later ones, then the first.
fn several(schema: &Value<'static>, found: &str, fits: impl Fn(usize) -> bool) -> String {
    let branches = schema
        .get("oneOf")
        .and_then(Value::items)
        .unwrap_or_default();
    let fitting = branches
        .iter()
        .enumerate()
        .filter(|(index, _)| fits(*index));
    let mut fitting: Vec<String> = fitting.map(|(_, branch)| repr(branch)).collect();
    if !fitting.is_empty() {
        fitting.rotate_left(1);
    }
    format!("{found} is valid under each of {}", fitting.join(", "))
}
