//! The changed parts of a node.

use std::ops::Range;

use crate::read::document::Cursor;
use crate::table::NodeId;
use crate::value::Value;

/// The changed parts of a node, in the order of the text.
#[derive(Clone, Debug)]
pub(crate) struct Parts<'d> {
    /// The changed parts, none of which is inside another.
    pub(super) values: Vec<(NodeId, Value<'d>)>,
    /// The entries added to mappings. No mapping is a changed part or inside one.
    pub(super) added: Vec<Added<'d>>,
    /// The removed entries and items. None is inside another or a changed part, and each collection
    /// keeps some of its own.
    pub(super) removed: Vec<Removed>,
}

/// A removed entry or item, and its collection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Removed {
    pub(crate) collection: NodeId,
    pub(crate) child: NodeId,
}

/// An entry added at the end of a mapping.
#[derive(Clone, Debug)]
pub(crate) struct Added<'d> {
    pub(crate) mapping: NodeId,
    pub(crate) entry: &'d EntryLine,
}

/// An entry of a block mapping on one line, written and read back once, to be added to many mappings.
#[derive(Clone, Debug)]
pub struct EntryLine {
    pub(crate) key: String,
    pub(crate) value: Value<'static>,
    /// The entry without a line break at its end.
    pub(crate) text: String,
}

impl<'d> Parts<'d> {
    pub(crate) const NONE: Self = Self {
        values: Vec::new(),
        added: Vec::new(),
        removed: Vec::new(),
    };

    /// The index of the first changed part at or after a node.
    pub(super) fn first(&self, id: NodeId) -> usize {
        match self.values.last() {
            Some((last, _)) if *last >= id => self.values.partition_point(|(part, _)| *part < id),
            _ => self.values.len(),
        }
    }

    pub(crate) fn get(&self, id: NodeId) -> Option<&Value<'d>> {
        let (part, value) = self.values.get(self.first(id))?;
        (*part == id).then_some(value)
    }

    /// The changed parts, in the order of the text.
    pub(crate) fn values(&self) -> &[(NodeId, Value<'d>)] {
        &self.values
    }

    /// The entries added to mappings; those of one mapping are together.
    pub(crate) fn added(&self) -> &[Added<'d>] {
        &self.added
    }

    /// The entries added to a mapping or to those in it, by their index.
    pub(super) fn range_added(&self, ids: Range<NodeId>) -> Range<usize> {
        range_of(&self.added, |added| added.mapping, ids)
    }

    /// The entries added to a mapping.
    pub(crate) fn added_to(&self, mapping: NodeId) -> &[Added<'d>] {
        let range = self.range_added(mapping..NodeId(mapping.0.saturating_add(1)));
        self.added.get(range).unwrap_or_default()
    }

    /// The removed entries and items, in the order of the text.
    pub(crate) fn removed(&self) -> &[Removed] {
        &self.removed
    }

    /// The indexes of the removed entries and items in a range of nodes.
    pub(super) fn range_removed(&self, ids: Range<NodeId>) -> Range<usize> {
        range_of(&self.removed, |removed| removed.child, ids)
    }

    /// Whether an entry or item was removed.
    pub(crate) fn removes(&self, child: NodeId) -> bool {
        match self.removed.as_slice() {
            [.., last] if last.child >= child => {
                let found = self.removed.binary_search_by_key(&child, |one| one.child);
                found.is_ok()
            }
            _ => false,
        }
    }

    /// The first changed part at or after a node.
    pub(crate) fn next_changed(&self, from: NodeId) -> Option<NodeId> {
        self.values.get(self.first(from)).map(|(part, _)| *part)
    }

    /// The children of a node without the removed ones.
    pub(crate) fn children<'c>(&'c self, node: Cursor<'c>) -> impl Iterator<Item = Cursor<'c>> {
        let children = node.document.children(node.id());
        children.filter(|child| !self.removes(child.id()))
    }

    /// Whether no entry was added and none removed, in a node or inside it.
    pub(crate) fn has_same_entries(&self, node: Cursor<'_>) -> bool {
        let ids = node.id()..NodeId(node.node().next);
        self.range_added(ids.clone()).is_empty() && self.range_removed(ids).is_empty()
    }
}

/// The indexes of the elements whose nodes are in a range. They are in the order of their nodes.
fn range_of<T>(all: &[T], node: impl Fn(&T) -> NodeId, ids: Range<NodeId>) -> Range<usize> {
    let index = |id| all.partition_point(|one| node(one) < id);
    if all.is_empty() {
        return 0..0;
    }
    index(ids.start)..index(ids.end)
}
