//! The table of nodes, and how the fast paths build it.

use std::ops::Range;

use crate::scalar::data::Style;

/// Marks "no node" where a [`Node`] names another.
pub(crate) const NONE: u32 = u32::MAX;

/// The kind of a node's value.
///
/// ```
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, Kind};
///
/// let document = Document::parse(&Source::new("pod.yaml", "kind: Pod\nargs: [-v]\n"))?;
/// let root = document.roots().next().expect("not empty");
/// assert_eq!(root.kind(), Kind::Mapping);
/// assert_eq!(root.get("args").map(|args| args.kind()), Some(Kind::Sequence));
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Entries of key and value.
    Mapping,
    /// A list of items, in a block or in brackets.
    Sequence,
    /// A scalar in the given style.
    Scalar(Style),
    /// `*name`: refers to an anchored node.
    Alias,
    /// An item of a long list that is not opened: only its extent is known.
    Deferred,
}

/// How a mapping entry's key is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// No key: a sequence item or a document's root.
    None,
    /// A scalar in the given style.
    Scalar(Style),
    /// An alias to a scalar.
    Alias,
    /// A collection: YAML allows it, Kubernetes does not.
    Complex,
}

/// One entry of a mapping, item of a sequence or root of a document: its key and its value as byte
/// ranges of the source. Nodes are in pre-order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Node {
    /// Where the entry begins: its key (or the key's `?`, anchor or tag), its dash, or its value.
    pub(crate) entry: u32,
    /// The key with its quotes; the dash of an item in a block sequence; else empty.
    pub(crate) key: Span,
    /// The value without its anchor and tag. A block scalar begins at its `|` or `>` and ends
    /// after the line break of its last line; an absent value is empty, after the `:` or `-`.
    pub(crate) value: Span,
    /// Where the value's anchor and tag begin; `value.start` if it has none.
    pub(crate) props: u32,
    /// The node after the last one inside this.
    pub(crate) next: u32,
    /// For an alias: the anchored node.
    pub(crate) target: u32,
    pub(crate) kind: Kind,
    pub(crate) key_kind: KeyKind,
    pub(crate) flags: Flags,
}

/// Further properties of a node.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub(crate) struct Flags(u8);

/// Ignores the flags that only the fast paths set.
impl PartialEq for Flags {
    fn eq(&self, other: &Self) -> bool {
        const NOTES: u8 = Flags::KEY_TEXT.0 | Flags::TEXT.0;
        self.0 | NOTES == other.0 | NOTES
    }
}

impl Flags {
    pub(crate) const NOTHING: Self = Self(0);
    /// A collection in braces or brackets.
    pub(crate) const FLOW: Self = Self(1);
    /// An entry or item of a collection in braces or brackets.
    pub(crate) const IN_FLOW: Self = Self(2);
    /// The value has an anchor.
    pub(crate) const ANCHOR: Self = Self(4);
    /// The value has a tag.
    pub(crate) const TAG: Self = Self(8);
    /// The key has an anchor, and an alias refers to it.
    pub(crate) const KEY_ANCHOR: Self = Self(16);
    /// An alias that refers to the key of its target, not to the value.
    pub(crate) const OF_KEY: Self = Self(32);
    /// The key is a string that is spelled as it is read, but for quotes around it: in ASCII, on
    /// one line, before a colon. Noted by the fast paths.
    pub(crate) const KEY_TEXT: Self = Self(64);
    /// The value is such a string, too.
    pub(crate) const TEXT: Self = Self(128);

    pub(crate) const fn with(self, flag: Self, set: bool) -> Self {
        if set { Self(self.0 | flag.0) } else { self }
    }

    pub(crate) const fn without(self, flag: Self) -> Self {
        Self(self.0 & !flag.0)
    }

    pub(crate) const fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }
}

impl Node {
    /// Where the text of a key is that is spelled as it is read.
    #[inline]
    pub(crate) fn key_text(&self) -> Option<Range<usize>> {
        let KeyKind::Scalar(style) = self.key_kind else {
            return None;
        };
        let is_noted = self.has(Flags::KEY_TEXT);
        is_noted.then(|| self.key.within(style))
    }

    /// Where the text of a value is that is spelled as it is read.
    pub(crate) fn value_text(&self) -> Option<Range<usize>> {
        let Kind::Scalar(style) = self.kind else {
            return None;
        };
        let is_noted = self.has(Flags::TEXT);
        is_noted.then(|| self.value.within(style))
    }

    /// Whether an alias may refer to the value or the key.
    pub(crate) const fn is_anchored(&self) -> bool {
        self.has(Flags::ANCHOR) || self.has(Flags::KEY_ANCHOR)
    }

    pub(crate) const fn has(&self, flag: Flags) -> bool {
        self.flags.has(flag)
    }
}

/// A byte range that fits the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) const fn empty(at: u32) -> Self {
        Self { start: at, end: at }
    }

    pub(crate) const fn length(self) -> usize {
        self.end.wrapping_sub(self.start) as usize
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.start == self.end
    }

    pub(crate) const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    fn within(self, style: Style) -> Range<usize> {
        let quotes = usize::from(style != Style::Plain);
        self.start as usize + quotes..(self.end as usize).saturating_sub(quotes)
    }
}

/// Names a node of a [`Document`](crate::Document).
///
/// ```
/// use krm_yaml::source::Source;
/// use krm_yaml::{Document, NodeId};
///
/// let document = Document::parse(&Source::new("pod.yaml", "kind: Pod\nname: web\n"))?;
/// let root = document.roots().next().expect("not empty");
/// // Without the document, so that it can be kept beside it.
/// let entries: Vec<NodeId> = root.children().map(|entry| entry.id()).collect();
/// assert_eq!(document.cursor(entries[1]).raw(), "web");
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

/// The nodes of a text, and which of them are the roots of its documents.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) nodes: Vec<Node>,
    pub(super) roots: Vec<u32>,
}

/// The owner of a value: a key, a dash or a document.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// The dash or the key; empty for a document and an item in brackets.
    key: Span,
    key_kind: KeyKind,
    flags: Flags,
}

impl Slot {
    /// The slot of a document's root.
    pub(super) const ROOT: Self =
        Self { key: Span::empty(0), key_kind: KeyKind::None, flags: Flags::NOTHING };

    pub(super) const FLOW_ITEM: Self = Self { flags: Flags::IN_FLOW, ..Self::ROOT };

    /// The slot after the `-` at `dash`.
    pub(super) const fn item(dash: usize) -> Self {
        Self { key: span(dash, dash + 1), ..Self::ROOT }
    }

    pub(super) const fn entry(key: Span, style: Style) -> Self {
        Self { key, key_kind: KeyKind::Scalar(style), ..Self::ROOT }
    }

    pub(super) const fn flow_entry(key: Span, style: Style) -> Self {
        Self { flags: Flags::IN_FLOW, ..Self::entry(key, style) }
    }

    /// The same, with the note that the key is [spelled as it is read](Flags::KEY_TEXT).
    pub(super) const fn with_text(self, is_text: bool) -> Self {
        Self { flags: self.flags.with(Flags::KEY_TEXT, is_text), ..self }
    }

    pub(super) fn key(self) -> Option<Span> {
        (!self.key.is_empty()).then_some(self.key)
    }

    pub(super) const fn is_root(self) -> bool {
        self.key.is_empty() && !self.flags.has(Flags::IN_FLOW)
    }
}

impl Table {
    /// For a text of `length` bytes.
    pub(super) fn for_length(length: usize) -> Self {
        /// The bytes of text for each node, rather too few than too many.
        const BYTES_A_NODE: usize = 24;
        Self { nodes: Vec::with_capacity(length / BYTES_A_NODE + 4), roots: Vec::new() }
    }

    pub(super) fn scalar(&mut self, slot: Slot, style: Style, value: Span) {
        self.add(slot, Kind::Scalar(style), value, Flags::NOTHING);
    }

    /// Adds a scalar that may be [spelled as it is read](Flags::TEXT).
    #[inline]
    pub(super) fn text(&mut self, slot: Slot, style: Style, value: Span, is_text: bool) {
        let flags = Flags::NOTHING.with(Flags::TEXT, is_text);
        self.add(slot, Kind::Scalar(style), value, flags);
    }

    /// Adds an item of which only the extent is known.
    pub(super) fn deferred(&mut self, slot: Slot, value: Span) {
        self.add(slot, Kind::Deferred, value, Flags::NOTHING);
    }

    /// Adds a collection whose text begins at `start`. [`close`](Self::close) sets its end.
    #[inline]
    pub(super) fn open(&mut self, slot: Slot, kind: Kind, start: usize, flow: bool) -> u32 {
        let flags = Flags::NOTHING.with(Flags::FLOW, flow);
        self.add(slot, kind, span(start, start), flags)
    }

    /// Ends collection `id` at `end`: all nodes added since are inside of it.
    pub(super) fn close(&mut self, id: u32, end: usize) {
        let next = offset(self.nodes.len());
        if let Some(node) = self.nodes.get_mut(id as usize) {
            node.next = next;
            node.value.end = offset(end);
        }
    }

    #[expect(clippy::inline_always, reason = "calls take a third of the instructions")]
    #[inline(always)]
    fn add(&mut self, slot: Slot, kind: Kind, value: Span, flags: Flags) -> u32 {
        let id = offset(self.nodes.len());
        let mut key = slot.key;
        if key.is_empty() {
            key = Span::empty(value.start);
            if slot.is_root() {
                self.roots.push(id);
            }
        }
        self.nodes.push(Node {
            entry: key.start,
            key,
            value,
            props: value.start,
            next: id + 1,
            target: NONE,
            kind,
            key_kind: slot.key_kind,
            flags: slot.flags.with(flags, true),
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
    Span { start: offset(start), end: offset(end) }
}
