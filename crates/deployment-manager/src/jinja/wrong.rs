//! Errors of operations, and kinds of values in words.

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Value};

/// The error of a value or operation that is wrong.
pub(super) fn wrong(detail: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, detail.into())
}

/// A kind of value in words.
pub(super) fn named(value: &Value) -> &'static str {
    match value.kind() {
        ValueKind::Undefined => "an undefined value",
        ValueKind::None => "`None`",
        ValueKind::Bool => "a bool",
        ValueKind::Number => "a number",
        ValueKind::String => "a text",
        ValueKind::Map => "a mapping",
        ValueKind::Seq | ValueKind::Iterable => "a list",
        _ => "an object",
    }
}
