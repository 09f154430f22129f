//! The text of a scalar.

use krm_yaml::{Data, Scalar, Value};

/// The text of a scalar, unless it is null.
pub(crate) fn text_of<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    match &value.data {
        Data::Scalar(Scalar::String(text) | Scalar::Number(text)) => Some(text),
        Data::Scalar(Scalar::Bool(true)) => Some("true"),
        Data::Scalar(Scalar::Bool(false)) => Some("false"),
        _ => None,
    }
}
