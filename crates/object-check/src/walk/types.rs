//! The types of scalars, as the API server reads them.

use krm_yaml::{Scalar, View};

use crate::finding::Fix;
use crate::scalars::{integer, is_base64, is_time, quantity};
use crate::schema::Type;

/// The type that the API server expects, if this value has another one.
pub(super) fn mismatch(value: View<'_>, of: Type) -> Option<&'static str> {
    let scalar = value.scalar();
    let number = match &scalar {
        Some(Scalar::Number(digits)) => Some(digits),
        _ => None,
    };
    let text = match &scalar {
        Some(Scalar::String(text)) => Some(text),
        _ => None,
    };
    let is_int32 = || {
        number
            .and_then(|digits| integer(digits))
            .is_some_and(|number| i32::try_from(number).is_ok())
    };
    let (fits, expected) = match of {
        Type::Any => (true, ""),
        Type::Text => (text.is_some(), "a string"),
        Type::Int32 => (is_int32(), "a 32-bit integer"),
        Type::Int64 => (number.and_then(|digits| integer(digits)).is_some(), "an integer"),
        Type::Number => (number.is_some(), "a number"),
        Type::Bool => (matches!(scalar, Some(Scalar::Bool(_))), "`true` or `false`"),
        Type::Quantity => {
            let digits = text.or(number);
            let fits = digits.and_then(|digits| quantity(digits)).is_some();
            (fits, "a quantity such as `500m` or `1.5Gi`")
        }
        Type::IntOrString => (text.is_some() || is_int32(), "an integer or a string"),
        Type::Time => {
            let fits = text.is_some_and(|text| is_time(text));
            (fits, "a time such as `2026-01-31T12:00:00Z`")
        }
        Type::Bytes => (text.is_some_and(|text| is_base64(text)), "base64"),
        Type::Object(_) | Type::Map(_) => (false, "a mapping"),
        Type::ObjectOrBool(_) => {
            (matches!(scalar, Some(Scalar::Bool(_))), "a mapping or a boolean")
        }
        Type::ObjectOrList(_) | Type::ObjectOrTexts(_) => (false, "a mapping or a list"),
        Type::List(_) => (false, "a list"),
    };
    (!fits).then_some(expected)
}

/// The edit that gives a scalar its type, with or without quotes.
pub(super) fn respelled(value: View<'_>, of: Type) -> Option<Fix> {
    let (old, quotes) = match (of, value.scalar()?) {
        (Type::Text, Scalar::Number(digits)) => (digits.into_owned(), "\""),
        (Type::Text, Scalar::Bool(flag)) => (flag.to_string(), "\""),
        (Type::Bool, Scalar::String(text)) if matches!(text.as_ref(), "true" | "false") => {
            (text.into_owned(), "")
        }
        (Type::Int32 | Type::Int64, Scalar::String(text)) => {
            let number: i64 = text.parse().ok()?;
            let is_in_range = matches!(of, Type::Int64) || i32::try_from(number).is_ok();
            (is_in_range && number.to_string() == text).then_some(())?;
            (text.into_owned(), "")
        }
        _ => return None,
    };
    let new = format!("{quotes}{old}{quotes}");
    Some(Fix { old, new })
}

#[cfg(test)]
mod tests {
    use super::respelled;
    use crate::schema::Type;
    use krm_yaml::{Data, Scalar, Value, View};

    #[test]
    fn only_quotes_change() {
        let string = |text: &'static str| Value::string(text);
        let number = |digits: &'static str| Data::Scalar(Scalar::Number(digits.into())).into();
        for (value, of, expected) in [
            (string("80"), Type::Int32, Some("80")),
            (string("3000000000"), Type::Int64, Some("3000000000")),
            (string("3000000000"), Type::Int32, None),
            (string("080"), Type::Int32, None),
            (string("http"), Type::Int32, None),
            (string("true"), Type::Bool, Some("true")),
            (string("yes"), Type::Bool, None),
            (number("1.10"), Type::Text, Some("\"1.10\"")),
        ] {
            let fix = respelled(View::of(&value), of).map(|fix| fix.new);
            assert_eq!(fix.as_deref(), expected, "{value:?}");
        }
    }
}
