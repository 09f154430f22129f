//! Helpers of several filters.

use minijinja::{Error, State, Value};

use crate::jinja::arguments::{bind, required};

/// A filter: the value and the arguments come together.
pub(super) type Filter = fn(&mut State<'_, '_>, &[Value]) -> Result<Value, Error>;

/// The value that a filter is applied to, and nothing else.
pub(super) fn alone(args: &[Value]) -> Result<Value, Error> {
    let [value] = bind(args, ["value"])?;
    required(value, "value")
}

/// An attribute by its path, as `a.b.0`, or an item by its index.
pub(super) fn attribute(value: &Value, path: &Value) -> Result<Value, Error> {
    let Some(path) = path.as_str() else {
        return value.get_item(path);
    };
    path.split('.').try_fold(value.clone(), |value, part| {
        if let Ok(index) = part.parse::<usize>() {
            return value.get_item(&Value::from(index));
        }
        value.get_item(&Value::from(part))
    })
}

/// A value whose case does not matter when it is compared.
pub(super) fn folded(value: Value, is_case_sensitive: bool) -> Value {
    match value.as_str() {
        Some(text) if !is_case_sensitive => Value::from(text.to_lowercase()),
        _ => value,
    }
}
