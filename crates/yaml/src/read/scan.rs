//! The fast path: reads plain block YAML line by line into the table of nodes.
//!
//! It reads the YAML that people and Kubernetes tools write: block mappings and lists, plain,
//! quoted and block scalars, braces that end on their line, comments, `---` between documents. **On
//! any doubt it gives up**, and the full path reads the text again from its start: anchors, aliases
//! and tags, `?` keys, directives and `...`, tabs outside of quotes, comments and block scalars,
//! braces over several lines, unusual line breaks and characters, a second `: ` on a line, odd
//! indentation, and everything that looks like an error. go-yaml and the full path accept every
//! text that it accepts, and the full path builds the same table.
//!
//! Why lines suffice: inside a block collection at column `c` only a quoted or braced scalar of
//! several lines can put text at a column ≤ `c`, and such ones make it give up.

use std::ops::Range;

use crate::limits::MAX_DEPTH;
use crate::read::characters::{Characters, has_unusual};
use crate::scalar::data::Style;
use crate::scalar::is_surely_string;
use crate::table::{Flags, Kind, Slot, Span, Table, span};
use crate::words;

/// The table of `text`; `None` if the text needs the full path.
pub(crate) fn scan(text: &str, characters: Characters) -> Option<Table> {
    (!has_unusual(text, characters)).then_some(())?;
    let table = Table::for_length(text.len());
    Scanner::new(text, characters, table, &[]).stream(text_start(text))
}

/// As [`scan`], but of the items of long lists only the extent is found: each is one node of the
/// kind [`Kind::Deferred`]. The items must be [scanned](scan_item) too before the text is known to
/// be valid.
pub(crate) fn scan_shallowly(
    text: &str,
    characters: Characters,
    lists: LongLists,
) -> Option<Table> {
    (!has_unusual(text, characters)).then_some(())?;
    Scanner::new(text, characters, Table::default(), lists).stream(text_start(text))
}

/// The table of an item that was deferred, as a list of one, or of a document. The range begins with
/// the line of its dash, or of its first text.
pub(crate) fn scan_item(text: &str, characters: Characters, range: Range<usize>) -> Option<Table> {
    let table = Table::for_length(range.len());
    Scanner::new(text.get(..range.end)?, characters, table, &[]).stream(range.start)
}

/// Whether the documents after the first are read one at a time.
pub(crate) fn defers_documents(lists: LongLists) -> bool {
    lists.iter().any(|path| path.is_empty())
}

fn text_start(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len_utf8()
    } else {
        0
    }
}

/// Lists whose items are read one at a time: for each the keys that lead to it from the root of a
/// document, as they are written. Without keys, it is the list of the documents: all after the first
/// are read one at a time, and so are the items of JSON whose only key is `items`.
pub type LongLists = &'static [&'static [&'static str]];

/// The most bytes a key may have: readers look for the colon within 1,024 characters.
const MAX_KEY: usize = 1_000;

const BYTE_ORDER_MARK: char = '\u{feff}';

struct Scanner<'t> {
    bytes: &'t [u8],
    characters: Characters,
    table: Table,
    /// The lists whose items are deferred.
    long_lists: LongLists,
    /// The block collections around the current line, outermost first.
    blocks: Vec<Block>,
    /// The collections in braces or brackets around the current byte of the line.
    braces: Vec<Braces>,
    /// The key, dash or document whose value follows.
    pending: Option<Pending>,
    /// Whether the last value is a plain scalar that may go on in the next line.
    continues: bool,
    /// After the last value.
    end: usize,
    /// How many `---` there were.
    documents: usize,
}

struct Block {
    node: u32,
    column: usize,
    mapping: bool,
    /// A list whose items are deferred.
    deferred: bool,
}

struct Braces {
    node: u32,
    mapping: bool,
}

#[derive(Clone, Copy)]
struct Pending {
    slot: Slot,
    /// The place of an absent value.
    at: usize,
}

/// A run of plain text in a line.
struct Plain {
    /// After its last byte that is not a space.
    end: usize,
    /// What it stops at: a `:`, the `#` of a comment, or the line's end.
    stop: usize,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str, characters: Characters, table: Table, long_lists: LongLists) -> Self {
        Self {
            bytes: text.as_bytes(),
            characters,
            table,
            long_lists,
            blocks: Vec::new(),
            braces: Vec::new(),
            pending: None,
            continues: false,
            end: 0,
            documents: 0,
        }
    }

    fn stream(mut self, start: usize) -> Option<Table> {
        self.pending = Some(Pending {
            slot: Slot::ROOT,
            at: start,
        });
        self.end = start;
        let mut line = start;
        while line < self.bytes.len() {
            let at = self.skip_indentation(line);
            line = match self.byte(at) {
                None => at,
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
        Some(self.table)
    }

    /// A line with text, which begins at `at`. Returns where the next line to read begins.
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
        self.entry_or_value(at, column)
    }

    /// Finds the collection that a line at `column` belongs to, and closes those inside of it.
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
        self.pending = Some(Pending {
            slot: Slot::item(at),
            at: at + 1,
        });
        Some(())
    }

    /// Whether the list in this slot is one whose items are deferred: it and the mappings around it have
    /// the keys of a path.
    fn is_long_list(&self, slot: Slot) -> bool {
        if self.long_lists.is_empty() || self.blocks.is_empty() {
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
        let rest = self.bytes.get(at..)?;
        let lines = memchr::memchr_iter(b'\n', rest).map(|newline| at + newline + 1);
        let mut ends = lines.filter(|&line| self.has_text_up_to(column, line));
        let line = ends.next().unwrap_or(self.bytes.len());
        let value = self.skip_spaces(at + 1).min(line);
        self.table.deferred(slot, span(value, line));
        self.end = line;
        self.continues = false;
        Some(line)
    }

    /// Whether this line has text at or left of `column`.
    fn has_text_up_to(&self, column: usize, line: usize) -> bool {
        let rest = self.bytes.get(line..).unwrap_or_default();
        let first = rest.iter().take(column + 1).find(|&&byte| byte != b' ');
        !matches!(first, None | Some(b'\n' | b'\r' | b'#'))
    }

    fn depth(&self) -> usize {
        self.blocks.len() + self.braces.len()
    }

    /// Opens a block collection if a value is pending.
    #[inline]
    fn open_pending(&mut self, kind: Kind, at: usize, column: usize) -> Option<()> {
        match self.pending.take() {
            Some(pending) => self.open(pending, kind, at, column),
            None => Some(()),
        }
    }

    fn open(&mut self, pending: Pending, kind: Kind, at: usize, column: usize) -> Option<()> {
        if self.depth() >= MAX_DEPTH {
            return None;
        }
        let deferred = kind == Kind::Sequence && self.is_long_list(pending.slot);
        let node = self.table.open(pending.slot, kind, at, false);
        self.blocks.push(Block {
            node,
            column,
            mapping: kind == Kind::Mapping,
            deferred,
        });
        Some(())
    }

    /// Reads the line after its indentation and dashes: `key: value`, `key:` or a value.
    fn entry_or_value(&mut self, at: usize, column: usize) -> Option<usize> {
        let (style, end, colon, is_text) = match self.byte(at)? {
            quote @ (b'"' | b'\'') => {
                let style = quote_style(quote);
                let end = self.quoted(at, quote);
                let after = end.map(|end| self.skip_spaces(end));
                let colon = after.filter(|&after| self.byte(after) == Some(b':'));
                let (Some(end), Some(after)) = (end, colon) else {
                    let slot = self.take_slot()?;
                    return self.quoted_value(slot, at, quote);
                };
                (style, end, after, self.is_literal(at, end))
            }
            b'[' | b'{' => {
                let slot = self.take_slot()?;
                return self.braces(slot, at);
            }
            b'|' | b'>' => return self.block_item(at),
            _ => {
                let plain = self.plain_start(at)?;
                if self.byte(plain.stop) != Some(b':') {
                    let slot = self.take_slot()?;
                    return Some(self.plain_value(slot, at, &plain));
                }
                let is_text = self.is_string(at, plain.end);
                (Style::Plain, plain.end, plain.stop, is_text)
            }
        };
        if colon - at > MAX_KEY || self.is_merge_key(at, end) {
            return None;
        }
        self.open_pending(Kind::Mapping, at, column)?;
        let slot = Slot::entry(span(at, end), style).with_text(is_text);
        self.entry_value(slot, colon + 1, column)
    }

    /// Merge keys have a limit, which the full path checks.
    fn is_merge_key(&self, start: usize, end: usize) -> bool {
        self.bytes.get(start..end) == Some(b"<<")
    }

    /// Reads the line after the colon of a key in `column`.
    #[expect(
        clippy::inline_always,
        reason = "calls take a third of the instructions"
    )]
    #[inline(always)]
    fn entry_value(&mut self, slot: Slot, after: usize, column: usize) -> Option<usize> {
        let at = self.skip_spaces(after);
        if self.is_line_end(at) {
            self.pending = Some(Pending { slot, at: after });
            return Some(self.next_line(at));
        }
        if at == after {
            return None;
        }
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
                if self.byte(plain.stop) == Some(b':') {
                    return None;
                }
                Some(self.plain_value(slot, at, &plain))
            }
        }
    }

    /// The slot of the scalar or the braces that were just read.
    fn take_slot(&mut self) -> Option<Slot> {
        let slot = self.pending.take()?.slot;
        (!slot.is_root()).then_some(slot)
    }

    fn quoted_value(&mut self, slot: Slot, at: usize, quote: u8) -> Option<usize> {
        let end = self.quoted_lines(at, quote)?;
        self.add_quoted(slot, quote, at, end);
        self.ends(end)
    }

    #[expect(
        clippy::inline_always,
        reason = "calls take a third of the instructions"
    )]
    #[inline(always)]
    fn plain_value(&mut self, slot: Slot, at: usize, plain: &Plain) -> usize {
        self.add_plain(slot, at, plain.end);
        self.end = plain.end;
        self.continues = self.byte(plain.stop) != Some(b'#');
        self.next_line(plain.stop)
    }

    /// Another line of the plain scalar before it.
    fn continuation(&mut self, at: usize) -> Option<usize> {
        let plain = self.plain(at)?;
        if self.byte(plain.stop) == Some(b':') {
            return None;
        }
        let node = self.table.nodes.last_mut()?;
        node.value.end = span(0, plain.end).end;
        node.flags = node.flags.without(Flags::TEXT);
        self.end = plain.end;
        self.continues = self.byte(plain.stop) != Some(b'#');
        Some(self.next_line(plain.stop))
    }

    /// After a value that is complete: nothing may follow but a comment.
    fn ends(&mut self, end: usize) -> Option<usize> {
        self.end = end;
        self.continues = false;
        let at = self.skip_spaces(end);
        let comment = at > end && self.byte(at) == Some(b'#');
        (comment || self.is_line_end(at)).then(|| self.next_line(at))
    }

    /// The pending value is absent.
    fn absent(&mut self, pending: Pending) {
        self.pending = None;
        self.continues = false;
        self.table.scalar(
            pending.slot,
            Style::Plain,
            Span::empty(span(0, pending.at).end),
        );
        self.end = pending.at;
    }

    /// Ends the innermost block collection.
    fn close(&mut self) {
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

/// Documents.
impl Scanner<'_> {
    /// Whether `---`, `...` or a directive may begin here, in the first column.
    fn is_marker(&self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        rest.starts_with(b"---") || rest.starts_with(b"...") || rest.starts_with(b"%")
    }

    /// A `---` alone on its line.
    fn marker(&mut self, at: usize) -> Option<usize> {
        let end = at + 3;
        if self.bytes.get(at..end)? != b"---" {
            return None;
        }
        if self.documents > 0 || !self.is_before_root() {
            self.end_document()?;
        }
        self.documents += 1;
        self.pending = Some(Pending {
            slot: Slot::ROOT,
            at: end,
        });
        let line = self.ends(end)?;
        let is_first = self.table.roots.is_empty();
        if !is_first && defers_documents(self.long_lists) {
            return Some(self.deferred_document(line));
        }
        Some(line)
    }

    /// Skips a document up to the next marker: no scalar or collection can have one at the start of a
    /// line. An empty document is left to be read.
    fn deferred_document(&mut self, line: usize) -> usize {
        let rest = self.bytes.get(line..).unwrap_or_default();
        let lines = memchr::memchr_iter(b'\n', rest).map(|newline| line + newline + 1);
        let lines = std::iter::once(line).chain(lines);
        let mut start = None;
        let mut end = self.bytes.len();
        for line in lines {
            if self.is_marker(line) {
                end = line;
                break;
            }
            let at = self.skip_indentation(line);
            if start.is_none() && !matches!(self.byte(at), None | Some(b'#' | b'\r' | b'\n')) {
                start = Some(at);
            }
        }
        let Some(start) = start else {
            return line;
        };
        self.pending = None;
        self.table.deferred(Slot::ROOT, span(start, end));
        self.end = end;
        self.continues = false;
        end
    }

    fn is_before_root(&self) -> bool {
        self.pending.is_some_and(|pending| pending.slot.is_root())
    }

    /// Closes all collections. Gives up on empty documents.
    fn end_document(&mut self) -> Option<()> {
        if self.is_before_root() {
            return None;
        }
        if let Some(pending) = self.pending {
            self.absent(pending);
        }
        while !self.blocks.is_empty() {
            self.close();
        }
        Some(())
    }
}

/// Scalars.
impl Scanner<'_> {
    #[expect(
        clippy::inline_always,
        reason = "calls take a third of the instructions"
    )]
    #[inline(always)]
    fn add_plain(&mut self, slot: Slot, start: usize, end: usize) {
        let is_text = self.is_string(start, end);
        self.table
            .text(slot, Style::Plain, span(start, end), is_text);
    }

    fn add_quoted(&mut self, slot: Slot, quote: u8, start: usize, end: usize) {
        let is_text = self.is_literal(start, end);
        let style = quote_style(quote);
        self.table.text(slot, style, span(start, end), is_text);
    }

    /// Whether a plain scalar on one line is known to be a string that is [spelled as it is
    /// read](Flags::TEXT).
    fn is_string(&self, start: usize, end: usize) -> bool {
        let text = self.bytes.get(start..end);
        self.characters == Characters::Common && text.is_some_and(is_surely_string)
    }

    /// Whether a text in quotes is spelled as it is read, but for the quotes.
    fn is_literal(&self, start: usize, end: usize) -> bool {
        let within = self.bytes.get(start + 1..end).unwrap_or_default();
        let quote = self.byte(start).unwrap_or_default();
        // Any escape or line break stops earlier.
        self.characters == Characters::Common
            && words::quoted_stop(within, quote) + 1 == within.len()
    }

    /// Plain text in a block, from its first byte.
    #[expect(
        clippy::inline_always,
        reason = "calls take a third of the instructions"
    )]
    #[inline(always)]
    fn plain_start(&self, at: usize) -> Option<Plain> {
        match self.byte(at)? {
            b'-' if !self.is_dash(at) => {}
            b'-' | b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!'
            | b'|' | b'>' | b'\'' | b'"' | b'%' | b'@' | b'`' => return None,
            _ => {}
        }
        self.plain(at)
    }

    #[expect(
        clippy::inline_always,
        reason = "calls take a third of the instructions"
    )]
    #[inline(always)]
    fn plain(&self, from: usize) -> Option<Plain> {
        let mut at = from;
        loop {
            at += words::plain_stop(self.bytes.get(at..)?);
            match self.byte(at) {
                None | Some(b'\n' | b'\r') => break,
                Some(b':') if self.is_blank(at + 1) => break,
                Some(b'#') if at == from || self.byte(at - 1) == Some(b' ') => break,
                Some(b'\t') => return None,
                Some(_) => at += 1,
            }
        }
        let text = self.bytes.get(from..at)?;
        let spaces = text.iter().rev().take_while(|&&byte| byte == b' ').count();
        Some(Plain {
            end: at - spaces,
            stop: at,
        })
    }

    /// After the closing quote, if it is on the same line.
    fn quoted(&self, from: usize, quote: u8) -> Option<usize> {
        let stop = self.quoted_line(from + 1, quote)?;
        (self.byte(stop) == Some(quote)).then_some(stop + 1)
    }

    /// After the closing quote of a value, which may be on another line. All its lines must be
    /// indented as those of plain text are, and without tabs.
    fn quoted_lines(&self, from: usize, quote: u8) -> Option<usize> {
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
                return Some(stop + 1);
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
        let code = digits.iter().try_fold(0u32, |code, &digit| {
            Some(code << 4 | char::from(digit).to_digit(16)?)
        })?;
        char::from_u32(code).map(|_| 2 + digits.len())
    }

    /// A block scalar after a dash.
    fn block_item(&mut self, at: usize) -> Option<usize> {
        let pending = self.pending?;
        let column = self.blocks.last()?.column;
        let between = self.bytes.get(pending.at..at)?;
        if between.contains(&b'\n') {
            return None;
        }
        let slot = self.take_slot()?;
        self.block_scalar(slot, at, column)
    }

    /// The block scalar whose `|` or `>` is at `at`, in an entry or item that begins in `column`.
    fn block_scalar(&mut self, slot: Slot, at: usize, column: usize) -> Option<usize> {
        let style = if self.byte(at) == Some(b'|') {
            Style::Literal
        } else {
            Style::Folded
        };
        let (header, header_end) = self.block_header(at)?;
        let first = self.ends(header_end)?;
        let (end, next) = self.block_lines(first, column, &header)?;
        let end = end.unwrap_or(header_end);
        self.table.scalar(slot, style, span(at, end));
        self.end = end;
        Some(next)
    }

    fn block_header(&self, at: usize) -> Option<(BlockHeader, usize)> {
        let mut header = BlockHeader {
            keep: false,
            indentation: None,
        };
        let mut has_chomping = false;
        let mut end = at + 1;
        loop {
            match self.byte(end) {
                Some(sign @ (b'+' | b'-')) if !has_chomping => {
                    has_chomping = true;
                    header.keep = sign == b'+';
                }
                Some(digit @ b'1'..=b'9') if header.indentation.is_none() => {
                    header.indentation = Some(usize::from(digit - b'0'));
                }
                _ => return Some((header, end)),
            }
            end += 1;
        }
    }

    /// Skips a block scalar's lines. Returns the end of its text, if it has any, and the next line.
    fn block_lines(
        &self,
        first: usize,
        column: usize,
        header: &BlockHeader,
    ) -> Option<(Option<usize>, usize)> {
        let mut indentation = header.indentation.map(|count| column + count);
        let mut widest_blank = 0;
        let mut end = None;
        let mut line = first;
        while line < self.bytes.len() {
            let at = self.skip_indentation(line);
            let spaces = at - line;
            let blank = match self.byte(at) {
                None => return None,
                Some(b'\n' | b'\r') => true,
                Some(b'\t') if indentation.is_none_or(|least| spaces < least) => return None,
                Some(_) => false,
            };
            let is_text = match indentation {
                Some(least) if blank => spaces > least,
                Some(least) => spaces >= least,
                None if blank => {
                    widest_blank = widest_blank.max(spaces);
                    false
                }
                None if spaces <= column => false,
                None if spaces < widest_blank => return None,
                None => {
                    indentation = Some(spaces);
                    true
                }
            };
            if !is_text && !blank {
                // A comment between the scalar's indentation and its key's: readers differ.
                if header.indentation.is_some() && spaces > column {
                    return None;
                }
                break;
            }
            line = self.next_line(at);
            if is_text || header.keep {
                end = Some(line);
            }
        }
        Some((end, line))
    }
}

struct BlockHeader {
    keep: bool,
    indentation: Option<usize>,
}

/// Braces and brackets that close on their line.
impl Scanner<'_> {
    fn braces(&mut self, slot: Slot, from: usize) -> Option<usize> {
        let mut slot = slot;
        let mut at = from;
        loop {
            let byte = self.byte(at)?;
            let opens = matches!(byte, b'[' | b'{');
            at = match byte {
                b'[' | b'{' => self.open_braces(slot, at, byte)?,
                b'"' | b'\'' => {
                    let end = self.quoted(at, byte)?;
                    self.add_quoted(slot, byte, at, end);
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
        let kind = if mapping {
            Kind::Mapping
        } else {
            Kind::Sequence
        };
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
            let end = self.quoted(at, quote)?;
            (quote_style(quote), end, self.is_literal(at, end))
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
        if self.byte(plain.stop)? == b':' {
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
        let text = self.bytes.get(from..at)?;
        let spaces = text.iter().rev().take_while(|&&byte| byte == b' ').count();
        Some(Plain {
            end: at - spaces,
            stop: at,
        })
    }
}

/// Bytes.
impl Scanner<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// As [`skip_spaces`](Self::skip_spaces), for many spaces rather than one.
    fn skip_indentation(&self, line: usize) -> usize {
        line + words::after_spaces(self.bytes.get(line..).unwrap_or_default())
    }

    fn skip_spaces(&self, from: usize) -> usize {
        let mut at = from;
        while self.byte(at) == Some(b' ') {
            at += 1;
        }
        at
    }

    /// Whether a line ends here: a `\r` is always before a `\n`.
    fn is_line_end(&self, at: usize) -> bool {
        matches!(self.byte(at), None | Some(b'\n' | b'\r'))
    }

    fn is_blank(&self, at: usize) -> bool {
        matches!(self.byte(at), None | Some(b' ' | b'\t' | b'\n' | b'\r'))
    }

    fn is_dash(&self, at: usize) -> bool {
        self.byte(at) == Some(b'-') && self.is_blank(at + 1)
    }

    fn next_line(&self, at: usize) -> usize {
        if self.byte(at) == Some(b'\n') {
            return at + 1;
        }
        let rest = self.bytes.get(at..).unwrap_or_default();
        memchr::memchr(b'\n', rest).map_or(self.bytes.len(), |newline| at + newline + 1)
    }
}

const fn quote_style(quote: u8) -> Style {
    if quote == b'"' {
        Style::DoubleQuoted
    } else {
        Style::SingleQuoted
    }
}
