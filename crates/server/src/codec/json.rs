//! JSON with a limit of depth, in the format of Go's `encoding/json`: compact or indented, with HTML
//! escapes.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io;
use std::marker::PhantomData;

use krm_yaml::MAX_DEPTH;
use memchr::{memchr, memchr2};
use serde::de::{Deserialize, DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::Serialize;
use serde_json::error::Category;
use serde_json::map::Entry;
use serde_json::ser::{Formatter, Serializer};
use serde_json::value::RawValue;
use serde_json::{Deserializer, Map, Value};

/// The maximum number of errors about unknown and duplicate fields.
pub(crate) const MAX_COMPLAINTS: usize = 100;

/// The path of a value in an object, such as `parameters[0].name`.
pub(crate) enum Path<'p> {
    Root,
    Key(&'p Self, &'p str),
    Index(&'p Self, usize),
}

impl Path<'_> {
    /// Returns the number of values around the one at this path.
    fn depth(&self) -> usize {
        match self {
            Self::Root => 0,
            Self::Key(parent, _) | Self::Index(parent, _) => parent.depth() + 1,
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Self::Root, key) => out.write_str(key),
            Self::Key(parent, key) => write!(out, "{parent}.{key}"),
            Self::Index(parent, index) => write!(out, "{parent}[{index}]"),
        }
    }
}

/// The fields of an object in their order, with duplicates, each with the text of its value.
#[derive(Default)]
pub(crate) struct Fields<'t>(pub(crate) Vec<(String, &'t RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Fields<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = entries.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        value.deserialize_map(Entries)
    }
}

/// Parses a complete text as an object, whose values may have any number of levels. `null` has no
/// fields.
///
/// # Errors
/// The reason and the position, without the text there.
pub(crate) fn fields(text: &str) -> Result<Fields<'_>, String> {
    let fields: Option<Fields<'_>> = parse(PhantomData, text)?;
    Ok(fields.unwrap_or_default())
}

/// Parses a complete text as a [`Value`] with at most [`MAX_DEPTH`] levels. The last of duplicate
/// keys wins.
///
/// # Errors
/// The same as [`fields`].
pub(crate) fn value(text: &str) -> Result<Value, String> {
    value_with(text, &mut Vec::new())
}

/// Parses a complete text like [`value`]. Adds texts about its duplicate keys, such as `duplicate
/// field "a"`, to `repeated`, up to [`MAX_COMPLAINTS`].
pub(crate) fn value_with(text: &str, repeated: &mut Vec<String>) -> Result<Value, String> {
    value_at(&Path::Root, text, repeated)
}

/// Parses the text at `path`, which is one of [`Fields`], like [`value_with`].
pub(crate) fn value_at(
    path: &Path<'_>,
    text: &str,
    repeated: &mut Vec<String>,
) -> Result<Value, String> {
    let depth = path.depth();
    let reader = Reader { path, depth, repeated };
    parse(reader, text).map(Part::into_value)
}

/// Adds the text for a duplicate field.
pub(crate) fn add_repeated(path: &Path<'_>, repeated: &mut Vec<String>) {
    if repeated.len() < MAX_COMPLAINTS {
        repeated.push(format!("duplicate field {:?}", path.to_string()));
    }
}

fn parse<'t, T: DeserializeSeed<'t>>(seed: T, text: &'t str) -> Result<T::Value, String> {
    let mut deserializer = Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    let value = seed.deserialize(&mut deserializer);
    value.and_then(|value| deserializer.end().map(|()| value)).map_err(|error| {
        match error.classify() {
            Category::Data if error.to_string().starts_with(TOO_DEEP) => too_deep(),
            // The message may quote a value.
            Category::Data => {
                format!("unexpected value at line {} column {}", error.line(), error.column())
            }
            _ => error.to_string(),
        }
    })
}

/// The start of the error for too many levels.
const TOO_DEEP: &str = "nested more than ";

fn too_deep() -> String {
    format!("{TOO_DEEP}{MAX_DEPTH} levels deep")
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

/// Reads a value and finds its duplicate keys.
///
/// The parser is recursive: each level needs a part of the stack.
struct Reader<'r> {
    path: &'r Path<'r>,
    /// The number of values around this one.
    depth: usize,
    repeated: &'r mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Part;

    fn deserialize<D: serde::Deserializer<'de>>(self, value: D) -> Result<Part, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
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
        if self.depth >= MAX_DEPTH {
            return Err(A::Error::custom(too_deep()));
        }
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Reader {
            path: &Path::Index(self.path, list.len()),
            depth: self.depth + 1,
            repeated: self.repeated,
        })? {
            list.push(item.into_value());
        }
        Ok(Part::Value(Value::Array(list)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Part, A::Error> {
        let mut next = entries.next_key::<String>()?;
        // A number is passed as a map, but is not a level.
        let is_number = next.as_deref() == Some(Part::NUMBER);
        if self.depth >= MAX_DEPTH + usize::from(is_number) {
            return Err(A::Error::custom(too_deep()));
        }
        let mut object = Map::new();
        while let Some(key) = next {
            if object.is_empty() && !is_number {
                // A body can have many small objects, and a map begins with room for more.
                object = Map::with_capacity(2);
            }
            let entry = object.entry(key);
            let path = &Path::Key(self.path, entry.key());
            if matches!(entry, Entry::Occupied(_)) {
                add_repeated(path, self.repeated);
            }
            let value = entries.next_value_seed(Reader {
                path,
                depth: self.depth + 1,
                repeated: self.repeated,
            })?;
            if let Part::Digits(digits) = &value
                && entry.key() == Part::NUMBER
            {
                let number = digits.parse().map_err(A::Error::custom)?;
                return Ok(Part::Value(Value::Number(number)));
            }
            let value = value.into_value();
            match entry {
                Entry::Vacant(entry) => _ = entry.insert(value),
                Entry::Occupied(mut entry) => _ = entry.insert(value),
            }
            next = entries.next_key()?;
        }
        Ok(Part::Value(Value::Object(object)))
    }
}

/// Splits JSON into its strings, with their quotes, and the text between them.
fn parts(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_string = rest.starts_with('"');
        let end =
            if is_string { end_of_string(rest.as_bytes()) } else { memchr(b'"', rest.as_bytes()) };
        let (part, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        rest = after;
        (!part.is_empty()).then_some((part, is_string))
    })
}

/// Returns the length of the string at the start of `text`, with its quotes.
fn end_of_string(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        let special = at + memchr2(b'"', b'\\', text.get(at..)?)?;
        if text.get(special) == Some(&b'"') {
            return Some(special + 1);
        }
        at = special + 2;
    }
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
    // Writing to memory cannot fail.
    _ = value.serialize(&mut Serializer::with_formatter(Text(out), Safe));
}

/// A text to which the serializer writes. It writes whole characters at a time.
struct Text<'o>(&'o mut String);

impl io::Write for Text<'_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(part).map_err(io::Error::other)?;
        self.0.push_str(text);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Appends a text as a JSON string, with quotes and escapes.
pub(crate) fn quote(text: &str, out: &mut String) {
    if is_plain(text) {
        out.extend(["\"", text, "\""]);
    } else {
        write(text, out);
    }
}

/// Returns `true` if [`quote`] adds only quotes.
pub(crate) fn is_plain(text: &str) -> bool {
    // Checks all bytes without a branch for each.
    let bytes = text.bytes();
    !bytes.fold(false, |found, byte| found | is_special(byte))
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
            (r#""\ud800""#, "unexpected end of hex escape at line 1 column 8"),
        ];
        for (text, error) in cases {
            assert_eq!(value(text), Err(error.to_owned()), "{text}");
        }
        let text = r#"{"a": "secret"}"#;
        let fields = PhantomData::<std::collections::BTreeMap<String, bool>>;
        let expected = "unexpected value at line 1 column 14".to_owned();
        assert_eq!(parse(fields, text), Err(expected));
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
        quote("\"\\\n\u{8}\u{1f}\u{7f} <&> \u{2028}\u{2029} \u{2013}", &mut out);
        assert_eq!(
            out,
            "\"plain é\"\"\\\"\\\\\\n\\b\\u001f\u{7f} \\u003c\\u0026\\u003e \\u2028\\u2029 \u{2013}\""
        );
    }

    #[test]
    fn compact_text_keeps_the_spelling_and_escapes_html() {
        let mut out = String::new();
        compact("{ \"a b\" : [ 1.0, -0.0 ,1e3],\n\"c\\\" <\" : \"&\\\\\" }", &mut out);
        assert_eq!(out, "{\"a b\":[1.0,-0.0,1e3],\"c\\\" \\u003c\":\"\\u0026\\\\\"}");
    }

    #[test]
    fn pretty_text_has_two_blanks_a_level() {
        let pretty = pretty(b"{\"a\":{},\"b\":[1,{\"c\":\"{,:}\"}],\"d\":[]}\n");
        let expected = "{\n  \"a\": {},\n  \"b\": [\n    1,\n    {\n      \"c\": \"{,:}\"\n    }\n  ],\n  \"d\": []\n}";
        assert_eq!(String::from_utf8_lossy(&pretty), expected);
    }
}
