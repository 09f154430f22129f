//! JSON with a limit of depth, in the format of Go's `encoding/json`: compact or indented, with HTML
//! escapes.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io;
use std::marker::PhantomData;

use krm_yaml::MAX_DEPTH;
use serde::de::{Deserialize, DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::Serialize;
use serde_json::error::Category;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Deserializer, Map, Value};

/// Parses a complete text with at most [`MAX_DEPTH`] levels.
///
/// # Errors
/// The reason and the position, without the text there.
pub(crate) fn parse<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, String> {
    parse_with(PhantomData, text)
}

/// Parses a complete text like [`parse`], with a seed.
pub(crate) fn parse_with<'t, T: DeserializeSeed<'t>>(
    seed: T,
    text: &'t str,
) -> Result<T::Value, String> {
    if !is_shallow(text) {
        return Err(format!("nested more than {MAX_DEPTH} levels deep"));
    }
    let mut deserializer = Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    let value = seed.deserialize(&mut deserializer);
    value
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| match error.classify() {
            // The message may quote a value.
            Category::Data => format!(
                "unexpected value at line {} column {}",
                error.line(),
                error.column()
            ),
            _ => error.to_string(),
        })
}

/// Parses a complete text as a [`Value`]. The last of duplicate keys wins.
///
/// # Errors
/// The same as [`parse`].
pub(crate) fn value(text: &str) -> Result<Value, String> {
    parse::<Part>(text).map(Part::into_value)
}

/// A value, or the digits of a number.
///
/// `serde_json` passes a number that is not a 64-bit integer as a map from [`Part::NUMBER`] to its
/// digits, and its own [`Value`] also reads an object with that key as a number. This type does not:
/// only the digits of a number are passed as a `String`.
enum Part {
    Digits(String),
    Value(Value),
}

impl Part {
    const NUMBER: &str = "$serde_json::private::Number";

    fn into_value(self) -> Value {
        match self {
            Self::Digits(digits) => Value::String(digits),
            Self::Value(value) => value,
        }
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: serde::Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        value.deserialize_any(Parts)
    }
}

struct Parts;

impl<'de> Visitor<'de> for Parts {
    type Value = Part;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Part, E> {
        Ok(Part::Value(Value::Null))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Part, E> {
        Ok(Part::Value(Value::Bool(flag)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Part, E> {
        Ok(Part::Value(Value::from(number)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Part, E> {
        Ok(Part::Value(Value::from(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Part, E> {
        Ok(Part::Value(Value::from(text)))
    }

    fn visit_string<E>(self, digits: String) -> Result<Part, E> {
        Ok(Part::Digits(digits))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Part, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Part>()? {
            list.push(item.into_value());
        }
        Ok(Part::Value(Value::Array(list)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Part, A::Error> {
        let mut object = Map::new();
        while let Some((key, value)) = entries.next_entry::<String, Part>()? {
            if let Part::Digits(digits) = &value
                && key == Part::NUMBER
            {
                let number = digits.parse().map_err(A::Error::custom)?;
                return Ok(Part::Value(Value::Number(number)));
            }
            object.insert(key, value.into_value());
        }
        Ok(Part::Value(Value::Object(object)))
    }
}

fn is_shallow(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut outside = parts(text).filter(|(_, is_string)| !is_string);
    outside.all(|(part, _)| {
        part.bytes().all(|byte| {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth <= MAX_DEPTH
        })
    })
}

/// Splits JSON into its strings, with their quotes, and the text between them.
fn parts(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_string = rest.starts_with('"');
        let end = if is_string {
            let mut is_escaped = false;
            let mut inside = rest.bytes().skip(1);
            let end = inside.position(|byte| {
                let is_end = byte == b'"' && !is_escaped;
                is_escaped = byte == b'\\' && !is_escaped;
                is_end
            });
            end.map(|end| end + 2)
        } else {
            rest.find('"')
        };
        let (part, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        rest = after;
        (!part.is_empty()).then_some((part, is_string))
    })
}

/// Returns the name of a value's type.
pub(crate) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the error for a value of the wrong type. The path is empty for a whole body.
pub(crate) fn wrong_type(path: &str, wanted: &str, found: &Value) -> String {
    let colon = if path.is_empty() { "" } else { ": " };
    format!("{path}{colon}expected {wanted}, got {}", kind(found))
}

/// The spelling of strings in Go, which is safe in HTML.
struct Safe;

impl Formatter for Safe {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        writer.write_all(safe(fragment).as_bytes())
    }
}

/// Escapes `<`, `>`, `&`, U+2028 and U+2029.
fn safe(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(is_unsafe) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 5);
    for character in text.chars() {
        if matches!(character, '<' | '>' | '&' | '\u{2028}' | '\u{2029}') {
            // Writing to a string cannot fail.
            _ = write!(out, "\\u{:04x}", u32::from(character));
        } else {
            out.push(character);
        }
    }
    out.into()
}

/// Returns `true` for the first byte of a character that [`safe`] escapes, and of some others.
const fn is_unsafe(byte: u8) -> bool {
    matches!(byte, b'<' | b'>' | b'&' | 0xe2)
}

/// Returns `true` if a byte of a string may need an escape.
pub(crate) const fn is_special(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\') || is_unsafe(byte)
}

/// Appends a value as compact JSON.
pub(crate) fn write<T: Serialize + ?Sized>(value: &T, out: &mut String) {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail.
    _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, Safe));
    out.push_str(&String::from_utf8_lossy(&bytes));
}

/// Appends a text as a JSON string, with quotes and escapes.
pub(crate) fn quote(text: &str, out: &mut String) {
    // Checks all bytes without a branch for each.
    if text
        .bytes()
        .fold(false, |found, byte| found | is_special(byte))
    {
        return write(text, out);
    }
    out.extend(["\"", text, "\""]);
}

/// Appends valid JSON without its white space, like Go's `json.Compact`. Keeps the spelling of
/// values except for the HTML escapes.
pub(crate) fn compact(text: &str, out: &mut String) {
    for (part, is_string) in parts(text) {
        if is_string {
            out.push_str(&safe(part));
        } else {
            out.extend(part.split([' ', '\t', '\n', '\r']));
        }
    }
}

/// Indents compact JSON by two spaces per level, like Go's `json.Indent`.
#[must_use]
pub fn pretty(compact: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(compact);
    let mut out = Vec::with_capacity(compact.len() * 2);
    let (mut depth, mut is_empty) = (0_usize, false);
    for (part, is_string) in parts(text.trim_end()) {
        if is_string {
            if std::mem::take(&mut is_empty) {
                line(&mut out, depth);
            }
            out.extend_from_slice(part.as_bytes());
            continue;
        }
        for byte in part.bytes() {
            let is_end = matches!(byte, b'}' | b']');
            depth = depth.saturating_sub(usize::from(is_end));
            if is_empty != is_end {
                line(&mut out, depth);
            }
            out.push(byte);
            is_empty = matches!(byte, b'{' | b'[');
            depth += usize::from(is_empty);
            match byte {
                b',' => line(&mut out, depth),
                b':' => out.push(b' '),
                _ => {}
            }
        }
    }
    out
}

fn line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.resize(out.len() + depth * 2, b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_position() {
        let cases = [
            ("", "EOF while parsing a value at line 1 column 0"),
            ("{\"kind\":", "EOF while parsing a value at line 1 column 8"),
            ("\u{feff}{}", "expected value at line 1 column 1"),
            ("{}\n x", "trailing characters at line 2 column 2"),
            ("{\"a\"1", "expected `:` at line 1 column 5"),
            (
                r#""\ud800""#,
                "unexpected end of hex escape at line 1 column 8",
            ),
        ];
        for (text, error) in cases {
            assert_eq!(value(text), Err(error.to_owned()), "{text}");
        }
        let text = r#"{"a": "secret"}"#;
        let error = parse::<std::collections::BTreeMap<String, bool>>(text);
        let expected = "unexpected value at line 1 column 14".to_owned();
        assert_eq!(error, Err(expected));
    }

    #[test]
    fn nesting_has_a_limit() {
        // The server's threads have this stack size. In a debug build, a test's stack is too small.
        let thread = std::thread::Builder::new().stack_size(16 << 20);
        thread.spawn(check_levels).unwrap().join().unwrap();
    }

    fn check_levels() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(value(&nested(MAX_DEPTH)).is_ok());
        let beyond = value(&nested(MAX_DEPTH + 1));
        assert_eq!(beyond, Err("nested more than 1000 levels deep".to_owned()));
        let text = format!("\"\\\"{}\"", nested(MAX_DEPTH + 1));
        assert!(value(&text).is_ok());
    }

    #[test]
    fn strings_have_the_escapes_of_go() {
        let mut out = String::new();
        quote("plain é", &mut out);
        quote(
            "\"\\\n\u{8}\u{1f}\u{7f} <&> \u{2028}\u{2029} \u{2013}",
            &mut out,
        );
        assert_eq!(
            out,
            "\"plain é\"\"\\\"\\\\\\n\\b\\u001f\u{7f} \\u003c\\u0026\\u003e \\u2028\\u2029 \u{2013}\""
        );
    }

    #[test]
    fn compact_text_keeps_the_spelling_and_escapes_html() {
        let mut out = String::new();
        compact(
            "{ \"a b\" : [ 1.0, -0.0 ,1e3],\n\"c\\\" <\" : \"&\\\\\" }",
            &mut out,
        );
        assert_eq!(
            out,
            "{\"a b\":[1.0,-0.0,1e3],\"c\\\" \\u003c\":\"\\u0026\\\\\"}"
        );
    }

    #[test]
    fn pretty_text_has_two_blanks_a_level() {
        let pretty = pretty(b"{\"a\":{},\"b\":[1,{\"c\":\"{,:}\"}],\"d\":[]}\n");
        let expected = "{\n  \"a\": {},\n  \"b\": [\n    1,\n    {\n      \"c\": \"{,:}\"\n    }\n  ],\n  \"d\": []\n}";
        assert_eq!(String::from_utf8_lossy(&pretty), expected);
    }
}
