//! Values of documents as values of templates, and back.

use std::borrow::Cow;

use krm_yaml::{Data, Scalar, Value};
use minijinja::value::ValueKind;
use minijinja::{Error, Value as Jinja};

use super::values::{List, MAX_PARTS, wrong};

/// Converts a value. Whole numbers of up to 128 bits stay exact.
pub(super) fn to_jinja(value: &Value<'_>) -> Jinja {
    match &value.data {
        Data::Scalar(scalar) => scalar_to_jinja(scalar),
        Data::Sequence(items) => List::of(items.iter().map(to_jinja).collect()),
        Data::Mapping(entries) => Jinja::from_pairs(
            entries.iter().map(|(key, value)| (Jinja::from(key.as_ref()), to_jinja(value))),
        ),
    }
}

fn scalar_to_jinja(scalar: &Scalar<'_>) -> Jinja {
    match scalar {
        Scalar::Null => Jinja::from(()),
        Scalar::Bool(flag) => Jinja::from(*flag),
        Scalar::String(text) => Jinja::from(text.as_ref()),
        Scalar::Number(digits) => number_to_jinja(digits),
    }
}

fn number_to_jinja(digits: &str) -> Jinja {
    if let Ok(whole) = digits.parse::<i64>() {
        return Jinja::from(whole);
    }
    if let Ok(whole) = digits.parse::<i128>() {
        return Jinja::from(whole);
    }
    let number = match digits.trim_start_matches(['-', '+']).to_ascii_lowercase().as_str() {
        ".inf" if digits.starts_with('-') => f64::NEG_INFINITY,
        ".inf" => f64::INFINITY,
        ".nan" => f64::NAN,
        _ => digits.parse().unwrap_or(f64::NAN),
    };
    Jinja::from(number)
}

/// A value after a template ran, which may have appended to its lists.
pub(super) fn changed(value: &Jinja, original: &Value<'_>) -> Result<Value<'static>, Error> {
    let data = match &original.data {
        Data::Scalar(_) => return Ok(original.clone().into_owned()),
        Data::Sequence(items) => {
            let mut parts = 0;
            let items = value.try_iter()?.enumerate().map(|(index, item)| {
                let original = items.get(index);
                original.map_or_else(|| new(&item, &mut parts), |old| changed(&item, old))
            });
            Data::Sequence(items.collect::<Result<_, _>>()?)
        }
        Data::Mapping(entries) => {
            let entries = entries.iter().map(|(key, old)| {
                let item = value.get_attr(key)?;
                Ok((Cow::Owned(key.to_string()), changed(&item, old)?))
            });
            Data::Mapping(entries.collect::<Result<_, Error>>()?)
        }
    };
    Ok(Value { origin: original.origin, data })
}

/// A value that was appended, as data.
fn new(value: &Jinja, parts: &mut usize) -> Result<Value<'static>, Error> {
    *parts += 1;
    if *parts > MAX_PARTS {
        return Err(wrong("`properties` has more than 200,000 parts"));
    }
    let text = || Cow::Owned(value.to_string());
    let data = match value.kind() {
        ValueKind::Undefined | ValueKind::None => Data::Scalar(Scalar::Null),
        ValueKind::Bool => Data::Scalar(Scalar::Bool(value.is_true())),
        ValueKind::Number => Data::Scalar(Scalar::Number(text())),
        ValueKind::String => Data::Scalar(Scalar::String(text())),
        ValueKind::Seq | ValueKind::Iterable => {
            let items = value.try_iter()?.map(|item| new(&item, parts));
            Data::Sequence(items.collect::<Result<_, _>>()?)
        }
        ValueKind::Map => {
            let entries = value.try_iter()?.map(|key| {
                let item = new(&value.get_item(&key)?, parts)?;
                Ok((Cow::Owned(key.to_string()), item))
            });
            Data::Mapping(entries.collect::<Result<_, Error>>()?)
        }
        kind => {
            return Err(wrong(format!("a {kind} cannot be a part of `properties`")));
        }
    };
    Ok(Value { origin: None, data })
}
