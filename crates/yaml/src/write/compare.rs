//! Values written over the text that they were read from: only the parts that differ change.
//!
//! A [`Value`] remembers the node each part of it was read from. [`Rewrite`] walks the two side by
//! side and collects edits: a changed scalar keeps its style if it can, a new entry follows the
//! sibling before it, a removed entry is removed with its comments. The documentation of `edit`
//! says which comments belong to which entry.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::diagnostic::Result;
use crate::lines::lines;
use crate::read::document::Cursor;
use crate::read::ordinary::Ordinary;
use crate::read::parts::Parts;
use crate::scalar::data::Scalar;
use crate::scalar::{Style, key_needs_explicit};
use crate::table::{Flags, KeyKind, Kind, Node, NodeId};
use crate::value::{Data, Value};
use crate::write::anchors::{check_aliases, has_merge_key, keep_anchors};
use crate::write::children::is_on_line;
use crate::write::comments::{end_of_entry, skip_blank_lines};
use crate::write::edited::{Edit, close_text, space_comments};
use crate::write::rewrite::{Placement, Rewrite};

impl<'d> Rewrite<'d> {
    /// Edits that make `node` hold `value`.
    ///
    /// # Errors
    /// If the text of a node cannot be read, or an alias elsewhere refers to a changed value.
    pub(crate) fn edits(
        node: Cursor<'d>,
        value: &Value<'_>,
        placement: Placement,
    ) -> Result<Vec<Edit>> {
        let document = node.document();
        let mut rewrite = Self::new(node, placement);
        if document.has_anchors && placement == Placement::InPlace {
            keep_anchors(node, value, &mut rewrite.kept);
        }
        if rewrite.loses_anchor() {
            check_aliases(node, &rewrite.kept)?;
        }
        rewrite.node(node.id(), value)?;
        rewrite.clear_tabs();
        space_comments(document, &mut rewrite.edits);
        if placement == Placement::InPlace {
            close_text(document, &mut rewrite.edits);
        }
        Ok(rewrite.edits)
    }

    /// Edits that make `node` hold `value` at a column of another text, and whether all that they
    /// change was read back.
    ///
    /// # Errors
    /// If the text of a node cannot be read.
    pub(crate) fn moves(
        node: Cursor<'d>,
        value: &Value<'_>,
        column: usize,
    ) -> Result<(Vec<Edit>, bool)> {
        let mut rewrite = Self::new(node, Placement::Moved);
        let is_of_lines = is_of_single_lines(node);
        let may_be_read = is_of_lines || rewrite.column == column;
        rewrite.reads_back = node.document().is_simple && may_be_read;
        rewrite.node(node.id(), value)?;
        rewrite.clear_tabs();
        space_comments(node.document(), &mut rewrite.edits);
        let is_read_back = rewrite.reads_back
            && rewrite.unread == 0
            && (is_of_lines || rewrite.edits.iter().all(|edit| rewrite.is_apart(edit)));
        Ok((rewrite.edits, is_read_back))
    }

    /// Whether the text before an edit is not a scalar of several lines, which could go on with it.
    fn is_apart(&self, edit: &Edit) -> bool {
        let nodes = &self.document.nodes;
        let before = nodes.partition_point(|node| (node.entry as usize) < edit.start);
        let last = before.checked_sub(1).and_then(|last| u32::try_from(last).ok());
        last.is_none_or(|last| {
            let last = self.document.cursor(NodeId(last));
            last.value_start() >= edit.start || !last.has_lines()
        })
    }

    /// Edits that change the parts of an ordinary node and add its new entries, and whether all of
    /// them were read back. `None` if moving a text needs a look at its lines.
    pub(crate) fn patches(root: Ordinary<'d>, parts: &Parts<'_>) -> Option<(Vec<Edit>, bool)> {
        let node = root.cursor();
        let document = node.document();
        if root.has_lines() {
            return None;
        }
        let mut values = parts.values().iter().map(|(_, value)| value);
        let are_on_lines = values.all(|value| is_on_line(value) || is_empty(value));
        let mut rewrite = if are_on_lines {
            Self::of_lines(node, Placement::Moved)
        } else {
            Self::new(node, Placement::Moved)
        };
        rewrite.reads_back = true;
        for (id, value) in parts.values() {
            if value.origin == Some(*id) {
                rewrite.node(*id, value).ok()?;
            } else {
                rewrite.renew(*id, value).then_some(())?;
            }
        }
        // Where two mappings end on one line, the entries of the inner one come first.
        let added = parts.added().chunk_by(|a, b| a.mapping == b.mapping);
        for added in added.rev() {
            rewrite.append(added);
        }
        rewrite.clear_tabs();
        space_comments(document, &mut rewrite.edits);
        Some((rewrite.edits, rewrite.unread == 0))
    }

    /// Removes the tabs from the blank lines below edits: they are allowed there only if plain text
    /// above could continue.
    fn clear_tabs(&mut self) {
        let text = self.document.text();
        // Only the lines around the edits: this runs for each object of a long text.
        let starts = self.edits.iter().map(|edit| edit.start).min();
        let ends = self.edits.iter().map(|edit| edit.end).max();
        let (Some(start), Some(end)) = (starts, ends) else {
            return;
        };
        let end = skip_blank_lines(text, end_of_entry(self.document, end));
        let end = self.document.line_end(end);
        let around = text.as_bytes().get(start..end).unwrap_or_default();
        if memchr::memchr(b'\t', around).is_none() {
            return;
        }
        let mut blanks = BTreeMap::new();
        for edit in &self.edits {
            let mut line = end_of_entry(self.document, edit.end);
            while line < text.len() && self.document.is_between_tokens(line) {
                let end = self.document.line_end(line);
                let content = text.get(line..end).unwrap_or_default();
                let rest = content.trim_start_matches([' ', '\t']);
                let blank = content.len() - rest.len();
                if content.get(..blank).is_some_and(|blank| blank.contains('\t')) {
                    blanks.insert(line, (blank, rest.is_empty()));
                }
                if !rest.is_empty() {
                    break;
                }
                line = self.document.next_line(line);
            }
        }
        let edits = self.edits.iter().filter(|edit| edit.start < edit.end);
        let taken: BTreeMap<usize, usize> = edits.map(|edit| (edit.start, edit.end)).collect();
        let is_taken = |line: &usize| {
            let before = taken.range(..=*line).next_back();
            before.is_some_and(|(_, end)| line < end)
        };
        blanks.retain(|line, _| !is_taken(line));
        for (line, (length, is_empty)) in blanks {
            let spaces = if is_empty { 0 } else { length };
            self.edit(line, line + length, " ".repeat(spaces));
        }
    }

    // `node` and `children` call each other for nested nodes: so their stack frames must be small,
    // and other functions do the work.
    fn node(&mut self, id: NodeId, value: &Value<'_>) -> Result<()> {
        if self.goes_on(id, value)? {
            self.children(id, value)?;
        }
        Ok(())
    }

    /// The entries or items of a collection that has some before and after.
    fn children(&mut self, id: NodeId, value: &Value<'_>) -> Result<()> {
        let node = self.document.node(id);
        if self.is_in_step(id, value) {
            self.drop_anchor(node, true);
            return self.each_child(id, value);
        }
        let Some(kept) = self.keep_children(id, value) else {
            self.replace(id, value);
            return Ok(());
        };
        if node.has(Flags::ANCHOR) {
            let first = self.document.children(id).next().map(|child| (child.id(), 0));
            self.drop_anchor(node, first.as_ref() == kept.pairs.first());
        }
        for &(child, index) in &kept.pairs {
            let Some((key, part)) = value.part(index) else {
                continue;
            };
            if let Some(key) = key {
                self.key(self.document.cursor(child), key, part)?;
            }
            self.node(child, part)?;
        }
        self.insert_others(id, value, &kept);
        Ok(())
    }

    /// The children of `id`, each with the part of `value` that was read from it.
    fn each_child(&mut self, id: NodeId, value: &Value<'_>) -> Result<()> {
        for (index, child) in self.document.children(id).enumerate() {
            let Some((key, part)) = value.part(index) else {
                continue;
            };
            let node = child.node();
            if let Some(key) = key
                && !self.is_slice(node.key_text(), key)
            {
                self.key(child, key, part)?;
            }
            let text = match &part.data {
                Data::Scalar(Scalar::String(Cow::Borrowed(text))) => Some(*text),
                _ => None,
            };
            // The common case: the very text that was read.
            if !text.is_some_and(|text| self.is_slice(node.value_text(), text)) {
                self.node(child.id(), part)?;
            }
        }
        Ok(())
    }

    /// Whether a text is a slice of the document, in this range.
    fn is_slice(&self, range: Option<Range<usize>>, text: &str) -> bool {
        range.is_some_and(|range| {
            let first = self.document.text().as_bytes().get(range.start);
            range.len() == text.len() && first.is_some_and(|byte| std::ptr::eq(byte, text.as_ptr()))
        })
    }

    /// Edits a node without its children, and returns whether these must be compared.
    fn goes_on(&mut self, id: NodeId, value: &Value<'_>) -> Result<bool> {
        let cursor = self.document.cursor(id);
        let node = cursor.node();
        let has_children = node.next > id.0 + 1;
        if self.document.is_simple && value.origin == Some(id) && has_children {
            // The common case: it has neither an anchor nor a merge key.
            match (node.kind, &value.data) {
                (Kind::Mapping, Data::Mapping(entries)) if !entries.is_empty() => return Ok(true),
                (Kind::Sequence, Data::Sequence(items)) if !items.is_empty() => return Ok(true),
                _ => {}
            }
        }
        let is_collection = match (node.kind, &value.data) {
            _ if value.origin != Some(id) => false,
            (Kind::Scalar(_), Data::Scalar(new)) if let Some(text) = cursor.literal() => {
                if matches!(new, Scalar::String(new) if new == text) {
                    return Ok(false);
                }
                false
            }
            (Kind::Scalar(style), Data::Scalar(new)) => {
                let is_same = is_slice_of(new, self.document.slice(node.value.range()), style)
                    || cursor.scalar()?.as_ref() == Some(new);
                // Without its anchor, nothing is left of it.
                let vanishes = self.placement == Placement::Moved
                    && node.has(Flags::ANCHOR)
                    && node.has(Flags::IN_FLOW)
                    && node.value.is_empty();
                if is_same && !vanishes && !self.must_respell(node, style) {
                    self.drop_anchor(node, true);
                    return Ok(false);
                }
                false
            }
            (Kind::Mapping, _)
                if !self.document.is_simple
                    && has_merge_key(cursor)
                    && self.stays(cursor, value) =>
            {
                return Ok(false);
            }
            (Kind::Alias, _) if self.stays(cursor, value) => return Ok(false),
            (Kind::Mapping, Data::Mapping(entries)) => has_children != entries.is_empty(),
            (Kind::Sequence, Data::Sequence(items)) => has_children != items.is_empty(),
            _ => false,
        };
        if !is_collection {
            self.replace(id, value);
        } else if !has_children {
            self.drop_anchor(node, true);
        }
        Ok(is_collection && has_children)
    }

    /// Renames the key of a child that stays, and of which `part` is the value.
    fn key(&mut self, child: Cursor<'_>, key: &str, part: &Value<'_>) -> Result<()> {
        let node = child.node();
        let is_same = |text| self.document.slice(text) == key;
        if node.key_text().is_some_and(is_same) {
            return Ok(());
        }
        let text = self.document.slice(node.key.range());
        let alias = node.key_kind == KeyKind::Alias
            && (self.placement == Placement::Moved || self.loses_anchor());
        // A key of several lines depends on its place. In braces it cannot be followed by a colon,
        // and neither can one that is too long.
        let (entry, start) = (node.entry as usize, node.key.start as usize);
        let gets_colon =
            node.has(Flags::IN_FLOW) && !part.is_null() && self.after_colon(node).is_none();
        let is_long = gets_colon && key_needs_explicit(key);
        let takes_no_colon = is_long
            || (gets_colon && !is_one_line(self.document.slice(entry..node.key.end as usize)));
        let loses_properties = takes_no_colon && entry < start && !is_long;
        let lines = takes_no_colon || (self.placement == Placement::Moved && !is_one_line(text));
        if alias || lines || (!std::ptr::eq(key, text) && child.key()? != key) {
            self.rename(child.id(), key, loses_properties);
        }
        Ok(())
    }

    /// Whether the parts of `value` were read from the children of `id`, one by one: the common
    /// case, in which none is added or removed.
    fn is_in_step(&self, id: NodeId, value: &Value<'_>) -> bool {
        let mut index = 0;
        let all = self.document.children(id).all(|child| {
            let part = value.part(index);
            index += 1;
            part.is_some_and(|(_, part)| part.origin == Some(child.id()))
        });
        all && value.part(index).is_none()
    }

    /// Whether the text of a scalar would not survive being moved, though its value is unchanged.
    fn must_respell(&self, node: &Node, style: Style) -> bool {
        if self.placement == Placement::InPlace {
            return false;
        }
        let text = self.document.slice(node.value.range());
        if !matches!(style, Style::Literal | Style::Folded) && is_one_line(text) {
            return false;
        }
        match style {
            // Go reads these as line breaks, `Shifted` does not.
            Style::Literal | Style::Folded => text.contains(['\u{85}', '\u{2028}', '\u{2029}']),
            _ => lines(text).skip(1).any(|line| {
                let spaces = line.bytes().take_while(|&byte| byte == b' ').count();
                spaces < self.column && spaces < line.trim_end().len()
            }),
        }
    }
}

/// Whether a value is a collection without entries and items.
fn is_empty(value: &Value<'_>) -> bool {
    !matches!(value.data, Data::Scalar(_)) && value.part(0).is_none()
}

/// Whether no scalar in a node has several lines.
fn is_of_single_lines(node: Cursor<'_>) -> bool {
    let mut ids = node.id().0..node.node().next;
    !ids.any(|id| node.document().cursor(NodeId(id)).has_lines())
}

fn is_one_line(text: &str) -> bool {
    memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_none()
}

/// Whether a scalar is a slice of the text it was read from, and so unchanged.
fn is_slice_of(scalar: &Scalar<'_>, raw: &str, style: Style) -> bool {
    let (Scalar::String(Cow::Borrowed(text)) | Scalar::Number(Cow::Borrowed(text))) = scalar else {
        return false;
    };
    let quotes = usize::from(matches!(style, Style::SingleQuoted | Style::DoubleQuoted));
    let inner = raw.get(quotes..raw.len().saturating_sub(quotes)).unwrap_or_default();
    std::ptr::eq(*text, inner)
}
