//! The filter `pprint`, as Python's `pprint` breaks lines.

use std::fmt::Write;

use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use super::common::{Filter, alone};
use crate::jinja::arguments::items;
use crate::jinja::order;
use crate::jinja::print::{self, Bounded, too_long};

pub(super) const FILTERS: &[(&str, Filter)] = &[("pprint", |_, args| {
    let mut out = Bounded::default();
    write(&mut out, &alone(args)?, 0, 0)?;
    Ok(Value::from(out.into_text()))
})];

/// The longest line.
const WIDTH: usize = 80;

/// Writes a value that starts in this column and has so many characters after it.
fn write(out: &mut Bounded, value: &Value, column: usize, after: usize) -> Result<(), Error> {
    let is_container = matches!(value.kind(), ValueKind::Map | ValueKind::Seq);
    if !is_container {
        return flat(out, value);
    }
    let room = WIDTH.saturating_sub(column + after);
    // A character has at most four bytes.
    let mut line = Bounded::up_to(room * 4);
    let is_written = flat(&mut line, value).is_ok();
    let line = line.into_text();
    if is_written && line.chars().count() <= room {
        return out.write_str(&line).map_err(|_| too_long());
    }
    if value.kind() == ValueKind::Map {
        return entries(out, value, column, after);
    }
    let (open, close) = brackets(value);
    out.write_str(open).map_err(|_| too_long())?;
    let all = items(value)?;
    for (index, item) in all.iter().enumerate() {
        let is_last = index + 1 == all.len();
        write(out, item, column + 1, if is_last { after + 1 } else { 1 })?;
        if !is_last {
            next_line(out, column)?;
        }
    }
    if value.is_tuple() && all.len() == 1 {
        out.write_str(",").map_err(|_| too_long())?;
    }
    out.write_str(close).map_err(|_| too_long())
}

fn entries(out: &mut Bounded, value: &Value, column: usize, after: usize) -> Result<(), Error> {
    out.write_str("{").map_err(|_| too_long())?;
    let keys = sorted_keys(value)?;
    for (index, key) in keys.iter().enumerate() {
        let is_last = index + 1 == keys.len();
        let mut name = Bounded::default();
        flat(&mut name, key)?;
        let name = name.into_text();
        write!(out, "{name}: ").map_err(|_| too_long())?;
        let start = column + name.chars().count() + 3;
        write(
            out,
            &value.get_item(key)?,
            start,
            if is_last { after + 1 } else { 1 },
        )?;
        if !is_last {
            next_line(out, column)?;
        }
    }
    out.write_str("}").map_err(|_| too_long())
}

fn next_line(out: &mut Bounded, column: usize) -> Result<(), Error> {
    write!(out, ",\n{:1$}", "", column + 1).map_err(|_| too_long())
}

/// The keys of a mapping in order, if they have one.
fn sorted_keys(value: &Value) -> Result<Vec<Value>, Error> {
    let keys = items(value)?;
    Ok(order::sorted(keys.clone(), false).unwrap_or(keys))
}

/// Writes a value on one line, with the keys of its mappings in order.
fn flat(out: &mut Bounded, value: &Value) -> Result<(), Error> {
    let put = |out: &mut Bounded, text: &str| out.write_str(text).map_err(|_| too_long());
    match value.kind() {
        ValueKind::Map => {
            put(out, "{")?;
            for (index, key) in sorted_keys(value)?.iter().enumerate() {
                put(out, if index > 0 { ", " } else { "" })?;
                flat(out, key)?;
                put(out, ": ")?;
                flat(out, &value.get_item(key)?)?;
            }
            put(out, "}")
        }
        ValueKind::Seq if value.len().is_some() => {
            let (open, close) = brackets(value);
            put(out, open)?;
            let all = items(value)?;
            for (index, item) in all.iter().enumerate() {
                put(out, if index > 0 { ", " } else { "" })?;
                flat(out, item)?;
            }
            put(
                out,
                if value.is_tuple() && all.len() == 1 {
                    ","
                } else {
                    ""
                },
            )?;
            put(out, close)
        }
        _ => print::represent(out, value, 0),
    }
}

fn brackets(value: &Value) -> (&'static str, &'static str) {
    if value.is_tuple() {
        ("(", ")")
    } else {
        ("[", "]")
    }
}
