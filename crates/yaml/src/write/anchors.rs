//! Anchors and aliases: a change of an anchored value must not change the values of its aliases.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::read::document::Cursor;
use crate::read::values::DuplicateKeys;
use crate::table::{Flags, Kind, Node, NodeId};
use crate::value::{Data, Value};
use crate::write::rewrite::{Placement, Rewrite};

impl Rewrite<'_> {
    /// Whether a node that gets its data from other nodes is unchanged and can be kept.
    pub(super) fn stays(&self, cursor: Cursor<'_>, value: &Value<'_>) -> bool {
        let read = || cursor.value(DuplicateKeys::LastWins, &mut Diagnostics::new());
        self.placement == Placement::InPlace
            && !self.has_lost_alias(cursor)
            && read().as_ref() == Some(value)
    }

    /// Whether something that has an anchor is changed.
    pub(super) fn loses_anchor(&self) -> bool {
        if !self.document.has_anchors || self.placement == Placement::Moved {
            return false;
        }
        let top = self.top.0..self.document.node(self.top).next;
        let mut ids = top.map(NodeId);
        ids.any(|id| self.document.node(id).is_anchored() && !self.kept.contains(&id))
    }

    /// Whether an alias in the text of a node refers to a changed value.
    fn has_lost_alias(&self, cursor: Cursor<'_>) -> bool {
        let top = self.top.0..self.document.node(self.top).next;
        let nodes = self.document.nodes.iter();
        let within = nodes.take(cursor.node().next as usize).skip(cursor.id().0 as usize);
        within
            .filter(|node| node.kind == Kind::Alias && top.contains(&node.target))
            .any(|node| !self.kept.contains(&NodeId(node.target)))
    }

    /// Removes `&name`, unless the text stays in place. `begins_alike` says whether the value keeps
    /// its first line.
    pub(super) fn drop_anchor(&mut self, node: &Node, begins_alike: bool) {
        if !node.has(Flags::ANCHOR) || self.placement == Placement::InPlace {
            return;
        }
        let base = node.props as usize;
        let props = self.document.slice(base..node.value.start as usize);
        let Some(at) = props.find('&') else { return };
        let rest = props.get(at..).unwrap_or_default();
        let length = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (start, end) = (base + at, base + at + length);
        let after = self.document.slice(end..self.document.text().len());
        let follows = after.trim_start_matches([' ', '\t']);
        let end = end + after.len() - follows.len();
        let value = node.value.start as usize;
        if begins_alike && can_follow_dash(self.document.text(), start, end, value) {
            self.edit(start, value, "");
            return;
        }
        let is_comment = follows.starts_with('#');
        if is_comment || follows.is_empty() || follows.starts_with(['\n', '\r']) {
            let before = self.document.slice(0..start);
            let blank = before.len() - before.trim_end_matches([' ', '\t']).len();
            let gap = after.strip_suffix(follows).unwrap_or_default();
            let gap = if is_comment { gap } else { "" };
            self.edit(start - blank, end, gap.replace('\t', " "));
        } else {
            self.edit(start, end, "");
        }
    }
}

/// Whether the value can follow the dash directly once the anchor in `start..end` is removed: it is
/// below the anchor, in its column.
fn can_follow_dash(text: &str, start: usize, end: usize, value: usize) -> bool {
    let column = |at: usize| {
        let before = text.get(..at)?;
        Some(at - before.rfind('\n').map_or(0, |newline| newline + 1))
    };
    let before = text.get(..start).unwrap_or_default();
    let between = text.get(end..value).unwrap_or_default();
    before.ends_with("- ") && between.trim().is_empty() && column(start) == column(value)
}

/// Collects the anchored nodes in `node` that have the same data in `value` as before.
pub(super) fn keep_anchors(node: Cursor<'_>, value: &Value<'_>, kept: &mut BTreeSet<NodeId>) {
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
            for (key, entry) in entries {
                if let Some(origin) = entry.origin {
                    let old = document.cursor(origin);
                    keep_anchors(old, entry, kept);
                    keep_key_anchor(old, key, kept);
                }
            }
            if node.node().kind == Kind::Mapping && has_merge_key(node) && is_same() {
                // Merged entries are not in the value, but their text is kept.
                for merged in children().filter(|entry| entry.is_merge_key()) {
                    let anchored = (merged.id().0..merged.node().next)
                        .map(NodeId)
                        .filter(|id| document.node(*id).has(Flags::ANCHOR));
                    kept.extend(anchored);
                }
            }
        }
    }
}

/// Keeps the anchor on the key of an entry if the key stays. Where the value has one as well, both
/// must stay.
fn keep_key_anchor(entry: Cursor<'_>, key: &str, kept: &mut BTreeSet<NodeId>) {
    let node = entry.node();
    if !node.has(Flags::KEY_ANCHOR) {
        return;
    }
    let stays = entry.key().is_ok_and(|old| old == key);
    if !stays {
        kept.remove(&entry.id());
    } else if !node.has(Flags::ANCHOR) {
        kept.insert(entry.id());
    }
}

/// An alias outside of the edited node must not refer to a changed value inside.
pub(super) fn check_aliases(node: Cursor<'_>, kept: &BTreeSet<NodeId>) -> Result<()> {
    let document = node.document();
    let own = node.id().0..node.node().next;
    let start = document.referred.partition_point(|(target, _)| *target < own.start);
    let end = document.referred.partition_point(|(target, _)| *target < own.end);
    let inside = document.referred.get(start..end).unwrap_or_default().iter();
    let lost =
        inside.filter(|(target, alias)| !own.contains(alias) && !kept.contains(&NodeId(*target)));
    let Some((changed, alias)) = lost.min_by_key(|(_, alias)| *alias) else {
        return Ok(());
    };
    let (changed, alias) = (NodeId(*changed), document.cursor(NodeId(*alias)));
    let alias = if alias.key_target().is_some_and(|target| target.id() == changed) {
        alias.key_place()
    } else {
        alias.place()
    };
    let name = document.slice(alias.range.clone());
    let message = format!("`{name}` refers to a value that is changed elsewhere");
    Err(Diagnostic::error(message)
        .at(alias)
        .related(document.cursor(changed).place(), "changed here")
        .hint("write out the value of the alias")
        .into())
}

pub(super) fn has_merge_key(mapping: Cursor<'_>) -> bool {
    mapping.children().any(Cursor::is_merge_key)
}
