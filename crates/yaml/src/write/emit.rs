//! Values written afresh, as block YAML, flow YAML or JSON.

use crate::read::document::Cursor;
use crate::read::parts::Parts;
use crate::read::view::{Seen, View};
use crate::scalar::data::Scalar;
use crate::scalar::{self, Context, Style};
use crate::table::{Kind, NodeId};
use crate::value::{Data, Value};

/// How block text is laid out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Columns that a nested mapping is indented by.
    pub(crate) unit: usize,
    /// Columns that a sequence under a key is indented by.
    pub(crate) sequence: usize,
    /// The line break: `\n` or `\r\n`.
    pub(crate) eol: &'static str,
    /// Whether texts are quoted instead of written as a block, because a block would include the
    /// lines that follow.
    pub(crate) quoted: bool,
}

impl Default for Layout {
    /// As kubectl, kustomize and kpt print: two columns, dashes below their key.
    fn default() -> Self {
        Self { unit: 2, sequence: 0, eol: "\n", quoted: false }
    }
}

/// The token before a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A key with its `:`.
    Entry,
    /// A dash of a block sequence.
    Item,
}

impl Layout {
    /// Writes a whole value as lines at `column`, the first of them without its indentation and
    /// the last without its line break.
    pub(crate) fn root(self, out: &mut String, value: &Value<'_>, column: usize) {
        match &value.data {
            Data::Mapping(entries) if !entries.is_empty() => self.mapping(out, entries, column),
            Data::Sequence(items) if !items.is_empty() => self.sequence(out, items, column),
            Data::Scalar(scalar) => {
                let body = column + self.unit;
                let keep = self.keep(scalar, None);
                scalar::write_scalar(out, scalar, Context::BlockValue, keep, body, self.eol);
            }
            _ => flow(out, value, Flow::Yaml),
        }
    }

    /// Writes the text after `key:` or `-` at `column`. It begins with a space or, for a value
    /// below, a line break, and has no line break at its end.
    pub(crate) fn after(
        self,
        out: &mut String,
        value: &Value<'_>,
        column: usize,
        slot: Slot,
        keep: Option<Style>,
    ) {
        match &value.data {
            Data::Scalar(scalar) => {
                out.push(' ');
                let body = column + if slot == Slot::Item { 2 } else { self.unit };
                let keep = self.keep(scalar, keep);
                scalar::write_scalar(out, scalar, Context::BlockValue, keep, body, self.eol);
            }
            Data::Mapping(entries) if !entries.is_empty() => {
                let inner = self.open(out, column, slot, self.unit);
                self.mapping(out, entries, inner);
            }
            Data::Sequence(items) if !items.is_empty() => {
                let inner = self.open(out, column, slot, self.sequence);
                self.sequence(out, items, inner);
            }
            Data::Mapping(_) => out.push_str(" {}"),
            Data::Sequence(_) => out.push_str(" []"),
        }
    }

    /// The style for a scalar: quotes if it cannot be a block.
    fn keep(self, scalar: &Scalar<'_>, keep: Option<Style>) -> Option<Style> {
        let has_lines = matches!(scalar, Scalar::String(text) if text.contains('\n'));
        let is_block = matches!(keep, Some(Style::Literal | Style::Folded));
        if self.quoted && (has_lines || is_block) { Some(Style::DoubleQuoted) } else { keep }
    }

    fn open(self, out: &mut String, column: usize, slot: Slot, below: usize) -> usize {
        match slot {
            Slot::Item => {
                out.push(' ');
                column + 2
            }
            Slot::Entry => {
                let inner = column + below;
                self.line(out, inner);
                inner
            }
        }
    }

    /// Begins a new line at `column`.
    pub(crate) fn line(self, out: &mut String, column: usize) {
        out.push_str(self.eol);
        indent(out, column);
    }

    fn mapping(
        self,
        out: &mut String,
        entries: &[(std::borrow::Cow<'_, str>, Value<'_>)],
        column: usize,
    ) {
        for (index, (key, value)) in entries.iter().enumerate() {
            if index > 0 {
                self.line(out, column);
            }
            self.entry(out, key, value, column);
        }
    }

    /// Writes `key: value` with the key at `column`, without indentation before it.
    pub(crate) fn entry(self, out: &mut String, key: &str, value: &Value<'_>, column: usize) {
        self.key(out, key, column);
        self.after(out, value, column, Slot::Entry, None);
    }

    /// Writes `key:`; one too long for YAML's implicit keys as `? key` and `:` below it.
    pub(crate) fn key(self, out: &mut String, key: &str, column: usize) {
        if scalar::key_needs_explicit(key) {
            self.explicit_key(out, key, column);
            self.line(out, column);
        } else {
            scalar::write_string(out, key, Context::Key, None, column + self.unit, self.eol);
        }
        out.push(':');
    }

    /// Writes `? key`, for keys that are too long for `key:`.
    pub(crate) fn explicit_key(self, out: &mut String, key: &str, column: usize) {
        out.push_str("? ");
        scalar::write_string(out, key, Context::Key, None, column + self.unit, self.eol);
    }

    fn sequence(self, out: &mut String, items: &[Value<'_>], column: usize) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.line(out, column);
            }
            out.push('-');
            self.after(out, item, column, Slot::Item, None);
        }
    }
}

pub(crate) fn indent(out: &mut String, columns: usize) {
    const SPACES: &str = "                                ";
    let mut left = columns;
    while let Some(rest) = left.checked_sub(SPACES.len()) {
        out.push_str(SPACES);
        left = rest;
    }
    out.push_str(SPACES.get(..left).unwrap_or_default());
}

/// How text in braces and brackets is written on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// YAML without needless quotes: `{a: b, c: d}`.
    Yaml,
    /// JSON with spaces: `{"a": "b", "c": "d"}`.
    Json,
    /// JSON without spaces: `{"a":"b","c":"d"}`.
    TightJson,
}

impl Flow {
    const fn comma(self) -> &'static str {
        match self {
            Self::TightJson => ",",
            Self::Yaml | Self::Json => ", ",
        }
    }
}

/// Writes a value on one line, in braces and brackets.
pub(crate) fn flow(out: &mut String, value: &Value<'_>, style: Flow) {
    match &value.data {
        Data::Scalar(Scalar::String(text)) if style != Flow::Yaml => {
            scalar::write_json_string(out, text);
        }
        Data::Scalar(scalar) => {
            scalar::write_scalar(out, scalar, Context::FlowValue, None, 0, "\n");
        }
        Data::Sequence(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(style.comma());
                }
                flow(out, item, style);
            }
            out.push(']');
        }
        Data::Mapping(entries) => {
            out.push('{');
            for (index, (key, value)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(style.comma());
                }
                flow_key(out, key, style);
                flow(out, value, style);
            }
            out.push('}');
        }
    }
}

/// Writes `key: ` for the inside of braces.
pub(crate) fn flow_key(out: &mut String, key: &str, style: Flow) {
    if style == Flow::Yaml {
        if scalar::key_needs_explicit(key) {
            out.push_str("? ");
        }
        scalar::write_string(out, key, Context::FlowKey, None, 0, "\n");
    } else {
        scalar::write_json_string(out, key);
    }
    out.push(':');
    if style != Flow::TightJson {
        out.push(' ');
    }
}

/// Writes a value as JSON. With `width`, each entry and item has a line of its own, `width` spaces
/// deeper than its collection; `depth` is the depth of the value itself.
pub fn json<'v>(out: &mut String, value: impl Into<View<'v>>, width: Option<usize>, depth: usize) {
    let mut json = Json { out, width };
    match value.into().seen() {
        Seen::Value(value) => json.value(value, depth),
        Seen::Node(node, parts) => {
            let values = parts.values();
            let from = values.partition_point(|(part, _)| *part < node.id());
            let values = &mut values.get(from..).unwrap_or_default();
            json.node(node, values, parts, depth);
        }
    }
}

struct Json<'o> {
    out: &'o mut String,
    width: Option<usize>,
}

impl Json<'_> {
    /// Writes a node with other values for some of its parts. Takes those that it writes from the
    /// front of `values`: none of these is before the node.
    fn node(
        &mut self,
        node: Cursor<'_>,
        values: &mut &[(NodeId, Value<'_>)],
        parts: &Parts<'_>,
        depth: usize,
    ) {
        if let Some(((part, value), rest)) = values.split_first()
            && *part == node.id()
        {
            *values = rest;
            return self.value(value, depth);
        }
        let (is_mapping, [open, close]) = match node.node().kind {
            Kind::Mapping => (true, BRACES),
            Kind::Sequence => (false, BRACKETS),
            _ => return self.node_scalar(node),
        };
        self.out.push(open);
        let mut is_empty = true;
        for child in node.document().children(node.id()) {
            self.next(is_empty, depth + 1);
            is_empty = false;
            if is_mapping {
                self.node_key(child);
            }
            self.node(child, values, parts, depth + 1);
        }
        for added in parts.added_to(node.id()) {
            self.next(is_empty, depth + 1);
            is_empty = false;
            scalar::write_json_string(self.out, &added.entry.key);
            self.colon();
            self.value(&added.entry.value, depth + 1);
        }
        self.close(close, is_empty, depth);
    }

    fn node_scalar(&mut self, node: Cursor<'_>) {
        match node.json_value() {
            Some(text) => self.out.push_str(text),
            None => self.scalar(&node.scalar().ok().flatten().unwrap_or(Scalar::Null)),
        }
    }

    fn node_key(&mut self, entry: Cursor<'_>) {
        if let Some(text) = entry.json_key() {
            self.out.push_str(text);
        } else if let Ok(key) = entry.key() {
            scalar::write_json_string(self.out, &key);
        } else {
            return;
        }
        self.colon();
    }

    fn value(&mut self, value: &Value<'_>, depth: usize) {
        match &value.data {
            Data::Scalar(scalar) => self.scalar(scalar),
            Data::Sequence(items) => {
                let [open, close] = BRACKETS;
                self.out.push(open);
                for (index, item) in items.iter().enumerate() {
                    self.next(index == 0, depth + 1);
                    self.value(item, depth + 1);
                }
                self.close(close, items.is_empty(), depth);
            }
            Data::Mapping(entries) => {
                let [open, close] = BRACES;
                self.out.push(open);
                for (index, (key, value)) in entries.iter().enumerate() {
                    self.next(index == 0, depth + 1);
                    scalar::write_json_string(self.out, key);
                    self.colon();
                    self.value(value, depth + 1);
                }
                self.close(close, entries.is_empty(), depth);
            }
        }
    }

    fn scalar(&mut self, scalar: &Scalar<'_>) {
        match scalar {
            Scalar::Null => self.out.push_str("null"),
            Scalar::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Scalar::Number(digits) => self.out.push_str(digits),
            Scalar::String(text) => scalar::write_json_string(self.out, text),
        }
    }

    fn colon(&mut self) {
        let colon = if self.width.is_some() { ": " } else { ":" };
        self.out.push_str(colon);
    }

    /// Begins an entry or item.
    fn next(&mut self, is_first: bool, depth: usize) {
        let commas = usize::from(!is_first);
        match self.width {
            Some(width) => self.line(commas, width * depth),
            None => self.out.extend((!is_first).then_some(',')),
        }
    }

    fn close(&mut self, close: char, is_empty: bool, depth: usize) {
        if let Some(width) = self.width.filter(|_| !is_empty) {
            self.line(0, width * depth);
        }
        self.out.push(close);
    }

    /// Begins a new line at `column`, after one comma or none.
    fn line(&mut self, commas: usize, column: usize) {
        const LINE: &str = ",\n                                                                ";
        let from = 1_usize.saturating_sub(commas);
        if let Some(line) = LINE.get(from..column.saturating_add(2)) {
            self.out.push_str(line);
        } else {
            self.out.push_str(LINE.get(from..2).unwrap_or_default());
            indent(self.out, column);
        }
    }
}

const BRACES: [char; 2] = ['{', '}'];
const BRACKETS: [char; 2] = ['[', ']'];

impl Value<'_> {
    /// The data as JSON on one line.
    pub fn to_json(&self) -> String {
        View::from(self).to_json()
    }
}

impl View<'_> {
    /// The data as JSON on one line.
    pub fn to_json(self) -> String {
        let mut out = String::new();
        json(&mut out, self, None, 0);
        out
    }
}
