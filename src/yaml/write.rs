//! Values written back over the text they were read from: only what differs is touched.
//!
//! A [`Value`] remembers the node each part of it was read from. [`Rewrite`] walks the two side by
//! side and collects edits: a changed scalar keeps its style where it can, a new entry stands
//! behind the sibling before it, a removed one goes with its comments. Which comments are whose,
//! [`edit`](crate::yaml::edit) says.

mod comments;
mod edited;
mod flow;

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::yaml::emit::{self, Layout, Slot};
use crate::yaml::node::{Cursor, Document, Flags, KeyKind, Kind, Node, NodeId};
use crate::yaml::parse::{line_end, skip_blank};
use crate::yaml::read::DuplicateKeys;
use crate::yaml::scalar::{self, Context, Style};
use crate::yaml::value::{Data, Scalar, Value};

use comments::{end_of_entry, ends_kept_block, moves_up, skip_blank_lines};
pub(crate) use comments::{end_with_comments, head_comments};
pub(super) use comments::{extent, head, lead_comments, reindent};
pub use edited::Edited;
pub(crate) use edited::{Edit, apply, close_text};

/// What the edited text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It stays where it is: all text stays whose data is unchanged.
    Stay,
    /// It is moved to another column and away from what stands around it: anchors and merge keys
    /// go, aliases are written out, and so are scalars that depend on where they stand.
    Move,
}

/// Collects the edits that turn the text of one node into that of a changed value.
pub(crate) struct Rewrite<'d> {
    document: &'d Document,
    layout: Layout,
    purpose: Purpose,
    /// The column text may be moved left to; a continuation line that starts left of it cannot move
    /// along and is written anew.
    column: usize,
    /// The node that is edited.
    top: NodeId,
    /// The anchored nodes in it whose aliases may stay.
    kept: BTreeSet<NodeId>,
    /// Whether the text of that node is JSON, once that was asked.
    is_json: Option<bool>,
    /// Whether entries or items of a block are taken out.
    removes: bool,
    edits: Vec<Edit>,
}

impl<'d> Rewrite<'d> {
    /// Edits that make `node` hold `value`.
    ///
    /// # Errors
    /// If the text of a node cannot be read, or an alias elsewhere stands for what is changed.
    pub(crate) fn edits(
        node: Cursor<'d>,
        value: &Value<'_>,
        purpose: Purpose,
    ) -> Result<Vec<Edit>> {
        let document = node.document();
        let column = document.column(node.node().value.start as usize);
        let mut kept = BTreeSet::new();
        if document.has_anchors && purpose == Purpose::Stay {
            keep_anchors(node, value, &mut kept);
        }
        let mut rewrite = Self {
            document,
            layout: layout_of(node),
            purpose,
            column,
            top: node.id(),
            kept,
            is_json: None,
            removes: false,
            edits: Vec::new(),
        };
        if rewrite.loses_anchor() {
            check_aliases(node, &rewrite.kept)?;
        }
        rewrite.node(node.id(), value)?;
        if purpose == Purpose::Stay {
            close_text(document, &mut rewrite.edits)?;
        }
        Ok(rewrite.edits)
    }

    fn edit(&mut self, start: usize, end: usize, text: impl Into<String>) {
        self.edits.push(Edit {
            start,
            end,
            text: text.into(),
        });
    }

    fn node(&mut self, id: NodeId, value: &Value<'_>) -> Result<()> {
        let cursor = self.document.cursor(id);
        let node = *cursor.node();
        let has_children = node.next > id.0 + 1;
        match (node.kind, &value.data) {
            _ if value.origin != Some(id) => self.replace(id, value),
            (Kind::Scalar(style), Data::Scalar(new)) => {
                let is_same = is_slice_of(new, self.document.slice(node.value.range()), style)
                    || cursor.scalar()?.as_ref() == Some(new);
                if !is_same || self.must_respell(&node, style) {
                    self.replace(id, value);
                } else if node.has(Flags::ANCHOR) {
                    self.drop_anchor(&node);
                }
            }
            (Kind::Mapping, _) if has_merge_key(cursor) && self.stays(cursor, value) => {}
            (Kind::Mapping, Data::Mapping(entries)) if has_children && !entries.is_empty() => {
                self.drop_anchor(&node);
                self.mapping(id, entries)?;
            }
            (Kind::Sequence, Data::Sequence(items)) if has_children && !items.is_empty() => {
                self.drop_anchor(&node);
                self.sequence(id, items)?;
            }
            (Kind::Mapping, Data::Mapping(entries)) if !has_children && entries.is_empty() => {
                self.drop_anchor(&node);
            }
            (Kind::Sequence, Data::Sequence(items)) if !has_children && items.is_empty() => {
                self.drop_anchor(&node);
            }
            (Kind::Alias, _) if self.stays(cursor, value) => {}
            _ => self.replace(id, value),
        }
        Ok(())
    }

    /// Whether a node that gets its data from others has it unchanged, and may go on doing so.
    fn stays(&self, cursor: Cursor<'_>, value: &Value<'_>) -> bool {
        let read = || cursor.value(DuplicateKeys::LastWins, &mut Diagnostics::new());
        self.purpose == Purpose::Stay
            && !self.has_lost_alias(cursor)
            && read().as_ref() == Some(value)
    }

    /// Whether something that has an anchor is changed.
    fn loses_anchor(&self) -> bool {
        if !self.document.has_anchors || self.purpose == Purpose::Move {
            return false;
        }
        let top = self.top.0..self.document.node(self.top).next;
        let mut ids = top.map(NodeId);
        ids.any(|id| self.document.node(id).has(Flags::ANCHOR) && !self.kept.contains(&id))
    }

    /// Whether an alias in the text of a node stands for something that is changed.
    fn has_lost_alias(&self, cursor: Cursor<'_>) -> bool {
        let top = self.top.0..self.document.node(self.top).next;
        let nodes = self.document.nodes.iter();
        let within = nodes
            .take(cursor.node().next as usize)
            .skip(cursor.id().0 as usize);
        within
            .filter(|node| node.kind == Kind::Alias && top.contains(&node.target))
            .any(|node| !self.kept.contains(&NodeId(node.target)))
    }

    /// Whether the text of a scalar would not survive being moved, though its value is unchanged.
    fn must_respell(&self, node: &Node, style: Style) -> bool {
        if self.purpose == Purpose::Stay {
            return false;
        }
        let text = self.document.slice(node.value.range());
        if !matches!(style, Style::Literal | Style::Folded) && is_one_line(text) {
            return false;
        }
        match style {
            // Line breaks to Go, but not to `reindent`.
            Style::Literal | Style::Folded if text.contains(['\u{85}', '\u{2028}', '\u{2029}']) => {
                true
            }
            // At the end of a file without a last line break, `|` means `|-`; not so once moved.
            Style::Literal | Style::Folded => !text.ends_with('\n') && text.contains('\n'),
            _ => text.split('\n').skip(1).any(|line| {
                let spaces = line.bytes().take_while(|&byte| byte == b' ').count();
                spaces < self.column && spaces < line.trim_end().len()
            }),
        }
    }

    /// Takes out `&name`.
    fn drop_anchor(&mut self, node: &Node) {
        if !node.has(Flags::ANCHOR) || self.purpose == Purpose::Stay {
            return;
        }
        let base = node.props as usize;
        let props = self.document.slice(base..node.value.start as usize);
        let Some(at) = props.find('&') else { return };
        let rest = props.get(at..).unwrap_or_default();
        let length = rest
            .find(|c: char| c.is_ascii_whitespace())
            .unwrap_or(rest.len());
        let behind = rest.get(length..).unwrap_or_default();
        let spaces = behind.len() - behind.trim_start_matches(' ').len();
        let (start, end) = (base + at, base + at + length + spaces);
        let before = self.document.slice(0..start);
        if behind
            .trim_start_matches(' ')
            .starts_with(['\n', '\r', '#'])
            || behind.is_empty()
        {
            let trimmed = before.len() - before.trim_end_matches(' ').len();
            self.edit(start - trimmed, base + at + length, "");
        } else {
            self.edit(start, end, "");
        }
    }

    fn mapping(&mut self, id: NodeId, entries: &[(Cow<'_, str>, Value<'_>)]) -> Result<()> {
        if self.is_in_step(id, entries.iter().map(|(_, value)| value)) {
            for (child, (key, value)) in self.document.children(id).zip(entries) {
                self.entry(child, key, value)?;
            }
            return Ok(());
        }
        let origins: Vec<Option<NodeId>> = entries.iter().map(|(_, value)| value.origin).collect();
        let Some(kept) = self.keep_children(id, &origins) else {
            self.replace(
                id,
                &Value {
                    origin: None,
                    data: Data::Mapping(
                        entries
                            .iter()
                            .map(|(key, value)| (key.clone(), value.clone()))
                            .collect(),
                    ),
                },
            );
            return Ok(());
        };
        let flow = self.document.node(id).has(Flags::FLOW);
        let column = self.children_column(id);
        for &(child, index) in &kept.pairs {
            let Some((key, value)) = entries.get(index) else {
                continue;
            };
            self.entry(self.document.cursor(child), key, value)?;
        }
        // Behind what is inserted further in, which may come to stand on the same line.
        for (side, indexes) in kept.groups() {
            let added = indexes.iter().filter_map(|&index| entries.get(index));
            let texts: Vec<String> = if flow {
                let style = self.flow_style(id);
                added
                    .map(|(key, value)| self.flow_text(side, style, Some(key), value))
                    .collect()
            } else {
                added
                    .map(|(key, value)| {
                        let mut out = String::new();
                        self.inserted(side, column, value)
                            .entry(&mut out, key, value, column);
                        out
                    })
                    .collect()
            };
            self.insert(&kept, side, flow, column, &texts);
        }
        Ok(())
    }

    /// An entry that stays.
    fn entry(&mut self, entry: Cursor<'_>, key: &str, value: &Value<'_>) -> Result<()> {
        let alias = entry.node().key_kind == KeyKind::Alias
            && (self.purpose == Purpose::Move || self.loses_anchor());
        let is_renamed = alias || !is_key_slice(key, entry) && entry.key()? != key;
        if is_renamed {
            self.rename(entry.id(), key);
        }
        self.node(entry.id(), value)
    }

    /// Whether the children of `id` are what these values were read from, one by one: the common
    /// case, in which none came and none went.
    fn is_in_step<'v>(&self, id: NodeId, values: impl Iterator<Item = &'v Value<'v>>) -> bool {
        let mut children = self.document.children(id);
        let mut all = true;
        for value in values {
            all = all && children.next().map(Cursor::id) == value.origin && value.origin.is_some();
        }
        all && children.next().is_none()
    }

    fn sequence(&mut self, id: NodeId, items: &[Value<'_>]) -> Result<()> {
        if self.is_in_step(id, items.iter()) {
            for (child, item) in self.document.children(id).zip(items) {
                self.node(child.id(), item)?;
            }
            return Ok(());
        }
        let origins: Vec<Option<NodeId>> = items.iter().map(|value| value.origin).collect();
        let Some(kept) = self.keep_children(id, &origins) else {
            self.replace(
                id,
                &Value {
                    origin: None,
                    data: Data::Sequence(items.to_vec()),
                },
            );
            return Ok(());
        };
        let flow = self.document.node(id).has(Flags::FLOW);
        let column = self.children_column(id);
        for &(child, index) in &kept.pairs {
            if let Some(value) = items.get(index) {
                self.node(child, value)?;
            }
        }
        for (side, indexes) in kept.groups() {
            let added = indexes.iter().filter_map(|&index| items.get(index));
            let texts: Vec<String> = if flow {
                let style = self.flow_style(id);
                added
                    .map(|value| self.flow_text(side, style, None, value))
                    .collect()
            } else {
                added
                    .map(|value| {
                        let mut out = "-".to_owned();
                        self.inserted(side, column, value).behind(
                            &mut out,
                            value,
                            column,
                            Slot::Item,
                            None,
                        );
                        out
                    })
                    .collect()
            };
            self.insert(&kept, side, flow, column, &texts);
        }
        Ok(())
    }

    /// Pairs the children of `id` with the values read from them, removes the others and says
    /// where new values go. `None` if no child stays.
    fn keep_children(&mut self, id: NodeId, origins: &[Option<NodeId>]) -> Option<Kept> {
        let children: Vec<NodeId> = self.document.children(id).map(Cursor::id).collect();
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
        let pairs: Vec<(NodeId, usize)> = children
            .iter()
            .filter_map(|&child| Some((child, find(child)?)))
            .collect();
        let first = pairs.first()?.0;
        let mut inserts = Vec::new();
        let mut side = Side::Before(first);
        for (index, origin) in origins.iter().enumerate() {
            match origin.filter(|origin| children.binary_search(origin).is_ok()) {
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
    fn remove_others(&mut self, all: &Kept) {
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
        self.removes = true;
        let text = document.text();
        let start = document.node(first).entry as usize;
        let mut end = extent(document.cursor(last));
        if self.is_on_own_line(start) {
            let start = head(document, first);
            if ends_kept_block(document, first, start) {
                end = skip_blank_lines(text, end);
            }
            self.edit(start, end, "");
        } else {
            // The first on the line of a dash: what follows moves up to it.
            self.edit(start, moves_up(text, end), "");
        }
    }

    fn is_on_own_line(&self, at: usize) -> bool {
        let line = self.document.line_start(at);
        let before = self.document.slice(line..at);
        before.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
    }

    /// The white space that the line at `at` begins with.
    fn indentation(&self, at: usize) -> &'d str {
        let line = self.document.line_start(at);
        let text = self.document.slice(line..at);
        let length = text.len() - text.trim_start_matches([' ', '\t']).len();
        text.get(..length).unwrap_or_default()
    }

    /// The layout of what is put beside a child.
    fn inserted(&self, side: Side, column: usize, value: &Value<'_>) -> Layout {
        let _text = self.document.text();
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
    fn takes_in(&self, at: usize, column: usize, value: &Value<'_>) -> bool {
        let text = self.document.text();
        let Some(last) = last_text(value).filter(|last| last.contains('\n')) else {
            return false;
        };
        let rest = text.get(at..).unwrap_or_default();
        let comment = rest.lines().find(|line| !line.trim().is_empty());
        let comment_is_deeper = comment.is_some_and(|line| {
            let spaces = line.len() - line.trim_start_matches(' ').len();
            spaces > column && line.trim_start_matches(' ').starts_with('#')
        });
        let blank_follows = rest
            .lines()
            .next()
            .is_none_or(|line| line.trim().is_empty());
        let has_spaces = rest
            .lines()
            .take_while(|line| line.trim().is_empty())
            .any(|line| line.starts_with([' ', '\t']));
        let keeps = last.ends_with("\n\n") || last == "\n";
        let is_open = at == text.len() && !text.ends_with('\n') && last.ends_with('\n');
        comment_is_deeper || has_spaces || (keeps && (blank_follows || self.removes)) || is_open
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
                if self.is_on_own_line(at) {
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
                let is_open = !self.document.slice(0..at).ends_with('\n');
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

    fn rename(&mut self, id: NodeId, key: &str) {
        let node = self.document.node(id);
        let mut out = String::new();
        if scalar::key_needs_explicit(key) && !node.has(Flags::IN_FLOW) {
            let colon = skip_blank(self.document.text(), node.key.end as usize);
            let column = self.document.column(node.entry as usize);
            self.layout.key(&mut out, key, column);
            self.edit(node.entry as usize, colon + 1, out);
            return;
        }
        let keep = match node.key_kind {
            KeyKind::Scalar(style @ (Style::SingleQuoted | Style::DoubleQuoted)) => Some(style),
            _ => None,
        };
        let context = if node.has(Flags::IN_FLOW) {
            Context::FlowKey
        } else {
            Context::Key
        };
        scalar::write_string(&mut out, key, context, keep, 0, self.layout.eol);
        self.edit(node.key.start as usize, node.key.end as usize, out);
    }

    /// Puts another value in place of a document's.
    fn replace_root(&mut self, node: &Node, end: usize, value: &Value<'_>) {
        let document = self.document;
        let props = node.props as usize;
        let behind = end_of_entry(document.text(), end);
        let layout = Layout {
            quoted: self.takes_in(behind, 0, value),
            ..self.layout
        };
        let marker = document.slice(document.line_start(props)..props);
        let is_block = match &value.data {
            Data::Scalar(_) => false,
            Data::Sequence(items) => !items.is_empty(),
            Data::Mapping(entries) => !entries.is_empty(),
        };
        let mut out = String::new();
        if marker.starts_with("---") && is_block {
            out.push_str(self.layout.eol);
            layout.root(&mut out, value, 0);
        } else {
            layout.root(&mut out, value, document.column(props));
        }
        if document.slice(0..end).ends_with('\n') && end > props {
            out.push_str(self.layout.eol);
        }
        self.edit(props, end, out);
    }

    /// Puts another value in place of a node's, behind its key or dash.
    fn replace(&mut self, id: NodeId, value: &Value<'_>) {
        let document = self.document;
        let text = document.text();
        let node = document.node(id);
        let props = node.props as usize;
        let mut end = node.value.end as usize;
        let keep = match (node.kind, &value.data) {
            (Kind::Scalar(style), Data::Scalar(Scalar::String(_))) if !node.value.is_empty() => {
                Some(style)
            }
            _ => None,
        };
        if node.has(Flags::IN_FLOW) {
            self.replace_in_flow(node, value, keep);
            return;
        }
        if node.next > id.0 + 1 && !node.has(Flags::FLOW) {
            // The comments in it go.
            end = end_with_comments(document.cursor(id));
        }
        if node.key.is_empty() {
            return self.replace_root(node, end, value);
        }
        let column = document.column(node.entry as usize);
        let is_item = text.get(node.key.range()) == Some("-") && node.key_kind == KeyKind::None;
        let slot = if is_item { Slot::Item } else { Slot::Entry };
        let mut out = String::new();
        let mut layout = self.body_layout(node, column, slot);
        layout.quoted = self.takes_in(end_of_entry(text, end), column, value);
        layout.behind(&mut out, value, column, slot, keep);
        let behind_key = if is_item {
            node.key.end as usize
        } else {
            skip_blank(text, node.key.end as usize) + 1
        };
        let header_end = line_end(text, behind_key);
        let (inline, below) = match out.find('\n') {
            Some(newline) => {
                let inline = out
                    .get(..newline)
                    .unwrap_or_default()
                    .trim_end_matches('\r');
                (inline, Some(out.get(newline + 1..).unwrap_or_default()))
            }
            None => (out.as_str(), None),
        };
        let eol = self.layout.eol;
        if props > header_end {
            // The old value begins below its key: a comment behind the key stays.
            let mut new = below
                .map(|below| format!("{eol}{below}"))
                .unwrap_or_default();
            if text.get(..end).is_some_and(|before| before.ends_with('\n')) {
                new.push_str(eol);
            }
            self.edit(behind_key, behind_key, inline);
            self.edit(header_end, end, new);
            return;
        }
        // Spaces that align the old value stay before a new one on the same line, but not before
        // entries: those below would not be aligned with the first.
        let is_aligned = is_item && matches!(value.data, Data::Mapping(_) | Data::Sequence(_));
        let (start, inline) = if node.value.is_empty() || inline.is_empty() || is_aligned {
            (behind_key, inline)
        } else {
            (props, inline.trim_start_matches(' '))
        };
        if text.get(..end).is_some_and(|before| before.ends_with('\n')) && end > start {
            // A block scalar: its text ends with its last line.
            let below = below
                .map(|below| format!("{eol}{below}"))
                .unwrap_or_default();
            let comment = self.header_comment(node);
            self.edit(start, end, format!("{inline}{comment}{below}{eol}"));
            return;
        }
        self.edit(start, end, inline);
        if let Some(below) = below {
            let at = line_end(text, end);
            self.edit(at, at, format!("{eol}{below}"));
        }
    }

    /// The comment behind the `|` of a block scalar, with the blank before it.
    fn header_comment(&self, node: &Node) -> &'d str {
        if !matches!(node.kind, Kind::Scalar(_)) {
            return "";
        }
        let raw = self.document.slice(node.value.range());
        let header = raw
            .split('\n')
            .next()
            .unwrap_or_default()
            .trim_end_matches('\r');
        header
            .find(" #")
            .and_then(|at| header.get(at..))
            .unwrap_or_default()
    }

    /// A block scalar that replaces another keeps its indentation.
    fn body_layout(&self, node: &Node, column: usize, slot: Slot) -> Layout {
        let mut layout = self.layout;
        if let Kind::Scalar(Style::Literal | Style::Folded) = node.kind
            && slot == Slot::Entry
        {
            let raw = self.document.slice(node.value.range());
            let body = raw.split('\n').skip(1).find(|line| !line.trim().is_empty());
            if let Some(body) = body {
                let spaces = body.bytes().take_while(|&byte| byte == b' ').count();
                if spaces > column {
                    layout.unit = spaces - column;
                }
            }
        }
        layout
    }
}

struct Kept {
    /// All children there were.
    children: Vec<NodeId>,
    /// Children that stay, in order, each with the index of its value.
    pairs: Vec<(NodeId, usize)>,
    /// Where each new value goes, and the value's index.
    inserts: Vec<(Side, usize)>,
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
enum Side {
    Before(NodeId),
    Behind(NodeId),
}

impl Side {
    const fn sibling(self) -> NodeId {
        match self {
            Self::Before(sibling) | Self::Behind(sibling) => sibling,
        }
    }
}

/// Collects the anchored nodes in `node` that hold in `value` what they held before.
fn keep_anchors(node: Cursor<'_>, value: &Value<'_>, kept: &mut BTreeSet<NodeId>) {
    if value.origin != Some(node.id()) {
        return;
    }
    let is_same = || {
        let read = node.value(DuplicateKeys::LastWins, &mut Diagnostics::new());
        read.as_ref() == Some(value)
    };
    let document = node.document();
    if node.node().has(Flags::ANCHOR) && is_same() {
        kept.insert(node.id());
    }
    let children = || document.children(node.id());
    match &value.data {
        Data::Scalar(_) => {}
        Data::Sequence(items) => {
            for item in items {
                if let Some(origin) = item.origin {
                    keep_anchors(document.cursor(origin), item, kept);
                }
            }
        }
        Data::Mapping(entries) => {
            for (_, entry) in entries {
                if let Some(origin) = entry.origin {
                    keep_anchors(document.cursor(origin), entry, kept);
                }
            }
            if node.node().kind == Kind::Mapping && has_merge_key(node) && is_same() {
                // What is merged is not in the value, but in the text it stays.
                for merged in children().filter(|entry| entry.key().is_ok_and(|key| key == "<<")) {
                    let anchored = (merged.id().0..merged.node().next)
                        .map(NodeId)
                        .filter(|id| document.node(*id).has(Flags::ANCHOR));
                    kept.extend(anchored);
                }
            }
        }
    }
}

/// An alias outside of the edited node may not stand for what is changed inside.
fn check_aliases(node: Cursor<'_>, kept: &BTreeSet<NodeId>) -> Result<()> {
    let document = node.document();
    let own = node.id().0..node.node().next;
    let is_lost = |(at, alias): &(u32, &Node)| {
        alias.kind == Kind::Alias
            && !own.contains(at)
            && own.contains(&alias.target)
            && !kept.contains(&NodeId(alias.target))
    };
    let Some((at, alias)) = (0..).zip(&document.nodes).find(is_lost) else {
        return Ok(());
    };
    let changed = document.cursor(NodeId(alias.target)).place();
    let alias = document.cursor(NodeId(at));
    let message = format!("`{}` stands for what is changed elsewhere", alias.raw());
    Err(Diagnostic::error(message)
        .at(alias.place())
        .related(changed, "changed here")
        .hint("write out what the alias stands for")
        .into())
}

fn has_merge_key(mapping: Cursor<'_>) -> bool {
    mapping
        .children()
        .any(|entry| entry.key().is_ok_and(|key| key == "<<"))
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

fn is_one_line(text: &str) -> bool {
    memchr::memchr(b'\n', text.as_bytes()).is_none()
}

/// Whether a key is a slice of the text it was read from, and so unchanged.
fn is_key_slice(key: &str, entry: Cursor<'_>) -> bool {
    let raw = entry.document().slice(entry.node().key.range());
    std::ptr::eq(key, raw)
}

/// Whether a scalar is a slice of the text it was read from, and so unchanged.
fn is_slice_of(scalar: &Scalar<'_>, raw: &str, style: Style) -> bool {
    let (Scalar::String(Cow::Borrowed(text)) | Scalar::Number(Cow::Borrowed(text))) = scalar else {
        return false;
    };
    let quotes = usize::from(matches!(style, Style::SingleQuoted | Style::DoubleQuoted));
    let inner = raw
        .get(quotes..raw.len().saturating_sub(quotes))
        .unwrap_or_default();
    std::ptr::eq(*text, inner)
}

/// How the text of `node` is laid out: from the first nested mapping and sequence found in it.
fn layout_of(node: Cursor<'_>) -> Layout {
    let document = node.document();
    let mut layout = Layout {
        eol: document.eol(),
        ..Layout::default()
    };
    let last = node.node().next;
    let (mut unit, mut sequence) = (None, None);
    let mut at = node.id().0;
    while at < last && (unit.is_none() || sequence.is_none()) {
        let id = NodeId(at);
        let current = document.node(id);
        at += 1;
        if current.has(Flags::FLOW) || current.key_kind == KeyKind::None {
            continue;
        }
        let Some(child) = document.children(id).next() else {
            continue;
        };
        let outer = document.column(current.entry as usize);
        let inner = document.column(child.node().entry as usize);
        match current.kind {
            Kind::Mapping if unit.is_none() && inner > outer => unit = Some(inner - outer),
            Kind::Sequence if sequence.is_none() && inner >= outer => {
                sequence = Some(inner - outer);
            }
            _ => {}
        }
    }
    layout.unit = unit.unwrap_or(layout.unit);
    layout.sequence = sequence.unwrap_or(layout.sequence);
    layout
}
