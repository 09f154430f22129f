//! The text of a scalar token: line folding, escapes and block indentation undone as go-yaml undoes them.

mod block;
mod flow;
mod lines;

use std::borrow::Cow;

use super::Style;

/// Why the text of a scalar cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Where in the token, in bytes.
    pub offset: usize,
    /// What is wrong: lower case, no final period.
    pub message: String,
}

impl DecodeError {
    fn new(offset: usize, message: impl Into<String>) -> Self {
        Self {
            offset,
            message: message.into(),
        }
    }
}

/// The text of a scalar, borrowed from `raw` where it stands there as it is.
///
/// `raw` is the token as the source has it: a quoted scalar with its quotes, a block scalar from
/// its `|` or `>` through the line break of its last line, trailing blank lines included. Where the
/// file ends without a line break, the last line of a block has one in the text nevertheless:
/// kubectl adds it before it parses.
///
/// `parent_column` is the indentation of the block collection that holds the scalar, `None` at the
/// root of a document; only block scalars ask for it.
///
/// Line breaks become `\n`. As in go-yaml, U+0085, U+2028 and U+2029 are line breaks too. Beyond
/// go-yaml, the escapes `\/` and `\uD83D\uDE00` (a surrogate pair) are read, for JSON has them.
///
/// # Errors
///
/// A quote that is missing, an unknown or incomplete escape, a malformed block header, a block
/// indented with a tab, or a line indented less than the block it stands in.
pub fn decode(
    raw: &str,
    style: Style,
    parent_column: Option<usize>,
) -> Result<Cow<'_, str>, DecodeError> {
    match style {
        Style::Plain => Ok(flow::plain(raw)),
        Style::SingleQuoted => flow::single(raw),
        Style::DoubleQuoted => flow::double(raw),
        Style::Literal | Style::Folded => block::decode(raw, style, parent_column),
    }
}

/// The text of a string in a JSON text, `raw` with its quotes.
///
/// # Errors
///
/// A quote that is missing, or an unknown or incomplete escape.
pub fn decode_json(raw: &str) -> Result<Cow<'_, str>, DecodeError> {
    flow::json(raw)
}

/// A decoded text in the making, borrowed from the source for as long as it is one slice of it.
struct Text<'s> {
    source: &'s str,
    start: usize,
    end: usize,
    owned: Option<String>,
}

impl<'s> Text<'s> {
    fn new(source: &'s str) -> Self {
        Self {
            source,
            start: 0,
            end: 0,
            owned: None,
        }
    }

    fn borrowed(&self) -> &'s str {
        self.source.get(self.start..self.end).unwrap_or_default()
    }

    fn owned(&mut self) -> &mut String {
        let (borrowed, capacity) = (self.borrowed(), self.source.len());
        self.owned.get_or_insert_with(|| {
            let mut owned = String::with_capacity(capacity);
            owned.push_str(borrowed);
            owned
        })
    }

    /// Adds `slice`, which stands at `offset` of the source.
    fn copy(&mut self, offset: usize, slice: &str) {
        if slice.is_empty() {
        } else if self.owned.is_some() || (self.start != self.end && self.end != offset) {
            self.owned().push_str(slice);
        } else {
            if self.start == self.end {
                self.start = offset;
            }
            self.end = offset + slice.len();
        }
    }

    /// Adds what the source does not spell like that.
    fn add(&mut self, text: &str) {
        if !text.is_empty() {
            self.owned().push_str(text);
        }
    }

    fn finish(self) -> Cow<'s, str> {
        let borrowed = self.borrowed();
        self.owned.map_or(Cow::Borrowed(borrowed), Cow::Owned)
    }
}
