//! The table of spans behind a document, and the cursor that reads it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::diagnostic::{Diagnostic, Result};
use crate::read::parse::line_start;
use crate::read::scan::scan_item;
use crate::scalar::{self, Style};
use crate::source::{Place, Source};
use crate::value::Scalar;
use crate::words;

/// Marks "no node" where a [`Node`] names another.
pub(crate) const NONE: u32 = u32::MAX;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Entries of key and value.
    Mapping,
    /// A list of items.
    Sequence,
    /// A scalar in the given style.
    Scalar(Style),
    /// `*name`: stands for an anchored node.
    Alias,
    /// An item of a long list whose nodes are in no table yet.
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

/// One entry of a mapping, item of a sequence or root of a document: its key and its value as
/// byte ranges of the source. Nodes stand in pre-order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Node {
    /// Where the entry begins: its key (or the key's `?`, anchor or tag), its dash, or its value.
    pub(crate) entry: u32,
    /// The key with its quotes; the dash of an item in a block sequence; else empty.
    pub(crate) key: Span,
    /// The value without its anchor and tag. A block scalar begins at its `|` or `>` and ends
    /// behind the line break of its last line; an absent value is empty, behind the `:` or `-`.
    pub(crate) value: Span,
    /// Where the value's anchor and tag begin; `value.start` if it has none.
    pub(crate) props: u32,
    /// The node behind the last one inside this.
    pub(crate) next: u32,
    /// For an alias: the anchored node.
    pub(crate) target: u32,
    pub(crate) kind: Kind,
    pub(crate) key_kind: KeyKind,
    pub(crate) flags: Flags,
}

/// What else there is to say of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    /// None of the others.
    pub(crate) const NOTHING: Self = Self(0);
    /// A collection in braces or brackets.
    pub(crate) const FLOW: Self = Self(1);
    /// An entry or item of a collection in braces or brackets.
    pub(crate) const IN_FLOW: Self = Self(2);
    /// The value has an anchor.
    pub(crate) const ANCHOR: Self = Self(4);
    /// The value has a tag.
    pub(crate) const TAG: Self = Self(8);
    /// The key has an anchor, for which an alias stands.
    pub(crate) const KEY_ANCHOR: Self = Self(16);
    /// An alias that stands for the key of its target, not for the value.
    pub(crate) const OF_KEY: Self = Self(32);

    pub(crate) const fn with(self, flag: Self, set: bool) -> Self {
        if set { Self(self.0 | flag.0) } else { self }
    }

    pub(crate) const fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }
}

impl Node {
    /// Whether an alias may stand for the value or the key.
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

    pub(crate) const fn is_empty(self) -> bool {
        self.start == self.end
    }

    pub(crate) const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Names a node of a [`Document`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

/// A YAML or JSON text with the table of its nodes. The text is never copied or re-written:
/// reading slices it and writing edits it.
#[derive(Debug)]
pub struct Document {
    pub(crate) source: Arc<Source>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) roots: Vec<u32>,
    /// Whether a `%TAG` directive gives tags a meaning of their own.
    pub(crate) has_tag_directives: bool,
    /// Whether the text is JSON, and its strings mean what they mean there.
    pub(crate) is_json: bool,
    /// Whether a node has an anchor, and so an alias may stand for it.
    pub(crate) has_anchors: bool,
    /// What is known of items whose nodes are in no table yet.
    pub(crate) deferred: Deferred,
}

/// What came of opening the items of long lists.
#[derive(Debug, Default)]
pub(crate) struct Deferred {
    /// Of each node, whether it was opened.
    pub(crate) opened: Vec<AtomicBool>,
    /// Whether one of them takes the full path.
    failed: AtomicBool,
}

impl Document {
    /// The text this was read from.
    #[must_use]
    pub const fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.source.text()
    }

    /// The documents of the stream that are not empty, by their root node.
    pub fn roots(&self) -> impl Iterator<Item = Cursor<'_>> {
        self.roots.iter().map(|&id| self.cursor(NodeId(id)))
    }

    /// Whether the documents are JSON texts that follow one another without a `---`.
    pub(crate) fn is_json_stream(&self) -> bool {
        let mut roots = self.roots();
        let (Some(first), Some(second)) = (roots.next(), roots.next()) else {
            return false;
        };
        self.slice(first.end()..second.start()).trim().is_empty()
    }

    /// The cursor on node `id`, which must be of this document.
    #[must_use]
    pub const fn cursor(&self, id: NodeId) -> Cursor<'_> {
        Cursor { document: self, id }
    }

    /// The node, or an empty one for an id of another document.
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        static NOTHING: Node = Node {
            entry: 0,
            key: Span::empty(0),
            value: Span::empty(0),
            props: 0,
            next: NONE,
            target: NONE,
            kind: Kind::Scalar(Style::Plain),
            key_kind: KeyKind::None,
            flags: Flags::NOTHING,
        };
        self.nodes.get(id.0 as usize).unwrap_or(&NOTHING)
    }

    /// The text in a byte range; empty if there is none.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> &str {
        self.text().get(range).unwrap_or_default()
    }

    pub(crate) fn place(&self, range: Range<usize>) -> Place {
        Place {
            source: Arc::clone(&self.source),
            range,
        }
    }

    /// Bytes between the start of the line and `offset`.
    pub fn column(&self, offset: usize) -> usize {
        offset - self.line_start(offset)
    }

    /// Where the line begins that `offset` is on.
    #[must_use]
    pub fn line_start(&self, offset: usize) -> usize {
        line_start(self.text(), offset)
    }

    /// Length of the byte order mark the text begins with, if any.
    pub(crate) fn bom(&self) -> usize {
        if self.text().starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        }
    }

    /// Whether `offset` is neither in a scalar or key nor in braces.
    pub(crate) fn is_between_tokens(&self, offset: usize) -> bool {
        let behind = self
            .nodes
            .partition_point(|node| node.entry as usize <= offset);
        let last = behind.checked_sub(1).and_then(|last| self.nodes.get(last));
        last.is_none_or(|node| {
            let is_scalar = matches!(node.kind, Kind::Scalar(_));
            let is_in_value = is_scalar && node.value.range().contains(&offset);
            let is_in_key = node.key.range().contains(&offset);
            !is_in_value && !is_in_key && !node.has(Flags::FLOW) && !node.has(Flags::IN_FLOW)
        })
    }

    /// The table of one item of a long list; `None` if it takes the full path.
    fn part(&self, id: NodeId) -> Option<Self> {
        let node = self.node(id);
        let start = self.line_start(node.entry as usize);
        let table = scan_item(self.text(), start..node.value.end as usize);
        if let Some(opened) = self.deferred.opened.get(id.0 as usize) {
            opened.store(true, Relaxed);
        }
        let Some(table) = table else {
            self.deferred.failed.store(true, Relaxed);
            return None;
        };
        Some(Self::new(&self.source, table))
    }

    /// Whether the text is what the table says: all items that were deferred can be read.
    pub(crate) fn is_sound(&self) -> bool {
        let is_opened = |id: usize| {
            let opened = self.deferred.opened.get(id);
            opened.is_some_and(|opened| opened.load(Relaxed))
        };
        let opens = |id| u32::try_from(id).is_ok_and(|id| self.part(NodeId(id)).is_some());
        let mut nodes = self.nodes.iter().enumerate();
        !self.deferred.failed.load(Relaxed)
            && nodes.all(|(id, node)| node.kind != Kind::Deferred || is_opened(id) || opens(id))
    }

    /// The line break of the first line.
    pub fn eol(&self) -> &'static str {
        match memchr::memchr(b'\n', self.text().as_bytes()) {
            Some(newline) if self.slice(0..newline).ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    /// The children of `id`, which are its entries or items.
    pub(crate) fn children(&self, id: NodeId) -> Children<'_> {
        let node = self.node(id);
        Children {
            document: self,
            at: id.0.saturating_add(1),
            end: node.next,
        }
    }
}

/// A node with all that is in it. Of a long list only the extent of each item may be in the table;
/// such an item becomes a document of its own when it is looked into.
pub enum Opened<'d> {
    /// It is in the table of its document.
    Here(Cursor<'d>),
    /// It has a table of its own, over the same text.
    Part(Box<Document>),
}

impl Opened<'_> {
    /// The node.
    #[must_use]
    pub fn cursor(&self) -> Cursor<'_> {
        match self {
            Self::Here(cursor) => *cursor,
            // The root is a list of this one item.
            Self::Part(document) => document.cursor(NodeId(1)),
        }
    }
}

/// Iterates over a node's entries or items.
pub(crate) struct Children<'d> {
    document: &'d Document,
    at: u32,
    end: u32,
}

impl<'d> Iterator for Children<'d> {
    type Item = Cursor<'d>;

    fn next(&mut self) -> Option<Cursor<'d>> {
        if self.at >= self.end || self.at as usize >= self.document.nodes.len() {
            return None;
        }
        let cursor = self.document.cursor(NodeId(self.at));
        self.at = cursor.node().next;
        Some(cursor)
    }
}

/// A node together with its document: what reading code passes around.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'d> {
    document: &'d Document,
    id: NodeId,
}

impl<'d> Cursor<'d> {
    /// The node's name in its document.
    #[must_use]
    pub const fn id(self) -> NodeId {
        self.id
    }

    /// The document it belongs to.
    #[must_use]
    pub const fn document(self) -> &'d Document {
        self.document
    }

    pub(crate) fn node(self) -> &'d Node {
        self.document.node(self.id)
    }

    /// The node an alias stands for; any other node itself.
    #[must_use]
    pub fn resolved(self) -> Self {
        let node = self.node();
        if node.kind == Kind::Alias && node.target != NONE && !node.has(Flags::OF_KEY) {
            self.document.cursor(NodeId(node.target))
        } else {
            self
        }
    }

    /// The entry for whose key an alias stands.
    pub(crate) fn entry_of_key(self) -> Option<Self> {
        let node = self.node();
        let is_of_key = node.kind == Kind::Alias && node.has(Flags::OF_KEY);
        is_of_key.then(|| self.document.cursor(NodeId(node.target)))
    }

    /// The node with all that is in it.
    #[must_use]
    pub fn open(self) -> Opened<'d> {
        if self.node().kind != Kind::Deferred {
            return Opened::Here(self);
        }
        match self.document.part(self.id) {
            Some(part) => Opened::Part(Box::new(part)),
            None => Opened::Here(self),
        }
    }

    /// What the node is; an alias counts as what it stands for.
    #[must_use]
    pub fn kind(self) -> Kind {
        self.resolved().node().kind
    }

    /// Whether the value is a mapping.
    #[must_use]
    pub fn is_mapping(self) -> bool {
        self.kind() == Kind::Mapping
    }

    /// Whether the value is a sequence.
    #[must_use]
    pub fn is_sequence(self) -> bool {
        self.kind() == Kind::Sequence
    }

    /// Whether the value is a collection in braces or brackets, as in JSON.
    #[must_use]
    pub fn is_flow(self) -> bool {
        self.resolved().node().has(Flags::FLOW)
    }

    /// Whether nothing, `null` or `~` is there.
    #[must_use]
    pub fn is_null(self) -> bool {
        matches!(self.scalar(), Ok(Some(Scalar::Null)))
    }

    /// The value as it is written: quotes, brackets and all.
    #[must_use]
    pub fn raw(self) -> &'d str {
        self.document.slice(self.node().value.range())
    }

    /// Where the entry, item or root begins: at its key, dash or value.
    #[must_use]
    pub fn start(self) -> usize {
        self.node().entry as usize
    }

    /// Where the value begins, with its anchor and tag.
    #[must_use]
    pub fn value_start(self) -> usize {
        self.node().props as usize
    }

    /// Where the value ends.
    #[must_use]
    pub fn end(self) -> usize {
        self.node().value.end as usize
    }

    /// Behind the `:` of a mapping entry; without one, behind the key.
    #[must_use]
    pub fn behind_key(self) -> usize {
        let node = self.node();
        let end = node.key.end as usize;
        let between = self.document.slice(end..node.props as usize);
        between.find(':').map_or(end, |colon| end + colon + 1)
    }

    /// Where the value is; for an absent value, where its key or dash is.
    #[must_use]
    pub fn place(self) -> Place {
        let node = self.node();
        if node.value.is_empty() {
            self.key_place()
        } else {
            self.document.place(node.value.range())
        }
    }

    /// Where the key is; for an item, where its dash or value begins.
    #[must_use]
    pub fn key_place(self) -> Place {
        let node = self.node();
        let range = match node.key_kind {
            KeyKind::None if !node.value.is_empty() => node.value.range(),
            _ => node.key.range(),
        };
        self.document.place(range)
    }

    /// The key of a mapping entry, as Kubernetes reads it: `n: x` has the key `false`.
    ///
    /// # Errors
    /// If the key is a collection, or its escapes are malformed.
    pub fn key(self) -> Result<Cow<'d, str>> {
        let node = self.node();
        if let KeyKind::Scalar(style) = node.key_kind
            && node.entry == node.key.start
            && let Some(text) = literally(self.document.slice(node.key.range()), style)
            && (style != Style::Plain || matches!(scalar::resolve(text), Scalar::String(_)))
        {
            return Ok(Cow::Borrowed(text));
        }
        self.key_slowly()
    }

    #[cold]
    fn key_slowly(self) -> Result<Cow<'d, str>> {
        let node = self.node();
        match node.key_kind {
            KeyKind::None => Ok(Cow::Borrowed("")),
            KeyKind::Scalar(_) => self.scalar_key(),
            KeyKind::Alias => match self.key_target().map(Self::text) {
                Some(Ok(Some(text))) => Ok(text),
                _ => Err(self.complex_key()),
            },
            KeyKind::Complex => Err(self.complex_key()),
        }
    }

    /// Whether the entry is a merge key.
    #[must_use]
    pub fn is_merge_key(self) -> bool {
        let node = self.node();
        node.key_kind == KeyKind::Scalar(Style::Plain)
            && self.document.slice(node.key.range()) == "<<"
    }

    /// The key as it is written, without its quotes: `n: x` has the key `n`.
    ///
    /// # Errors
    /// If the key is a collection, or its escapes are malformed.
    pub fn key_text(self) -> Result<Cow<'d, str>> {
        let node = self.node();
        match node.key_kind {
            KeyKind::Scalar(style) => {
                let raw = self.document.slice(node.key.range());
                self.decode(raw, style, node.key.start)
            }
            _ => self.key(),
        }
    }

    /// The node that an alias used as a key stands for: the last one before it with this anchor.
    pub(crate) fn key_target(self) -> Option<Self> {
        let name = self
            .document
            .slice(self.node().key.range())
            .strip_prefix('*')?;
        let before = self.document.nodes.get(..self.id.0 as usize)?;
        let is_named = |node: &Node| {
            let props = self
                .document
                .slice(node.props as usize..node.value.start as usize);
            let mut words = props.split_ascii_whitespace();
            words.any(|word| word.strip_prefix('&') == Some(name))
        };
        let index = before
            .iter()
            .rposition(|node| node.has(Flags::ANCHOR) && is_named(node))?;
        u32::try_from(index)
            .ok()
            .map(|index| self.document.cursor(NodeId(index)))
    }

    /// Kubernetes has string keys only: sigs.k8s.io/yaml turns bools and numbers into text.
    fn scalar_key(self) -> Result<Cow<'d, str>> {
        match self.key_scalar()? {
            Scalar::String(text) => Ok(text),
            Scalar::Bool(flag) => Ok(Cow::Borrowed(if flag { "true" } else { "false" })),
            Scalar::Number(digits) => {
                let (start, end) = (self.start(), self.node().key.start as usize);
                let has_float_tag = self.document.slice(start..end).contains("float");
                let is_integer = scalar::is_integer(&self.key_text()?);
                if is_integer && (!has_float_tag || digits == "-0") {
                    return scalar::integer_key(digits)
                        .ok_or_else(|| self.no_string_key("a number beyond 63 bits"));
                }
                Ok(Cow::Owned(scalar::float_key(&digits)))
            }
            Scalar::Null => Err(self.no_string_key("null")),
        }
    }

    fn no_string_key(self, found: &str) -> Box<Diagnostic> {
        let raw = self.document.slice(self.node().key.range());
        Diagnostic::error(format!("a mapping key must be a string, found {found}"))
            .at(self.key_place())
            .hint(format!("put it in quotes: `\"{raw}\"`"))
            .into()
    }

    fn complex_key(self) -> Box<Diagnostic> {
        Diagnostic::error("a mapping key must be a string, found a collection")
            .at(self.key_place())
            .hint("Kubernetes objects have string keys only; a text that begins with `{` or `[` needs quotes")
            .into()
    }

    /// The value as text, if it is a scalar: the source text of a plain scalar, the content of a
    /// quoted or block one. An absent value is the empty text.
    ///
    /// # Errors
    /// If its escapes are malformed.
    pub fn text(self) -> Result<Option<Cow<'d, str>>> {
        if let Some(entry) = self.entry_of_key() {
            return entry.key_text().map(Some);
        }
        let resolved = self.resolved();
        let node = resolved.node();
        let Kind::Scalar(style) = node.kind else {
            return Ok(None);
        };
        resolved
            .decode(resolved.raw(), style, node.value.start)
            .map(Some)
    }

    pub(crate) fn decode(self, raw: &'d str, style: Style, start: u32) -> Result<Cow<'d, str>> {
        if let Some(text) = literally(raw, style) {
            return Ok(Cow::Borrowed(text));
        }
        self.decode_slowly(raw, style, start)
    }

    #[cold]
    fn decode_slowly(self, raw: &'d str, style: Style, start: u32) -> Result<Cow<'d, str>> {
        let decoded = match style {
            Style::DoubleQuoted if self.document.is_json => scalar::decode_json(raw),
            Style::Literal | Style::Folded => scalar::decode(raw, style, self.block_parent()),
            _ => scalar::decode(raw, style, None),
        };
        decoded.map_err(|error| {
            let at = start as usize + error.offset;
            Diagnostic::error(error.message)
                .at(self.document.place(at..at + 1))
                .into()
        })
    }

    /// The column a block scalar's own indentation counts from: that of the entry it is in.
    /// `None` for a document's root.
    pub(crate) fn block_parent(self) -> Option<usize> {
        let node = self.node();
        if node.key.is_empty() && node.key_kind == KeyKind::None {
            return None;
        }
        Some(self.document.column(node.entry as usize))
    }

    /// The entries of a mapping or the items of a sequence, as written: merge keys and duplicate
    /// keys included. An alias has those of the node it stands for.
    pub fn children(self) -> impl Iterator<Item = Self> {
        let resolved = self.resolved();
        resolved.document.children(resolved.id)
    }

    /// The entry with this key, the last one if there are several; looks through merge keys.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Self> {
        self.get_beside(key, &mut BTreeSet::new())
    }

    /// Looks in merged mappings too, but in none a second time.
    fn get_beside(self, key: &str, seen: &mut BTreeSet<NodeId>) -> Option<Self> {
        if !self.is_mapping() {
            return None;
        }
        let mut found = None;
        let mut merge = None;
        for entry in self.children() {
            if entry.is_merge_key() {
                merge = Some(entry);
            } else if entry.key().is_ok_and(|name| name == key) {
                found = Some(entry);
            }
        }
        let Some(merge) = merge.filter(|_| found.is_none()) else {
            return found;
        };
        let mut get = |map: Self| {
            let is_new = seen.insert(map.resolved().id);
            is_new.then(|| map.get_beside(key, seen)).flatten()
        };
        if merge.is_sequence() {
            merge.children().find_map(get)
        } else {
            get(merge)
        }
    }

    /// The entries with these keys, each as [`get`](Self::get) finds it, in one walk.
    #[must_use]
    pub fn get_all<const N: usize>(self, keys: [&str; N]) -> [Option<Self>; N] {
        let mut found = [None; N];
        if !self.is_mapping() {
            return found;
        }
        let mut merges = false;
        for entry in self.children() {
            let Ok(name) = entry.key() else { continue };
            merges |= name == "<<";
            let slot = keys.iter().position(|key| name == *key);
            if let Some(slot) = slot.and_then(|slot| found.get_mut(slot)) {
                *slot = Some(entry);
            }
        }
        if merges {
            for (slot, key) in found.iter_mut().zip(keys) {
                *slot = slot.or_else(|| self.get(key));
            }
        }
        found
    }

    /// Follows keys downwards: `at(["metadata", "name"])`.
    #[must_use]
    pub fn at<const N: usize>(self, keys: [&str; N]) -> Option<Self> {
        keys.iter().try_fold(self, |cursor, key| cursor.get(key))
    }

    /// The text of the scalar under these keys, if there is one.
    #[must_use]
    pub fn text_at<const N: usize>(self, keys: [&str; N]) -> Option<Cow<'d, str>> {
        self.at(keys)?.text().ok()?
    }
}

/// The text of a scalar that is written as it is read: on one line, in ASCII, without escapes.
fn literally(raw: &str, style: Style) -> Option<&str> {
    let (text, escape) = match style {
        Style::Plain => (raw, b'\n'),
        Style::DoubleQuoted => (raw.strip_prefix('"')?.strip_suffix('"')?, b'\\'),
        Style::SingleQuoted => (raw.strip_prefix('\'')?.strip_suffix('\'')?, b'\''),
        Style::Literal | Style::Folded => return None,
    };
    words::is_printable_without(text, escape).then_some(text)
}
