//! The changed parts of a node.

use std::ops::Range;
use std::sync::Arc;

use crate::table::NodeId;
use crate::value::Value;

/// The changed parts of a node, in the order of the text.
#[derive(Clone, Debug)]
pub(crate) struct Parts<'d> {
    /// The changed parts, none of which is inside another.
    pub(super) values: Vec<(NodeId, Value<'d>)>,
    /// The entries added to mappings. No mapping is a changed part or inside one.
    pub(super) added: Vec<Added>,
}

/// An entry added at the end of a mapping.
#[derive(Clone, Debug)]
pub(crate) struct Added {
    pub(crate) mapping: NodeId,
    pub(crate) entry: Arc<EntryLine>,
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
    pub(crate) const NONE: Self = Self { values: Vec::new(), added: Vec::new() };

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
    pub(crate) fn added(&self) -> &[Added] {
        &self.added
    }

    /// The entries added to a mapping or to those in it, by their index.
    pub(super) fn range_added(&self, ids: Range<NodeId>) -> Range<usize> {
        let index = |id| self.added.partition_point(|added| added.mapping < id);
        index(ids.start)..index(ids.end)
    }

    /// The entries added to a mapping.
    pub(crate) fn added_to(&self, mapping: NodeId) -> &[Added] {
        let range = self.range_added(mapping..NodeId(mapping.0.saturating_add(1)));
        self.added.get(range).unwrap_or_default()
    }
}
