//! Values of documents as values of templates, and back.

use std::borrow::Cow;

use krm_yaml::{Data, Scalar, Value};
use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Value as Jinja};

use super::containers::{Dict, List, MAX_PARTS};
use super::print;

/// A value for templates.
pub(super) fn to_jinja(value: &Value<'_>) -> Result<Jinja, Error> {
    match &value.data {
        Data::Scalar(scalar) => Ok(scalar_to_jinja(scalar)),
        Data::Sequence(items) => List::of(items.iter().map(to_jinja).collect::<Result<_, _>>()?),
        Data::Mapping(entries) => {
            let pairs = entries
                .iter()
                .map(|(key, value)| Ok((Jinja::from(key.as_ref()), to_jinja(value)?)));
            Dict::of(pairs.collect::<Result<Vec<_>, Error>>()?)
        }
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
    let number = match digits
        .trim_start_matches(['-', '+'])
        .to_ascii_lowercase()
        .as_str()
    {
        ".inf" if digits.starts_with('-') => f64::NEG_INFINITY,
        ".inf" => f64::INFINITY,
        ".nan" => f64::NAN,
        _ => digits.parse().unwrap_or(f64::NAN),
    };
    Jinja::from(number)
}

/// A value of a template as data. Parts that equal the original keep their spelling and place.
pub(super) fn from_jinja(
    value: &Jinja,
    original: Option<&Value<'_>>,
) -> Result<Value<'static>, Error> {
    part_from_jinja(value, original, &mut 0)
}

fn part_from_jinja(
    value: &Jinja,
    original: Option<&Value<'_>>,
    parts: &mut usize,
) -> Result<Value<'static>, Error> {
    *parts += 1;
    if *parts > MAX_PARTS {
        let detail = "`properties` has more than a million parts";
        return Err(Error::new(ErrorKind::InvalidOperation, detail));
    }
    if let Some(Value {
        data: Data::Scalar(scalar),
        ..
    }) = original
        && scalar_to_jinja(scalar) == *value
        && scalar_to_jinja(scalar).kind() == value.kind()
        && let Some(original) = original
    {
        return Ok(original.clone().into_owned());
    }
    let data = match value.kind() {
        ValueKind::Undefined | ValueKind::None => Data::Scalar(Scalar::Null),
        ValueKind::Bool => Data::Scalar(Scalar::Bool(value.is_true())),
        ValueKind::Number => Data::Scalar(Scalar::Number(Cow::Owned(print::text(value)?))),
        ValueKind::Seq | ValueKind::Iterable => {
            let items = value.try_iter()?.enumerate().map(|(index, item)| {
                let original = original.and_then(|old| old.items()?.get(index));
                part_from_jinja(&item, original, parts)
            });
            Data::Sequence(items.collect::<Result<_, _>>()?)
        }
        ValueKind::Map => {
            let mut entries = Vec::new();
            for key in value.try_iter()? {
                let item = value.get_item(&key)?;
                let key = print::text(&key)?;
                let item = part_from_jinja(&item, original.and_then(|old| old.get(&key)), parts)?;
                entries.push((Cow::Owned(key), item));
            }
            Data::Mapping(entries)
        }
        ValueKind::String => Data::Scalar(Scalar::String(Cow::Owned(print::text(value)?))),
        kind => {
            let detail = format!("a {kind} cannot be a part of `properties`");
            return Err(Error::new(ErrorKind::InvalidOperation, detail));
        }
    };
    Ok(Value {
        origin: original.and_then(|old| old.origin),
        data,
    })
}
