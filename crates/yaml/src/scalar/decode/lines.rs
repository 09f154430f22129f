//! The lines of a scalar, with the line breaks go-yaml knows.

use memchr::memchr2;

/// The line breaks beyond `\n` and `\r` that go-yaml takes from YAML 1.1.
const RARE_BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// A line of the source.
#[derive(Clone, Copy)]
pub(super) struct Line<'s> {
    pub(super) offset: usize,
    pub(super) text: &'s str,
    /// As written; empty at the end of the source.
    pub(super) ending: &'s str,
}

impl<'s> Line<'s> {
    pub(super) fn is_last(&self) -> bool {
        self.ending.is_empty()
    }

    pub(super) fn break_offset(&self) -> usize {
        self.offset + self.text.len()
    }

    /// The line break as the decoded text has it.
    pub(super) fn normal_break(&self) -> &'s str {
        match self.ending {
            "\r\n" | "\r" | "\u{85}" => "\n",
            other => other,
        }
    }

    /// As [`normal_break`](Self::normal_break), but with a line break at the end of the file, where
    /// kubectl adds one.
    pub(super) fn closing_break(&self) -> &'s str {
        if self.is_last() { "\n" } else { self.normal_break() }
    }

    /// The line without its first `bytes` bytes.
    pub(super) fn skip(self, bytes: usize) -> Self {
        Self {
            offset: self.offset + bytes,
            text: self.text.get(bytes..).unwrap_or_default(),
            ..self
        }
    }

    /// The line without the spaces and tabs it begins with.
    pub(super) fn trim_start(self) -> Self {
        self.skip(self.text.len() - self.text.trim_start_matches([' ', '\t']).len())
    }
}

/// The lines of a text. The last has no line break, so after a final line break it is empty.
pub(super) struct Lines<'s> {
    rest: Option<&'s str>,
    offset: usize,
    has_rare_breaks: bool,
}

impl<'s> Lines<'s> {
    /// The lines of `text`, which is at `offset` of the source.
    pub(super) fn new(text: &'s str, offset: usize) -> Self {
        let has_rare_breaks = !text.is_ascii() && text.contains(RARE_BREAKS);
        Self { rest: Some(text), offset, has_rare_breaks }
    }
}

impl<'s> Iterator for Lines<'s> {
    type Item = Line<'s>;

    fn next(&mut self) -> Option<Line<'s>> {
        let rest = self.rest?;
        let end = if self.has_rare_breaks {
            rest.find(|c| matches!(c, '\n' | '\r') || RARE_BREAKS.contains(&c))
        } else {
            memchr2(b'\n', b'\r', rest.as_bytes())
        };
        let offset = self.offset;
        let Some(end) = end else {
            self.rest = None;
            return Some(Line { offset, text: rest, ending: "" });
        };
        let (text, rest) = rest.split_at(end);
        let length = if rest.starts_with("\r\n") {
            2
        } else {
            rest.chars().next().map_or(0, char::len_utf8)
        };
        let (ending, rest) = rest.split_at(length);
        self.rest = Some(rest);
        self.offset += end + length;
        Some(Line { offset, text, ending })
    }
}
