//! Plain scalars and scalars in quotes.

use crate::read::characters::Characters;
use crate::read::scan::scanner::Scanner;
use crate::scalar::data::Style;
use crate::scalar::{is_surely_no_word, is_surely_string};
use crate::table::{Slot, span};
use crate::words;

/// A run of plain text in a line.
pub(super) struct Plain {
    /// The offset after its last byte that is not a space.
    pub(super) end: usize,
    /// The offset of the next byte: a `:`, the `#` of a comment, or the line's end.
    pub(super) stop: usize,
    /// The byte there, or a newline at the end of the text.
    pub(super) byte: u8,
}

#[expect(clippy::inline_always, reason = "calls take a third of the instructions")]
impl Scanner<'_> {
    #[inline(always)]
    pub(super) fn add_plain(&mut self, slot: Slot, start: usize, end: usize) {
        let is_text = self.is_string(start, end);
        self.table.text(slot, Style::Plain, span(start, end), is_text);
    }

    /// Whether a plain scalar on one line is known to be a string that is [spelled as it is
    /// read](Flags::TEXT).
    #[inline]
    pub(super) fn is_string(&self, start: usize, end: usize) -> bool {
        let length = end.saturating_sub(start);
        let is_string = |first| is_surely_string(first, length) || self.is_no_word(start, end);
        self.characters == Characters::Common && self.byte(start).is_some_and(is_string)
    }

    #[inline(never)]
    fn is_no_word(&self, start: usize, end: usize) -> bool {
        self.bytes.get(start..end).is_some_and(is_surely_no_word)
    }

    /// Plain text in a block, from its first byte.
    pub(super) fn plain_start(&self, at: usize) -> Option<Plain> {
        match self.byte(at)? {
            b'-' if !self.is_dash(at) => {}
            b'-' | b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!'
            | b'|' | b'>' | b'\'' | b'"' | b'%' | b'@' | b'`' => return None,
            _ => {}
        }
        self.plain(at)
    }

    pub(super) fn plain(&self, from: usize) -> Option<Plain> {
        let mut at = from;
        let byte = loop {
            at += words::plain_stop(self.bytes.get(at..)?);
            let byte = self.byte(at).unwrap_or(b'\n');
            match byte {
                b'\n' | b'\r' => break byte,
                b':' if self.is_blank(at + 1) => break byte,
                b'#' if at == from || self.byte(at - 1) == Some(b' ') => break byte,
                b'\t' => return None,
                _ => at += 1,
            }
        };
        Some(Plain { end: self.before_spaces(from, at), stop: at, byte })
    }

    /// After the closing quote, if it is on the same line; and whether the text is known to be
    /// [spelled as it is read](Flags::TEXT).
    pub(super) fn quoted(&self, from: usize, quote: u8) -> Option<(usize, bool)> {
        self.literal(from, quote).or_else(|| {
            let stop = self.quoted_line(from + 1, quote)?;
            (self.byte(stop) == Some(quote)).then_some((stop + 1, false))
        })
    }

    /// The same for a text without escapes.
    #[inline]
    pub(super) fn literal(&self, from: usize, quote: u8) -> Option<(usize, bool)> {
        let within = self.bytes.get(from + 1..)?;
        let end = from + 2 + words::quoted_stop(within, quote);
        let closes = self.byte(end - 1) == Some(quote);
        let is_escape = quote == b'\'' && self.byte(end) == Some(quote);
        (closes && !is_escape).then_some((end, self.characters == Characters::Common))
    }

    /// As [`quoted`](Self::quoted) for a value, which may end on another line. All its lines must be
    /// indented as those of plain text are, and without tabs.
    #[inline(never)]
    pub(super) fn quoted_lines(&self, from: usize, quote: u8) -> Option<(usize, bool)> {
        let column = self.blocks.last()?.column;
        let mut at = from + 1;
        let mut several = false;
        loop {
            let stop = self.quoted_line(at, quote)?;
            several |= self.byte(stop)? != quote;
            if several && self.bytes.get(at..stop)?.contains(&b'\t') {
                return None;
            }
            if self.byte(stop)? == quote {
                return Some((stop + 1, false));
            }
            let start = self.next_line(stop);
            at = self.skip_spaces(start);
            if at - start <= column && !self.is_line_end(at) {
                return None;
            }
        }
    }

    /// Text in quotes up to the closing one or the end of the line.
    fn quoted_line(&self, from: usize, quote: u8) -> Option<usize> {
        let mut at = from;
        loop {
            at += words::quoted_stop(self.bytes.get(at..)?, quote);
            match self.byte(at)? {
                byte if byte < b' ' && !self.is_line_end(at) => at += 1,
                b'\\' if quote == b'"' && !self.is_line_end(at + 1) => at += self.escape(at + 1)?,
                b'\\' => at += 1,
                b'\'' if quote == b'\'' && self.byte(at + 1) == Some(b'\'') => at += 2,
                _ => return Some(at),
            }
        }
    }

    /// The length of an escape with its `\`, if all readers know it.
    fn escape(&self, at: usize) -> Option<usize> {
        let digits = match self.byte(at)? {
            b'0' | b'a' | b'b' | b't' | b'n' | b'v' | b'f' | b'r' | b'e' | b' ' | b'"' | b'\\'
            | b'N' | b'_' | b'L' | b'P' => return Some(2),
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            _ => return None,
        };
        let digits = self.bytes.get(at + 1..at + 1 + digits)?;
        let code = digits
            .iter()
            .try_fold(0u32, |code, &digit| Some(code << 4 | char::from(digit).to_digit(16)?))?;
        char::from_u32(code).map(|_| 2 + digits.len())
    }
}

/// Whether plain text may begin with this byte and a line with it has no dash, marker or merge key.
#[inline]
pub(super) fn is_simple(byte: u8) -> bool {
    SIMPLE.get(usize::from(byte)) == Some(&true)
}

#[expect(clippy::indexing_slicing, reason = "a byte is less than 256")]
static SIMPLE: [bool; 256] = {
    let mut simple = [false; 256];
    let mut byte = 0x21;
    while byte < simple.len() {
        simple[byte] = true;
        byte += 1;
    }
    let mut others: &[u8] = b"!\"#%&'*,-.:<>?@[]`{|}";
    while let [other, rest @ ..] = others {
        simple[*other as usize] = false;
        others = rest;
    }
    simple
};
