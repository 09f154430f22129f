//! Entries and items that are added and removed.

use std::ops::Range;

use crate::lines::{ends_line, line_end, next_line};
use crate::read::document::{Cursor, Document};
use crate::read::parts::Added;
use crate::scalar::Style;
use crate::scalar::data::Scalar;
use crate::source::Source;
use crate::table::{Flags, Kind, NodeId};
use crate::value::{Data, Value};
use crate::words;
use crate::write::comments::{
    Block, block_above, end_with_comments, extent, extent_from, head, head_comments, moves_up,
};
use crate::write::edited::apply;
use crate::write::emit::{self, Layout, Slot};
use crate::write::kept::{Kept, Side, keep_in_order};
use crate::write::rewrite::{Placement, Rewrite};
use crate::write::shifted::shifted;

impl<'d> Rewrite<'d> {
    /// Pairs the children of `id` with the values read from them, removes the other children and
    /// finds the places of new values. `None` if no child is kept.
    pub(super) fn keep_children(&mut self, id: NodeId, value: &Value<'_>) -> Option<Kept> {
        let node = self.document.node(id);
        let is_pair = node.kind == Kind::Mapping && node.has(Flags::IN_FLOW);
        if is_pair && !self.document.cursor(id).raw().starts_with('{') {
            // `[a: b]` holds a mapping without braces, which has one entry.
            return None;
        }
        let children = || self.document.children(id).map(Cursor::id);
        let children: Vec<NodeId> = with_capacity(children().count(), children());
        let parts = (0..).map_while(|index| value.part(index));
        let origins = parts.map(|(_, part)| part.origin);
        let origins: Vec<Option<NodeId>> = with_capacity(children.len() + 2, origins);
        let known = origins.iter().enumerate();
        let known = known.filter_map(|(index, origin)| Some(((*origin)?, index)));
        let mut by_origin: Vec<(NodeId, usize)> = with_capacity(origins.len(), known);
        by_origin.sort_unstable();
        let find = |child: NodeId| {
            by_origin
                .binary_search_by_key(&child, |(origin, _)| *origin)
                .ok()
                .and_then(|at| by_origin.get(at))
                .map(|(_, index)| *index)
        };
        let pairs = children.iter();
        let pairs = pairs.filter_map(|&child| Some((child, find(child)?)));
        let mut pairs: Vec<(NodeId, usize)> = with_capacity(children.len(), pairs);
        if node.kind == Kind::Sequence {
            keep_in_order(&mut pairs);
        }
        let first = pairs.first()?.0;
        let mut inserts = Vec::new();
        let mut side = Side::Before(first);
        for (index, origin) in origins.iter().enumerate() {
            let kept = |child: &NodeId| {
                let at = pairs.binary_search_by_key(child, |(kept, _)| *kept);
                at.ok().and_then(|at| pairs.get(at)) == Some(&(*child, index))
            };
            match origin.filter(kept) {
                Some(child) => side = Side::After(child),
                None => inserts.push((side, index)),
            }
        }
        let kept = Kept { children, pairs, inserts };
        self.remove_others(&kept);
        Some(kept)
    }

    /// Removes each run of children that no value was read from.
    pub(super) fn remove_others(&mut self, all: &Kept) {
        let children = all.children.as_slice();
        let kept = |child: &NodeId| all.keeps(*child);
        let mut at = 0;
        while let Some(rest) = children.get(at..).filter(|rest| !rest.is_empty()) {
            let stay = rest.iter().take_while(|child| kept(child)).count();
            let run = rest.iter().skip(stay).take_while(|child| !kept(child)).count();
            let first = rest.get(stay).copied();
            let last = (stay + run).checked_sub(1).and_then(|index| rest.get(index)).copied();
            if let (Some(first), Some(last), true) = (first, last, run > 0) {
                let before =
                    (at + stay).checked_sub(1).and_then(|index| children.get(index)).copied();
                let after = rest.get(stay + run).copied();
                self.remove(all, before, first, last, after);
            }
            at += stay + run;
        }
    }

    /// Removes the children from `first` to `last`, which are between `before` and `after`.
    fn remove(
        &mut self,
        kept: &Kept,
        before: Option<NodeId>,
        first: NodeId,
        last: NodeId,
        after: Option<NodeId>,
    ) {
        let document = self.document;
        if document.node(first).has(Flags::IN_FLOW) {
            let is_filled = || {
                let mut sides = kept.inserts.iter().map(|(side, _)| *side);
                before.is_some_and(|before| sides.any(|side| side == Side::After(before)))
            };
            let is_filled = after.is_none() && is_filled();
            self.remove_in_flow(before, first, last, after, is_filled);
            return;
        }
        let text = document.text();
        let start = document.node(first).entry as usize;
        let mut end = extent(document.cursor(last));
        if self.is_on_own_line(start) && !self.begins_moved(first) {
            let start = head(document, first);
            let block = block_above(document, first, start);
            if let Some(block) = block {
                end = block.skip_taken_in(text, end);
            }
            self.take_out(start, end);
            self.read_back_removal(start, end);
            if let Some(block) = block {
                self.take_out_blank_lines(block, end);
            }
        } else {
            // The first on the line of a dash, or of a text that is moved: the next one moves up.
            let end = moves_up(text, end);
            self.take_out(start, end);
        }
    }

    /// The end of the removed lines around `at`, with blank lines; `at` if there are none.
    fn after_removed(&self, at: usize) -> usize {
        let before = self.removed_before(at);
        before.map_or(at, |removed| at.max(removed.end))
    }

    /// The last removed lines that begin before `at`.
    fn removed_before(&self, at: usize) -> Option<&Range<usize>> {
        let after = self.removed.partition_point(|removed| removed.start < at);
        self.removed.get(after.checked_sub(1)?)
    }

    fn take_out(&mut self, start: usize, end: usize) {
        let at = self.removed.partition_point(|removed| removed.start < start);
        self.removed.insert(at, start..end);
        self.edit(start, end, "");
    }

    /// Removes the blank lines below the lines that are removed from `at` on that would become part
    /// of the block scalar above.
    fn take_out_blank_lines(&mut self, block: Block, mut at: usize) {
        while let Some(removed) = self.removed_before(at + 1).filter(|one| one.start == at) {
            let end = removed.end;
            at = block.skip_taken_in(self.document.text(), end);
            if at > end {
                self.take_out(end, at);
            }
        }
    }

    /// Writes the parts of `value` that were not read from children of `id`.
    pub(super) fn insert_others(&mut self, id: NodeId, value: &Value<'_>, kept: &Kept) {
        let is_flow = self.document.node(id).has(Flags::FLOW);
        let column = self.children_column(id);
        // Nested insertions come first: they may be on the same line.
        for (side, indexes) in kept.groups() {
            let mut texts = Vec::with_capacity(indexes.len());
            for (key, part) in indexes.iter().filter_map(|index| value.part(*index)) {
                texts.push(if is_flow {
                    let style = self.flow_style(id);
                    self.flow_text(side, style, key, part)
                } else {
                    self.block_text(kept, side, column, key, part)
                });
            }
            self.insert(kept, side, is_flow, column, &texts);
            if !is_flow && matches!(side, Side::After(_)) {
                self.read_back_entries(indexes.iter().filter_map(|index| value.part(*index)));
            }
        }
    }

    /// Writes entries at the end of a block mapping that is not empty. They were read back when they
    /// were made.
    pub(super) fn append(&mut self, entries: &[Added]) {
        let mapping = entries.first().map(|first| first.mapping);
        let last = mapping.and_then(|id| self.document.children(id).last());
        let Some(last) = last else { return };
        let column = self.document.column(last.start());
        let lines = entries.iter().map(|added| added.entry.text.as_str());
        self.insert_below(last, column, lines);
        self.unread -= usize::from(self.reads_back);
    }

    /// The text of a new entry or item of a block.
    fn block_text(
        &self,
        kept: &Kept,
        side: Side,
        column: usize,
        key: Option<&str>,
        value: &Value<'_>,
    ) -> String {
        /// The length of most entries.
        const LENGTH: usize = 48;
        let layout = self.inserted(side, column, value);
        let mut out = String::with_capacity(LENGTH);
        if let Some(key) = key {
            layout.entry(&mut out, key, value, column);
        } else if let Some(text) = self.moved_item(kept, value, column, layout) {
            return text;
        } else {
            out.push('-');
            layout.after(&mut out, value, column, Slot::Item, None);
        }
        out
    }

    /// The text of an item that moves to another place in the list, with its comments;
    /// `None` if it is a new item.
    fn moved_item(
        &self,
        kept: &Kept,
        value: &Value<'_>,
        column: usize,
        layout: Layout,
    ) -> Option<String> {
        let document = self.document;
        let origin = value.origin?;
        kept.children.binary_search(&origin).ok()?;
        let item = document.cursor(origin);
        let mut head = String::new();
        for comment in head_comments(item) {
            head.push_str(comment);
            self.layout.line(&mut head, column);
        }
        let foot = document.slice(end_with_comments(item)..extent(item));
        let foot = foot.trim_end_matches(['\n', '\r']);
        let around = |text: &str| {
            let eol = if foot.is_empty() { "" } else { self.layout.eol };
            format!("{head}{text}{eol}{foot}")
        };
        // In the new place, its lines may have another meaning.
        let stays = |text: &String| {
            let (indentation, eol) = (" ".repeat(column), self.layout.eol);
            let source = Source::new("moved", format!("{indentation}{text}{eol}"));
            let read = Document::parse(&source).ok();
            read.is_some_and(|read| {
                let list = read.roots().next();
                let first = list.and_then(|list| list.children().next());
                first.is_some_and(|item| item.holds(value))
            })
        };
        let text = if layout.quoted { None } else { self.item_text(item, value, column) };
        let text = text.map(|text| around(&text)).filter(stays);
        text.or_else(|| {
            let mut text = "-".to_owned();
            layout.after(&mut text, value, column, Slot::Item, None);
            Some(around(&text)).filter(stays)
        })
    }

    /// The text of an item, edited and moved after a dash at `column`.
    fn item_text(&self, item: Cursor<'d>, value: &Value<'_>, column: usize) -> Option<String> {
        let document = self.document;
        let start = item.node().value.start as usize;
        if document.has_tag_directives || item.raw().is_empty() {
            return None;
        }
        let mut edits = Self::edits(item, value, Placement::Moved).ok()?;
        edits.retain(|edit| edit.start >= start);
        let text = apply(document.text(), start..end_with_comments(item), &mut edits);
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let text = shifted(line, document.column(start), column + 2);
        Some(format!("- {text}"))
    }

    /// Whether a text that is moved begins with a child: the comments above are not the child's but
    /// of all that is moved, and stay.
    fn begins_moved(&self, child: NodeId) -> bool {
        let top = self.document.node(self.top).value.start;
        self.placement == Placement::Moved && self.document.node(child).entry == top
    }

    /// The layout of new text beside a child.
    fn inserted(&self, side: Side, column: usize, value: &Value<'_>) -> Layout {
        let quoted = match side {
            Side::Before(_) => false,
            Side::After(_) if is_new_line(value) => false,
            Side::After(after) => {
                let end = extent(self.document.cursor(after));
                self.takes_in(end, column, value)
            }
        };
        Layout { quoted, ..self.layout }
    }

    /// Whether a block scalar at the end of `value`, in an entry at `column` that ends at `at`,
    /// would include the blank lines or the comment below it, or below the lines that are removed
    /// there.
    pub(super) fn takes_in(&self, at: usize, column: usize, value: &Value<'_>) -> bool {
        let Some(last) = last_text(value) else {
            return false;
        };
        let comment = self.lines_left(at).find(|line| !line.trim().is_empty());
        let comment_is_deeper = comment.is_some_and(|line| {
            // Tabs, too: they become spaces.
            let content = line.trim_start_matches([' ', '\t']);
            line.len() - content.len() > column && content.starts_with('#')
        });
        let mut blank = self.lines_left(at).take_while(|line| line.trim().is_empty());
        let has_spaces = blank.any(|line| line.starts_with([' ', '\t']));
        let blank_follows = self.lines_left(at).next().is_none_or(|line| line.trim().is_empty());
        let keeps = last.ends_with("\n\n") || last == "\n";
        let is_open = self.is_open_end(at) && last.ends_with('\n');
        let removes = !self.removed.is_empty();
        comment_is_deeper || has_spaces || (keeps && (blank_follows || removes)) || is_open
    }

    /// Whether a block written up to `at` would be the first to end the text without a line break,
    /// which kubectl adds to its value and kustomize does not. What is moved gets one.
    fn is_open_end(&self, at: usize) -> bool {
        let text = self.document.text();
        let is_open = at == text.len() && !ends_line(text, at);
        let ends_in_block = self.document.nodes.last().is_some_and(|last| {
            let is_block = matches!(last.kind, Kind::Scalar(Style::Literal | Style::Folded));
            is_block && last.value.end as usize == at
        });
        is_open && !ends_in_block && self.placement == Placement::InPlace
    }

    /// The lines from `at` on that are not taken out.
    fn lines_left(&self, at: usize) -> impl Iterator<Item = &'d str> {
        let text = self.document.text();
        let mut next = at;
        std::iter::from_fn(move || {
            while let Some(removed) = self.removed_before(next + 1)
                && next < removed.end
            {
                next = removed.end;
            }
            let line = next;
            next = next_line(text, line);
            (next > line).then(|| text.get(line..line_end(text, line)).unwrap_or_default())
        })
    }

    fn children_column(&self, id: NodeId) -> usize {
        self.document
            .children(id)
            .next()
            .map_or(0, |child| self.document.column(child.node().entry as usize))
    }

    /// Puts new texts beside a child that stays.
    fn insert(&mut self, kept: &Kept, side: Side, flow: bool, column: usize, texts: &[String]) {
        match (side, flow) {
            (Side::After(after), true) => self.insert_in_flow(kept, after, texts),
            (Side::Before(first), true) => {
                let at = self.document.node(first).entry as usize;
                // Otherwise, the removed text before it ends at it.
                let starts_line = |child: &NodeId| {
                    let entry = self.document.node(*child).entry as usize;
                    self.is_on_own_line(entry)
                };
                if starts_line(&first) && kept.children.first().is_none_or(starts_line) {
                    let indentation = self.indentation(at);
                    let eol = self.layout.eol;
                    let lines = texts.iter().map(|text| format!("{indentation}{text},{eol}"));
                    let at = head(self.document, first);
                    self.edit(at, at, lines.collect::<String>());
                } else {
                    let tight = self.comma(first);
                    let lines = texts.iter().map(|text| format!("{text}{tight}"));
                    self.edit(at, at, lines.collect::<String>());
                }
            }
            (Side::After(after), false) => {
                let after = self.document.cursor(after);
                self.insert_below(after, column, texts.iter().map(String::as_str));
            }
            (Side::Before(first), false) => {
                let at = self.document.node(first).entry as usize;
                let earliest = kept.children.first().copied().unwrap_or(first);
                let start = self.document.node(earliest).entry as usize;
                if self.is_on_own_line(start) && !self.begins_moved(earliest) {
                    let at = head(self.document, first);
                    let texts = texts.iter().map(String::as_str);
                    self.insert_lines(at, column, texts, Above::Entry);
                    return;
                }
                // On the line of a dash, to which what stays may have moved up.
                let removed = kept.children.iter().take_while(|child| **child < first);
                let at = removed.last().map_or(at, |last| {
                    let end = extent(self.document.cursor(*last));
                    moves_up(self.document.text(), end)
                });
                let mut out = String::new();
                for text in texts {
                    out.push_str(text);
                    self.layout.line(&mut out, column);
                }
                self.edit(at, at, out);
            }
        }
    }

    /// Inserts whole lines below a child and its comments.
    fn insert_below<'t>(
        &mut self,
        after: Cursor<'_>,
        column: usize,
        texts: impl Iterator<Item = &'t str> + Clone,
    ) {
        let end = end_with_comments(after);
        let at = self.after_removed(extent_from(after, end));
        let above = if !ends_line(self.document.text(), at) {
            Above::OpenLine
        } else if at > end {
            Above::Foot
        } else {
            Above::Entry
        };
        self.insert_lines(at, column, texts, above);
    }

    /// Inserts whole lines at the start of a line, or at the end of a text without a final line
    /// break. A blank line separates the foot comment of an entry from the next entry: otherwise it
    /// would be the head of that one.
    fn insert_lines<'t>(
        &mut self,
        at: usize,
        column: usize,
        texts: impl Iterator<Item = &'t str> + Clone,
        above: Above,
    ) {
        let eol = self.layout.eol;
        let lengths = texts.clone().map(|text| column + text.len() + eol.len());
        let mut out = String::with_capacity(lengths.sum());
        let mut has_foot = above == Above::Foot;
        for text in texts {
            if has_foot {
                out.push_str(eol);
            }
            if above == Above::OpenLine {
                out.push_str(eol);
            }
            emit::indent(&mut out, column);
            out.push_str(text);
            if above != Above::OpenLine {
                out.push_str(eol);
            }
            has_foot = ends_with_foot(text, column);
        }
        if has_foot {
            let next = self.lines_left(at).next().unwrap_or_default();
            let spaces = next.len() - next.trim_start_matches(' ').len();
            if spaces >= column && spaces < next.len() {
                out.push_str(eol);
            }
        }
        self.edit(at, at, out);
    }
}

/// The text above new lines, if it is not an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Above {
    Entry,
    /// A foot comment of the entry above.
    Foot,
    /// A last line without a line break.
    OpenLine,
}

/// Whether the last line of an entry at `column` is its foot comment.
fn ends_with_foot(text: &str, column: usize) -> bool {
    let Some(newline) = memchr::memrchr(b'\n', text.as_bytes()) else {
        return false;
    };
    let last = text.get(newline + 1..).unwrap_or_default();
    let content = last.trim_start_matches(' ');
    content.starts_with('#') && last.len() - content.len() == column
}

/// Collects items of which there are about `count`.
fn with_capacity<T>(count: usize, items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::with_capacity(count);
    all.extend(items);
    all
}

/// Whether a value is a new scalar that is written on the line of its key or dash.
fn is_new_line(value: &Value<'_>) -> bool {
    value.origin.is_none() && is_on_line(value)
}

/// Whether a value is a scalar that is written on one line.
pub(super) fn is_on_line(value: &Value<'_>) -> bool {
    match &value.data {
        Data::Scalar(Scalar::String(text)) => words::newline(text.as_bytes()) == text.len(),
        Data::Scalar(_) => true,
        Data::Sequence(_) | Data::Mapping(_) => false,
    }
}

/// The text that `value` ends with in block style.
fn last_text<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    match &value.data {
        Data::Scalar(Scalar::String(text)) => Some(text),
        Data::Scalar(_) => None,
        Data::Sequence(items) => last_text(items.last()?),
        Data::Mapping(entries) => last_text(&entries.last()?.1),
    }
}
