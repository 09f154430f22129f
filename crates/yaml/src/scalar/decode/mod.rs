//! The text of a scalar token: line folding, escapes and block indentation undone as go-yaml undoes them.

mod block;
mod flow;
mod lines;
mod text;

use std::borrow::Cow;

pub use text::DecodeError;

use crate::scalar::data::Style;

/// The text of a scalar, borrowed from `raw` if it is a part of it.
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
/// indented with a tab, or a line indented less than its block.
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
pub(crate) fn decode_json(raw: &str) -> Result<Cow<'_, str>, DecodeError> {
    flow::json(raw)
}
