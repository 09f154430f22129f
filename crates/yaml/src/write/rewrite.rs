//! The edits of one node in the making.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::limits::MAX_DEPTH;
use crate::read::document::{Cursor, Document};
use crate::read::scan::Memory;
use crate::table::{Flags, KeyKind, Kind, NodeId};
use crate::write::edited::Edit;
use crate::write::emit::Layout;

/// The destination of the edited text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// The text stays in place: parts with unchanged data are kept.
    InPlace,
    /// The text moves to another column, away from its surroundings: anchors and merge keys are
    /// removed, and aliases and scalars that depend on their place are written out.
    Moved,
}

/// Collects the edits that turn the text of one node into that of a changed value.
pub(crate) struct Rewrite<'d> {
    pub(super) document: &'d Document,
    pub(super) layout: Layout,
    pub(super) placement: Placement,
    /// The leftmost column of the text. A continuation line that starts left of it cannot move
    /// along and is written as new text.
    pub(super) column: usize,
    /// The node that is edited.
    pub(super) top: NodeId,
    /// The anchored nodes inside whose aliases can be kept.
    pub(super) kept: BTreeSet<NodeId>,
    /// Whether the text of that node is JSON; `None` until it is asked.
    pub(super) is_json: Option<bool>,
    /// The lines of removed entries and items of blocks, in order.
    pub(super) removed: Vec<Range<usize>>,
    pub(super) edits: Vec<Edit>,
    /// Whether new lines are read back, where other lines do not matter.
    pub(super) reads_back: bool,
    /// The number of edits that were not read back.
    pub(super) unread: usize,
    /// The tables of texts that are read back.
    pub(super) memory: Memory,
}

impl<'d> Rewrite<'d> {
    pub(super) fn new(node: Cursor<'d>, placement: Placement) -> Self {
        Self { layout: layout_of(node), ..Self::of_lines(node, placement) }
    }

    /// As [`new`](Self::new), to write only scalars and entries on one line, for which the layout of
    /// the document does not matter.
    pub(super) fn of_lines(node: Cursor<'d>, placement: Placement) -> Self {
        /// Most objects need no more edits.
        const EDITS: usize = 16;
        let document = node.document();
        Self {
            document,
            layout: Layout { eol: document.eol(), ..Layout::default() },
            placement,
            column: document.column(node.node().value.start as usize),
            top: node.id(),
            kept: BTreeSet::new(),
            is_json: None,
            removed: Vec::new(),
            edits: Vec::with_capacity(EDITS),
            reads_back: false,
            unread: 0,
            memory: Memory::default(),
        }
    }

    pub(super) fn edit(&mut self, start: usize, end: usize, text: impl Into<String>) {
        self.unread += 1;
        self.edits.push(Edit { start, end, text: text.into() });
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
}

/// How the text of `node` is laid out: from the first nested mapping and sequence found in it.
fn layout_of(node: Cursor<'_>) -> Layout {
    let document = node.document();
    let mut layout = Layout { eol: document.eol(), ..Layout::default() };
    let last = node.node().next;
    let (mut unit, mut sequence) = (None, None);
    let mut at = node.id().0;
    while at < last && (unit.is_none() || sequence.is_none()) {
        let id = NodeId(at);
        let current = document.node(id);
        at += 1;
        let is_wanted = match current.kind {
            Kind::Mapping => unit.is_none(),
            Kind::Sequence => sequence.is_none(),
            _ => false,
        };
        if !is_wanted || current.has(Flags::FLOW) || current.key_kind == KeyKind::None {
            continue;
        }
        let Some(child) = document.children(id).next() else {
            continue;
        };
        let outer = document.column(current.entry as usize);
        let inner = document.column(child.node().entry as usize);
        let deeper = inner.checked_sub(outer);
        if current.kind == Kind::Mapping {
            unit = deeper.filter(|&columns| columns > 0);
        } else {
            sequence = deeper;
        }
    }
    layout.unit = unit.unwrap_or(layout.unit);
    layout.sequence = sequence.unwrap_or(layout.sequence);
    layout
}

/// Whether nothing in a node is nested too deep, even so many levels deeper.
pub(super) fn is_shallow(node: Cursor<'_>, levels: usize) -> bool {
    (node.node().next - node.id().0) as usize + levels <= MAX_DEPTH
}
