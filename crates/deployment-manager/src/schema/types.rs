//! Types as templates of the Kubernetes time spell them: `int` for `integer`.

use krm_yaml::{Data, Value};

/// Spellings that JSON Schema does not have, and the types that they mean.
const TYPES: &[(&str, &str)] = &[
    ("int", "integer"),
    ("bool", "boolean"),
    ("float", "number"),
    ("str", "string"),
    ("list", "array"),
    ("map", "object"),
    ("dict", "object"),
];

/// Fields of a schema whose values are data.
pub(super) const DATA: &[&str] = &["default", "enum", "imports", "example", "examples"];

/// Fields of a schema whose values are schemas by name.
pub(super) const NAMED: &[&str] =
    &["properties", "patternProperties", "definitions", "dependencies"];

/// A type that was replaced.
pub(super) struct Replaced {
    /// The old value, which knows its node.
    pub(super) value: Value<'static>,
    /// The type as it was written.
    pub(super) old: &'static str,
    /// The type that it means.
    pub(super) new: &'static str,
}

/// Replaces such types in a schema; the first one is returned.
pub(super) fn replace(schema: &mut Value<'static>) -> Option<Replaced> {
    let mut first = None;
    in_schema(schema, &mut first);
    first
}

fn in_schema(schema: &mut Value<'static>, first: &mut Option<Replaced>) {
    match &mut schema.data {
        Data::Scalar(_) => {}
        Data::Sequence(items) => items.iter_mut().for_each(|item| in_schema(item, first)),
        Data::Mapping(entries) => {
            for (key, value) in entries {
                let key = key.as_ref();
                if key == "type" {
                    in_type(value, first);
                } else if NAMED.contains(&key) {
                    in_named(value, first);
                } else if !DATA.contains(&key) {
                    in_schema(value, first);
                }
            }
        }
    }
}

fn in_named(schemas: &mut Value<'static>, first: &mut Option<Replaced>) {
    if let Data::Mapping(entries) = &mut schemas.data {
        for (_, schema) in entries {
            in_schema(schema, first);
        }
    }
}

fn in_type(value: &mut Value<'static>, first: &mut Option<Replaced>) {
    if let Some(items) = value.items_mut() {
        for item in items {
            in_type(item, first);
        }
        return;
    }
    let known = TYPES.iter().find(|(old, _)| value.as_str() == Some(old));
    if let Some(&(old, new)) = known {
        first.get_or_insert_with(|| Replaced { value: value.clone(), old, new });
        value.set(Value::from(new).data);
    }
}

/// The type that a value means, if it is such a spelling.
pub(super) fn of_json_schema(value: Option<&Value<'static>>) -> Option<&'static str> {
    let spelled = value?.as_str()?;
    TYPES.iter().find_map(|(old, new)| (*old == spelled).then_some(*new))
}
