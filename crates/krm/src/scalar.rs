//! The text of a scalar.

use std::borrow::Cow;

use krm_yaml::{Data, Scalar, Value};

/// The text of a scalar value, unless it is null.
pub fn text_of<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    match &value.data {
        Data::Scalar(Scalar::String(text) | Scalar::Number(text)) => Some(text),
        Data::Scalar(Scalar::Bool(true)) => Some("true"),
        Data::Scalar(Scalar::Bool(false)) => Some("false"),
        _ => None,
    }
}

/// The text of a scalar, unless it is null.
pub(crate) fn into_text(scalar: Scalar<'_>) -> Option<Cow<'_, str>> {
    match scalar {
        Scalar::String(text) | Scalar::Number(text) => Some(text),
        Scalar::Bool(flag) => Some(if flag { "true" } else { "false" }.into()),
        Scalar::Null => None,
    }
}
