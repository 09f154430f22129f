//! Braces and brackets that close on their line.

use crate::limits::MAX_DEPTH;
use crate::read::scan::scalars::Plain;
use crate::read::scan::scanner::{Braces, MAX_KEY, Scanner, quote_style};
use crate::scalar::data::Style;
use crate::table::{Kind, Slot, span};

impl Scanner<'_> {
    pub(super) fn braces(&mut self, slot: Slot, from: usize) -> Option<usize> {
        let mut slot = slot;
        let mut at = from;
        loop {
            let byte = self.byte(at)?;
            let opens = matches!(byte, b'[' | b'{');
            at = match byte {
                b'[' | b'{' => self.open_braces(slot, at, byte)?,
                b'"' | b'\'' => {
                    let (end, is_text) = self.quoted(at, byte)?;
                    let value = span(at, end);
                    self.table.text(slot, quote_style(byte), value, is_text);
                    end
                }
                _ => self.flow_word(slot, at)?,
            };
            at = self.skip_spaces(at);
            if !opens || matches!(self.byte(at)?, b']' | b'}') {
                at = self.close_braces(at);
                if self.braces.is_empty() {
                    return self.ends(at);
                }
                if self.byte(at)? != b',' {
                    return None;
                }
                at = self.skip_spaces(at + 1);
            }
            (slot, at) = self.flow_slot(at)?;
        }
    }

    fn open_braces(&mut self, slot: Slot, at: usize, open: u8) -> Option<usize> {
        if self.depth() >= MAX_DEPTH {
            return None;
        }
        let mapping = open == b'{';
        let kind = if mapping { Kind::Mapping } else { Kind::Sequence };
        let node = self.table.open(slot, kind, at, true);
        self.braces.push(Braces { node, mapping });
        Some(at + 1)
    }

    /// Skips all brackets that close here.
    fn close_braces(&mut self, at: usize) -> usize {
        let mut at = at;
        while let Some(braces) = self.braces.last() {
            at = self.skip_spaces(at);
            if self.byte(at) != Some(if braces.mapping { b'}' } else { b']' }) {
                break;
            }
            at += 1;
            self.table.close(braces.node, at);
            self.braces.pop();
        }
        at
    }

    /// The slot of the next value (in braces, of the key that is read here) and where it begins.
    fn flow_slot(&self, at: usize) -> Option<(Slot, usize)> {
        if !self.braces.last()?.mapping {
            return Some((Slot::FLOW_ITEM, at));
        }
        let (style, end, is_text) = if let quote @ (b'"' | b'\'') = self.byte(at)? {
            let (end, is_text) = self.quoted(at, quote)?;
            (quote_style(quote), end, is_text)
        } else {
            let end = self.flow_plain(at)?.end;
            (Style::Plain, end, self.is_string(at, end))
        };
        if self.byte(end)? != b':' || end - at > MAX_KEY || self.is_merge_key(at, end) {
            return None;
        }
        let value = self.skip_spaces(end + 1);
        let slot = Slot::flow_entry(span(at, end), style).with_text(is_text);
        Some((slot, value))
    }

    /// A plain scalar. Returns where it stops.
    fn flow_word(&mut self, slot: Slot, at: usize) -> Option<usize> {
        let plain = self.flow_plain(at)?;
        if plain.byte == b':' {
            return None;
        }
        self.add_plain(slot, at, plain.end);
        Some(plain.stop)
    }

    /// Plain text in braces, from its first byte. It accepts only punctuation that all readers read
    /// as text.
    fn flow_plain(&self, from: usize) -> Option<Plain> {
        match self.byte(from)? {
            b'-' if self.byte(from + 1)?.is_ascii_alphanumeric() => {}
            b'-' if self.byte(from + 1)? == b'-' => {}
            b'-' | b':' | b',' | b']' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%'
            | b'@' | b'`' => return None,
            _ => {}
        }
        let mut at = from;
        loop {
            match self.byte(at)? {
                b',' | b']' | b'}' => break,
                b':' => match self.byte(at + 1)? {
                    b' ' => break,
                    b',' | b'[' | b']' | b'{' | b'}' | b'\t' | b'\n' | b'\r' => return None,
                    _ => {}
                },
                b'[' | b'{' | b'?' | b'\t' | b'\n' | b'\r' => return None,
                b'#' if self.byte(at - 1)? == b' ' => return None,
                _ => {}
            }
            at += 1;
        }
        Some(Plain { end: self.before_spaces(from, at), stop: at, byte: self.byte(at)? })
    }
}
