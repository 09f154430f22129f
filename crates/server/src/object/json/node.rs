//! A JSON tree that borrows from its text: it keeps the order of keys and the text of values.
//!
//! Errors have the messages of Go's `encoding/json`, which Kubernetes clients know.

use std::borrow::Cow;

use krm_yaml::MAX_DEPTH;
use serde_json::{Map, Number, Value};

use crate::object::json::write::quote;

/// A value with its text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node<'t> {
    /// The text of the value, without surrounding white space.
    pub(crate) text: &'t str,
    /// The value.
    pub(crate) data: Data<'t>,
}

/// The data of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data<'t> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number. Its digits are the text of the node.
    Number,
    /// A decoded string.
    String(Cow<'t, str>),
    /// The items of an array.
    Array(Vec<Node<'t>>),
    /// The entries of an object in order, including duplicate keys.
    Object(Vec<(Cow<'t, str>, Node<'t>)>),
}

impl<'t> Node<'t> {
    /// Parses a complete text.
    ///
    /// # Errors
    /// The message of Go's `encoding/json`. It quotes at most one character of the text.
    pub(crate) fn parse(text: &'t str) -> Result<Self, String> {
        Self::read(text, None)
    }

    /// Parses a complete text like [`parse`](Self::parse), but discards the content of `key` in the
    /// outermost object.
    ///
    /// # Errors
    /// The same as [`parse`](Self::parse).
    pub(crate) fn parse_around(text: &'t str, key: &str) -> Result<Self, String> {
        Self::read(text, Some(key))
    }

    fn read(text: &'t str, around: Option<&str>) -> Result<Self, String> {
        let mut parser = Parser {
            text,
            at: 0,
            around,
            keeps: true,
        };
        parser.blanks();
        let node = parser.value(0)?;
        parser.blanks();
        match parser.peek() {
            None => Ok(node),
            Some(_) => Err(parser.unexpected("after top-level value")),
        }
    }

    /// Returns Go's name for the type of the value.
    pub(crate) const fn kind(&self) -> &'static str {
        match self.data {
            Data::Null => "null",
            Data::Bool(_) => "bool",
            Data::Number => "number",
            Data::String(_) => "string",
            Data::Array(_) => "array",
            Data::Object(_) => "object",
        }
    }

    /// Returns the entries of an object. Empty for other values.
    pub(crate) fn entries(&self) -> &[(Cow<'t, str>, Self)] {
        match &self.data {
            Data::Object(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the items of an array. Empty for other values.
    pub(crate) fn items(&self) -> &[Self] {
        match &self.data {
            Data::Array(items) => items,
            _ => &[],
        }
    }

    /// Returns the value of a key in an object. The last of duplicate keys wins.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.entries()
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// Returns the text of a string. Empty for other values.
    pub(crate) fn as_str(&self) -> &str {
        match &self.data {
            Data::String(text) => text,
            _ => "",
        }
    }

    /// Converts the value to a [`Value`]. The last of duplicate keys wins.
    pub(crate) fn to_value(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(flag) => Value::Bool(*flag),
            Data::Number => self
                .text
                .parse::<Number>()
                .map_or(Value::Null, Value::Number),
            Data::String(text) => Value::String(text.clone().into_owned()),
            Data::Array(items) => items.iter().map(Self::to_value).collect(),
            Data::Object(entries) => Value::Object(object(entries)),
        }
    }

    /// Appends the value as compact JSON. The last of duplicate keys wins.
    pub(crate) fn write(&self, out: &mut String) {
        match &self.data {
            Data::Null | Data::Bool(_) | Data::Number => out.push_str(self.text),
            Data::String(text) => quote(text, out),
            Data::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Data::Object(entries) => write_entries(entries, out),
        }
    }
}

/// Converts entries to a map. The last of duplicate keys wins, at the position of the first.
pub(crate) fn object(entries: &[(Cow<'_, str>, Node<'_>)]) -> Map<String, Value> {
    entries
        .iter()
        .map(|(key, value)| (key.clone().into_owned(), value.to_value()))
        .collect()
}

fn write_entries(entries: &[(Cow<'_, str>, Node<'_>)], out: &mut String) {
    let last: indexmap::IndexMap<&str, &Node<'_>> = entries
        .iter()
        .map(|(key, value)| (key.as_ref(), value))
        .collect();
    out.push('{');
    for (index, (key, value)) in last.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        quote(key, out);
        out.push(':');
        value.write(out);
    }
    out.push('}');
}

struct Parser<'t, 'k> {
    text: &'t str,
    at: usize,
    /// The key in the outermost object whose content is discarded.
    around: Option<&'k str>,
    /// Whether the parser keeps what it reads.
    keeps: bool,
}

const BEGINNING: &str = "looking for beginning of value";

impl<'t> Parser<'t, '_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Returns the text from an offset to the current position.
    fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Returns the error for the next character.
    fn unexpected(&self, context: &str) -> String {
        let rest = self.text.get(self.at..).unwrap_or_default();
        match rest.chars().next() {
            Some(character) => format!("invalid character {} {context}", quoted(character)),
            None => "unexpected end of JSON input".to_owned(),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node<'t>, String> {
        let start = self.at;
        let data = match self.peek() {
            Some(b'{') => self.entries(depth)?,
            Some(b'[') => self.items(depth)?,
            Some(b'"') => Data::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Data::Bool(true))?,
            Some(b'f') => self.word("false", Data::Bool(false))?,
            Some(b'n') => self.word("null", Data::Null)?,
            _ => return Err(self.unexpected(BEGINNING)),
        };
        Ok(Node {
            text: self.since(start),
            data,
        })
    }

    fn enter(&mut self, depth: usize) -> Result<(), String> {
        if depth >= MAX_DEPTH {
            return Err("exceeded max depth".to_owned());
        }
        self.at += 1;
        self.blanks();
        Ok(())
    }

    fn entries(&mut self, depth: usize) -> Result<Data<'t>, String> {
        self.enter(depth)?;
        let mut entries = Vec::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Data::Object(entries));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("looking for beginning of object key string"));
            }
            let key = self.string()?;
            self.blanks();
            if self.peek() != Some(b':') {
                return Err(self.unexpected("after object key"));
            }
            self.at += 1;
            self.blanks();
            let keeps = self.keeps;
            self.keeps &= depth > 0 || self.around != Some(key.as_ref());
            let value = self.value(depth + 1)?;
            self.keeps = keeps;
            if keeps {
                entries.push((key, value));
            }
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.unexpected("after object key:value pair")),
            }
            self.blanks();
        }
        self.at += 1;
        Ok(Data::Object(entries))
    }

    fn items(&mut self, depth: usize) -> Result<Data<'t>, String> {
        self.enter(depth)?;
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Data::Array(items));
        }
        loop {
            let value = self.value(depth + 1)?;
            if self.keeps {
                items.push(value);
            }
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err(self.unexpected("after array element")),
            }
            self.blanks();
        }
        self.at += 1;
        Ok(Data::Array(items))
    }

    fn word(&mut self, word: &str, data: Data<'t>) -> Result<Data<'t>, String> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let expected = char::from(expected);
                return Err(self.unexpected(&format!("in literal {word} (expecting '{expected}')")));
            }
            self.at += 1;
        }
        Ok(data)
    }

    fn number(&mut self) -> Result<Data<'t>, String> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        Ok(Data::Number)
    }

    fn digits(&mut self, context: &str) -> Result<(), String> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.unexpected(context));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn string(&mut self) -> Result<Cow<'t, str>, String> {
        self.at += 1;
        let start = self.at;
        let mut has_escapes = false;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    has_escapes = true;
                    self.at += 1;
                    self.escape()?;
                }
                None | Some(0..=0x1f) => return Err(self.unexpected("in string literal")),
                Some(_) => self.at += 1,
            }
        }
        let raw = self.since(start);
        self.at += 1;
        Ok(if has_escapes && self.keeps {
            Cow::Owned(unescape(raw))
        } else {
            Cow::Borrowed(raw)
        })
    }

    fn escape(&mut self) -> Result<(), String> {
        match self.peek() {
            Some(b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.unexpected("in \\u hexadecimal character escape"));
                    }
                    self.at += 1;
                }
            }
            _ => return Err(self.unexpected("in string escape code")),
        }
        Ok(())
    }
}

/// Decodes a string with valid escapes. As in Go, half a surrogate pair becomes U+FFFD.
fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let mut characters = after.chars();
        let decoded = match characters.next() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let (character, length) = utf16(after);
                out.push(character);
                rest = after.get(length..).unwrap_or_default();
                continue;
            }
            Some(other) => other,
            None => char::REPLACEMENT_CHARACTER,
        };
        out.push(decoded);
        rest = characters.as_str();
    }
    out.push_str(rest);
    out
}

/// Decodes `uXXXX`, or `uXXXX\uXXXX` if it is a surrogate pair. Returns the character and the
/// length of the escape in bytes.
fn utf16(text: &str) -> (char, usize) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(1).unwrap_or(0xfffd);
    if text.get(5..7) == Some("\\u")
        && let Some(second) = unit(7)
        && let Some(Ok(pair)) = char::decode_utf16([first, second]).next()
        && pair.len_utf16() == 2
    {
        return (pair, 11);
    }
    (
        char::from_u32(u32::from(first)).unwrap_or(char::REPLACEMENT_CHARACTER),
        5,
    )
}

/// Quotes a character like Go's `encoding/json`.
fn quoted(character: char) -> String {
    match character {
        '\'' => "'\\''".to_owned(),
        '"' => "'\"'".to_owned(),
        '\u{7}' => "'\\a'".to_owned(),
        '\u{8}' => "'\\b'".to_owned(),
        '\u{b}' => "'\\v'".to_owned(),
        '\u{c}' => "'\\f'".to_owned(),
        '\n' | '\r' | '\t' | '\\' => format!("'{}'", character.escape_default()),
        '\0'..='\u{1f}' | '\u{7f}' => format!("'\\x{:02x}'", u32::from(character)),
        _ if character.escape_debug().len() == 1 => format!("'{character}'"),
        '\u{80}'..='\u{ffff}' => format!("'\\u{:04x}'", u32::from(character)),
        _ => format!("'\\U{:08x}'", u32::from(character)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_words_of_go() {
        let cases = [
            ("", "unexpected end of JSON input"),
            ("{\"kind\":", "unexpected end of JSON input"),
            (
                "# a",
                "invalid character '#' looking for beginning of value",
            ),
            ("{}x", "invalid character 'x' after top-level value"),
            (
                "\u{feff}{}",
                "invalid character '\\ufeff' looking for beginning of value",
            ),
            (
                "\u{1f}",
                "invalid character '\\x1f' looking for beginning of value",
            ),
            (
                "{a",
                "invalid character 'a' looking for beginning of object key string",
            ),
            ("{\"a\"1", "invalid character '1' after object key"),
            (
                "{\"a\":1]",
                "invalid character ']' after object key:value pair",
            ),
            ("[1}", "invalid character '}' after array element"),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            ("\"\\x", "invalid character 'x' in string escape code"),
            (
                "\"\\u00g",
                "invalid character 'g' in \\u hexadecimal character escape",
            ),
            ("-a", "invalid character 'a' in numeric literal"),
            (
                "1.a",
                "invalid character 'a' after decimal point in numeric literal",
            ),
            (
                "1e'",
                "invalid character '\\'' in exponent of numeric literal",
            ),
            (
                "tru\"",
                "invalid character '\"' in literal true (expecting 'e')",
            ),
        ];
        for (text, error) in cases {
            assert_eq!(Node::parse(text), Err(error.to_owned()), "{text}");
        }
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(Node::parse(&nested(MAX_DEPTH)).is_ok());
        let beyond = nested(MAX_DEPTH + 1);
        assert_eq!(Node::parse(&beyond), Err("exceeded max depth".to_owned()));
    }

    #[test]
    fn strings_are_decoded_as_in_go() {
        let cases = [
            (r#""\u00e9\ud83d\ude00\n\/""#, "\u{e9}\u{1f600}\n/"),
            (r#""a\ud800b""#, "a\u{fffd}b"),
            (r#""\ud800\u0041""#, "\u{fffd}A"),
        ];
        for (text, decoded) in cases {
            let node = Node::parse(text);
            assert_eq!(node.as_ref().map(Node::as_str), Ok(decoded));
        }
    }
}
