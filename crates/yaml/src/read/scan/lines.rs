//! Lines of block collections: entries, items and their values.

use crate::limits::MAX_DEPTH;
use crate::read::indented::indented_end;
use crate::read::scan::scalars::{Plain, is_simple};
use crate::read::scan::scanner::{Block, MAX_KEY, Pending, Scanner, quote_style};
use crate::scalar::data::Style;
use crate::table::{Flags, Kind, Slot, Span, span};
use crate::words;

#[expect(clippy::inline_always, reason = "calls take a third of the instructions")]
impl Scanner<'_> {
    /// Reads all lines from `start` on.
    pub(super) fn stream(&mut self, start: usize) -> Option<()> {
        self.pending = Some(Pending { slot: Slot::ROOT, at: start });
        self.end = start;
        let mut line = start;
        while line < self.bytes.len() {
            let at = self.skip_indentation(line);
            line = match self.byte(at) {
                None => at,
                Some(byte) if is_simple(byte) => self.text_line(at, at - line)?,
                Some(b'\n') => at + 1,
                Some(b'\r') => at + 2,
                Some(b'#') => {
                    self.continues = false;
                    self.next_line(at)
                }
                Some(b'-' | b'.' | b'%') if at == line && self.is_marker(at) => self.marker(at)?,
                Some(_) => self.content(at, at - line)?,
            };
        }
        if self.documents > 0 || !self.is_before_root() {
            self.end_document()?;
        }
        Some(())
    }

    /// A line with text without a dash, which begins at `at`. Returns where the next line to read
    /// begins.
    #[inline(always)]
    fn text_line(&mut self, at: usize, column: usize) -> Option<usize> {
        // Most lines begin a mapping or are its next entry.
        let is_near = self.blocks.last().is_some_and(|block| {
            let begins = column > block.column && self.pending.is_some();
            begins || column == block.column && block.mapping && self.pending.is_none()
        });
        if is_near || self.settle(column, false)? == Line::Node {
            self.entry_or_value(at, column)
        } else {
            self.continuation(at)
        }
    }

    /// A line with text that may begin with a dash.
    fn content(&mut self, at: usize, column: usize) -> Option<usize> {
        let dash = self.is_dash(at);
        if self.settle(column, dash)? == Line::Continuation {
            return self.continuation(at);
        }
        let mut at = at;
        let mut column = column;
        while self.is_dash(at) {
            self.item(at, column)?;
            if self.blocks.last().is_some_and(|block| block.deferred) {
                return self.deferred_item(at, column);
            }
            let value = self.skip_spaces(at + 1);
            if self.is_line_end(value) || self.byte(value) == Some(b'#') {
                return Some(self.next_line(value));
            }
            column += value - at;
            at = value;
        }
        self.rest_of_line(at, column)
    }

    /// As [`entry_or_value`](Self::entry_or_value) after a dash.
    #[inline(never)]
    fn rest_of_line(&mut self, at: usize, column: usize) -> Option<usize> {
        self.entry_or_value(at, column)
    }

    /// Finds the collection that a line at `column` belongs to, and closes those inside of it.
    #[inline(never)]
    fn settle(&mut self, column: usize, dash: bool) -> Option<Line> {
        if let Some(pending) = self.pending {
            let fits = self.blocks.last().is_none_or(|block| {
                column > block.column || (column == block.column && dash && block.mapping)
            });
            if fits {
                return Some(Line::Node);
            }
            self.absent(pending);
        } else if self.continues && column > self.blocks.last()?.column {
            return Some(Line::Continuation);
        }
        while let Some(block) = self.blocks.last() {
            // Neither a sibling nor a child.
            if block.column < column {
                return None;
            }
            if block.column == column {
                if block.mapping != dash {
                    return Some(Line::Node);
                }
                if dash {
                    return None;
                }
            }
            self.close();
        }
        None
    }

    /// The `-` at `at`: the next item of the list in this column, or the first item of a new list.
    fn item(&mut self, at: usize, column: usize) -> Option<()> {
        self.open_pending(Kind::Sequence, at, column)?;
        self.pending = Some(Pending { slot: Slot::item(at), at: at + 1 });
        Some(())
    }

    /// Whether the list in this slot is one whose items are deferred: it and the mappings around it have
    /// the keys of a path.
    fn is_long_list(&self, slot: Slot) -> bool {
        if self.blocks.is_empty() {
            return false;
        }
        let key = |key: Span| self.bytes.get(key.range()).unwrap_or_default();
        let outer = self.blocks.get(1..).unwrap_or_default().iter();
        let outer = outer.filter_map(|block| self.table.nodes.get(block.node as usize));
        let own = outer.map(|node| node.key).chain(slot.key());
        let leads_here = |path: &&[&str]| {
            path.len() == self.blocks.len() && {
                let mut steps = path.iter().zip(own.clone());
                steps.all(|(step, own)| key(own) == step.as_bytes())
            }
        };
        self.long_lists.iter().any(leads_here)
    }

    /// Skips an item whose dash is at `at`: all lines that are indented deeper than the dash, blank
    /// ones and comments between them. No scalar or collection of the item can have text further
    /// left, except those in quotes or braces over several lines: then the part that was cut off
    /// does not scan.
    fn deferred_item(&mut self, at: usize, column: usize) -> Option<usize> {
        let slot = self.pending.take()?.slot;
        let line = indented_end(self.bytes, at, column);
        let value = self.skip_spaces(at + 1).min(line);
        self.table.deferred(slot, span(value, line));
        self.end = line;
        self.continues = false;
        Some(line)
    }

    /// Opens a block collection if a value is pending.
    #[inline]
    fn open_pending(&mut self, kind: Kind, at: usize, column: usize) -> Option<()> {
        let Some(pending) = self.pending else {
            return Some(());
        };
        self.pending = None;
        self.open(pending, kind, at, column)
    }

    #[inline(always)]
    pub(super) fn open(
        &mut self,
        pending: Pending,
        kind: Kind,
        at: usize,
        column: usize,
    ) -> Option<()> {
        if self.depth() >= MAX_DEPTH {
            return None;
        }
        let deferred = kind == Kind::Sequence
            && !self.long_lists.is_empty()
            && self.is_long_list(pending.slot);
        let node = self.table.open(pending.slot, kind, at, false);
        self.blocks.push(Block { node, column, mapping: kind == Kind::Mapping, deferred });
        Some(())
    }

    /// Reads the line after its indentation and dashes: `key: value`, `key:` or a value.
    #[inline(always)]
    fn entry_or_value(&mut self, at: usize, column: usize) -> Option<usize> {
        // Most lines have a key of letters.
        let colon = at + words::after_letters(self.bytes.get(at..)?);
        let is_key = self.byte(colon) == Some(b':') && self.is_blank(colon + 1);
        if is_key && self.byte(at).is_some_and(is_simple) {
            let slot = self.plain_key(at, colon);
            self.entry(slot, at, colon, column)
        } else {
            self.other_entry_or_value(at, column)
        }
    }

    #[inline(never)]
    fn other_entry_or_value(&mut self, at: usize, column: usize) -> Option<usize> {
        match self.byte(at)? {
            quote @ (b'"' | b'\'') => {
                if let Some((end, is_text)) = self.quoted(at, quote)
                    && let colon = self.skip_spaces(end)
                    && self.byte(colon) == Some(b':')
                {
                    let slot = Slot::entry(span(at, end), quote_style(quote));
                    return self.entry(slot.with_text(is_text), at, colon, column);
                }
                let slot = self.take_slot()?;
                self.quoted_value(slot, at, quote)
            }
            b'[' | b'{' => {
                let slot = self.take_slot()?;
                self.braces(slot, at)
            }
            b'|' | b'>' => self.block_item(at),
            _ => {
                let plain = self.plain_start(at)?;
                if plain.byte != b':' {
                    let slot = self.take_slot()?;
                    return Some(self.plain_value(slot, at, &plain));
                }
                if self.is_merge_key(at, plain.end) {
                    return None;
                }
                let slot = self.plain_key(at, plain.end);
                self.entry(slot, at, plain.stop, column)
            }
        }
    }

    #[inline]
    fn plain_key(&self, start: usize, end: usize) -> Slot {
        let slot = Slot::entry(span(start, end), Style::Plain);
        slot.with_text(self.is_string(start, end))
    }

    /// Reads an entry after its key, which begins at `at`.
    #[inline(always)]
    fn entry(&mut self, slot: Slot, at: usize, colon: usize, column: usize) -> Option<usize> {
        if colon - at > MAX_KEY {
            return None;
        }
        self.open_pending(Kind::Mapping, at, column)?;
        self.entry_value(slot, colon + 1, column)
    }

    /// Merge keys have a limit, which the full path checks.
    pub(super) fn is_merge_key(&self, start: usize, end: usize) -> bool {
        end - start == 2 && self.bytes.get(start..end) == Some(b"<<")
    }

    /// Reads the line after the colon of a key in `column`.
    #[inline(always)]
    fn entry_value(&mut self, slot: Slot, after: usize, column: usize) -> Option<usize> {
        let at = self.skip_spaces(after);
        let first = match self.byte(at) {
            None | Some(b'\n' | b'\r') => {
                self.pending = Some(Pending { slot, at: after });
                return Some(self.next_line(at));
            }
            Some(_) if at == after => return None,
            Some(first) => first,
        };
        if !is_simple(first) {
            return self.other_value(slot, after, at, column);
        }
        let stop = at + words::plain_stop(self.bytes.get(at..)?);
        // Most values end with the line.
        if self.byte(stop) != Some(b'\n') || self.byte(stop - 1) == Some(b' ') {
            return self.other_value(slot, after, at, column);
        }
        let plain = Plain { end: stop, stop, byte: b'\n' };
        Some(self.plain_value(slot, at, &plain))
    }

    /// Reads another value, which begins at `at`.
    #[inline(never)]
    fn other_value(&mut self, slot: Slot, after: usize, at: usize, column: usize) -> Option<usize> {
        match self.byte(at)? {
            b'#' => {
                self.pending = Some(Pending { slot, at: after });
                Some(self.next_line(at))
            }
            quote @ (b'"' | b'\'') => self.quoted_value(slot, at, quote),
            b'[' | b'{' => self.braces(slot, at),
            b'|' | b'>' => self.block_scalar(slot, at, column),
            _ => {
                let plain = self.plain_start(at)?;
                if plain.byte == b':' {
                    return None;
                }
                Some(self.plain_value(slot, at, &plain))
            }
        }
    }

    /// The slot of the scalar or the braces that were just read.
    pub(super) fn take_slot(&mut self) -> Option<Slot> {
        let slot = self.pending.take()?.slot;
        (!slot.is_root()).then_some(slot)
    }

    #[inline]
    fn quoted_value(&mut self, slot: Slot, at: usize, quote: u8) -> Option<usize> {
        let literal = self.literal(at, quote);
        let (end, is_text) = literal.or_else(|| self.quoted_lines(at, quote))?;
        self.table.text(slot, quote_style(quote), span(at, end), is_text);
        self.ends(end)
    }

    #[inline(always)]
    fn plain_value(&mut self, slot: Slot, at: usize, plain: &Plain) -> usize {
        self.add_plain(slot, at, plain.end);
        self.end = plain.end;
        self.continues = plain.byte != b'#';
        if plain.byte == b'\n' {
            return plain.stop + 1;
        }
        self.next_line(plain.stop)
    }

    /// Another line of the plain scalar before it.
    fn continuation(&mut self, at: usize) -> Option<usize> {
        let plain = self.plain(at)?;
        if plain.byte == b':' {
            return None;
        }
        let node = self.table.nodes.last_mut()?;
        node.value.end = span(0, plain.end).end;
        node.flags = node.flags.without(Flags::TEXT);
        self.end = plain.end;
        self.continues = plain.byte != b'#';
        Some(self.next_line(plain.stop))
    }

    /// Ends the line after a complete value: only a comment may follow.
    pub(super) fn ends(&mut self, end: usize) -> Option<usize> {
        self.end = end;
        self.continues = false;
        let at = self.skip_spaces(end);
        let comment = at > end && self.byte(at) == Some(b'#');
        (comment || self.is_line_end(at)).then(|| self.next_line(at))
    }

    /// Ends the pending value, which is absent.
    pub(super) fn absent(&mut self, pending: Pending) {
        self.pending = None;
        self.continues = false;
        self.table.scalar(pending.slot, Style::Plain, Span::empty(span(0, pending.at).end));
        self.end = pending.at;
    }

    /// Ends the innermost block collection.
    pub(super) fn close(&mut self) {
        if let Some(block) = self.blocks.pop() {
            self.table.close(block.node, self.end);
        }
    }
}

/// How a line relates to the lines before it.
#[derive(PartialEq, Eq)]
enum Line {
    Node,
    Continuation,
}
