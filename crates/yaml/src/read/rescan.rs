//! Reads an edited text again only where it changed: copied lines keep the nodes that they had.
//!
//! How the line scanner reads a line depends only on the block collections around it and on the
//! key, the dash or the plain scalar before it. So after a place where the collections around the
//! old line and the new one are of the same kinds and in the same columns, the same lines give the
//! same nodes. A chunk of changed lines begins with the last line before the change that starts
//! with a key or a dash, and ends before the first line after it that does: there the state of the
//! scanner must be as it was in the old text. In all other cases, the whole text must be read.

use std::ops::Range;
use std::sync::Arc;

use crate::limits::{MAX_DEPTH, MAX_LENGTH};
use crate::lines::{line_start, next_line};
use crate::read::characters::{Characters, first_uncommon, has_unusual};
use crate::read::document::{Cursor, Document};
use crate::read::scan::{Block, Memory, Scanner};
use crate::read::text::{check_length, check_text};
use crate::scalar::data::Style;
use crate::source::Source;
use crate::table::{Flags, Kind, NONE, Node, NodeId};
use crate::words::after_spaces;

/// A range of an edited text, in the old text and in the new one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EditedRange {
    /// Where the old text began.
    pub(crate) old_start: usize,
    pub(crate) old_end: usize,
    /// Where the new text begins.
    pub(crate) new_start: usize,
    pub(crate) new_end: usize,
}

/// The nodes of an edited text, of which some are those of the old text.
#[derive(Debug)]
pub(crate) struct Rescanned<'d> {
    old: &'d Document,
    new: Document,
    /// The origin of each node.
    origins: Vec<Origin>,
}

/// Which node of the old text a node is, if any.
#[derive(Clone, Copy, Debug)]
struct Origin {
    id: u32,
    /// Whether all nodes inside are the same as well.
    is_whole: bool,
}

impl Origin {
    const NEW: Self = Self { id: NONE, is_whole: false };
}

/// Reads `new`, which has the text of the block mapping `old` after `changes`. The first of these
/// is where the text of the mapping begins. All other lines are copied, and moved by the same
/// number of columns. Returns `None` if the whole text must be read.
pub(crate) fn rescan<'d>(
    old: Cursor<'d>,
    new: &Arc<Source>,
    changes: &[EditedRange],
) -> Option<Rescanned<'d>> {
    /// Lines are rarely inside more collections.
    const DEPTH: usize = 16;
    let document = old.document();
    let node = old.node();
    let is_block = node.kind == Kind::Mapping && !node.has(Flags::FLOW);
    (document.is_simple && is_block).then_some(())?;
    check_length(new, MAX_LENGTH).ok()?;
    let first = changes.first()?;
    let column = |text, at| at - line_start(text, at);
    let length = (node.next - old.id().0) as usize / 2 + 8;
    let mut memory = Memory::default();
    memory.table.nodes.reserve(length);
    memory.blocks.reserve(DEPTH);
    let mut rescan = Rescan {
        old: document,
        source: new,
        new: new.text(),
        end: node.next,
        from: column(document.text(), first.old_start),
        to: column(new.text(), first.new_start),
        scanner: Scanner::new(new.text(), Characters::Common, memory, &[]),
        origins: Vec::with_capacity(length),
        ancestors: Vec::with_capacity(DEPTH),
        at: old.id().0,
    };
    rescan.scanner.begin(0);
    rescan.changes(changes)?;
    let mut origins = rescan.origins;
    rescan.scanner.finish()?;
    let table = rescan.scanner.table;
    (table.roots == [Rescanned::ROOT.0]).then_some(())?;
    origins.resize(table.nodes.len(), Origin::NEW);
    // An object that becomes an item is nested deeper; of few nodes, none is nested too deep.
    let is_root = table.nodes.first()?.kind == Kind::Mapping;
    let count = (node.next - old.id().0) as usize + table.nodes.len();
    let is_deep = node.key.is_empty() && !is_root && count >= MAX_DEPTH;
    (!is_deep).then_some(Rescanned { old: document, new: Document::new(new, table), origins })
}

/// The state of reading an edited text.
struct Rescan<'t> {
    old: &'t Document,
    source: &'t Arc<Source>,
    new: &'t str,
    /// The first old node after those of the mapping.
    end: u32,
    /// The column of the mapping in the old text.
    from: usize,
    /// The column of the mapping in the new text.
    to: usize,
    scanner: Scanner<'t>,
    origins: Vec<Origin>,
    /// The old node at which the last chunk begins.
    at: u32,
    /// The old collections around that node or, at the end of a chunk, around the node there.
    ancestors: Vec<u32>,
}

/// The line that an old node begins.
#[derive(Clone, Copy)]
struct NodeLine {
    id: u32,
    line: usize,
}

impl Rescan<'_> {
    /// Reads the chunks of changed lines, and takes over the nodes between them.
    fn changes(&mut self, changes: &[EditedRange]) -> Option<()> {
        let (mut last, rest) = changes.split_first()?;
        let mut chunk = 0;
        for next in rest {
            let is_sorted = last.old_end <= next.old_start && last.new_end <= next.new_start;
            is_sorted.then_some(())?;
            let (from, to) = self.after(last);
            // Otherwise both are in one chunk.
            if let Some(end) = self.first_entry(from)
                && let Some(start) = self.last_entry(end.id, next.old_start)
            {
                let to = self.down(to, from..end.line);
                self.end_chunk(chunk..to, end)?;
                self.take_over(end.id, start.id)?;
                chunk = self.start_chunk(start, next)?;
            }
            last = next;
        }
        let (from, to) = self.after(last);
        let Some(end) = self.first_entry(from) else {
            return self.lines(chunk..self.new.len());
        };
        let to = self.down(to, from..end.line);
        self.end_chunk(chunk..to, end)?;
        self.take_over(end.id, self.end)
    }

    fn node(&self, id: u32) -> &Node {
        self.old.node(NodeId(id))
    }

    /// Where the first line after a change begins, in the old text and in the new one.
    fn after(&self, change: &EditedRange) -> (usize, usize) {
        let begins_line = |text: &str, at: usize| {
            at.checked_sub(1).is_none_or(|before| text.as_bytes().get(before) == Some(&b'\n'))
        };
        let (old, new) = (self.old.text(), self.new);
        let (from, to) = (change.old_end, change.new_end);
        if begins_line(old, from) && begins_line(new, to) {
            return (from, to);
        }
        (next_line(old, from), next_line(new, to))
    }

    /// The offset in the new text of a line that is as many lines below `to` as `between` has in
    /// the old text.
    fn down(&self, to: usize, between: Range<usize>) -> usize {
        let breaks = memchr::memchr_iter(b'\n', self.old.slice(between).as_bytes());
        breaks.fold(to, |line, _| next_line(self.new, line))
    }

    /// The line of a node, if the node begins it and is an entry or item of a block.
    fn node_line(&self, id: u32) -> Option<NodeLine> {
        let node = self.node(id);
        let before = self.old.text().as_bytes().get(..node.entry as usize)?;
        let spaces = before.iter().rev().take_while(|&&byte| byte == b' ');
        let line = before.len() - spaces.count();
        let begins_line = line.checked_sub(1).is_none_or(|last| before.get(last) == Some(&b'\n'));
        let is_in_block = !node.has(Flags::IN_FLOW) && !node.key.is_empty();
        (begins_line && is_in_block).then_some(NodeLine { id, line })
    }

    /// The first old node at or after `from` that begins a line.
    fn first_entry(&self, from: usize) -> Option<NodeLine> {
        let nodes = self.old.nodes.get(self.at as usize..self.end as usize)?;
        let before = nodes.partition_point(|node| (node.entry as usize) < from);
        let mut ids = self.at + u32::try_from(before).ok()?..self.end;
        ids.find_map(|id| self.node_line(id))
    }

    /// The last old node after `start` that begins a line whose first two bytes are before `end`.
    fn last_entry(&self, start: u32, end: usize) -> Option<NodeLine> {
        let mut ids = start + 1..self.end;
        let after = ids.find(|&id| self.node(id).entry as usize + 2 > end);
        let mut ids = (start + 1..after.unwrap_or(self.end)).rev();
        ids.find_map(|id| self.node_line(id))
    }

    /// Whether the line at `line` of the new text begins like that of an old node.
    fn is_line_of(&self, old_line: NodeLine, line: usize) -> bool {
        let entry = self.node(old_line.id).entry as usize;
        let old = self.old.text().as_bytes();
        let rest = self.new.as_bytes().get(line..).unwrap_or_default();
        let spaces = after_spaces(rest);
        spaces + self.from == entry - old_line.line + self.to
            && old.get(entry..entry + 2).is_some()
            && old.get(entry..entry + 2) == rest.get(spaces..spaces + 2)
    }

    /// Reads lines of the new text, which have all characters that changed.
    fn lines(&mut self, range: Range<usize>) -> Option<()> {
        let lines = self.new.as_bytes().get(range.clone())?;
        if first_uncommon(lines).is_some() && self.scanner.characters == Characters::Common {
            let characters = check_text(self.source).ok()?;
            (!has_unusual(self.new, characters)).then_some(())?;
            self.scanner.characters = characters;
        }
        (self.scanner.lines(range.start, range.end)? == range.end).then_some(())
    }

    /// Reads the lines of a chunk, which ends above that of an old node.
    fn end_chunk(&mut self, lines: Range<usize>, end: NodeLine) -> Option<()> {
        let stop = lines.end;
        self.lines(lines)?;
        self.is_line_of(end, stop).then_some(())?;
        self.scanner.reach(stop)?;
        self.go_to(end.id);
        let outer = self.scanner.blocks.len();
        let outer = outer.checked_sub(self.ancestors.len())?;
        let blocks = self.scanner.blocks.get(outer..)?;
        let mut pairs = self.ancestors.iter().zip(blocks);
        let is_same = pairs.all(|(&id, block)| {
            let origin = self.origins.get(block.node as usize);
            origin.is_some_and(|origin| origin.id == id)
                || (self.column(id) + self.to == block.column + self.from
                    && (self.node(id).kind == Kind::Mapping) == block.mapping)
        });
        is_same.then_some(())
    }

    /// The column of the entries or items of an old collection.
    fn column(&self, id: u32) -> usize {
        self.old.column(self.node(id + 1).entry as usize)
    }

    /// Where the chunk with `change` begins in the new text: at the line of an old node.
    fn start_chunk(&self, start: NodeLine, change: &EditedRange) -> Option<usize> {
        let between = self.old.slice(start.line..change.old_start).as_bytes();
        let before = self.new.get(..change.new_start)?.as_bytes();
        let mut breaks = memchr::memrchr_iter(b'\n', before);
        let line = breaks.nth(memchr::memchr_iter(b'\n', between).count());
        let line = line.map_or(0, |newline| newline + 1);
        self.is_line_of(start, line).then_some(line)
    }

    /// Sets the ancestors to those of an old node.
    fn go_to(&mut self, id: u32) {
        while let Some(&last) = self.ancestors.last()
            && self.node(last).next <= id
        {
            self.ancestors.pop();
        }
        let mut at = self.at;
        while at < id {
            let next = self.node(at).next;
            if next <= id {
                at = next;
            } else {
                self.ancestors.push(at);
                at += 1;
            }
        }
        self.at = id;
    }

    /// Takes over the old nodes from `start` up to `end`, before which the next chunk begins. A
    /// node that ends before `end` is taken over with all nodes inside.
    fn take_over(&mut self, start: u32, end: u32) -> Option<()> {
        let nodes = self.old.nodes.get(start as usize..end as usize)?;
        if self.from != self.to && nodes.iter().any(|node| has_lines(self.old, node)) {
            return None;
        }
        self.origins.resize(self.scanner.table.nodes.len(), Origin::NEW);
        let mut at = start;
        loop {
            while let Some(&last) = self.ancestors.last()
                && self.node(last).next <= at
            {
                self.ancestors.pop();
                self.scanner.close();
            }
            if at >= end {
                break;
            }
            at = self.take(at, end)?;
        }
        self.at = end;
        self.scanner.resume();
        Some(())
    }

    /// Takes over one old node. Returns the next one, which is inside if the node goes on after
    /// `end`.
    fn take(&mut self, id: u32, end: u32) -> Option<u32> {
        let node = *self.old.nodes.get(id as usize)?;
        let is_whole = node.next <= end;
        let taken = u32::try_from(self.origins.len()).ok()?;
        let next = taken + 1;
        self.scanner.table.nodes.push(Node { next, ..node });
        self.origins.push(Origin { id, is_whole });
        if is_whole {
            return Some(node.next);
        }
        let column = (self.column(id) + self.to).checked_sub(self.from)?;
        let block = Block::new(taken, column, node.kind == Kind::Mapping);
        self.scanner.blocks.push(block);
        self.ancestors.push(id);
        Some(id + 1)
    }
}

/// Whether a scalar has several lines: in other columns, they may have another meaning.
pub(crate) fn has_lines(document: &Document, node: &Node) -> bool {
    match node.kind {
        Kind::Scalar(Style::Literal | Style::Folded) => true,
        Kind::Scalar(_) if !node.has(Flags::TEXT) => {
            memchr::memchr(b'\n', document.slice(node.value.range()).as_bytes()).is_some()
        }
        _ => false,
    }
}

impl Rescanned<'_> {
    /// The root of the only document.
    pub(crate) const ROOT: NodeId = NodeId(0);

    /// A node, in the text that it was read from. Its children in that text are its own only if it
    /// [is copied](Self::is_copied).
    pub(crate) fn cursor(&self, id: NodeId) -> Cursor<'_> {
        match self.origin(id) {
            Origin { id: NONE, .. } => self.new.cursor(id),
            Origin { id, .. } => self.old.cursor(NodeId(id)),
        }
    }

    /// Whether a node was copied with all nodes inside.
    pub(crate) fn is_copied(&self, id: NodeId) -> bool {
        self.origin(id).is_whole
    }

    fn origin(&self, id: NodeId) -> Origin {
        let origin = self.origins.get(id.0 as usize);
        origin.copied().unwrap_or(Origin::NEW)
    }

    /// The entries or items of a node that is not copied.
    pub(crate) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + Clone {
        self.new.children(id).map(Cursor::id)
    }
}

/// Compares the nodes with those of the whole text.
impl Rescanned<'_> {
    /// Whether they are the same.
    pub(crate) fn is_table_of(&self, whole: &Document) -> bool {
        let length = u32::try_from(whole.nodes.len()).ok();
        self.new.roots == whole.roots && self.after(Self::ROOT, whole, 0) == length
    }

    /// The node after node `at` of the whole text, if `at` is the node `id` with all nodes inside.
    fn after(&self, id: NodeId, whole: &Document, at: u32) -> Option<u32> {
        let read = self.cursor(id);
        if self.is_copied(id) {
            let count = read.node().next - read.id().0;
            let mut each = (0..count).map(|step| {
                let old = read.document().cursor(NodeId(read.id().0 + step));
                let new = whole.cursor(NodeId(at + step));
                let length = |cursor: Cursor<'_>| cursor.node().next - cursor.id().0;
                is_same(old, new) && length(old) == length(new)
            });
            return each.all(|is_same| is_same).then_some(at + count);
        }
        let new = whole.cursor(NodeId(at));
        is_same(read, new).then_some(())?;
        let mut children = self.children(id);
        let end = children.try_fold(at + 1, |at, child| self.after(child, whole, at))?;
        (end == new.node().next).then_some(end)
    }
}

/// Whether two nodes are written the same.
fn is_same(old: Cursor<'_>, new: Cursor<'_>) -> bool {
    let key = |cursor: Cursor<'_>| {
        let node = cursor.node();
        let text = cursor.document().slice(node.key.range()).to_owned();
        (text, node.kind, node.key_kind, node.flags)
    };
    let value = |cursor: Cursor<'_>| {
        let is_scalar = matches!(cursor.node().kind, Kind::Scalar(_));
        is_scalar.then(|| cursor.raw().to_owned())
    };
    key(old) == key(new) && value(old) == value(new)
}
