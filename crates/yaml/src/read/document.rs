//! The table of spans after a document, and the cursor that reads it.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::lines::after_line_break;
use crate::read::characters::Characters;
use crate::read::text::is_json;
use crate::scalar::data::Style;
use crate::source::{Place, Source};
use crate::table::{Flags, KeyKind, Kind, NONE, Node, NodeId, Span, Table};

/// A YAML or JSON text with the table of its nodes. The text is never copied or re-written:
/// reading slices it and writing edits it.
///
/// ```
/// use krm_yaml::Document;
/// use krm_yaml::source::Source;
///
/// let text = "kind: Service\n---\n# Empty.\n---\nkind: Deployment # the shop\n";
/// let document = Document::parse(&Source::new("shop.yaml", text))?;
/// let kinds = document.roots().filter_map(|root| root.text_at(["kind"]));
/// assert_eq!(kinds.collect::<Vec<_>>(), ["Service", "Deployment"]);
/// assert_eq!(document.text(), text);
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about the text, and they are independent"
)]
pub struct Document {
    pub(crate) source: Arc<Source>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) roots: Vec<u32>,
    /// The entries whose key is an alias, in order, each with the node that it refers to.
    pub(crate) key_targets: Vec<(u32, u32)>,
    /// The nodes that aliases refer to, in order, each with the alias or the entry of it.
    pub(crate) referred: Vec<(u32, u32)>,
    /// Whether a `%TAG` directive gives tags a meaning of their own.
    pub(crate) has_tag_directives: bool,
    /// Whether the text is JSON, and its strings follow the rules of JSON.
    pub(crate) is_json: bool,
    /// Whether a node has an anchor, to which an alias may refer.
    pub(crate) has_anchors: bool,
    /// Whether a fast path read it: so it has no aliases, merge keys and tags.
    pub(crate) is_simple: bool,
    /// The state of deferred items.
    pub(crate) deferred: Deferred,
}

/// Which items of long lists were opened.
#[derive(Debug, Default)]
pub(crate) struct Deferred {
    /// Which characters the text has.
    pub(crate) characters: Characters,
    /// For each node: whether it was opened.
    pub(crate) opened: Vec<AtomicBool>,
    /// Whether one of them needs the full path.
    pub(crate) failed: AtomicBool,
}

impl Document {
    /// The document that a fast path read.
    pub(crate) fn new(source: &Arc<Source>, table: Table) -> Self {
        Self {
            source: Arc::clone(source),
            is_json: is_json(source.text()),
            nodes: table.nodes,
            roots: table.roots,
            key_targets: Vec::new(),
            referred: Vec::new(),
            has_tag_directives: false,
            has_anchors: false,
            is_simple: true,
            deferred: Deferred::default(),
        }
    }

    /// Whether it has no aliases, merge keys and tags, as far as a fast path tells.
    #[doc(hidden)]
    pub const fn is_simple(&self) -> bool {
        self.is_simple
    }

    /// The text this was read from.
    pub const fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The source text, from the first byte to the last.
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
    pub fn slice(&self, range: Range<usize>) -> &str {
        self.text().get(range).unwrap_or_default()
    }

    pub(crate) fn place(&self, range: Range<usize>) -> Place {
        Place { source: Arc::clone(&self.source), range }
    }

    /// Bytes between the start of the line and `offset`.
    pub fn column(&self, offset: usize) -> usize {
        offset - self.line_start(offset)
    }

    /// Where the line begins that `offset` is on.
    pub fn line_start(&self, offset: usize) -> usize {
        self.source.line_start(offset)
    }

    /// The end of the line that `at` is on, before its line break.
    pub(crate) fn line_end(&self, at: usize) -> usize {
        self.source.line_end(at)
    }

    /// The start of the line after the one that `at` is on.
    pub(crate) fn next_line(&self, at: usize) -> usize {
        after_line_break(self.text(), self.line_end(at))
    }

    /// Length of the byte order mark the text begins with, if any.
    pub(crate) fn bom(&self) -> usize {
        if self.text().starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
    }

    /// Whether `offset` is neither in a scalar or key nor in braces.
    pub(crate) fn is_between_tokens(&self, offset: usize) -> bool {
        let after = self.nodes.partition_point(|node| node.entry as usize <= offset);
        let last = after.checked_sub(1).and_then(|last| self.nodes.get(last));
        last.is_none_or(|node| {
            let is_scalar = matches!(node.kind, Kind::Scalar(_));
            let is_in_value = is_scalar && node.value.range().contains(&offset);
            let is_in_key = node.key.range().contains(&offset);
            !is_in_value && !is_in_key && !node.has(Flags::FLOW) && !node.has(Flags::IN_FLOW)
        })
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
        Children { document: self, at: id.0.saturating_add(1), end: node.next }
    }
}

/// Iterates over a node's entries or items.
#[derive(Clone)]
pub(crate) struct Children<'d> {
    document: &'d Document,
    at: u32,
    end: u32,
}

impl<'d> Iterator for Children<'d> {
    type Item = Cursor<'d>;

    fn next(&mut self) -> Option<Cursor<'d>> {
        let nodes = self.document.nodes.as_slice();
        let node = nodes.get(self.at as usize).filter(|_| self.at < self.end)?;
        let cursor = self.document.cursor(NodeId(self.at));
        self.at = node.next;
        Some(cursor)
    }
}

/// A node together with its document: an entry of a mapping with its key, an item of a sequence, or a
/// root. It is small and copied.
///
/// ```
/// use krm_yaml::Document;
/// use krm_yaml::source::Source;
///
/// let text = "containers:\n- name: shop\n  image: 'shop:1' # tested\n";
/// let document = Document::parse(&Source::new("pod.yaml", text))?;
/// let root = document.roots().next().expect("not empty");
/// let image = root.lookup(&"containers[0].image".parse()?).expect("an image");
/// assert_eq!(image.key()?, "image");
/// assert_eq!(image.text()?.as_deref(), Some("shop:1"));
/// assert_eq!(image.raw(), "'shop:1'");
/// assert_eq!(image.place().to_text(), "pod.yaml:3:10");
/// # Ok::<(), Box<krm_yaml::diagnostic::Diagnostic>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'d> {
    pub(super) document: &'d Document,
    pub(super) id: NodeId,
}

impl<'d> Cursor<'d> {
    /// The node's name in its document.
    pub const fn id(self) -> NodeId {
        self.id
    }

    /// The document it belongs to.
    pub const fn document(self) -> &'d Document {
        self.document
    }

    pub(crate) fn node(self) -> &'d Node {
        self.document.node(self.id)
    }

    /// The node that an alias refers to; any other node itself.
    #[must_use]
    pub fn resolved(self) -> Self {
        let node = self.node();
        if node.kind == Kind::Alias && node.target != NONE && !node.has(Flags::OF_KEY) {
            self.document.cursor(NodeId(node.target))
        } else {
            self
        }
    }

    /// The entry whose key an alias refers to.
    pub(crate) fn entry_of_key(self) -> Option<Self> {
        let node = self.node();
        let is_of_key = node.kind == Kind::Alias && node.has(Flags::OF_KEY);
        is_of_key.then(|| self.document.cursor(NodeId(node.target)))
    }

    /// The kind of the node; for an alias, of the node that it refers to.
    pub fn kind(self) -> Kind {
        self.resolved().node().kind
    }

    /// Whether the value is a mapping.
    pub fn is_mapping(self) -> bool {
        self.kind() == Kind::Mapping
    }

    /// Whether the value is a sequence.
    pub fn is_sequence(self) -> bool {
        self.kind() == Kind::Sequence
    }

    /// Whether the value is a collection in braces or brackets, as in JSON.
    pub fn is_flow(self) -> bool {
        self.resolved().node().has(Flags::FLOW)
    }

    /// The value as written, with quotes and brackets.
    pub fn raw(self) -> &'d str {
        self.document.slice(self.node().value.range())
    }

    /// Where the entry, item or root begins: at its key, dash or value.
    pub fn start(self) -> usize {
        self.node().entry as usize
    }

    /// Where the value begins, with its anchor and tag.
    pub fn value_start(self) -> usize {
        self.node().props as usize
    }

    /// The offset after the last byte of the value.
    pub fn end(self) -> usize {
        self.node().value.end as usize
    }

    /// After the `:` of a mapping entry; without one, after the key.
    pub fn after_key(self) -> usize {
        let node = self.node();
        let end = node.key.end as usize;
        let between = self.document.slice(end..node.props as usize);
        between.find(':').map_or(end, |colon| end + colon + 1)
    }

    /// Where the keys and strings under this node may contain an ASCII character, in order: the
    /// offsets of the character, and of each `\`, which may begin an escape for it. `None` if an alias
    /// or a tag may stand for it.
    #[doc(hidden)]
    pub fn offsets_of(self, character: u8) -> Option<Vec<usize>> {
        /// The number of offsets that suffices for most objects.
        const OFFSETS: usize = 16;
        let start = self.start();
        let text = self.document.slice(start..self.end());
        if !self.document.is_simple {
            return None;
        }
        let mut offsets = Vec::with_capacity(OFFSETS);
        let found = memchr::memchr2_iter(character, b'\\', text.as_bytes());
        offsets.extend(found.map(|at| start + at));
        Some(offsets)
    }

    /// Where the value is; for an absent value, where its key or dash is.
    pub fn place(self) -> Place {
        let node = self.node();
        if node.value.is_empty() {
            self.key_place()
        } else {
            self.document.place(node.value.range())
        }
    }

    /// Where the key is; for an item, where its dash or value begins.
    pub fn key_place(self) -> Place {
        let node = self.node();
        let range = match node.key_kind {
            KeyKind::None if !node.value.is_empty() => node.value.range(),
            _ => node.key.range(),
        };
        self.document.place(range)
    }

    /// The entries of a mapping or the items of a sequence, as written: merge keys and duplicate
    /// keys included. An alias has those of the node that it refers to.
    pub fn children(self) -> impl Iterator<Item = Self> {
        let resolved = self.resolved();
        resolved.document.children(resolved.id)
    }
}
