//! Reads JSON (RFC 8259) into the table of nodes, without a YAML parser.
//!
//! Text in braces that is YAML but not JSON (comments, plain words, commas at the end) is left to
//! the full path, and so are a key whose `:` is not on its line and a tab that indents the end of
//! the text, which YAML refuses.
//!
//! As in kubectl, several texts may follow one another, with white space between them or none. YAML
//! requires a `---` there, so the full path refuses these.

use std::ops::Range;

use crate::limits::MAX_DEPTH;
use crate::read::characters::Characters;
use crate::scalar::data::Style;
use crate::table::{Kind, Slot, Span, Table, span};
use crate::words;

/// The table of JSON texts, of which the first is an object or array; `None` if it is anything else.
pub(crate) fn scan(text: &str, characters: Characters) -> Option<Table> {
    let table = Table::for_length(text.len());
    Scanner::new(text, characters, table).document()
}

/// As [`scan`], but of the objects in the list `items` only the extent is found: each is one node of
/// the kind [`Kind::Deferred`]. They must be [scanned](scan_item) too before the text is known to be
/// JSON.
pub(crate) fn scan_shallowly(text: &str, characters: Characters) -> Option<Table> {
    let mut scanner = Scanner::new(text, characters, Table::default());
    scanner.defers_items = true;
    scanner.document()
}

/// The table of an object that was deferred.
pub(crate) fn scan_item(text: &str, characters: Characters, range: Range<usize>) -> Option<Table> {
    let table = Table::for_length(range.len());
    let mut scanner = Scanner::new(text.get(..range.end)?, characters, table);
    scanner.at = range.start;
    scanner.document()
}

struct Scanner<'t> {
    bytes: &'t [u8],
    characters: Characters,
    at: usize,
    table: Table,
    /// The collections around `at`, outermost first.
    open: Vec<Open>,
    /// Whether the objects in `items` are deferred.
    defers_items: bool,
}

#[derive(Clone, Copy)]
struct Open {
    node: u32,
    object: bool,
    /// A list whose objects are deferred.
    deferred: bool,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str, characters: Characters, table: Table) -> Self {
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Self {
            bytes: text.as_bytes(),
            characters,
            at: start,
            table,
            open: Vec::new(),
            defers_items: false,
        }
    }
}

impl Scanner<'_> {
    fn document(mut self) -> Option<Table> {
        self.skip_white_space();
        let mut slot = Slot::ROOT;
        loop {
            if !self.value(slot)? {
                self.separator()?;
            }
            if !self.open.is_empty() {
                slot = self.slot()?;
            } else if self.ends() {
                return Some(self.table);
            } else if self.another_text() {
                slot = Slot::ROOT;
            } else {
                return None;
            }
        }
    }

    /// Whether only white space follows, without a tab below: JSON allows it, but readers that read
    /// JSON as YAML do not.
    fn ends(&mut self) -> bool {
        let after = self.at;
        self.skip_white_space();
        let rest = self.bytes.get(after..).unwrap_or_default();
        let mut below = rest.iter().skip_while(|byte| !matches!(byte, b'\n' | b'\r'));
        self.at == self.bytes.len() && !below.any(|byte| *byte == b'\t')
    }

    /// Whether another text may begin here.
    fn another_text(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.bytes.get(at));
        before.is_some_and(|byte| byte.is_ascii_whitespace() || b"}]".contains(byte))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_white_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// A scalar, an empty collection or the start of another: then the answer is yes.
    fn value(&mut self, slot: Slot) -> Option<bool> {
        let start = self.at;
        match self.peek()? {
            b'{' if self.open.last().is_some_and(|open| open.deferred) => self.deferred(slot)?,
            open @ (b'{' | b'[') => return self.open(slot, open == b'{'),
            b'"' => {
                let (value, is_text) = self.string()?;
                self.table.text(slot, Style::DoubleQuoted, value, is_text);
            }
            b't' => self.literal(slot, b"true")?,
            b'f' => self.literal(slot, b"false")?,
            b'n' => self.literal(slot, b"null")?,
            _ => {
                self.number()?;
                self.table.scalar(slot, Style::Plain, span(start, self.at));
            }
        }
        Some(false)
    }

    fn open(&mut self, slot: Slot, object: bool) -> Option<bool> {
        if self.open.len() >= MAX_DEPTH {
            return None;
        }
        let kind = if object { Kind::Mapping } else { Kind::Sequence };
        let node = self.table.open(slot, kind, self.at, true);
        self.at += 1;
        self.skip_white_space();
        if self.peek()? == if object { b'}' } else { b']' } {
            self.at += 1;
            self.table.close(node, self.at);
            return Some(false);
        }
        let key = slot.key().and_then(|key| self.bytes.get(key.range()));
        let deferred =
            self.defers_items && !object && self.open.len() == 1 && key == Some(b"\"items\"");
        self.open.push(Open { node, object, deferred });
        Some(true)
    }

    /// Skips an object, up to the brace that closes it.
    fn deferred(&mut self, slot: Slot) -> Option<()> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            let rest = self.bytes.get(self.at..)?;
            self.at += memchr::memchr3(b'"', b'{', b'}', rest)?;
            if self.peek()? == b'"' {
                self.string()?;
                continue;
            }
            depth = if self.peek()? == b'{' { depth + 1 } else { depth - 1 };
            self.at += 1;
            if depth == 0 {
                break;
            }
        }
        self.table.deferred(slot, span(start, self.at));
        Some(())
    }

    /// Up to where the next value may begin: after a comma, or after all the brackets.
    fn separator(&mut self) -> Option<()> {
        while let Some(&open) = self.open.last() {
            self.skip_white_space();
            let byte = self.peek()?;
            self.at += 1;
            if byte == b',' {
                self.skip_white_space();
                return Some(());
            }
            if byte != if open.object { b'}' } else { b']' } {
                return None;
            }
            self.table.close(open.node, self.at);
            self.open.pop();
        }
        Some(())
    }

    /// The slot of the next value: in an object, of the key that is read here.
    fn slot(&mut self) -> Option<Slot> {
        if !self.open.last()?.object {
            return Some(Slot::FLOW_ITEM);
        }
        if self.peek()? != b'"' {
            return None;
        }
        let (key, is_text) = self.string()?;
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        if self.peek()? != b':' {
            return None;
        }
        self.at += 1;
        self.skip_white_space();
        Some(Slot::flow_entry(key, Style::DoubleQuoted).with_text(is_text))
    }

    /// A string in quotes. It may hold what YAML refuses: control characters beyond ASCII's first
    /// ones, and half a surrogate pair as an escape. Returns whether it is [spelled as it is
    /// read](crate::table::Flags::TEXT), too.
    #[expect(clippy::inline_always, reason = "calls take a fourth of the instructions")]
    #[inline(always)]
    fn string(&mut self) -> Option<(Span, bool)> {
        let start = self.at;
        self.at = start + 1 + words::quoted_stop(self.bytes.get(start + 1..)?, b'"');
        let has_escapes = self.peek()? != b'"';
        if has_escapes {
            self.escapes()?;
        }
        self.at += 1;
        let is_text = !has_escapes && self.characters == Characters::Common;
        Some((span(start, self.at), is_text))
    }

    /// The rest of a string from an escape on, up to its quote.
    #[cold]
    fn escapes(&mut self) -> Option<()> {
        loop {
            match self.peek()? {
                b'"' => return Some(()),
                b'\\' => self.escape()?,
                _ => return None,
            }
            self.at += words::quoted_stop(self.bytes.get(self.at..)?, b'"');
        }
    }

    fn escape(&mut self) -> Option<()> {
        let escaped = *self.bytes.get(self.at + 1)?;
        self.at += 2;
        match escaped {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => self.hex(),
            _ => None,
        }
    }

    fn hex(&mut self) -> Option<()> {
        let digits = self.bytes.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().all(u8::is_ascii_hexdigit).then_some(())
    }

    fn literal(&mut self, slot: Slot, literal: &[u8]) -> Option<()> {
        let start = self.at;
        self.at += literal.len();
        if self.bytes.get(start..self.at)? != literal {
            return None;
        }
        self.table.scalar(slot, Style::Plain, span(start, self.at));
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}
