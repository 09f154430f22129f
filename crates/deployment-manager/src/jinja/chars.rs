//! Characters and places in texts and lists, as Python counts them.

use minijinja::Error;

use super::print::{self, too_long};

/// Whether Python takes a character for a blank.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// A text with so many characters on its left and right.
pub(super) fn padded(text: &str, left: usize, right: usize, fill: char) -> Result<String, Error> {
    let added = left.saturating_add(right).saturating_mul(fill.len_utf8());
    if text.len().saturating_add(added) > print::MAX_TEXT {
        return Err(too_long());
    }
    let mut out = String::with_capacity(text.len() + added);
    out.extend(std::iter::repeat_n(fill, left));
    out.push_str(text);
    out.extend(std::iter::repeat_n(fill, right));
    Ok(out)
}

/// The lines of a text, as Python divides it.
pub(super) fn lines(text: &str, keep: bool) -> Vec<&str> {
    let ends = |c: char| {
        matches!(
            c,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'
                ..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(ends) {
        let (line, after) = rest.split_at(at);
        let end = if after.starts_with("\r\n") {
            2
        } else {
            after.chars().next().map_or(0, char::len_utf8)
        };
        let with_end = rest.get(..at + end).unwrap_or(rest);
        found.push(if keep { with_end } else { line });
        rest = after.get(end..).unwrap_or_default();
    }
    if !rest.is_empty() {
        found.push(rest);
    }
    found
}

/// An index of Python, which may count from the end, as a place in a list of this length.
pub(super) fn position(index: i64, length: usize) -> usize {
    let length = signed(length);
    let at = if index < 0 {
        index.saturating_add(length).max(0)
    } else {
        index.min(length)
    };
    usize::try_from(at).unwrap_or_default()
}

/// A length as a number that may be subtracted from.
pub(super) fn signed(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
