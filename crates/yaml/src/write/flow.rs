//! Edits inside braces and brackets, in the style of their neighbours.

use crate::lines::{byte_at, skip_blank};
use crate::read::characters::Characters;
use crate::read::json;
use crate::scalar::data::Scalar;
use crate::scalar::{self, Context, Style};
use crate::table::{Flags, KeyKind, Kind, Node, NodeId};
use crate::value::{Data, Value};
use crate::write::comments::{head, rest_is_blank};
use crate::write::emit::{self, Flow};
use crate::write::kept::{Kept, Side};
use crate::write::rewrite::Rewrite;

impl Rewrite<'_> {
    /// Removes children in braces or brackets, with a comma. If something is put in their place,
    /// no line of theirs stays.
    pub(super) fn remove_in_flow(
        &mut self,
        before: Option<NodeId>,
        first: NodeId,
        last: NodeId,
        after: Option<NodeId>,
        is_filled: bool,
    ) {
        let document = self.document;
        let text = document.text();
        let start = document.node(first).entry as usize;
        let end = document.node(last).value.end as usize;
        let keeps_comma = after.is_none() && before.is_some_and(|before| self.needs_comma(before));
        let comma = skip_blank(text, end);
        let has_comma = byte_at(text, comma) == Some(b',');
        let ends_at = if has_comma { comma + 1 } else { end };
        if self.is_on_own_line(start) && rest_is_blank(text, ends_at) && !is_filled {
            if let (Some(before), false) = (before, has_comma || keeps_comma) {
                let at = skip_blank(text, document.node(before).value.end as usize);
                if text.get(at..).is_some_and(|rest| rest.starts_with(',')) {
                    self.edit(at, at + 1, "");
                }
            }
            self.edit(head(document, first), document.next_line(ends_at), "");
            return;
        }
        match (before, after) {
            (_, Some(after)) => self.edit(start, document.node(after).entry as usize, ""),
            (Some(_), None) if keeps_comma => {
                // A tab may not begin the line.
                let rest = text.get(ends_at..).unwrap_or_default();
                let spaces = rest.len() - rest.trim_start_matches([' ', '\t']).len();
                self.edit(start, ends_at + spaces, "");
            }
            (Some(before), None) => {
                let before = document.node(before);
                self.edit(before.value.end as usize, end, self.gap(before));
            }
            (None, None) => self.edit(start, end, ""),
        }
    }

    /// How the collection in braces or brackets is written.
    pub(super) fn flow_style(&mut self, id: NodeId) -> Flow {
        let document = self.document;
        let is_json = self.is_json();
        let Some(child) = document.children(id).next() else {
            return if is_json { Flow::Json } else { Flow::Yaml };
        };
        let node = child.node();
        let quoted = KeyKind::Scalar(Style::DoubleQuoted);
        if !is_json && node.key_kind != quoted {
            return Flow::Yaml;
        }
        let between = document.slice(node.key.end as usize..node.props as usize);
        let rest = document.slice(node.value.end as usize..document.node(id).value.end as usize);
        let is_tight = if node.key_kind == KeyKind::None {
            rest.starts_with(',') && !rest.starts_with([' ', '\n', '\r']) && {
                let next = rest.trim_start_matches(',');
                !next.starts_with(|first: char| first.is_ascii_whitespace())
            }
        } else {
            between == ":"
        };
        if is_tight { Flow::TightJson } else { Flow::Json }
    }

    /// Whether the edited node is JSON.
    pub(super) fn is_json(&mut self) -> bool {
        let top = self.document.cursor(self.top);
        *self.is_json.get_or_insert_with(|| {
            top.document().is_json
                || (top.is_flow() && json::scan(top.raw(), Characters::Any).is_some())
        })
    }

    /// The text of a new entry or item in braces or brackets.
    pub(super) fn flow_text(
        &self,
        side: Side,
        style: Flow,
        key: Option<&str>,
        value: &Value<'_>,
    ) -> String {
        let mut out = String::new();
        let sibling = self.document.node(side.sibling()).entry as usize;
        let is_wide = style != Flow::Yaml && self.is_on_own_line(sibling);
        if let Some(key) = key {
            emit::flow_key(&mut out, key, style);
        }
        if is_wide {
            let indentation = self.indentation(sibling);
            let width = self.json_width(side.sibling(), indentation.len());
            let mut json = String::new();
            emit::json(&mut json, value, Some(width), 0);
            let eol = format!("{}{indentation}", self.layout.eol);
            out.push_str(&json.replace('\n', &eol));
        } else {
            emit::flow(&mut out, value, style);
        }
        out
    }

    /// How much deeper than the line of its parent a child is indented, in JSON on several lines.
    pub(super) fn json_width(&self, child: NodeId, indentation: usize) -> usize {
        let parents = self.document.nodes.iter().take(child.0 as usize).rev();
        let parent = parents.zip((0..child.0).rev()).find(|(node, _)| node.next > child.0);
        let outer = parent.map_or(0, |(node, _)| self.indentation(node.entry as usize).len());
        match indentation.saturating_sub(outer) {
            0 => 2,
            width => width,
        }
    }

    /// The text between entries on one line.
    pub(super) fn comma(&mut self, child: NodeId) -> &'static str {
        let mut parents = (0..child.0).rev().map(NodeId);
        let parent = parents.find(|parent| self.document.node(*parent).next > child.0);
        match parent.map(|parent| self.flow_style(parent)) {
            Some(Flow::TightJson) => ",",
            _ => ", ",
        }
    }

    pub(super) fn insert_in_flow(&mut self, kept: &Kept, after: NodeId, texts: &[String]) {
        let text = self.document.text();
        let node = self.document.node(after);
        let (start, end) = (node.entry as usize, node.value.end as usize);
        if !self.is_on_own_line(start) {
            let comma = self.comma(after);
            let texts = texts.iter().map(|text| format!("{comma}{text}"));
            let gap = self.gap(node);
            self.edit(end, end, format!("{gap}{}", texts.collect::<String>()));
            return;
        }
        let eol = self.layout.eol;
        let indentation = self.indentation(start);
        let next = skip_blank(text, end);
        let has_comma = text.get(next..).is_some_and(|rest| rest.starts_with(','));
        let is_last = kept.pairs.last().is_some_and(|(last, _)| *last == after)
            && kept.children.last() != Some(&after);
        if has_comma && rest_is_blank(text, next + 1) && !is_last {
            let lines = texts.iter().map(|text| format!("{indentation}{text},{eol}"));
            let at = self.document.next_line(next);
            self.edit(at, at, lines.collect::<String>());
        } else if !has_comma && rest_is_blank(text, end) {
            // A comment on the line stays where it is.
            let lines: Vec<String> =
                texts.iter().map(|text| format!("{eol}{indentation}{text}")).collect();
            let at = self.document.line_end(end);
            self.edit(end, end, format!("{},", self.gap(node)));
            self.edit(at, at, lines.join(","));
        } else {
            let lines = texts.iter().map(|text| format!(",{eol}{indentation}{text}"));
            let gap = self.gap(node);
            self.edit(end, end, format!("{gap}{}", lines.collect::<String>()));
        }
    }

    /// The space between a node and a comma or bracket after it, where they would otherwise be read
    /// as one word: after a colon, after a tag or an anchor without a value, and after an alias.
    fn gap(&self, node: &Node) -> &'static str {
        let end = node.value.end;
        let last = self.last_in(node);
        let needs_space = if last.value.is_empty() {
            let is_property = last.has(Flags::TAG) || last.has(Flags::ANCHOR);
            let before = self.document.slice(0..end as usize);
            before.ends_with(':') || is_property || ends_in_property(last)
        } else {
            last.kind == Kind::Alias
        };
        if needs_space { " " } else { "" }
    }

    /// Whether a child in braces or brackets ends in a plain `-` or in a colon. Before a space or a
    /// line break, it would begin an item or end a key.
    fn needs_comma(&self, child: NodeId) -> bool {
        let last = self.last_in(self.document.node(child));
        let part = if last.value.is_empty() { last.key } else { last.value };
        let text = self.document.slice(part.range());
        part.end == last.value.end && (text == "-" || text.ends_with(':'))
    }

    /// The last node in a child that ends where the child ends, such as the value of a pair in
    /// brackets; else the child.
    fn last_in<'n>(&'n self, node: &'n Node) -> &'n Node {
        let last = self.document.node(NodeId(node.next.saturating_sub(1)));
        let is_inside = last.value.end == node.value.end;
        if is_inside { last } else { node }
    }

    /// Puts another value in place of one in braces or brackets.
    pub(super) fn replace_in_flow(&mut self, node: &Node, value: &Value<'_>, keep: Option<Style>) {
        let props = node.props as usize;
        let mut out = String::new();
        let between = self.document.slice(node.key.end as usize..props);
        if node.value.is_empty() && node.key_kind != KeyKind::None {
            let has_colon = between.contains(':');
            out.push_str(match (has_colon, ends_in_property(node)) {
                (true, _) => " ",
                (false, true) => " : ",
                (false, false) => ": ",
            });
        }
        let is_json = node.key_kind == KeyKind::Scalar(Style::DoubleQuoted) || self.is_json();
        if let (Data::Scalar(Scalar::String(text)), true) = (&value.data, self.document.is_json) {
            scalar::write_json_string(&mut out, text);
        } else if let Data::Scalar(scalar) = &value.data {
            let keep = if is_json { Some(Style::DoubleQuoted) } else { keep };
            let eol = self.layout.eol;
            scalar::write_scalar(&mut out, scalar, Context::FlowValue, keep, 0, eol);
        } else {
            let style = if is_json { Flow::Json } else { Flow::Yaml };
            emit::flow(&mut out, value, style);
        }
        self.edit(props, node.value.end as usize, out);
    }
}

/// Whether the key of an entry without a colon ends in an alias, a tag or an anchor.
fn ends_in_property(node: &Node) -> bool {
    match node.key_kind {
        KeyKind::None => false,
        KeyKind::Alias => true,
        KeyKind::Scalar(_) | KeyKind::Complex => node.key.is_empty(),
    }
}
