//! Serialization of values as JSON on one line.

use std::borrow::Cow;
use std::fmt::Write as _;

use krm_yaml::scalar::is_non_finite;
use krm_yaml::{Scalar, Value, View};

use super::number;

#[derive(Clone, Copy)]
pub(super) struct Style {
    /// Whether to sort the keys of mappings and format numbers as in Go.
    pub(super) is_go: bool,
}

/// A JSON writer with a size limit.
pub(super) struct Writer {
    pub(super) text: String,
    style: Style,
    /// The maximum size in bytes.
    limit: usize,
    is_over: bool,
    has_non_finite: bool,
}

impl Writer {
    pub(super) const fn new(style: Style, limit: usize) -> Self {
        Self {
            text: String::new(),
            style,
            limit,
            is_over: false,
            has_non_finite: false,
        }
    }

    /// Returns `true` if the text exceeds the limit. It is incomplete then.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns `true` if a number is not finite, such as `.nan`. The text is not JSON then.
    pub(super) const fn has_non_finite(&self) -> bool {
        self.has_non_finite
    }

    /// Writes text that is already JSON.
    pub(super) fn raw(&mut self, json: &str) {
        if self.has_room(json.len()) {
            self.text.push_str(json);
        }
    }

    pub(super) fn string(&mut self, text: &str) {
        if self.has_room(longest(text)) {
            write_string(&mut self.text, text);
        }
    }

    /// Writes `"key":`, with a comma before it unless it is the first key of its mapping.
    pub(super) fn key(&mut self, is_first: bool, key: &str) {
        self.comma(is_first);
        self.string(key);
        self.raw(":");
    }

    pub(super) fn comma(&mut self, is_first: bool) {
        if !is_first {
            self.raw(",");
        }
    }

    pub(super) fn value(&mut self, value: &Value<'_>) {
        self.view(View::from(value));
    }

    pub(super) fn view(&mut self, view: View<'_>) {
        /// Few mappings have more entries.
        const FEW: usize = 8;
        if self.is_over {
            return;
        }
        if let Some(scalar) = view.scalar() {
            return self.scalar(&scalar);
        }
        if let Some(items) = view.items() {
            self.raw("[");
            for (index, item) in items.enumerate() {
                self.comma(index == 0);
                self.view(item);
            }
            return self.raw("]");
        }
        self.raw("{");
        let entries = view.entries().into_iter().flatten();
        if self.style.is_go {
            let mut sorted: Vec<(Cow<'_, str>, View<'_>)> = Vec::with_capacity(FEW);
            sorted.extend(entries);
            sorted.sort_by(|(one, _), (other, _)| one.cmp(other));
            self.entries(sorted);
        } else {
            self.entries(entries);
        }
        self.raw("}");
    }

    fn entries<'v>(&mut self, entries: impl IntoIterator<Item = (Cow<'v, str>, View<'v>)>) {
        for (index, (key, value)) in entries.into_iter().enumerate() {
            self.key(index == 0, &key);
            self.view(value);
        }
    }

    fn scalar(&mut self, scalar: &Scalar<'_>) {
        match scalar {
            Scalar::Number(digits) if is_non_finite(digits) => self.has_non_finite = true,
            Scalar::String(text) => self.string(text),
            Scalar::Number(digits) if self.style.is_go => self.raw(&number::spelled(digits)),
            Scalar::Number(digits) => self.raw(digits),
            Scalar::Bool(flag) => self.raw(if *flag { "true" } else { "false" }),
            Scalar::Null => self.raw("null"),
        }
    }

    /// Returns `true` if `more` bytes fit. Called before they are written.
    fn has_room(&mut self, more: usize) -> bool {
        self.is_over |= self.text.len() + more > self.limit;
        !self.is_over
    }
}

/// Estimates the length of a string in JSON. The estimate for a long string is an upper bound.
fn longest(text: &str) -> usize {
    /// Escapes in shorter texts are not counted.
    const SHORT: usize = 4096;
    /// The maximum number of bytes that an escape adds.
    const MORE: usize = 5;
    let escapes = || text.bytes().filter(|byte| !is_plain(*byte)).count();
    let more = if text.len() < SHORT {
        0
    } else {
        MORE * escapes()
    };
    text.len() + more
}

/// Returns `true` if a byte of a string needs no escape. [`LINE_BREAKS`] may need one.
const fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && !matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&' | LINE_BREAKS)
}

/// Returns the index of the first byte that may need an escape.
fn escaped(text: &[u8]) -> Option<usize> {
    let is_escaped = |byte: &u8| !is_plain(*byte);
    let (chunks, rest) = text.as_chunks::<16>();
    for (index, chunk) in chunks.iter().enumerate() {
        // Checks all bytes without a branch for each.
        let found = chunk.iter().fold(0, |found, &byte| {
            let sign = u8::from(byte == b'"') | u8::from(byte == b'\\') | u8::from(byte == b'&');
            let angle = u8::from(byte == b'<') | u8::from(byte == b'>');
            let other = u8::from(byte < 0x20) | u8::from(byte == LINE_BREAKS);
            found | sign | angle | other
        });
        if found != 0 {
            let at = chunk.iter().position(is_escaped)?;
            return Some(16 * index + at);
        }
    }
    let at = rest.iter().position(is_escaped)?;
    Some(text.len() - rest.len() + at)
}

/// The first byte of U+2028 and U+2029, and of other characters.
const LINE_BREAKS: u8 = 0xe2;

/// Writes a string with the escapes of Go, which are also safe in HTML.
///
/// Source: `encoding/json` of Go, `appendString`.
fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = escaped(rest.as_bytes()) {
        let (plain, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(plain);
        let mut characters = from.chars();
        match characters.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some(other @ ('\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}')) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(other));
            }
            Some(other) => out.push(other),
            None => {}
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use krm_yaml::source::Source;
    use krm_yaml::{Document, DuplicateKeys};

    use super::{Style, Writer};

    #[track_caller]
    fn written(text: &str, is_go: bool, limit: usize) -> Option<String> {
        let document = Document::parse(&Source::new("test", text)).unwrap();
        let value = document.roots().next().unwrap();
        let value = value.value(
            DuplicateKeys::Refuse,
            &mut krm_yaml::diagnostic::Diagnostics::new(),
        );
        let mut writer = Writer::new(Style { is_go }, limit);
        writer.value(&value.unwrap());
        (!writer.is_over()).then_some(writer.text)
    }

    #[test]
    fn keys_are_sorted_only_as_in_go() {
        let text = r#"{"b": [1.0, {}, []], "a": null, "é": "<&>\u2028\n", "B": true}"#;
        let escaped = r#""\u003c\u0026\u003e\u2028\n""#;
        assert_eq!(
            written(text, true, 1000).unwrap(),
            format!(r#"{{"B":true,"a":null,"b":[1,{{}},[]],"é":{escaped}}}"#)
        );
        assert_eq!(
            written(text, false, 1000).unwrap(),
            format!(r#"{{"b":[1.0,{{}},[]],"a":null,"é":{escaped},"B":true}}"#)
        );
    }

    #[test]
    fn a_text_stops_at_the_limit() {
        assert_eq!(
            written(r#"["aaaa"]"#, true, 8).as_deref(),
            Some(r#"["aaaa"]"#)
        );
        assert_eq!(written(r#"["aaaa"]"#, true, 7), None);
    }
}
