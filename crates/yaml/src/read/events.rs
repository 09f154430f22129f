//! Builds the table of nodes from the events of granit-parser.

use std::ops::Range;

use granit_parser::{Event, ScalarStyle, Span as EventSpan, StructureStyle};

use crate::lines::{byte_at, column, is_document_marker, skip_blank};
use crate::read::block::{block_end, block_header};
use crate::scalar::data::Style;
use crate::table::{Flags, KeyKind, Kind, NONE, Node, Span};

/// The owner of the anchor event that may follow.
#[derive(Clone, Copy)]
enum Last {
    Nothing,
    Key,
    Node(usize),
}

/// A node or a key with an anchor.
#[derive(Clone, Copy)]
struct Anchored {
    node: u32,
    /// Whether it is the key of the node.
    is_key: bool,
}

impl Anchored {
    const NOTHING: Self = Self { node: NONE, is_key: false };
}

struct Frame {
    node: usize,
    mapping: bool,
    flow: bool,
    /// The offset after the last token of this collection.
    cursor: usize,
    /// The last key, if its value is still to come.
    key: Option<Key>,
}

#[derive(Clone, Copy)]
struct Key {
    entry: u32,
    span: Span,
    kind: KeyKind,
}

/// The beginning of a node, from one event.
struct Start {
    kind: Kind,
    range: Range<usize>,
    tag: Option<Range<usize>>,
    target: u32,
    flow: bool,
}

impl Start {
    const fn new(kind: Kind, range: Range<usize>, tag: Option<Range<usize>>) -> Self {
        Self { kind, range, tag, target: NONE, flow: false }
    }

    /// Whether the text has no value there: the parser reports an empty one.
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
            let at =
                if absent { skip_separators(text, self.cursor, true) } else { start.range.start };
            return (None, at);
        }
        let dash = skip_blank(text, self.cursor);
        let span = to_span(&(dash..dash + 1));
        let key = Key { entry: span.start, span, kind: KeyKind::None };
        (Some(key), dash + 1)
    }
}

pub(crate) struct Builder<'t> {
    text: &'t str,
    pub(crate) nodes: Vec<Node>,
    pub(crate) roots: Vec<u32>,
    stack: Vec<Frame>,
    /// The node of each anchor id; ids count from 1, over all documents.
    anchors: Vec<Anchored>,
    /// The entries whose key is an alias, in order, each with the node that it refers to.
    pub(crate) key_targets: Vec<(u32, u32)>,
    last: Last,
    /// The depth inside of a collection that is a mapping's key.
    complex_depth: usize,
    /// The offset after the document before this one.
    document_end: usize,
}

impl<'t> Builder<'t> {
    pub(crate) const fn new(text: &'t str) -> Self {
        Self {
            text,
            nodes: Vec::new(),
            roots: Vec::new(),
            stack: Vec::new(),
            anchors: Vec::new(),
            key_targets: Vec::new(),
            last: Last::Nothing,
            complex_depth: 0,
            document_end: 0,
        }
    }
}

impl Builder<'_> {
    /// How many collections are around the next node.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len().saturating_sub(1) + self.complex_depth
    }

    pub(crate) fn event(&mut self, event: &Event<'_>, span: &EventSpan) {
        let range = span.byte_range().unwrap_or_default();
        if self.complex_depth > 0 {
            return self.complex_key(event, &range);
        }
        let tag = span.tag_span().and_then(|tag| tag.byte_range());
        match event {
            Event::Scalar(_, style, ..) => {
                self.node(Start::new(Kind::Scalar(style_of(*style)), range, tag));
            }
            Event::Alias(id) => self.alias(*id, range, tag),
            Event::SequenceStart(style, ..) => self.node(Start {
                flow: *style == StructureStyle::Flow,
                ..Start::new(Kind::Sequence, range, tag)
            }),
            Event::MappingStart(style, ..) => self.node(Start {
                flow: *style == StructureStyle::Flow,
                ..Start::new(Kind::Mapping, range, tag)
            }),
            Event::SequenceEnd | Event::MappingEnd => self.close(range),
            Event::Anchor(id, _) => self.anchor(*id, range),
            Event::DocumentEnd => self.document_end = range.end,
            Event::DocumentStart(explicit, _) => self.document(*explicit, &range),
            _ => {}
        }
    }

    /// The nodes that aliases refer to, in order, each with the alias or the entry of it.
    pub(crate) fn referred(&self) -> Vec<(u32, u32)> {
        let aliases = (0..).zip(&self.nodes);
        let aliases = aliases.filter(|(_, node)| node.kind == Kind::Alias);
        let aliases = aliases.map(|(at, node)| (node.target, at));
        let keys = self.key_targets.iter().map(|(at, target)| (*target, *at));
        let mut referred: Vec<(u32, u32)> = aliases.chain(keys).collect();
        referred.sort_unstable();
        referred
    }

    fn document(&mut self, explicit: bool, range: &Range<usize>) {
        self.stack.clear();
        self.last = Last::Nothing;
        self.stack.push(Frame {
            node: usize::MAX,
            mapping: false,
            flow: true,
            cursor: if explicit {
                range.end
            } else {
                // The range is that of the first token.
                skip_document_ends(self.text, self.document_end)
            },
            key: None,
        });
    }

    fn alias(&mut self, id: usize, range: Range<usize>, tag: Option<Range<usize>>) {
        let anchored = id.checked_sub(1).and_then(|index| self.anchors.get(index));
        let anchored = anchored.copied().unwrap_or(Anchored::NOTHING);
        self.node(Start { target: anchored.node, ..Start::new(Kind::Alias, range, tag) });
        if anchored.is_key {
            self.refer_to_key(anchored.node);
        } else if matches!(self.last, Last::Key) {
            let entry = to_u32(self.nodes.len());
            self.key_targets.push((entry, anchored.node));
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

    /// The key of a mapping entry: kept until its value is read.
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
            // Only after a `?`. The parser reports where the text begins, not the header.
            let header = block_header(text, from + 1);
            header..block_end(text, header, Some(column(text, from)))
        } else {
            start.range
        };
        let entry = if explicit { from } else { start.tag.map_or(range.start, |tag| tag.start) };
        let kind = match start.kind {
            Kind::Scalar(style) => KeyKind::Scalar(style),
            Kind::Alias => KeyKind::Alias,
            Kind::Mapping | Kind::Sequence | Kind::Deferred => KeyKind::Complex,
        };
        frame.key = Some(Key { entry: to_u32(entry), span: to_span(&range), kind });
        frame.cursor = range.end;
        self.last = Last::Key;
        if kind == KeyKind::Complex {
            self.complex_depth = 1;
        }
    }

    /// Adds the value of an entry, item or root to the table.
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
            // After the colon or dash, or after the tag if there is one.
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
            let after_tag = start.tag.map_or(slot, |tag| slot.max(tag.end));
            self.stack.push(Frame {
                node: id,
                mapping: start.kind == Kind::Mapping,
                flow: start.flow || in_flow,
                cursor: if start.flow { value.end } else { after_tag },
                key: None,
            });
        }
    }

    /// Records that the last alias refers to the key of a node. An alias that is a key itself has
    /// no node.
    fn refer_to_key(&mut self, target: u32) {
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
        let end = if range.is_empty() { frame.cursor } else { range.end };
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
                // The value that follows becomes the next node; the anchor is on its key.
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
                    *slot = Anchored { node: to_u32(index), is_key: false };
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

    /// Skips a collection used as a key; only its extent is kept.
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
                // The anchor of the key itself comes first; others are nested.
                key.entry = key.entry.min(to_u32(range.start));
            }
            key.span.end = key.span.end.max(to_u32(range.end));
            frame.cursor = key.span.end as usize;
        }
    }
}

const fn style_of(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::SingleQuoted => Style::SingleQuoted,
        ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
        ScalarStyle::Literal => Style::Literal,
        ScalarStyle::Folded => Style::Folded,
        ScalarStyle::Plain => Style::Plain,
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
    Span { start: to_u32(range.start), end: to_u32(range.end) }
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

/// Whether the indicator is at `at`, followed by white space.
fn starts_indicator(text: &str, at: usize, indicator: u8) -> bool {
    byte_at(text, at) == Some(indicator)
        && byte_at(text, at + 1).is_none_or(|byte| byte.is_ascii_whitespace())
}
