//! Filters of lists and mappings.

use std::fmt::Write;

use minijinja::value::{Tuple, ValueKind};
use minijinja::{Error, State, Value};

use super::common::{Filter, alone, attribute};
use crate::jinja::arguments::{MAX_ITEMS, bind, items, required, whole};
use crate::jinja::containers::{Generator, List, is_sequence, is_undefined};
use crate::jinja::globals::random;
use crate::jinja::print::{self, Bounded, too_long};
use crate::jinja::wrong::{named, wrong};
use crate::jinja::{methods, operators};

pub(super) const FILTERS: &[(&str, Filter)] = &[
    ("first", |_, args| first(&alone(args)?)),
    ("last", |_, args| last(&alone(args)?)),
    ("length", |_, args| length(&alone(args)?)),
    ("count", |_, args| length(&alone(args)?)),
    ("list", |_, args| List::of(items(&alone(args)?)?)),
    ("reverse", |_, args| reverse(&alone(args)?)),
    ("items", |_, args| entries(&alone(args)?)),
    ("join", join),
    ("sum", sum),
    ("batch", batch),
    ("slice", slice),
    ("attr", attr),
    ("random", |_, _| Err(random())),
];

fn first(value: &Value) -> Result<Value, Error> {
    if is_undefined(value) {
        return Ok(Value::UNDEFINED);
    }
    if let Some(text) = value.as_str() {
        return Ok(text.chars().next().map_or(Value::UNDEFINED, Value::from));
    }
    let wrong_kind = || wrong(format!("{} has no first item", named(value)));
    if !is_sequence(value) && value.kind() != ValueKind::Map {
        return Err(wrong_kind());
    }
    Ok(value.try_iter()?.next().unwrap_or_default())
}

fn last(value: &Value) -> Result<Value, Error> {
    Ok(items(value)?.pop().unwrap_or_default())
}

fn length(value: &Value) -> Result<Value, Error> {
    if is_undefined(value) {
        return Ok(Value::from(0));
    }
    value
        .len()
        .map(Value::from)
        .ok_or_else(|| wrong(format!("{} has no length", named(value))))
}

fn reverse(value: &Value) -> Result<Value, Error> {
    if let Some(text) = value.as_str() {
        return Ok(Value::from(text.chars().rev().collect::<String>()));
    }
    let mut all = items(value)?;
    all.reverse();
    Ok(Generator::of(all))
}

/// The keys and values of a mapping.
fn entries(value: &Value) -> Result<Value, Error> {
    if is_undefined(value) {
        return Ok(Generator::of(Vec::new()));
    }
    if value.kind() != ValueKind::Map {
        return Err(wrong(format!("{} has no entries", named(value))));
    }
    let pairs = methods::pairs(std::slice::from_ref(value))?;
    let pairs = pairs
        .into_iter()
        .map(|(key, value)| Value::from(Tuple::from([key, value])));
    Ok(Generator::of(pairs.collect()))
}

fn join(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [value, separator, path] = bind(args, ["value", "d", "attribute"])?;
    let separator = separator.map_or_else(|| Ok(String::new()), |text| print::text(&text))?;
    let mut out = Bounded::default();
    for (index, item) in items(&required(value, "value")?)?.into_iter().enumerate() {
        if index > 0 {
            out.write_str(&separator).map_err(|_| too_long())?;
        }
        match &path {
            Some(path) if !path.is_none() => print::print(&mut out, &attribute(&item, path)?)?,
            _ => print::print(&mut out, &item)?,
        }
    }
    Ok(Value::from(out.into_text()))
}

fn sum(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [list, path, start] = bind(args, ["iterable", "attribute", "start"])?;
    let path = path.filter(|path| !path.is_none());
    let start = start.unwrap_or_else(|| Value::from(0));
    items(&required(list, "iterable")?)?
        .into_iter()
        .try_fold(start, |sum, item| match &path {
            Some(path) => operators::add(&sum, &attribute(&item, path)?),
            None => operators::add(&sum, &item),
        })
}

/// A positive number of items or lists.
fn size(value: Option<&Value>) -> Result<usize, Error> {
    let size = usize::try_from(whole(value, 0)?).unwrap_or(0);
    if size == 0 {
        return Err(wrong("the size must be positive"));
    }
    Ok(size)
}

fn batch(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [list, count, fill] = bind(args, ["value", "linecount", "fill_with"])?;
    let count = size(Some(&required(count, "linecount")?))?;
    let mut rows = Vec::new();
    for chunk in items(&required(list, "value")?)?.chunks(count) {
        let mut row = chunk.to_vec();
        if let Some(fill) = fill.as_ref().filter(|fill| !fill.is_none()) {
            if count > MAX_ITEMS {
                return Err(wrong("a list has more than a million items"));
            }
            row.resize(count, fill.clone());
        }
        rows.push(List::of(row)?);
    }
    Ok(Generator::of(rows))
}

fn slice(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [list, count, fill] = bind(args, ["value", "slices", "fill_with"])?;
    let count = size(Some(&required(count, "slices")?))?;
    if count > MAX_ITEMS {
        return Err(wrong("a list has more than a million items"));
    }
    let all = items(&required(list, "value")?)?;
    let (least, longer) = (all.len() / count, all.len() % count);
    let mut rest = all.into_iter();
    let mut columns = Vec::with_capacity(count);
    for index in 0..count {
        let has_more = index < longer;
        let mut column: Vec<Value> = rest.by_ref().take(least + usize::from(has_more)).collect();
        if let Some(fill) = fill.as_ref().filter(|fill| !fill.is_none() && !has_more) {
            column.push(fill.clone());
        }
        columns.push(List::of(column)?);
    }
    Ok(Generator::of(columns))
}

fn attr(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [value, name] = bind(args, ["obj", "name"])?;
    let (value, name) = (required(value, "obj")?, required(name, "name")?);
    // The entries of mappings are items, not attributes.
    let is_module = value.kind() == ValueKind::Map
        && value
            .downcast_object_ref::<crate::jinja::containers::Dict>()
            .is_none();
    if is_module {
        return value.get_item(&name);
    }
    Ok(Value::UNDEFINED)
}
