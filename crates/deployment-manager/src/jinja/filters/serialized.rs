//! The filter `tojson`.

use std::fmt::Write;

use minijinja::value::ValueKind;
use minijinja::{Error, State, Value};

use super::common::Filter;
use crate::jinja::arguments::{bind, items, required, whole};
use crate::jinja::order;
use crate::jinja::print::{self, Bounded, too_long};
use crate::jinja::wrong::{named, wrong};

pub(super) const FILTERS: &[(&str, Filter)] = &[("tojson", tojson)];

/// Deeper nested values are not written.
const MAX_DEPTH: usize = 120;

fn tojson(_: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
    let [value, indent] = bind(args, ["value", "indent"])?;
    let indent = indent.filter(|indent| !indent.is_none());
    let blanks = match indent {
        None => None,
        Some(indent) => Some(match indent.as_str() {
            Some(blanks) => blanks.to_owned(),
            None => " ".repeat(
                usize::try_from(whole(Some(&indent), 0)?)
                    .unwrap_or(0)
                    .min(1000),
            ),
        }),
    };
    let mut out = Json {
        out: Bounded::default(),
        blanks,
    };
    out.value(&required(value, "value")?, 0)?;
    Ok(Value::from_safe_string(out.out.into_text()))
}

/// JSON as Python writes it, safe for HTML.
struct Json {
    out: Bounded,
    blanks: Option<String>,
}

impl Json {
    fn put(&mut self, text: &str) -> Result<(), Error> {
        self.out.write_str(text).map_err(|_| too_long())
    }

    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(wrong("a value is nested too deep"));
        }
        match value.kind() {
            ValueKind::None => self.put("null"),
            ValueKind::Bool => self.put(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => self.put(&number(value)?),
            ValueKind::String => self.text(value.as_str().unwrap_or_default()),
            ValueKind::Map => self.mapping(value, depth),
            ValueKind::Seq => self.list(value, depth),
            _ => Err(wrong(format!("{} cannot be written as JSON", named(value)))),
        }
    }

    fn text(&mut self, text: &str) -> Result<(), Error> {
        self.put("\"")?;
        for c in text.chars() {
            match c {
                '"' => self.put("\\\"")?,
                '\\' => self.put("\\\\")?,
                '\n' => self.put("\\n")?,
                '\r' => self.put("\\r")?,
                '\t' => self.put("\\t")?,
                '\u{8}' => self.put("\\b")?,
                '\u{c}' => self.put("\\f")?,
                ' '..='~' if !"<>&'".contains(c) => self.put(c.encode_utf8(&mut [0; 4]))?,
                _ => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        self.put(&format!("\\u{unit:04x}"))?;
                    }
                }
            }
        }
        self.put("\"")
    }

    /// Text before an item: a comma after another one, and its line.
    fn separator(&mut self, index: usize, depth: usize) -> Result<(), Error> {
        match self.blanks.is_some() {
            true if index > 0 => self.put(",")?,
            false if index > 0 => return self.put(", "),
            _ => {}
        }
        self.line(depth)
    }

    fn line(&mut self, depth: usize) -> Result<(), Error> {
        let Some(blanks) = self.blanks.clone() else {
            return Ok(());
        };
        self.put("\n")?;
        for _ in 0..depth {
            self.put(&blanks)?;
        }
        Ok(())
    }

    fn list(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let all = items(value)?;
        if all.is_empty() {
            return self.put("[]");
        }
        self.put("[")?;
        for (index, item) in all.iter().enumerate() {
            self.separator(index, depth + 1)?;
            self.value(item, depth + 1)?;
        }
        self.line(depth)?;
        self.put("]")
    }

    fn mapping(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let keys = items(value)?;
        if keys.is_empty() {
            return self.put("{}");
        }
        self.put("{")?;
        for (index, key) in order::sorted(keys, false)?.iter().enumerate() {
            self.separator(index, depth + 1)?;
            self.text(&name(key)?)?;
            self.put(": ")?;
            self.value(&value.get_item(key)?, depth + 1)?;
        }
        self.line(depth)?;
        self.put("}")
    }
}

/// The text of a key.
fn name(key: &Value) -> Result<String, Error> {
    match key.kind() {
        ValueKind::String => print::text(key),
        ValueKind::None => Ok("null".to_owned()),
        ValueKind::Bool => Ok(if key.is_true() { "true" } else { "false" }.to_owned()),
        ValueKind::Number => number(key),
        _ => Err(wrong("a key of JSON is a text, a number, a bool or null")),
    }
}

fn number(value: &Value) -> Result<String, Error> {
    Ok(match print::text(value)?.as_str() {
        "inf" => "Infinity".to_owned(),
        "-inf" => "-Infinity".to_owned(),
        "nan" => "NaN".to_owned(),
        digits => digits.to_owned(),
    })
}
