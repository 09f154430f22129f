//! Prints values as Python 3 does.

use std::fmt::{self, Write};

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Value};

use super::containers::{Generator, Group, List, Range, given};

/// The longest text that a template may make.
pub(super) const MAX_TEXT: usize = 16 << 20;

/// Deeper nested values are not printed.
const MAX_DEPTH: usize = 120;

/// A text of bounded length.
#[derive(Debug)]
pub(super) struct Bounded {
    text: String,
    limit: usize,
}

impl Default for Bounded {
    fn default() -> Self {
        Self::up_to(MAX_TEXT)
    }
}

impl Bounded {
    /// An empty text that may grow to so many bytes.
    pub(super) const fn up_to(limit: usize) -> Self {
        Self {
            text: String::new(),
            limit,
        }
    }

    /// The text.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len().saturating_add(text.len()) > self.limit {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

/// The error of a text that is too long.
pub(super) fn too_long() -> Error {
    Error::new(ErrorKind::WriteFailure, "a text is longer than 16 MiB")
}

/// `str(value)`.
pub(super) fn text(value: &Value) -> Result<String, Error> {
    let mut out = Bounded::default();
    print(&mut out, value)?;
    Ok(out.into_text())
}

/// `repr(value)`.
pub(super) fn repr(value: &Value) -> Result<String, Error> {
    let mut out = Bounded::default();
    represent(&mut out, value, 0)?;
    Ok(out.into_text())
}

/// Writes `str(value)`.
pub(super) fn print(out: &mut dyn Write, value: &Value) -> Result<(), Error> {
    if let Some(text) = value.as_str() {
        return out.write_str(text).map_err(|_| too_long());
    }
    if value.is_undefined() {
        return Ok(());
    }
    represent(out, value, 0)
}

/// Writes `repr(value)`.
pub(super) fn represent(out: &mut dyn Write, value: &Value, depth: usize) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            "a value is nested too deep",
        ));
    }
    given(value)?;
    match value.kind() {
        ValueKind::String => quote(out, value.as_str().unwrap_or_default()).map_err(|_| too_long()),
        ValueKind::Number => number(out, value).map_err(|_| too_long()),
        ValueKind::None => out.write_str("None").map_err(|_| too_long()),
        ValueKind::Undefined => out.write_str("Undefined").map_err(|_| too_long()),
        ValueKind::Map => mapping(out, value, depth),
        ValueKind::Seq | ValueKind::Iterable => sequence(out, value, depth),
        _ => write!(out, "{value}").map_err(|_| too_long()),
    }
}

fn sequence(out: &mut dyn Write, value: &Value, depth: usize) -> Result<(), Error> {
    let is_special = value.downcast_object_ref::<Generator>().is_some()
        || value.downcast_object_ref::<Range>().is_some();
    if is_special {
        return write!(out, "{value}").map_err(|_| too_long());
    }
    let is_group = value.downcast_object_ref::<Group>().is_some();
    let name = value.downcast_object_ref::<List>().and_then(List::name);
    let (open, close) = if value.is_tuple() || is_group {
        ('(', ')')
    } else {
        ('[', ']')
    };
    if let Some(name) = name {
        write!(out, "{name}(").map_err(|_| too_long())?;
    }
    out.write_char(open).map_err(|_| too_long())?;
    let mut count = 0;
    for item in value.try_iter()? {
        if count > 0 {
            out.write_str(", ").map_err(|_| too_long())?;
        }
        represent(out, &item, depth + 1)?;
        count += 1;
    }
    if value.is_tuple() && count == 1 {
        out.write_char(',').map_err(|_| too_long())?;
    }
    if name.is_some() {
        out.write_str("])").map_err(|_| too_long())
    } else {
        out.write_char(close).map_err(|_| too_long())
    }
}

fn mapping(out: &mut dyn Write, value: &Value, depth: usize) -> Result<(), Error> {
    let type_name = value.as_object().map_or("", |object| object.type_name());
    if type_name.ends_with("::Namespace") {
        out.write_str("<Namespace ").map_err(|_| too_long())?;
        entries(out, value, depth)?;
        return out.write_char('>').map_err(|_| too_long());
    }
    if type_name.ends_with("::Loop") {
        let (index, length) = (value.get_attr("index")?, value.get_attr("length")?);
        return write!(out, "<LoopContext {index}/{length}>").map_err(|_| too_long());
    }
    entries(out, value, depth)
}

fn entries(out: &mut dyn Write, value: &Value, depth: usize) -> Result<(), Error> {
    out.write_char('{').map_err(|_| too_long())?;
    for (index, key) in value.try_iter()?.enumerate() {
        if index > 0 {
            out.write_str(", ").map_err(|_| too_long())?;
        }
        represent(out, &key, depth + 1)?;
        out.write_str(": ").map_err(|_| too_long())?;
        represent(out, &value.get_item(&key)?, depth + 1)?;
    }
    out.write_char('}').map_err(|_| too_long())
}

/// Writes a number.
fn number(out: &mut dyn Write, value: &Value) -> fmt::Result {
    match f64::try_from(value.clone()) {
        Ok(number) if !value.is_integer() => out.write_str(&float(number)),
        _ => write!(out, "{value}"),
    }
}

/// `repr` of a float.
pub(super) fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    let text = format!("{number:?}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

/// `repr` of a text.
pub(super) fn quote(out: &mut dyn Write, text: &str) -> fmt::Result {
    let mark = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.write_char(mark)?;
    for c in text.chars() {
        match c {
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            '\\' => out.write_str("\\\\")?,
            _ if c == mark => write!(out, "\\{c}")?,
            _ if is_printable(c) => out.write_char(c)?,
            _ => match u32::from(c) {
                code @ ..=0xff => write!(out, "\\x{code:02x}")?,
                code @ ..=0xffff => write!(out, "\\u{code:04x}")?,
                code => write!(out, "\\U{code:08x}")?,
            },
        }
    }
    out.write_char(mark)
}

/// Whether `repr` shows a character as it is.
fn is_printable(c: char) -> bool {
    let is_hidden = matches!(
        c,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}'
        | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}'
    );
    c == ' ' || !(c.is_control() || c.is_whitespace() || is_hidden)
}
