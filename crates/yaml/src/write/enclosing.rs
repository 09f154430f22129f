//! The comments of the mapping around an item, which move with the item.

use crate::read::document::{Cursor, Document};
use crate::table::{Flags, Kind, NodeId};
use crate::write::comments::{end_with_comments, head};

/// The mapping that holds the list an item is in.
#[derive(Clone, Copy)]
pub struct Enclosing<'d> {
    /// The mapping, with the list among its entries.
    pub mapping: Cursor<'d>,
    /// The entry of the mapping that is the list.
    pub list: Cursor<'d>,
}

impl<'d> Enclosing<'d> {
    /// Finds the mapping from the first item of a list in block style.
    pub fn of_first(item: Cursor<'d>) -> Option<Self> {
        let list = item.id().0.checked_sub(1).map(NodeId)?;
        let document = item.document();
        let node = document.node(list);
        (node.kind == Kind::Sequence && node.next > item.id().0).then_some(())?;
        Self::new(document, list)
    }

    /// Finds the mapping from the last item of a list in block style.
    pub fn of_last(item: Cursor<'d>) -> Option<Self> {
        let (document, node) = (item.document(), item.node());
        let is_sibling = document.nodes.get(node.next as usize).is_some_and(|next| {
            let is_item = document.slice(next.key.range()) == "-";
            let column = |entry: u32| document.column(entry as usize);
            is_item && column(next.entry) == column(node.entry)
        });
        if is_sibling || document.slice(node.key.range()) != "-" {
            return None;
        }
        Self::new(document, parent(document, item.id())?)
    }

    fn new(document: &'d Document, list: NodeId) -> Option<Self> {
        let node = document.node(list);
        let is_block = node.kind == Kind::Sequence && !node.has(Flags::FLOW);
        let mapping = parent(document, list).filter(|_| is_block)?;
        let is_mapping = document.node(mapping).kind == Kind::Mapping;
        is_mapping.then(|| Self { mapping: document.cursor(mapping), list: document.cursor(list) })
    }

    /// The comments of the mapping above `item`, the first of its list.
    pub fn comments_above(self, item: Cursor<'d>) -> Vec<&'d str> {
        let document = item.document();
        let start = head(document, self.mapping.id());
        self.comments(start, head(document, item.id()).max(start))
    }

    /// The comments of the mapping below `item`, the last of its list.
    pub fn comments_below(self, item: Cursor<'d>) -> Vec<&'d str> {
        self.comments(end_with_comments(item), end_with_comments(self.mapping))
    }

    /// The comments of the mapping between two places: whole lines, and those after its scalars and
    /// the key of the list.
    fn comments(self, start: usize, end: usize) -> Vec<&'d str> {
        let document = self.mapping.document();
        let entries = self.mapping.children().filter_map(|entry| {
            let at = if entry.id() == self.list.id() {
                entry.after_key()
            } else {
                matches!(entry.node().kind, Kind::Scalar(_)).then(|| entry.end())?
            };
            Some((at, document.slice(at..document.line_end(at)).trim_start()))
        });
        let mut found: Vec<(usize, &str)> = entries
            .filter(|(at, comment)| (start..end).contains(at) && comment.starts_with('#'))
            .collect();
        let mut at = start;
        while at < end {
            let line = document.slice(at..document.line_end(at)).trim_start();
            if line.starts_with('#') && document.is_between_tokens(at) {
                found.push((at, line));
            }
            at = document.next_line(at);
        }
        found.sort_unstable();
        found.into_iter().map(|(_, comment)| comment).collect()
    }
}

/// The collection that a node is an entry or item of.
fn parent(document: &Document, id: NodeId) -> Option<NodeId> {
    let mut before = (0..id.0).rev().map(NodeId);
    before.find(|before| document.node(*before).next > id.0)
}
