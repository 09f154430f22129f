//! `text % values` and `text.format(…)` of Python.

use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use super::arguments::{items, split, whole};
use super::print::{self, Bounded, too_long};
use super::spec::{Align, Spec};
use super::wrong::wrong;

/// How deep format specifications nest, as in `{:{width}}`.
const MAX_NESTING: usize = 2;

/// `text % values`.
pub(super) fn percent(text: &str, values: &Value) -> Result<String, Error> {
    let mut out = Bounded::default();
    let mut rest = if values.is_tuple() {
        items(values)?
    } else {
        vec![values.clone()]
    }
    .into_iter();
    let is_mapping = values.kind() == ValueKind::Map;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.write_char(c).map_err(|_| too_long())?;
            continue;
        }
        if chars.next_if_eq(&'%').is_some() {
            out.write_char('%').map_err(|_| too_long())?;
            continue;
        }
        let value = match key(&mut chars)? {
            Some(key) if is_mapping => Some(item(values, &key)?),
            Some(_) => return Err(wrong("`%(name)` needs a mapping")),
            None => None,
        };
        let mut next = || {
            rest.next()
                .ok_or_else(|| wrong("too few values for the `%` in the text"))
        };
        let (spec, conversion) = percent_spec(&mut chars, &mut next)?;
        let value = match value {
            Some(value) => value,
            None if conversion == '%' => Value::from("%"),
            None => next()?,
        };
        out.write_str(&converted(&value, conversion, spec)?)
            .map_err(|_| too_long())?;
    }
    let may_be_left = !values.is_tuple() && (is_mapping || values.kind() == ValueKind::Seq);
    if rest.next().is_some() && !may_be_left {
        return Err(wrong("too many values for the `%` in the text"));
    }
    Ok(out.into_text())
}

/// The name in `%(name)s`.
fn key(chars: &mut Peekable<Chars<'_>>) -> Result<Option<String>, Error> {
    if chars.next_if_eq(&'(').is_none() {
        return Ok(None);
    }
    let mut key = String::new();
    let mut open = 1_usize;
    for c in chars {
        match c {
            '(' => open += 1,
            ')' if open == 1 => return Ok(Some(key)),
            ')' => open -= 1,
            _ => {}
        }
        key.push(c);
    }
    Err(wrong("`%(` has no `)`"))
}

/// Flags, width, precision and conversion after a `%`.
fn percent_spec(
    chars: &mut Peekable<Chars<'_>>,
    next: &mut impl FnMut() -> Result<Value, Error>,
) -> Result<(Spec, char), Error> {
    let mut spec = Spec {
        align: Some(Align::Right),
        ..Spec::default()
    };
    let mut is_left = false;
    while let Some(c) = chars.next_if(|c| "-+ #0".contains(*c)) {
        match c {
            '-' => is_left = true,
            '+' => spec.sign = '+',
            ' ' if spec.sign != '+' => spec.sign = ' ',
            '#' => spec.is_alternate = true,
            '0' => spec.is_zero_filled = true,
            _ => {}
        }
    }
    let width = number_or_star(chars, next)?.unwrap_or(0);
    if is_left || width < 0 {
        spec.align = Some(Align::Left);
        spec.is_zero_filled = false;
    }
    spec.width = usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX);
    if chars.next_if_eq(&'.').is_some() {
        let precision = number_or_star(chars, next)?.unwrap_or(0).max(0);
        spec.precision = Some(usize::try_from(precision).unwrap_or(usize::MAX));
    }
    while chars.next_if(|c| "hlL".contains(*c)).is_some() {}
    let conversion = chars
        .next()
        .ok_or_else(|| wrong("a text ends in an incomplete `%`"))?;
    Ok((spec, conversion))
}

fn number_or_star(
    chars: &mut Peekable<Chars<'_>>,
    next: &mut impl FnMut() -> Result<Value, Error>,
) -> Result<Option<i64>, Error> {
    if chars.next_if_eq(&'*').is_some() {
        return whole(Some(&next()?), 0).map(Some);
    }
    Ok(digits(chars))
}

/// A number at the start of a text.
fn digits(chars: &mut Peekable<Chars<'_>>) -> Option<i64> {
    let mut number = None;
    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
        chars.next();
        number = Some(
            number
                .unwrap_or(0_i64)
                .saturating_mul(10)
                .saturating_add(i64::from(digit)),
        );
    }
    number
}

/// A value after a `%` conversion.
fn converted(value: &Value, conversion: char, mut spec: Spec) -> Result<String, Error> {
    match conversion {
        '%' => Ok("%".to_owned()),
        's' => spec.text(&print::text(value)?),
        'r' | 'a' => spec.text(&print::repr(value)?),
        'c' => {
            let text = match value.as_str() {
                Some(text) => text.to_owned(),
                None => character(value)?,
            };
            spec.text(&text)
        }
        'd' | 'i' | 'u' | 'o' | 'x' | 'X' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
            if value.kind() != ValueKind::Number && value.kind() != ValueKind::Bool {
                let detail = format!("`%{conversion}` needs a number, found {}", value.kind());
                return Err(wrong(detail));
            }
            spec.kind = if "iu".contains(conversion) {
                'd'
            } else {
                conversion
            };
            spec.is_classic = true;
            spec.number(value)
        }
        _ => Err(wrong(format!("unknown conversion `%{conversion}`"))),
    }
}

fn character(value: &Value) -> Result<String, Error> {
    let code = u32::try_from(whole(Some(value), 0)?).ok();
    code.and_then(char::from_u32)
        .map(String::from)
        .ok_or_else(|| wrong("`%c` needs a character"))
}

/// `text.format(…)`.
pub(super) fn braces(text: &str, args: &[Value]) -> Result<String, Error> {
    let (positional, named) = split(args)?;
    let mut fields = Fields {
        positional,
        named: named.map(|named| {
            named
                .args()
                .filter_map(|name| Some((name.to_owned(), named.peek::<Value>(name).ok()?)))
                .collect()
        }),
        next: 0,
    };
    let mut out = Bounded::default();
    fields.write(&mut out, text, 0)?;
    Ok(out.into_text())
}

/// The arguments of `format`.
struct Fields<'a> {
    positional: &'a [Value],
    named: Option<Vec<(String, Value)>>,
    next: usize,
}

impl Fields<'_> {
    fn write(&mut self, out: &mut Bounded, text: &str, depth: usize) -> Result<(), Error> {
        if depth > MAX_NESTING {
            return Err(wrong("a format specification is nested too deep"));
        }
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, after) = rest.split_at(at);
            out.write_str(before).map_err(|_| too_long())?;
            if after.starts_with("{{") || after.starts_with("}}") {
                out.write_str(after.get(..1).unwrap_or_default())
                    .map_err(|_| too_long())?;
                rest = after.get(2..).unwrap_or_default();
                continue;
            }
            let inside = after
                .strip_prefix('{')
                .ok_or_else(|| wrong("single `}` in a format text"))?;
            let end = end_of_field(inside).ok_or_else(|| wrong("a `{` has no `}`"))?;
            let (field, after) = inside.split_at(end);
            let shown = self.field(field, depth)?;
            out.write_str(&shown).map_err(|_| too_long())?;
            rest = after.get(1..).unwrap_or_default();
        }
        out.write_str(rest).map_err(|_| too_long())
    }

    fn field(&mut self, field: &str, depth: usize) -> Result<String, Error> {
        let colon = field.find([':', '!']).filter(|at| {
            // A `[` may hold any character.
            let before = field.get(..*at).unwrap_or_default();
            before.matches('[').count() == before.matches(']').count()
        });
        let (name, after) = field.split_at(colon.unwrap_or(field.len()));
        let value = self.value(name)?;
        let (conversion, spec) = match after.strip_prefix('!') {
            Some(after) => {
                let (conversion, spec) = after.split_once(':').unwrap_or((after, ""));
                (Some(conversion), spec)
            }
            None => (None, after.strip_prefix(':').unwrap_or_default()),
        };
        let value = match conversion {
            None => value,
            Some("s") => Value::from(print::text(&value)?),
            Some("r" | "a") => Value::from(print::repr(&value)?),
            Some(other) => return Err(wrong(format!("unknown conversion `!{other}`"))),
        };
        let spec = if spec.contains('{') {
            let mut inner = Bounded::default();
            self.write(&mut inner, spec, depth + 1)?;
            inner.into_text()
        } else {
            spec.to_owned()
        };
        Spec::parse(&spec)?.value(&value)
    }

    /// The value of a field name, as `0`, `name`, `0.key`, `name[key]`.
    fn value(&mut self, name: &str) -> Result<Value, Error> {
        let (first, mut rest) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
        let mut value = if first.is_empty() {
            self.next += 1;
            self.at(self.next - 1)?
        } else if let Ok(index) = first.parse::<usize>() {
            self.at(index)?
        } else {
            let named = self
                .named
                .iter()
                .flatten()
                .find(|(known, _)| known == first);
            named
                .map(|(_, value)| value.clone())
                .ok_or_else(|| wrong(format!("`format` has no argument `{first}`")))?
        };
        while !rest.is_empty() {
            let (key, after) = if let Some(inside) = rest.strip_prefix('[') {
                inside
                    .split_once(']')
                    .ok_or_else(|| wrong("a `[` has no `]`"))?
            } else {
                let inside = rest.strip_prefix('.').unwrap_or(rest);
                inside.split_at(inside.find(['.', '[']).unwrap_or(inside.len()))
            };
            value = item(&value, key)?;
            rest = after;
        }
        Ok(value)
    }

    fn at(&self, index: usize) -> Result<Value, Error> {
        let found = self.positional.get(index).cloned();
        found.ok_or_else(|| wrong("too few values for the `{}` in the text"))
    }
}

/// Where the field ends whose `{` is before this text.
fn end_of_field(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => open += 1,
            '}' if open == 0 => return Some(at),
            '}' => open -= 1,
            _ => {}
        }
    }
    None
}

/// An item by its key in a format text.
fn item(value: &Value, key: &str) -> Result<Value, Error> {
    let found = match key.parse::<usize>() {
        Ok(index) if value.kind() != ValueKind::Map => value.get_item(&Value::from(index))?,
        _ => value.get_item(&Value::from(key))?,
    };
    if found.is_undefined() {
        return Err(wrong(format!("no value has the key `{key}`")));
    }
    Ok(found)
}
