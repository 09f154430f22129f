//! JSON pointers into values, and values as `serde_json` has them.

use krm_yaml::scalar::{Scalar, is_non_finite};
use krm_yaml::{Data, FieldPath, Value};
use serde_json::Number;

use crate::deployment_manager::schema::expression::expression;

/// The value at a pointer such as `/properties/a~1b/0`, and its path. A pointer of the validator
/// may have a regular expression as a key, in the spelling of ECMAScript.
pub(super) fn follow<'v>(
    root: &'v Value<'static>,
    pointer: &str,
) -> Option<(&'v Value<'static>, FieldPath)> {
    let mut value = root;
    let mut path = FieldPath::root();
    for part in pointer.split('/').skip(1) {
        let key = part.replace("~1", "/").replace("~0", "~");
        if let Data::Sequence(items) = &value.data {
            let index: usize = key.parse().ok()?;
            value = items.get(index)?;
            path = path.index(index);
        } else {
            let entries = value.entries()?;
            let exact = entries.iter().find(|(name, _)| *name == key);
            let (name, found) =
                exact.or_else(|| entries.iter().find(|(name, _)| expression(name) == key))?;
            value = found;
            path = path.key(name.clone());
        }
    }
    Some((value, path))
}

/// The target of a `$ref`, which is an address in the schema itself: `#/definitions/disk`.
pub(super) fn target<'v>(root: &'v Value<'static>, reference: &str) -> Option<&'v Value<'static>> {
    let fragment = match reference {
        "" => "",
        _ => reference.strip_prefix('#')?,
    };
    let fragment = unescape(fragment);
    match fragment.trim_start_matches('/') {
        "" => Some(root),
        path => Some(follow(root, &format!("/{path}"))?.0),
    }
}

/// Replaces `%2F` and its like.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let code = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(code) = code.filter(|_| byte == b'%') {
            bytes.push(code);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// The value as `serde_json` has it. A number beyond every float becomes the largest float.
pub(super) fn to_json(value: &Value<'_>) -> serde_json::Value {
    match &value.data {
        Data::Scalar(Scalar::Null) => serde_json::Value::Null,
        Data::Scalar(Scalar::Bool(flag)) => (*flag).into(),
        Data::Scalar(Scalar::Number(digits)) => number(digits),
        Data::Scalar(Scalar::String(text)) => text.as_ref().into(),
        Data::Sequence(items) => items.iter().map(to_json).collect(),
        Data::Mapping(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| (key.clone().into_owned(), to_json(value)));
            serde_json::Value::Object(entries.collect())
        }
    }
}

fn number(digits: &str) -> serde_json::Value {
    let is_finite = digits.parse::<f64>().is_ok_and(f64::is_finite);
    if is_finite && !is_non_finite(digits) {
        if digits.contains(['e', 'E']) {
            return in_full(digits);
        }
        return Number::from_string_unchecked(digits.to_owned()).into();
    }
    let sign = if digits.starts_with('-') { -1.0 } else { 1.0 };
    (f64::MAX * sign).into()
}

/// A float without an exponent, since the validator takes `1e+3` for an integer.
fn in_full(digits: &str) -> serde_json::Value {
    let float: f64 = digits.parse().unwrap_or_default();
    let spelled = if float.fract() == 0.0 {
        format!("{float:.1}")
    } else {
        digits.to_owned()
    };
    Number::from_string_unchecked(spelled).into()
}
