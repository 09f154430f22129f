//! The full path: granit-parser's events become the table of spans.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use granit_parser::{
    Event, Parser, ScalarStyle, ScanError, Span as EventSpan, StructureStyle, options,
};

use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::read::document::{Deferred, Document, Flags, KeyKind, Kind, NONE, Node, Span};
use crate::read::hints::syntax_hint;
use crate::read::spelling::Respelled;
use crate::read::values::check_merges;
use crate::read::{json, scan, strict};
use crate::scalar::Style;
use crate::source::{Place, Source};
use crate::table::Table;

/// How deep collections may be nested in one another.
pub const MAX_DEPTH: usize = 1_000;

/// The longest text that is read, in bytes: offsets must fit 32 bits.
pub const MAX_LENGTH: usize = u32::MAX as usize - 1;

/// The longest key without a `?` before it, in characters: readers look no further for its colon.
pub const MAX_KEY_LENGTH: usize = 1_024;

impl Document {
    /// Reads a YAML stream or a JSON text.
    ///
    /// # Errors
    /// If the text is not YAML; at the place where reading stopped.
    pub fn parse(source: &Arc<Source>) -> Result<Self> {
        check_text(source)?;
        let text = source.text();
        match fast(text) {
            Some(table) => Ok(Self::new(source, table)),
            None => Self::parse_fully(source),
        }
    }

    /// Calls `read` with the document that `source` holds. The items of its long lists are to be
    /// [opened](Cursor::open): they have tables of their own, which take memory only while they
    /// are looked at. Should one of them turn out to need the full path, `read` is called again
    /// with a document that is read as a whole.
    ///
    /// # Errors
    /// If the text is not YAML.
    pub fn read_with<T>(source: &Arc<Source>, read: impl Fn(&Self) -> T) -> Result<T> {
        let document = Self::open(source)?;
        let result = read(&document);
        if document.is_sound() {
            return Ok(result);
        }
        drop(document);
        Self::parse(source).map(|document| read(&document))
    }

    /// The same for several texts, whose documents are there together. If an item of any needs the
    /// full path, `read` is called a second time, with all texts read as a whole.
    ///
    /// # Errors
    /// If a text is not YAML; with the errors of all texts.
    pub fn read_all_with<T>(
        sources: &[Arc<Source>],
        read: impl Fn(&[Self]) -> T,
    ) -> Result<T, Diagnostics> {
        let opened: Result<Vec<Self>> = sources.iter().map(Self::open).collect();
        if let Ok(documents) = opened {
            let result = read(&documents);
            if documents.iter().all(Self::is_sound) {
                return Ok(result);
            }
        }
        let mut errors = Diagnostics::new();
        let parsed = sources.iter().map(Self::parse);
        let documents: Vec<Self> = parsed.filter_map(|one| errors.take(one)).collect();
        if errors.has_errors() {
            return Err(errors);
        }
        Ok(read(&documents))
    }

    /// Reads a text, but of the items of its long lists only the extent if a fast path can do so.
    fn open(source: &Arc<Source>) -> Result<Self> {
        check_text(source)?;
        if !is_json(source.text())
            && let Some(table) = scan::scan_shallowly(source.text())
        {
            let mut document = Self::new(source, table);
            let opened = &mut document.deferred.opened;
            opened.resize_with(document.nodes.len(), AtomicBool::default);
            return Ok(document);
        }
        Self::parse(source)
    }

    /// The document that a fast path read.
    pub(crate) fn new(source: &Arc<Source>, table: Table) -> Self {
        Self {
            source: Arc::clone(source),
            is_json: is_json(source.text()),
            nodes: table.nodes,
            roots: table.roots,
            has_tag_directives: false,
            has_anchors: false,
            deferred: Deferred::default(),
        }
    }

    /// Reads what is not [plain block YAML](scan) or [JSON](json).
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub(crate) fn parse_fully(source: &Arc<Source>) -> Result<Self> {
        strict::check_characters(source)?;
        let error = match Self::parse_as(source, source.text()) {
            Ok(document) => return Ok(document),
            Err(error) => error,
        };
        let Some(respelled) = Respelled::new(source.text()) else {
            return Err(error);
        };
        match Self::parse_as(source, &respelled.text) {
            Ok(document) if respelled.is_confirmed(&document) => Ok(document),
            // What is wrong further down is the real error.
            Err(other) if start_of(&other) > start_of(&error) => Err(other),
            _ => Err(error),
        }
    }

    /// Reads `text`, in which some of the source may be spelled otherwise.
    fn parse_as(source: &Arc<Source>, text: &str) -> Result<Self> {
        let options = options! {
            emit_anchor_events: true,
            emit_comments: false,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
            simple_key_max_lookahead: if text.trim_start().starts_with(['{', '[']) { usize::MAX } else { MAX_KEY_LENGTH },
        };
        let mut builder = Builder::new(text);
        for event in Parser::new_from_str_with_options(text, options) {
            let (event, span) = event.map_err(|error| syntax_error(source, &error))?;
            builder.event(&event, &span);
            if let (Event::Anchor(..) | Event::Alias(_), Some(range)) = (&event, span.byte_range())
            {
                strict::check_name(source, range)?;
            }
            if let Some(tag) = span.tag_span().and_then(|tag| tag.byte_range()) {
                strict::check_tag(source, tag)?;
            }
            // The parser's own limits are one for braces and one for blocks.
            if builder.depth() > MAX_DEPTH {
                let at = span.byte_range().unwrap_or_default().start;
                return Err(too_deep(source, at));
            }
        }
        let has_anchors = builder.nodes.iter().any(Node::is_anchored);
        let document = Self {
            source: Arc::clone(source),
            is_json: false,
            has_anchors,
            deferred: Deferred::default(),
            nodes: builder.nodes,
            roots: builder.roots,
            has_tag_directives: memchr::memmem::find(text.as_bytes(), b"%TAG").is_some(),
        };
        strict::check(&document)?;
        check_merges(&document)?;
        Ok(document)
    }
}

/// Where an error is.
fn start_of(error: &Diagnostic) -> Option<usize> {
    error.place.as_ref().map(|place| place.range.start)
}

/// The table, if a fast path can read the text.
pub(crate) fn fast(text: &str) -> Option<Table> {
    if is_json(text) {
        json::scan(text)
    } else {
        scan::scan(text)
    }
}

/// Whether a text that a fast path takes is JSON.
pub(crate) fn is_json(text: &str) -> bool {
    let first = text.trim_start_matches('\u{feff}').trim_ascii_start();
    first.starts_with(['{', '['])
}

/// Refuses what no YAML reader of Kubernetes takes, whatever the context it stands in.
pub(crate) fn check_text(source: &Arc<Source>) -> Result<()> {
    check_length(source, MAX_LENGTH)?;
    let text = source.text();
    let Some(at) = forbidden(text.as_bytes()) else {
        return Ok(());
    };
    let byte = text.as_bytes().get(at).copied().unwrap_or_default();
    if byte == DELETE && is_json(text) && json::scan(text).is_some() {
        // JSON strings may have it, and no other control character.
        return Ok(());
    }
    let place = Place {
        source: Arc::clone(source),
        range: at..at + 1,
    };
    let message = format!("control character U+{byte:04X} is not allowed in YAML");
    Err(Diagnostic::error(message)
        .at(place)
        .hint(if byte == 0 && at == 1 {
            "the text looks like UTF-16: save it as UTF-8".to_owned()
        } else {
            format!("in a double-quoted string, write it as `\\x{byte:02X}`")
        })
        .into())
}

/// Refuses a text of more than `limit` bytes.
pub(crate) fn check_length(source: &Source, limit: usize) -> Result<()> {
    let length = source.text().len();
    if length <= limit {
        return Ok(());
    }
    let name = source.name();
    let message =
        format!("`{name}` is {length} bytes long, more than the {limit} that can be read");
    Err(Diagnostic::error(message).into())
}

/// The control character behind those that are printed.
const DELETE: u8 = 0x7f;

/// The first control character that is neither a tab nor part of a line break.
fn forbidden(bytes: &[u8]) -> Option<usize> {
    /// So many bytes are looked at together, which the compiler turns into a few instructions.
    const BLOCK: usize = 128;
    let is_forbidden = |byte: u8| {
        (byte < 0x20 && byte != b'\t' && byte != b'\n' && byte != b'\r') || byte == DELETE
    };
    let block = bytes.chunks(BLOCK).position(|block| {
        block
            .iter()
            .fold(false, |any, &byte| any | is_forbidden(byte))
    })?;
    let rest = bytes.get(block * BLOCK..)?;
    rest.iter()
        .position(|&byte| is_forbidden(byte))
        .map(|at| block * BLOCK + at)
}

fn syntax_error(source: &Arc<Source>, error: &ScanError) -> Box<Diagnostic> {
    let at = error
        .marker()
        .byte_offset()
        .unwrap_or_default()
        .min(source.text().len());
    let text = error.info();
    if text.contains("nesting") || text.contains("recursion") {
        return too_deep(source, at);
    }
    let place = Place {
        source: Arc::clone(source),
        range: at..at + 1,
    };
    if let Some(key) = long_key(source.text(), at) {
        let place = Place {
            range: key,
            ..place
        };
        let message = format!("a key is longer than {MAX_KEY_LENGTH} characters");
        return Diagnostic::error(message)
            .at(place)
            .hint("write `? key` and, on the next line, `: value`")
            .into();
    }
    Diagnostic::error(format!("not valid YAML: {text}"))
        .maybe_hint(syntax_hint(&text, source.text(), at).map(str::to_owned))
        .at(place)
        .into()
}

/// Where the key of the line is that an error is reported on, if it is too long.
fn long_key(text: &str, at: usize) -> Option<Range<usize>> {
    let before = text.get(..at)?;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(start..line_end(text, at))?;
    let key = line.trim_start_matches([' ', '-']);
    let from = start + line.len() - key.len();
    let colon = key
        .find(": ")
        .or_else(|| key.strip_suffix(':').map(str::len))?;
    let length = key.get(..colon)?.chars().count();
    (length > MAX_KEY_LENGTH).then(|| from..from + colon)
}

fn too_deep(source: &Arc<Source>, at: usize) -> Box<Diagnostic> {
    let place = Place {
        source: Arc::clone(source),
        range: at..at + 1,
    };
    Diagnostic::error(format!(
        "collections are nested more than {MAX_DEPTH} levels deep"
    ))
    .at(place)
    .hint("no Kubernetes object is that deep: is this generated by mistake?")
    .into()
}

/// What the anchor event that may follow belongs to.
#[derive(Clone, Copy)]
enum Last {
    Nothing,
    Key,
    Node(usize),
}

/// What has an anchor.
#[derive(Clone, Copy)]
struct Anchored {
    node: u32,
    /// Whether it is the key of the node.
    is_key: bool,
}

impl Anchored {
    const NOTHING: Self = Self {
        node: NONE,
        is_key: false,
    };
}

struct Frame {
    node: usize,
    mapping: bool,
    flow: bool,
    /// Behind the last token of this collection.
    cursor: usize,
    /// The key read, whose value is still to come.
    key: Option<Key>,
}

#[derive(Clone, Copy)]
struct Key {
    entry: u32,
    span: Span,
    kind: KeyKind,
}

/// What an event begins.
struct Start {
    kind: Kind,
    range: Range<usize>,
    tag: Option<Range<usize>>,
    target: u32,
    flow: bool,
}

impl Start {
    /// Whether nothing is written there: the parser makes such a null up.
    fn is_absent(&self) -> bool {
        self.kind == Kind::Scalar(Style::Plain) && self.range.is_empty()
    }
}

impl Frame {
    const fn is_root(&self) -> bool {
        self.node == usize::MAX
    }

    /// The key or dash of the value that begins, and where the value may begin.
    fn slot(&mut self, text: &str, start: &Start) -> (Option<Key>, usize) {
        if let Some(key) = self.key.take() {
            let colon = skip_blank(text, self.cursor);
            // In a block, the next key may begin with a colon.
            let has_colon = starts_indicator(text, colon, b':')
                || (self.flow && byte_at(text, colon) == Some(b':'));
            return (Some(key), if has_colon { colon + 1 } else { self.cursor });
        }
        if self.is_root() {
            return (None, self.cursor);
        }
        if self.flow {
            let absent = start.is_absent();
            let at = if absent {
                skip_separators(text, self.cursor, true)
            } else {
                start.range.start
            };
            return (None, at);
        }
        let dash = skip_blank(text, self.cursor);
        let span = to_span(&(dash..dash + 1));
        let key = Key {
            entry: span.start,
            span,
            kind: KeyKind::None,
        };
        (Some(key), dash + 1)
    }
}

struct Builder<'t> {
    text: &'t str,
    nodes: Vec<Node>,
    roots: Vec<u32>,
    stack: Vec<Frame>,
    /// The node of each anchor id; ids count from 1.
    anchors: Vec<Anchored>,
    last: Last,
    /// How deep inside a collection that is a mapping's key.
    complex_depth: usize,
    /// Behind the document before this one.
    document_end: usize,
}

impl<'t> Builder<'t> {
    const fn new(text: &'t str) -> Self {
        Self {
            text,
            nodes: Vec::new(),
            roots: Vec::new(),
            stack: Vec::new(),
            anchors: Vec::new(),
            last: Last::Nothing,
            complex_depth: 0,
            document_end: 0,
        }
    }
}

impl Builder<'_> {
    /// How many collections are around the next node.
    fn depth(&self) -> usize {
        self.stack.len().saturating_sub(1) + self.complex_depth
    }

    fn event(&mut self, event: &Event<'_>, span: &EventSpan) {
        let range = span.byte_range().unwrap_or_default();
        if self.complex_depth > 0 {
            return self.complex_key(event, &range);
        }
        let tag = span.tag_span().and_then(|tag| tag.byte_range());
        match event {
            Event::Scalar(_, style, _, _) => {
                let style = match style {
                    ScalarStyle::SingleQuoted => Style::SingleQuoted,
                    ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
                    ScalarStyle::Literal => Style::Literal,
                    ScalarStyle::Folded => Style::Folded,
                    ScalarStyle::Plain => Style::Plain,
                };
                self.node(Start {
                    kind: Kind::Scalar(style),
                    range,
                    tag,
                    target: NONE,
                    flow: false,
                });
            }
            Event::Alias(id) => {
                let anchored = id.checked_sub(1).and_then(|index| self.anchors.get(index));
                let anchored = anchored.copied().unwrap_or(Anchored::NOTHING);
                self.node(Start {
                    kind: Kind::Alias,
                    range,
                    tag,
                    target: anchored.node,
                    flow: false,
                });
                if anchored.is_key {
                    self.stand_for_key(anchored.node);
                }
            }
            Event::SequenceStart(style, ..) => {
                let flow = *style == StructureStyle::Flow;
                self.node(Start {
                    kind: Kind::Sequence,
                    range,
                    tag,
                    target: NONE,
                    flow,
                });
            }
            Event::MappingStart(style, ..) => {
                let flow = *style == StructureStyle::Flow;
                self.node(Start {
                    kind: Kind::Mapping,
                    range,
                    tag,
                    target: NONE,
                    flow,
                });
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(range),
            Event::Anchor(id, _) => self.anchor(*id, range),
            Event::DocumentEnd => self.document_end = range.end,
            Event::DocumentStart(explicit, _) => {
                self.anchors.clear();
                self.stack.clear();
                self.last = Last::Nothing;
                self.stack.push(Frame {
                    node: usize::MAX,
                    mapping: false,
                    flow: true,
                    cursor: if *explicit {
                        range.end
                    } else {
                        // The range is that of the first token.
                        skip_document_ends(self.text, self.document_end)
                    },
                    key: None,
                });
            }
            _ => {}
        }
    }

    /// A scalar, an alias or the start of a collection.
    fn node(&mut self, start: Start) {
        let Some(frame) = self.stack.last() else {
            return;
        };
        if frame.mapping && frame.key.is_none() {
            self.key(start);
        } else {
            self.value(start);
        }
    }

    /// The key of a mapping entry: kept until its value comes.
    fn key(&mut self, start: Start) {
        let text = self.text;
        let Some(frame) = self.stack.last_mut() else {
            return;
        };
        let from = skip_separators(text, frame.cursor, frame.flow);
        let explicit = starts_indicator(text, from, b'?');
        let range = if start.is_absent() {
            let at = match &start.tag {
                Some(tag) => tag.end,
                None => from + usize::from(explicit),
            };
            at..at
        } else if matches!(start.kind, Kind::Scalar(Style::Literal | Style::Folded)) {
            // Only behind a `?`. The parser reports where the text begins, not the header.
            let header = block_header(text, from + 1);
            header..block_end(text, header, Some(column(text, from)))
        } else {
            start.range
        };
        let entry = if explicit {
            from
        } else {
            start.tag.map_or(range.start, |tag| tag.start)
        };
        let kind = match start.kind {
            Kind::Scalar(style) => KeyKind::Scalar(style),
            Kind::Alias => KeyKind::Alias,
            Kind::Mapping | Kind::Sequence | Kind::Deferred => KeyKind::Complex,
        };
        frame.key = Some(Key {
            entry: to_u32(entry),
            span: to_span(&range),
            kind,
        });
        frame.cursor = range.end;
        self.last = Last::Key;
        if kind == KeyKind::Complex {
            self.complex_depth = 1;
        }
    }

    /// What an entry, item or root holds: the table gets its node.
    fn value(&mut self, start: Start) {
        let text = self.text;
        let Some(frame) = self.stack.last_mut() else {
            return;
        };
        let is_root = frame.is_root();
        let in_flow = frame.flow && !is_root;
        let (key, slot) = frame.slot(text, &start);
        let props = start.tag.as_ref().map(|tag| tag.start);
        let value = match start.kind {
            Kind::Scalar(Style::Literal | Style::Folded) => {
                let header = block_header(text, props.unwrap_or(slot));
                let parent = key.map(|key| column(text, key.entry as usize));
                header..block_end(text, header, parent)
            }
            // Behind the colon or dash, or behind the tag if there is one.
            _ if start.is_absent() && props.is_none() => slot..slot,
            _ => start.range.clone(),
        };
        let props = to_u32(props.unwrap_or(value.start));
        let id = self.nodes.len();
        self.nodes.push(Node {
            entry: key.map_or(props, |key| key.entry),
            key: key.map_or(Span::empty(props), |key| key.span),
            value: to_span(&value),
            props,
            next: to_u32(id + 1),
            target: start.target,
            kind: start.kind,
            key_kind: key.map_or(KeyKind::None, |key| key.kind),
            flags: Flags::default()
                .with(Flags::FLOW, start.flow)
                .with(Flags::IN_FLOW, in_flow)
                .with(Flags::TAG, start.tag.is_some()),
        });
        frame.cursor = value.end;
        if is_root && !(start.is_absent() && start.tag.is_none()) {
            self.roots.push(to_u32(id));
        }
        self.last = Last::Node(id);
        if matches!(start.kind, Kind::Mapping | Kind::Sequence) {
            let behind_tag = start.tag.map_or(slot, |tag| slot.max(tag.end));
            self.stack.push(Frame {
                node: id,
                mapping: start.kind == Kind::Mapping,
                flow: start.flow || in_flow,
                cursor: if start.flow { value.end } else { behind_tag },
                key: None,
            });
        }
    }

    /// Takes note that the alias just read stands for the key of a node. One that is a key itself
    /// has no node.
    fn stand_for_key(&mut self, target: u32) {
        let Last::Node(alias) = self.last else { return };
        if let Some(node) = self.nodes.get_mut(alias) {
            node.flags = node.flags.with(Flags::OF_KEY, true);
        }
        if let Some(node) = self.nodes.get_mut(target as usize) {
            node.flags = node.flags.with(Flags::KEY_ANCHOR, true);
        }
    }

    fn close(&mut self, range: Range<usize>) {
        let Some(frame) = self.stack.pop() else {
            return;
        };
        let next = to_u32(self.nodes.len());
        let first = self.nodes.get(frame.node + 1).map(|child| child.entry);
        let Some(node) = self.nodes.get_mut(frame.node) else {
            return;
        };
        node.next = next;
        let end = if range.is_empty() {
            frame.cursor
        } else {
            range.end
        };
        if node.value.is_empty() {
            // Block collections, and `[a: b]`: from the first entry to the end of the last.
            if let Some(first) = first.filter(|_| next as usize > frame.node + 1) {
                let bare = node.props == node.value.start;
                node.value.start = first;
                if bare {
                    node.props = first;
                }
            }
        }
        node.value.end = to_u32(end);
        if node.key_kind == KeyKind::None && node.key.is_empty() {
            node.entry = node.props;
            node.key = Span::empty(node.entry);
        }
        if let Some(parent) = self.stack.last_mut() {
            parent.cursor = end;
        }
    }

    fn anchor(&mut self, id: usize, range: Range<usize>) {
        if self.anchors.len() < id {
            self.anchors.resize(id, Anchored::NOTHING);
        }
        match self.last {
            Last::Key => {
                // The value that follows becomes the next node; its key is what is anchored.
                let node = to_u32(self.nodes.len());
                if let Some(slot) = id.checked_sub(1).and_then(|at| self.anchors.get_mut(at)) {
                    *slot = Anchored { node, is_key: true };
                }
                if let Some(frame) = self.stack.last_mut()
                    && let Some(key) = &mut frame.key
                {
                    key.entry = key.entry.min(to_u32(range.start));
                    if key.span.is_empty() {
                        key.span = Span::empty(key.span.end.max(to_u32(range.end)));
                        frame.cursor = key.span.end as usize;
                    }
                }
            }
            Last::Node(index) => {
                if let Some(slot) = id.checked_sub(1).and_then(|at| self.anchors.get_mut(at)) {
                    *slot = Anchored {
                        node: to_u32(index),
                        is_key: false,
                    };
                }
                let text_end = range.end;
                let Some(node) = self.nodes.get_mut(index) else {
                    return;
                };
                let start = to_u32(range.start);
                let tagged = node.has(Flags::TAG);
                node.flags = node.flags.with(Flags::ANCHOR, true);
                node.props = if tagged { node.props.min(start) } else { start };
                if node.value.is_empty() && (node.value.start as usize) < text_end {
                    node.value = Span::empty(to_u32(text_end));
                }
                if let Some(frame) = self.stack.last_mut() {
                    frame.cursor = frame.cursor.max(text_end);
                }
                if node.key_kind == KeyKind::None && node.key.is_empty() {
                    node.entry = node.props;
                    node.key = Span::empty(node.entry);
                }
                if matches!(node.kind, Kind::Scalar(Style::Literal | Style::Folded)) {
                    let header = block_header(self.text, text_end);
                    node.value.start = node.value.start.max(to_u32(header));
                }
            }
            Last::Nothing => {}
        }
        self.last = Last::Nothing;
    }

    /// Passes over a collection used as a key; only its extent is kept.
    fn complex_key(&mut self, event: &Event<'_>, range: &Range<usize>) {
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => self.complex_depth += 1,
            Event::SequenceEnd | Event::MappingEnd => self.complex_depth -= 1,
            _ => {}
        }
        if let Some(frame) = self.stack.last_mut()
            && let Some(key) = &mut frame.key
        {
            if matches!(event, Event::Anchor(..)) {
                // That of the key itself comes first; others stand further in.
                key.entry = key.entry.min(to_u32(range.start));
            }
            key.span.end = key.span.end.max(to_u32(range.end));
            frame.cursor = key.span.end as usize;
        }
    }
}

const fn to_u32(offset: usize) -> u32 {
    // INVARIANT: `check_text` admits no text longer than `u32::MAX`.
    #[expect(clippy::cast_possible_truncation, reason = "bounded by MAX_LENGTH")]
    {
        offset as u32
    }
}

const fn to_span(range: &Range<usize>) -> Span {
    Span {
        start: to_u32(range.start),
        end: to_u32(range.end),
    }
}

pub(crate) fn byte_at(text: &str, at: usize) -> Option<u8> {
    text.as_bytes().get(at).copied()
}

pub(crate) fn column(text: &str, offset: usize) -> usize {
    offset - line_start(text, offset)
}

/// Where the line begins that `offset` is on; behind a byte order mark, if there is one.
pub(crate) fn line_start(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or_default();
    let start = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |newline| newline + 1);
    let has_mark = before
        .get(start..)
        .is_some_and(|line| line.starts_with(BYTE_ORDER_MARK.as_bytes()));
    start + if has_mark { BYTE_ORDER_MARK.len() } else { 0 }
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Whether a byte order mark begins a line at `at`.
fn is_mark(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    rest.starts_with(BYTE_ORDER_MARK) && (at == 0 || ends_line(text, at))
}

/// Skips white space, line breaks and comments between tokens.
pub(crate) fn skip_blank(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\r' | b'\n') => at += 1,
            Some(b'#') => at = line_end(text, at),
            Some(0xEF) if is_mark(text, at) => at += BYTE_ORDER_MARK.len(),
            _ => return at,
        }
    }
}

/// Skips the `...` of documents that are not there.
fn skip_document_ends(text: &str, from: usize) -> usize {
    let mut end = from;
    loop {
        let at = skip_blank(text, end);
        let is_end = |line: &str| line.starts_with('.') && is_document_marker(line);
        if column(text, at) > 0 || !text.get(at..).is_some_and(is_end) {
            return end;
        }
        end = at + 3;
    }
}

/// Skips what separates the entries of a flow collection.
fn skip_separators(text: &str, from: usize, flow: bool) -> usize {
    let mut at = skip_blank(text, from);
    while flow && byte_at(text, at) == Some(b',') {
        at = skip_blank(text, at + 1);
    }
    at
}

/// Whether the indicator stands at `at`, followed by white space.
fn starts_indicator(text: &str, at: usize, indicator: u8) -> bool {
    byte_at(text, at) == Some(indicator)
        && byte_at(text, at + 1).is_none_or(|byte| byte.is_ascii_whitespace())
}

/// The end of the line that `at` is on, before its line break.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    memchr::memchr2(b'\n', b'\r', rest).map_or(text.len(), |end| at + end)
}

/// The start of the line behind the one that `at` is on.
#[must_use]
pub fn next_line(text: &str, at: usize) -> usize {
    let end = line_end(text, at);
    let rest = text.as_bytes().get(end..).unwrap_or_default();
    match rest {
        [b'\r', b'\n', ..] => end + 2,
        [_, ..] => end + 1,
        [] => end,
    }
}

/// Whether a line ends before `at`.
#[must_use]
pub fn ends_line(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    before.ends_with(['\n', '\r'])
}

/// The lines of a text without their line breaks, of which a lone carriage return is one too.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        at = next_line(text, start);
        (at > start).then(|| text.get(start..line_end(text, start)).unwrap_or_default())
    })
}

/// Finds the `|` or `>` behind anchors and tags.
fn block_header(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = skip_blank(text, from);
    while matches!(bytes.get(at), Some(b'&' | b'!')) {
        while bytes
            .get(at)
            .is_some_and(|byte| !byte.is_ascii_whitespace())
        {
            at += 1;
        }
        at = skip_blank(text, at);
    }
    at
}

/// Where the block scalar that begins at `header` ends: behind the line break of its last line.
/// Blank lines at its end belong to it only if it keeps them (`|+`).
pub(crate) fn block_end(text: &str, header: usize, parent: Option<usize>) -> usize {
    let bytes = text.as_bytes();
    let header_end = line_end(text, header);
    let mut indicator = None;
    let mut keep = false;
    let mut indicators_end = header + 1;
    while let Some(&byte) = bytes.get(indicators_end) {
        match byte {
            b'+' => keep = true,
            b'-' => {}
            b'1'..=b'9' => indicator = Some(usize::from(byte - b'0')),
            _ => break,
        }
        indicators_end += 1;
    }
    let least = parent.map_or(0, |column| column + 1);
    let mut indentation = indicator.map(|count| parent.unwrap_or(0) + count);
    let mut at = next_line(text, header_end);
    let mut end = None;
    while at < text.len() {
        let after = next_line(text, at);
        let spaces = bytes
            .get(at..after)
            .unwrap_or_default()
            .iter()
            .take_while(|&&byte| byte == b' ')
            .count();
        let blank = matches!(bytes.get(at + spaces), None | Some(b'\n' | b'\r'));
        let content = match indentation {
            Some(indentation) => spaces >= indentation && (!blank || spaces > indentation),
            None => !blank && spaces >= least,
        };
        if content {
            if at_document_marker(text, at, after) {
                break;
            }
            indentation.get_or_insert(spaces);
            end = Some(after);
        } else if !blank {
            break;
        } else if keep {
            end = Some(after);
        }
        at = after;
    }
    end.unwrap_or(indicators_end)
}

/// Whether the line is `---` or `...`, which ends a scalar even without indentation.
fn at_document_marker(text: &str, start: usize, end: usize) -> bool {
    is_document_marker(text.get(start..end).unwrap_or_default())
}

/// Whether a line begins or ends a document.
pub(crate) fn is_document_marker(line: &str) -> bool {
    (line.starts_with("---") || line.starts_with("..."))
        && line.as_bytes().get(3).is_none_or(u8::is_ascii_whitespace)
}

/// Whether a reader takes a line for the start or end of a document: kubectl and kustomize do so
/// with each that begins with `---`.
pub(crate) fn may_end_document(line: &str) -> bool {
    let is_end = line.strip_prefix("...").is_some_and(|rest| {
        let next = rest.chars().next();
        next.is_none_or(|c| c.is_ascii_whitespace() || "\u{85}\u{2028}\u{2029}".contains(c))
    });
    is_end || line.starts_with("---")
}
