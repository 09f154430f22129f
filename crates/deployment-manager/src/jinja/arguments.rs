//! Arguments of filters, functions and methods, by position or by name.

use minijinja::value::{Kwargs, Rest, ValueOrKwargs};
use minijinja::{Error, ErrorKind, Value};

use super::containers::is_undefined;
use super::wrong::{named, wrong};

/// The most items of a list that a template makes at once.
pub(super) const MAX_ITEMS: usize = 1_000_000;

/// The arguments of a call, those by name in the last one.
pub(super) fn values(args: Rest<ValueOrKwargs>) -> Vec<Value> {
    args.0.into_iter().map(ValueOrKwargs::into_value).collect()
}

/// The arguments of a call, in the order of these names.
pub(super) fn bind<const N: usize>(
    args: &[Value],
    parameters: [&str; N],
) -> Result<[Option<Value>; N], Error> {
    let (positional, named) = split(args)?;
    if positional.len() > N {
        let detail = format!(
            "at most {N} arguments are allowed, found {}",
            positional.len()
        );
        return Err(Error::new(ErrorKind::TooManyArguments, detail));
    }
    let mut bound = [const { None }; N];
    for (slot, value) in bound.iter_mut().zip(positional) {
        *slot = Some(value.clone());
    }
    if let Some(named) = named {
        for name in named.args() {
            let slot = parameters
                .iter()
                .zip(&mut bound)
                .find(|(known, _)| **known == name);
            let Some((_, slot)) = slot else {
                let detail = format!("unknown argument `{name}`");
                return Err(Error::new(ErrorKind::TooManyArguments, detail));
            };
            if slot.is_some() {
                let detail = format!("argument `{name}` is given twice");
                return Err(Error::new(ErrorKind::TooManyArguments, detail));
            }
            *slot = Some(named.peek::<Value>(name)?);
        }
    }
    Ok(bound)
}

/// The arguments by position, and those by name.
pub(super) fn split(args: &[Value]) -> Result<(&[Value], Option<Kwargs>), Error> {
    match args.split_last() {
        Some((last, rest)) if last.is_kwargs() => Ok((rest, Some(Kwargs::try_from(last.clone())?))),
        _ => Ok((args, None)),
    }
}

/// An argument that must be given.
pub(super) fn required(value: Option<Value>, name: &str) -> Result<Value, Error> {
    value.ok_or_else(|| {
        Error::new(
            ErrorKind::MissingArgument,
            format!("argument `{name}` is missing"),
        )
    })
}

/// A whole number, or the default if it is not given.
pub(super) fn whole(value: Option<&Value>, default: i64) -> Result<i64, Error> {
    let Some(value) = value else {
        return Ok(default);
    };
    if let Some(whole) = value.as_i64().filter(|_| value.is_integer()) {
        return Ok(whole);
    }
    match value.kind() {
        minijinja::value::ValueKind::Bool => Ok(i64::from(value.is_true())),
        kind => Err(wrong(format!("expected a whole number, found {kind}"))),
    }
}

/// A text, or the default if it is not given.
pub(super) fn word<'v>(value: Option<&'v Value>, default: &'v str) -> Result<&'v str, Error> {
    match value {
        None => Ok(default),
        Some(value) => value
            .as_str()
            .ok_or_else(|| wrong(format!("expected a text, found {}", value.kind()))),
    }
}

/// Whether a flag is set.
pub(super) fn flag(value: Option<&Value>) -> bool {
    value.is_some_and(Value::is_true)
}

/// All items of a value.
pub(super) fn items(value: &Value) -> Result<Vec<Value>, Error> {
    if value.is_none() {
        return Err(wrong("`None` has no items"));
    }
    if is_undefined(value) {
        return Ok(Vec::new());
    }
    if value.len().is_some_and(|length| length > MAX_ITEMS) {
        return Err(wrong("a list has more than a million items"));
    }
    value
        .try_iter()
        .map_err(|_| wrong(format!("{} has no items", named(value))))?
        .checked()
        .collect::<Result<Vec<_>, Error>>()
}
