//! What is asked of plain data: what it is called in messages, and the text of a scalar.

use crate::yaml::{Data, Scalar, Value};

/// What data is called in messages.
pub(super) const fn name_of(data: &Data<'_>) -> &'static str {
    match data {
        Data::Scalar(Scalar::Null) => "null",
        Data::Scalar(Scalar::Bool(_)) => "a bool",
        Data::Scalar(Scalar::Number(_)) => "a number",
        Data::Scalar(Scalar::String(_)) => "a text",
        Data::Sequence(_) => "a list",
        Data::Mapping(_) => "a mapping",
    }
}

/// The text of a scalar, unless it is null.
pub(super) fn text_of<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    match &value.data {
        Data::Scalar(Scalar::String(text) | Scalar::Number(text)) => Some(text),
        Data::Scalar(Scalar::Bool(true)) => Some("true"),
        Data::Scalar(Scalar::Bool(false)) => Some("false"),
        _ => None,
    }
}
