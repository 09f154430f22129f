//! Entries and items that come and go.

use std::collections::BTreeSet;

use crate::source::Source;
use crate::yaml::emit::{self, Layout, Slot};
use crate::yaml::node::{Cursor, Document, Flags, Kind, NodeId};
use crate::yaml::parse::{ends_line, line_end, next_line};
use crate::yaml::value::{Data, Scalar, Value};
use crate::yaml::write::comments::{
    end_with_comments, ends_kept_block, extent, head, head_comments, moves_up, reindent,
    skip_blank_lines,
};
use crate::yaml::write::{Purpose, Rewrite, apply, is_one_line};

impl<'d> Rewrite<'d> {
    /// Pairs the children of `id` with the values read from them, removes the others and says
    /// where new values go. `None` if no child stays.
    pub(super) fn keep_children(&mut self, id: NodeId, value: &Value<'_>) -> Option<Kept> {
        let node = self.document.node(id);
        let is_pair = node.kind == Kind::Mapping && node.has(Flags::IN_FLOW);
        if is_pair && !self.document.cursor(id).raw().starts_with('{') {
            // `[a: b]` holds a mapping without braces, which has one entry.
            return None;
        }
        let children: Vec<NodeId> = self.document.children(id).map(Cursor::id).collect();
        let parts = (0..).map_while(|index| value.part(index));
        let origins: Vec<Option<NodeId>> = parts.map(|(_, part)| part.origin).collect();
        let mut by_origin: Vec<(NodeId, usize)> = origins
            .iter()
            .enumerate()
            .filter_map(|(index, origin)| Some(((*origin)?, index)))
            .collect();
        by_origin.sort_unstable();
        let find = |child: NodeId| {
            by_origin
                .binary_search_by_key(&child, |(origin, _)| *origin)
                .ok()
                .and_then(|at| by_origin.get(at))
                .map(|(_, index)| *index)
        };
        let mut pairs: Vec<(NodeId, usize)> = children
            .iter()
            .filter_map(|&child| Some((child, find(child)?)))
            .collect();
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
                Some(child) => side = Side::Behind(child),
                None => inserts.push((side, index)),
            }
        }
        let kept = Kept {
            children,
            pairs,
            inserts,
        };
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
            let run = rest
                .iter()
                .skip(stay)
                .take_while(|child| !kept(child))
                .count();
            let first = rest.get(stay).copied();
            let last = (stay + run)
                .checked_sub(1)
                .and_then(|index| rest.get(index))
                .copied();
            if let (Some(first), Some(last), true) = (first, last, run > 0) {
                let before = (at + stay)
                    .checked_sub(1)
                    .and_then(|index| children.get(index))
                    .copied();
                let after = rest.get(stay + run).copied();
                self.remove(all, before, first, last, after);
            }
            at += stay + run;
        }
    }

    /// Removes the children from `first` to `last`, which stand between `before` and `after`.
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
            let is_filled = before.is_some_and(|before| {
                let mut sides = kept.inserts.iter().map(|(side, _)| *side);
                sides.any(|side| side == Side::Behind(before))
            });
            self.remove_in_flow(before, first, last, after, is_filled && after.is_none());
            return;
        }
        let text = document.text();
        let start = document.node(first).entry as usize;
        let mut end = extent(document.cursor(last));
        if self.is_on_own_line(start) {
            let start = head(document, first);
            if ends_kept_block(document, first, start) {
                end = skip_blank_lines(text, end);
            }
            self.removed.push(start..end);
            self.edit(start, end, "");
        } else {
            // The first on the line of a dash: what follows moves up to it.
            let end = moves_up(text, end);
            self.removed.push(start..end);
            self.edit(start, end, "");
        }
    }

    /// Writes the parts of `value` that were not read from children of `id`.
    pub(super) fn insert_others(&mut self, id: NodeId, value: &Value<'_>, kept: &Kept) {
        let is_flow = self.document.node(id).has(Flags::FLOW);
        let column = self.children_column(id);
        // Behind what is inserted further in, which may come to stand on the same line.
        for (side, indexes) in kept.groups() {
            let mut texts = Vec::with_capacity(indexes.len());
            for (key, part) in indexes.iter().filter_map(|index| value.part(*index)) {
                texts.push(if is_flow {
                    let style = self.flow_style(id);
                    self.flow_text(side, style, key, part)
                } else {
                    self.block_text(id, side, column, key, part)
                });
            }
            self.insert(kept, side, is_flow, column, &texts);
        }
    }

    /// The text of a new entry or item of a block.
    fn block_text(
        &self,
        id: NodeId,
        side: Side,
        column: usize,
        key: Option<&str>,
        value: &Value<'_>,
    ) -> String {
        let layout = self.inserted(side, column, value);
        let mut out = String::new();
        if let Some(key) = key {
            layout.entry(&mut out, key, value, column);
        } else if let Some(text) = self
            .moved_item(id, value, column)
            .filter(|_| !layout.quoted)
        {
            return text;
        } else {
            out.push('-');
            layout.behind(&mut out, value, column, Slot::Item, None);
        }
        out
    }

    /// The text of an item of `id` that comes to stand elsewhere in it, with its comments; `None` if
    /// it is a new one, or its text means something else there.
    fn moved_item(&self, id: NodeId, value: &Value<'_>, column: usize) -> Option<String> {
        let document = self.document;
        let item = document
            .children(id)
            .find(|item| Some(item.id()) == value.origin)?;
        let start = item.node().value.start as usize;
        let text = document.slice(start..item.node().value.end as usize);
        let is_block = item.node().kind == Kind::Mapping && !item.is_flow();
        if (!is_block && !is_one_line(text)) || document.has_tag_directives || text.is_empty() {
            return None;
        }
        let mut edits = Self::edits(item, value, Purpose::Move).ok()?;
        edits.retain(|edit| edit.start >= start);
        let text = apply(document.text(), start..end_with_comments(item), &mut edits);
        let text = text.trim_end_matches(['\n', '\r']);
        let mut out = String::new();
        for comment in head_comments(item) {
            out.push_str(comment);
            self.layout.line(&mut out, column);
        }
        out.push_str("- ");
        out.push_str(&reindent(text, document.column(start), column + 2));
        let read = Document::parse(&Source::new("moved", out.as_str())).ok()?;
        let item = read.roots().next()?.children().next()?;
        item.holds(value).then_some(out)
    }

    pub(super) fn is_on_own_line(&self, at: usize) -> bool {
        let line = self.document.line_start(at);
        let before = self.document.slice(line..at);
        before.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
    }

    /// The white space that the line at `at` begins with.
    pub(super) fn indentation(&self, at: usize) -> &'d str {
        let line = self.document.line_start(at);
        let text = self.document.slice(line..at);
        let length = text.len() - text.trim_start_matches([' ', '\t']).len();
        text.get(..length).unwrap_or_default()
    }

    /// The layout of what is put beside a child.
    fn inserted(&self, side: Side, column: usize, value: &Value<'_>) -> Layout {
        let quoted = match side {
            Side::Before(_) => false,
            Side::Behind(after) => {
                let end = extent(self.document.cursor(after));
                self.takes_in(end, column, value)
            }
        };
        Layout {
            quoted,
            ..self.layout
        }
    }

    /// Whether a block scalar at the end of `value`, in an entry at `column` that ends at `at`, would
    /// take in the blank lines or the comment below it, or below what is removed there.
    pub(super) fn takes_in(&self, at: usize, column: usize, value: &Value<'_>) -> bool {
        let text = self.document.text();
        let Some(last) = last_text(value) else {
            return false;
        };
        let comment = self.lines_left(at).find(|line| !line.trim().is_empty());
        let comment_is_deeper = comment.is_some_and(|line| {
            // Tabs, too: they become spaces.
            let content = line.trim_start_matches([' ', '\t']);
            line.len() - content.len() > column && content.starts_with('#')
        });
        let mut blank = self
            .lines_left(at)
            .take_while(|line| line.trim().is_empty());
        let has_spaces = blank.any(|line| line.starts_with([' ', '\t']));
        let blank_follows = self
            .lines_left(at)
            .next()
            .is_none_or(|line| line.trim().is_empty());
        let keeps = last.ends_with("\n\n") || last == "\n";
        let is_open = at == text.len() && !ends_line(text, at) && last.ends_with('\n');
        let removes = !self.removed.is_empty();
        comment_is_deeper || has_spaces || (keeps && (blank_follows || removes)) || is_open
    }

    /// The lines from `at` on that are not taken out.
    fn lines_left(&self, at: usize) -> impl Iterator<Item = &'d str> {
        let text = self.document.text();
        let mut next = at;
        std::iter::from_fn(move || {
            while let Some(removed) = self.removed.iter().find(|range| range.contains(&next)) {
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
            (Side::Behind(after), true) => self.insert_in_flow(kept, after, texts),
            (Side::Before(first), true) => {
                let at = self.document.node(first).entry as usize;
                // If not, what is removed before it goes up to it.
                let starts_line = |child: &NodeId| {
                    let entry = self.document.node(*child).entry as usize;
                    self.is_on_own_line(entry)
                };
                if starts_line(&first) && kept.children.first().is_none_or(starts_line) {
                    let indentation = self.indentation(at);
                    let eol = self.layout.eol;
                    let lines = texts
                        .iter()
                        .map(|text| format!("{indentation}{text},{eol}"));
                    let at = head(self.document, first);
                    self.edit(at, at, lines.collect::<String>());
                } else {
                    let tight = self.comma(first);
                    let lines = texts.iter().map(|text| format!("{text}{tight}"));
                    self.edit(at, at, lines.collect::<String>());
                }
            }
            (Side::Behind(after), false) => {
                let at = extent(self.document.cursor(after));
                let is_open = !ends_line(self.document.text(), at);
                self.insert_lines(at, column, texts, is_open);
            }
            (Side::Before(first), false) => {
                let at = self.document.node(first).entry as usize;
                let earliest = kept.children.first().copied().unwrap_or(first);
                let start = self.document.node(earliest).entry as usize;
                if self.is_on_own_line(start) {
                    self.insert_lines(head(self.document, first), column, texts, false);
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

    /// Puts whole lines at the start of a line, or at the end of a text whose last line is open.
    fn insert_lines(&mut self, at: usize, column: usize, texts: &[String], is_open: bool) {
        let mut out = String::new();
        for text in texts {
            if is_open {
                out.push_str(self.layout.eol);
            }
            emit::indent(&mut out, column);
            out.push_str(text);
            if !is_open {
                out.push_str(self.layout.eol);
            }
        }
        self.edit(at, at, out);
    }
}

/// Of items in a new order, takes out as few as leaves the others in the order they had: these
/// are moved.
fn keep_in_order(pairs: &mut Vec<(NodeId, usize)>) {
    if pairs.is_sorted_by_key(|(_, index)| *index) {
        return;
    }
    // For each length, where the sequence of that length ends that ends lowest.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let index_at = |at: usize| pairs.get(at).map(|(_, index)| *index);
    for (at, (_, index)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| index_at(*end) < Some(*index));
        before.push(
            length
                .checked_sub(1)
                .and_then(|last| ends.get(last).copied()),
        );
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let last = ends.last().copied();
    let kept: BTreeSet<usize> =
        std::iter::successors(last, |at| before.get(*at).copied().flatten()).collect();
    let mut at = 0;
    pairs.retain(|_| {
        at += 1;
        kept.contains(&(at - 1))
    });
}

pub(super) struct Kept {
    /// All children there were.
    pub(super) children: Vec<NodeId>,
    /// Children that stay, in order, each with the index of its value.
    pub(super) pairs: Vec<(NodeId, usize)>,
    /// Where each new value goes, and the value's index.
    pub(super) inserts: Vec<(Side, usize)>,
}

impl Kept {
    fn keeps(&self, child: NodeId) -> bool {
        let pairs = &self.pairs;
        pairs
            .binary_search_by_key(&child, |(kept, _)| *kept)
            .is_ok()
    }

    /// The new values, those for the same place together.
    fn groups(&self) -> Vec<(Side, Vec<usize>)> {
        let groups = self.inserts.chunk_by(|(a, _), (b, _)| a == b);
        groups
            .filter_map(|group| {
                let side = group.first()?.0;
                Some((side, group.iter().map(|(_, index)| *index).collect()))
            })
            .collect()
    }
}

/// Where a new entry or item goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before(NodeId),
    Behind(NodeId),
}

impl Side {
    pub(super) const fn sibling(self) -> NodeId {
        match self {
            Self::Before(sibling) | Self::Behind(sibling) => sibling,
        }
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
