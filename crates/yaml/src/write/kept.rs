//! Which entries or items of a collection stay, and where new ones go.

use std::collections::BTreeSet;

use crate::table::NodeId;

pub(super) struct Kept {
    /// The children before the change.
    pub(super) children: Vec<NodeId>,
    /// Children that stay, in order, each with the index of its value.
    pub(super) pairs: Vec<(NodeId, usize)>,
    /// The place of each new value, and the value's index.
    pub(super) inserts: Vec<(Side, usize)>,
}

impl Kept {
    pub(super) fn keeps(&self, child: NodeId) -> bool {
        let pairs = &self.pairs;
        pairs.binary_search_by_key(&child, |(kept, _)| *kept).is_ok()
    }

    /// The new values, those for the same place together.
    pub(super) fn groups(&self) -> Vec<(Side, Vec<usize>)> {
        let groups = self.inserts.chunk_by(|(a, _), (b, _)| a == b);
        groups
            .filter_map(|group| {
                let side = group.first()?.0;
                Some((side, group.iter().map(|(_, index)| *index).collect()))
            })
            .collect()
    }
}

/// The place of a new entry or item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before(NodeId),
    After(NodeId),
}

impl Side {
    pub(super) const fn sibling(self) -> NodeId {
        match self {
            Self::Before(sibling) | Self::After(sibling) => sibling,
        }
    }
}

/// Removes the fewest pairs that leave the others in their old order. The items of the removed
/// pairs are moved.
pub(super) fn keep_in_order(pairs: &mut Vec<(NodeId, usize)>) {
    if pairs.is_sorted_by_key(|(_, index)| *index) {
        return;
    }
    // For each length, where the sequence of that length ends that ends lowest.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let index_at = |at: usize| pairs.get(at).map(|(_, index)| *index);
    for (at, (_, index)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| index_at(*end) < Some(*index));
        before.push(length.checked_sub(1).and_then(|last| ends.get(last).copied()));
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
