//! Builds the table of spans front to back: what the fast paths share.

use crate::read::document::{Flags, KeyKind, Kind, NONE, Node, Span};
use crate::scalar::Style;

/// The nodes of a text, and which of them are the roots of its documents.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) nodes: Vec<Node>,
    pub(super) roots: Vec<u32>,
}

/// Whom a value belongs to.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    key: Option<Span>,
    key_kind: KeyKind,
    flags: Flags,
}

impl Slot {
    /// A document.
    pub(super) const ROOT: Self = Self {
        key: None,
        key_kind: KeyKind::None,
        flags: Flags::NOTHING,
    };

    /// A list in brackets.
    pub(super) const FLOW_ITEM: Self = Self {
        flags: Flags::IN_FLOW,
        ..Self::ROOT
    };

    /// The `-` at `dash`.
    pub(super) const fn item(dash: usize) -> Self {
        Self {
            key: Some(span(dash, dash + 1)),
            ..Self::ROOT
        }
    }

    /// A mapping's key.
    pub(super) const fn entry(key: Span, style: Style) -> Self {
        Self {
            key: Some(key),
            key_kind: KeyKind::Scalar(style),
            ..Self::ROOT
        }
    }

    /// A key in braces.
    pub(super) const fn flow_entry(key: Span, style: Style) -> Self {
        Self {
            flags: Flags::IN_FLOW,
            ..Self::entry(key, style)
        }
    }

    pub(super) const fn key(self) -> Option<Span> {
        self.key
    }

    pub(super) const fn is_root(self) -> bool {
        self.key.is_none() && !self.flags.has(Flags::IN_FLOW)
    }
}

impl Table {
    /// For a text of `length` bytes.
    pub(super) fn for_length(length: usize) -> Self {
        /// What a node takes of a text of Kubernetes objects, less rather than more.
        const BYTES_A_NODE: usize = 24;
        Self {
            nodes: Vec::with_capacity(length / BYTES_A_NODE + 4),
            roots: Vec::new(),
        }
    }

    /// Adds a scalar.
    pub(super) fn scalar(&mut self, slot: Slot, style: Style, value: Span) {
        self.add(slot, Kind::Scalar(style), value, false);
    }

    /// Adds an item of which only the extent is known.
    pub(super) fn deferred(&mut self, slot: Slot, value: Span) {
        self.add(slot, Kind::Deferred, value, false);
    }

    /// Adds a collection whose text begins at `start`. [`close`](Self::close) says where it ends.
    pub(super) fn open(&mut self, slot: Slot, kind: Kind, start: usize, flow: bool) -> u32 {
        self.add(slot, kind, span(start, start), flow)
    }

    /// Ends collection `id` at `end`: all nodes added since are inside of it.
    pub(super) fn close(&mut self, id: u32, end: usize) {
        let next = offset(self.nodes.len());
        if let Some(node) = self.nodes.get_mut(id as usize) {
            node.next = next;
            node.value.end = offset(end);
        }
    }

    fn add(&mut self, slot: Slot, kind: Kind, value: Span, flow: bool) -> u32 {
        let id = offset(self.nodes.len());
        if slot.is_root() {
            self.roots.push(id);
        }
        let key = slot.key.unwrap_or(Span::empty(value.start));
        self.nodes.push(Node {
            entry: key.start,
            key,
            value,
            props: value.start,
            next: id + 1,
            target: NONE,
            kind,
            key_kind: slot.key_kind,
            flags: slot.flags.with(Flags::FLOW, flow),
        });
        id
    }
}

const fn offset(at: usize) -> u32 {
    // INVARIANT: no text is longer than `MAX_LENGTH`, and a node takes a byte or more.
    #[expect(clippy::cast_possible_truncation, reason = "bounded by MAX_LENGTH")]
    {
        at as u32
    }
}

pub(super) const fn span(start: usize, end: usize) -> Span {
    Span {
        start: offset(start),
        end: offset(end),
    }
}
