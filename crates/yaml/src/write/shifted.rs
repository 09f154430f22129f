//! Text whose lines move to another column.

use std::borrow::Cow;
use std::ops::Range;

use crate::words;
use crate::write::edited::Edit;
use crate::write::emit;

/// Collects the pieces of a text, and moves every line but the first; empty lines stay empty.
pub(crate) struct Shifted {
    text: String,
    /// The number of spaces to remove at the start of a line.
    less: usize,
    /// The number of spaces to add at the start of a line.
    more: usize,
    /// The number of spaces still to be removed; `None` after the start of a line.
    start: Option<usize>,
    /// Whether a line at the margin may begin with a document marker.
    may_have_markers: bool,
}

impl Shifted {
    /// Appends lines to `text`, and moves them from one column to another.
    pub(crate) const fn new(text: String, from: usize, to: usize) -> Self {
        Self {
            text,
            less: from.saturating_sub(to),
            more: to.saturating_sub(from),
            start: None,
            may_have_markers: from == to,
        }
    }

    pub(crate) fn push(&mut self, piece: &str) {
        if self.less == self.more {
            self.text.push_str(piece);
            return;
        }
        let mut rest = piece;
        if self.start.is_some() {
            rest = self.begin_line(rest);
        }
        while let Some((line, after)) = rest.split_at_checked(words::newline(rest.as_bytes()) + 1) {
            self.text.push_str(line);
            rest = match after.as_bytes() {
                // The common cases.
                [first, ..] if self.more == 2 && !matches!(first, b'\n' | b'\r') => {
                    self.text.push_str("  ");
                    after
                }
                [b' ', b' ', first, ..] if self.less == 2 => {
                    self.may_have_markers |= matches!(first, b'-' | b'.');
                    after.get(2..).unwrap_or_default()
                }
                _ => {
                    self.start = Some(self.less);
                    self.begin_line(after)
                }
            };
        }
        self.text.push_str(rest);
    }

    /// Moves the line that begins with `text`, and returns what is left of that.
    fn begin_line<'t>(&mut self, text: &'t str) -> &'t str {
        let bytes = text.as_bytes();
        let Some(less) = self.start.filter(|_| !bytes.is_empty()) else {
            return text;
        };
        let spaces = bytes.iter().take(less).take_while(|&&byte| byte == b' ');
        let spaces = spaces.count();
        let rest = text.get(spaces..).unwrap_or_default();
        let Some(first) = bytes.get(spaces) else {
            // The line goes on in the next piece.
            self.start = Some(less - spaces);
            return rest;
        };
        self.start = None;
        self.may_have_markers |= matches!(first, b'-' | b'.');
        if self.more > 0 && !matches!(bytes, [b'\n', ..] | [b'\r', b'\n', ..]) {
            emit::indent(&mut self.text, self.more);
        }
        rest
    }

    /// Appends a range of a text after its edits, which are in order and do not overlap.
    pub(crate) fn edited(&mut self, text: &str, range: Range<usize>, edits: &[Edit]) {
        let mut at = range.start;
        for edit in edits {
            self.push(text.get(at..edit.start).unwrap_or_default());
            self.push(&edit.text);
            at = edit.end;
        }
        self.push(text.get(at..range.end).unwrap_or_default());
    }

    /// The text, and whether a line of it may begin with a document marker.
    pub(crate) fn finish(self) -> (String, bool) {
        let begins_oddly = self.text.starts_with(['-', '.']);
        (self.text, self.may_have_markers || begins_oddly)
    }
}

/// Moves every line of `text` but the first by `to - from` columns; empty lines stay empty.
pub(crate) fn shifted(text: &str, from: usize, to: usize) -> Cow<'_, str> {
    if from == to || memchr::memchr(b'\n', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut lines = Shifted::new(String::with_capacity(text.len()), from, to);
    lines.push(text);
    Cow::Owned(lines.text)
}
