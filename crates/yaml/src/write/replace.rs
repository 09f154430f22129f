//! Values and keys written in place of others, in a block.

use std::borrow::Cow;
use std::ops::Range;

use crate::lines::{ends_line, line_end, lines, skip_blank};
use crate::scalar::data::Scalar;
use crate::scalar::{self, Context, Style};
use crate::table::{Flags, KeyKind, Kind, Node, NodeId};
use crate::value::{Data, Value};
use crate::write::children::is_on_line;
use crate::write::comments::{after_blank, end_of_entry, end_with_comments, extent};
use crate::write::emit::{self, Layout, Slot};
use crate::write::readback::stays_itself;
use crate::write::rewrite::Rewrite;

/// A value of a block that is replaced.
struct Old<'d> {
    node: &'d Node,
    /// The end of the value, with the comments inside.
    end: usize,
    /// The column of the key or dash.
    column: usize,
    slot: Slot,
}

/// The text of a new value after a key or dash.
struct NewText<'t> {
    /// The text on the line of the key or dash.
    inline: &'t str,
    /// The lines below, if there are any.
    below: Option<&'t str>,
}

impl<'t> NewText<'t> {
    fn of(text: &'t str) -> Self {
        match text.split_once('\n') {
            Some((inline, below)) => {
                Self { inline: inline.trim_end_matches('\r'), below: Some(below) }
            }
            None => Self { inline: text, below: None },
        }
    }
}

impl<'d> Rewrite<'d> {
    /// Sets the key of an entry, and removes its tag or its anchor as well.
    pub(super) fn rename(&mut self, id: NodeId, key: &str, loses_properties: bool) {
        let node = self.document.node(id);
        let mut out = String::new();
        if self.document.is_json {
            scalar::write_json_string(&mut out, key);
            self.edit(node.key.start as usize, node.key.end as usize, out);
            return;
        }
        if scalar::key_needs_explicit(key) && !node.has(Flags::IN_FLOW) {
            let column = self.document.column(node.entry as usize);
            let key_end = node.key.end as usize;
            let colon = self.after_colon(node);
            if colon.is_some() {
                self.layout.key(&mut out, key, column);
            } else {
                // A new value brings its own colon.
                self.layout.explicit_key(&mut out, key, column);
                if ends_line(self.document.text(), key_end) {
                    out.push_str(self.layout.eol);
                }
            }
            self.edit(node.entry as usize, colon.unwrap_or(key_end), out);
            return;
        }
        let keep = match node.key_kind {
            KeyKind::Scalar(style @ (Style::SingleQuoted | Style::DoubleQuoted)) => Some(style),
            _ => None,
        };
        let context = if node.has(Flags::IN_FLOW) { Context::FlowKey } else { Context::Key };
        let entry = node.entry as usize;
        let start = node.key.start as usize;
        let mut properties = entry..start;
        if loses_properties {
            self.edit(entry, start, "");
        } else if let Some(tag) = self.key_tag(node) {
            if tag.end == start {
                properties.end = tag.start;
            }
            self.edit(tag.start, tag.end, "");
        }
        let is_explicit = self.document.slice(entry..entry + 1) == "?";
        if context == Context::FlowKey && scalar::key_needs_explicit(key) && !is_explicit {
            self.edit(entry, entry, "? ");
        }
        let before = self.document.slice(properties);
        if !before.is_empty() && !before.ends_with([' ', '\t', '\n', '\r']) {
            // A key that was empty, directly after its tag or `?`.
            out.push(' ');
        }
        scalar::write_string(&mut out, key, context, keep, 0, self.layout.eol);
        if ends_line(self.document.text(), node.key.end as usize) {
            // A block scalar: its text ends with its last line.
            out.push_str(self.layout.eol);
        }
        self.edit(node.key.start as usize, node.key.end as usize, out);
    }

    /// The tag of a key, with the spaces after it. It may not fit another text.
    fn key_tag(&self, node: &Node) -> Option<Range<usize>> {
        let (entry, end) = (node.entry as usize, node.key.start as usize);
        let before = self.document.slice(entry..end);
        let is_blank = |c: char| c.is_ascii_whitespace();
        let is_start = |&(at, _): &(usize, &str)| {
            at == 0 || before.get(..at).is_some_and(|text| text.ends_with(is_blank))
        };
        let (at, _) = before.match_indices('!').find(is_start)?;
        let tag = before.get(at..)?;
        let word = tag.find(is_blank).unwrap_or(tag.len());
        let rest = tag.get(word..)?.trim_start_matches([' ', '\t']);
        Some(entry + at..end - rest.len())
    }

    /// Puts another value in place of a node's, after its key or dash.
    pub(super) fn replace(&mut self, id: NodeId, value: &Value<'_>) {
        let document = self.document;
        let node = document.node(id);
        let keep = match (node.kind, &value.data) {
            (Kind::Scalar(style), Data::Scalar(Scalar::String(_))) if !node.value.is_empty() => {
                Some(style)
            }
            _ => None,
        };
        if node.has(Flags::IN_FLOW) {
            self.replace_in_flow(node, value, keep);
            return;
        }
        if self.replace_text(id, value, keep) {
            return;
        }
        let end = self.end_of_old(id);
        if node.key.is_empty() && node.key_kind == KeyKind::None {
            return self.replace_root(node, end, value);
        }
        let is_item = document.slice(node.key.range()) == "-" && node.key_kind == KeyKind::None;
        let old = Old {
            node,
            end,
            column: document.column(node.entry as usize),
            slot: if is_item { Slot::Item } else { Slot::Entry },
        };
        let between = self.comments_between(id, old.column);
        let text = self.text_in_place(&old, value, keep, !between.is_empty());
        let after_key = if is_item { Some(node.key.end as usize) } else { self.after_colon(node) };
        let Some(after_key) = after_key else {
            return self.add_colon(node, old.column, &text);
        };
        let new = NewText::of(&text);
        if node.props as usize > document.line_end(after_key) {
            self.put_below_key(&old, after_key, &between, &new);
        } else {
            let starts_entries = matches!(value.data, Data::Mapping(_) | Data::Sequence(_));
            self.put_beside_key(&old, after_key, is_item && starts_entries, &new);
        }
    }

    /// The common case of [`replace`](Self::replace): one scalar for another, both on the line of
    /// their key or dash. Returns whether it is that case.
    fn replace_text(&mut self, id: NodeId, value: &Value<'_>, keep: Option<Style>) -> bool {
        const QUOTES: usize = 2;
        let node = self.document.node(id);
        let Data::Scalar(scalar) = &value.data else {
            return false;
        };
        let is_item = node.key_kind == KeyKind::None && !node.key.is_empty();
        let between = self.document.slice(node.key.end as usize..node.props as usize);
        let is_beside = (node.value_text().is_some() || self.is_word(node))
            && (is_item || node.key_text().is_some())
            && !between.bytes().any(|byte| byte == b'\n');
        if !is_beside {
            return false;
        }
        let (start, end) = (node.props as usize, node.value.end as usize);
        if let (Scalar::String(text), None | Some(Style::Plain)) = (scalar, keep)
            && stays_itself(text)
        {
            self.edit(start, end, text.as_ref());
            self.note_scalar_read();
            return true;
        }
        if !is_on_line(value) {
            return false;
        }
        let length = match scalar {
            Scalar::String(text) | Scalar::Number(text) => text.len(),
            Scalar::Null | Scalar::Bool(_) => 0,
        };
        let mut out = String::with_capacity(length + QUOTES);
        let eol = self.layout.eol;
        scalar::write_scalar(&mut out, scalar, Context::BlockValue, keep, 0, eol);
        self.edit(start, end, out);
        self.read_back_scalar(scalar);
        true
    }

    /// Puts a new scalar in the place of an entry's, as if the entry were removed and another added.
    /// Returns false if a comment or a blank line is next to it, or its key is not plain.
    pub(super) fn renew(&mut self, id: NodeId, value: &Value<'_>) -> bool {
        let text = self.document.text();
        let node = self.document.node(id);
        let (entry, end) = (node.entry as usize, node.value.end as usize);
        let (start, next) = (self.document.line_start(entry), self.document.next_line(end));
        let is_kept = |line: Option<&str>| {
            let line = line.unwrap_or_default().trim_ascii_start();
            line.is_empty() || line.starts_with('#')
        };
        let above = text.get(..start).and_then(|above| {
            let above = above.strip_suffix('\n')?;
            let line = memchr::memrchr(b'\n', above.as_bytes()).map_or(0, |at| at + 1);
            above.get(line..)
        });
        let below = text.get(next..self.document.line_end(next));
        let is_plain =
            matches!(node.key_kind, KeyKind::Scalar(Style::Plain)) && node.key_text().is_some();
        let is_alone = is_plain
            && !node.has(Flags::IN_FLOW)
            && self.is_on_own_line(entry)
            && ends_line(text, next)
            && self.document.line_end(end) == end
            && !is_kept(above)
            && (next == text.len() || !is_kept(below));
        is_alone && self.replace_text(id, value, None)
    }

    /// Whether a node is a plain scalar without spaces, such as a number, in a document without anchors
    /// and tags.
    fn is_word(&self, node: &Node) -> bool {
        let is_plain = node.kind == Kind::Scalar(Style::Plain) && self.document.is_simple;
        let text = self.document.slice(node.value.range());
        is_plain && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
    }

    /// Where the value of a node ends that is replaced; the comments in a collection are replaced
    /// with it.
    fn end_of_old(&self, id: NodeId) -> usize {
        let node = self.document.node(id);
        let end = node.value.end as usize;
        if node.next <= id.0 + 1 || node.has(Flags::FLOW) {
            return end;
        }
        let cursor = self.document.cursor(id);
        let last = cursor.children().last().map_or(end, extent);
        end_with_comments(cursor).max(last)
    }

    /// The text of a new value, from after the key or dash on.
    fn text_in_place(
        &self,
        old: &Old<'_>,
        value: &Value<'_>,
        keep: Option<Style>,
        has_comments_between: bool,
    ) -> String {
        let text = self.document.text();
        let mut layout = self.body_layout(old.node, old.column, old.slot);
        // Text after the old value would be after the last line of the new one.
        let is_below = self.document.line_end(old.node.key.end as usize) < old.node.props as usize;
        layout.quoted = self.takes_in(end_of_entry(self.document, old.end), old.column, value)
            || (is_below && after_blank(text, old.end).is_none())
            || has_comments_between;
        let mut out = String::new();
        layout.after(&mut out, value, old.column, old.slot, keep);
        out
    }

    /// Puts a new value in place of one that begins below its key: comments after and below the key
    /// stay.
    fn put_below_key(&mut self, old: &Old<'_>, after_key: usize, between: &str, new: &NewText) {
        let text = self.document.text();
        let eol = self.layout.eol;
        let line_break = if ends_line(text, old.end) { eol } else { "" };
        let header_end = self.document.line_end(after_key);
        match new.below {
            None if !between.is_empty() => {
                let value = new.inline.trim_start_matches(' ');
                let props = old.node.props as usize;
                self.edit(props, old.end, format!("{value}{line_break}"));
            }
            None => {
                self.edit(after_key, after_key, new.inline);
                self.edit(header_end, old.end, line_break);
            }
            Some(below) => {
                let end = after_blank(text, old.end).unwrap_or(old.end);
                let lines = format!("{between}{eol}{below}{line_break}");
                self.edit(after_key, after_key, new.inline);
                self.edit(header_end, end, lines);
            }
        }
    }

    /// Puts a new value in place of one on the line of its key or dash. With `moves_up`, it begins
    /// directly after the dash.
    fn put_beside_key(&mut self, old: &Old<'_>, after_key: usize, moves_up: bool, new: &NewText) {
        let text = self.document.text();
        let (node, end) = (old.node, old.end);
        let eol = self.layout.eol;
        // Spaces that align the old value stay before a new one on the same line, but not before
        // entries: those below would not be aligned with the first.
        let (start, inline) = if node.value.is_empty() || new.inline.is_empty() || moves_up {
            (after_key, new.inline)
        } else {
            (node.props as usize, new.inline.trim_start_matches(' '))
        };
        let below = new.below.map(|below| format!("{eol}{below}"));
        let is_closed = ends_line(text, end);
        if end > start && (is_closed || is_open_block(text, node)) {
            // A block scalar: its text ends with its last line.
            let comment = self.header_comment(node);
            let below = below.unwrap_or_default();
            let closing = if is_closed { eol } else { "" };
            self.edit(start, end, format!("{inline}{comment}{below}{closing}"));
            return;
        }
        self.edit(start, end, inline);
        if let Some(below) = below {
            let at = self.document.line_end(end);
            self.edit(at, at, below);
        }
    }

    /// The comment lines between the key of a node at `column` and its value, each with the line
    /// break before it, deep enough to be the node's. Comments above the first entry or item of a
    /// block belong to it, and are removed with it.
    fn comments_between(&self, id: NodeId, column: usize) -> String {
        let document = self.document;
        let node = document.node(id);
        let mut out = String::new();
        if node.next > id.0 + 1 && !node.has(Flags::FLOW) {
            return out;
        }
        let between = document.slice(node.key.end as usize..node.props as usize);
        for line in lines(between).skip(1) {
            let comment = line.trim_start_matches([' ', '\t']);
            if comment.starts_with('#') {
                let spaces = line.len() - comment.len();
                let deeper = if spaces > column { spaces } else { column + 2 };
                self.layout.line(&mut out, deeper);
                out.push_str(comment);
            }
        }
        out
    }

    /// Puts another value in place of a document's.
    fn replace_root(&mut self, node: &Node, end: usize, value: &Value<'_>) {
        let document = self.document;
        let mut props = node.props as usize;
        let text = document.text();
        if document.is_json_stream() {
            let mut json = String::new();
            emit::json(&mut json, value, None, 0);
            self.edit(props, end, json);
            return;
        }
        let before = document.slice(document.bom()..props);
        if before.trim().is_empty() && before.contains('\t') {
            // Tabs may indent braces, nothing else.
            props = document.bom();
        }
        let after = end_of_entry(self.document, end);
        let rest_end = after_blank(text, end);
        let layout =
            Layout { quoted: self.takes_in(after, 0, value) || rest_end.is_none(), ..self.layout };
        let end = rest_end.unwrap_or(end);
        let marker = document.slice(document.line_start(props)..props);
        let is_block = match &value.data {
            Data::Scalar(_) => false,
            Data::Sequence(items) => !items.is_empty(),
            Data::Mapping(entries) => !entries.is_empty(),
        };
        let mut out = String::new();
        if marker.starts_with("---") && is_block {
            out.push_str(self.layout.eol);
            layout.root(&mut out, value, 0);
        } else {
            layout.root(&mut out, value, document.column(props));
        }
        if ends_line(document.text(), end) && end > props {
            out.push_str(self.layout.eol);
        }
        self.edit(props, end, out);
    }

    /// After the colon of a key; a key after `?` may have none.
    pub(super) fn after_colon(&self, node: &Node) -> Option<usize> {
        let text = self.document.text();
        let colon = skip_blank(text, node.key.end as usize);
        let rest = text.get(colon..).unwrap_or_default();
        let after = rest.strip_prefix(':')?;
        // Else the next key begins with a colon.
        let is_colon = after.is_empty() || after.starts_with([' ', '\t', '\r', '\n']);
        (is_colon || node.has(Flags::IN_FLOW)).then_some(colon + 1)
    }

    /// Puts a value below a key that has no colon.
    fn add_colon(&mut self, node: &Node, column: usize, value: &str) {
        let text = self.document.text();
        let (key_end, eol) = (node.key.end as usize, self.layout.eol);
        let indentation = " ".repeat(column);
        if ends_line(text, key_end) {
            self.edit(key_end, key_end, format!("{indentation}:{value}{eol}"));
        } else {
            let at = self.document.line_end(key_end);
            self.edit(at, at, format!("{eol}{indentation}:{value}"));
        }
    }

    /// The comment after the `|` of a block scalar, with the space before it.
    fn header_comment(&self, node: &Node) -> Cow<'d, str> {
        if !matches!(node.kind, Kind::Scalar(_)) {
            return Cow::Borrowed("");
        }
        let raw = self.document.slice(node.value.range());
        let header = lines(raw).next().unwrap_or_default();
        let indicators = header.split('#').next().unwrap_or_default();
        let start = indicators.trim_end_matches(' ').len();
        match header.get(start..).unwrap_or_default() {
            comment if comment.starts_with('#') => Cow::Owned(format!(" {comment}")),
            comment if comment.contains('#') => Cow::Borrowed(comment),
            _ => Cow::Borrowed(""),
        }
    }

    /// A block scalar that replaces another keeps its indentation.
    fn body_layout(&self, node: &Node, column: usize, slot: Slot) -> Layout {
        let mut layout = self.layout;
        if let Kind::Scalar(Style::Literal | Style::Folded) = node.kind
            && slot == Slot::Entry
        {
            let raw = self.document.slice(node.value.range());
            let body = lines(raw).skip(1).find(|line| !line.trim().is_empty());
            if let Some(body) = body {
                let spaces = body.bytes().take_while(|&byte| byte == b' ').count();
                if spaces > column {
                    layout.unit = spaces - column;
                }
            }
        }
        layout
    }
}

/// Whether the node is a block scalar of several lines at the end of a text without a line break.
fn is_open_block(text: &str, node: &Node) -> bool {
    let range = node.value.range();
    range.end == text.len()
        && matches!(node.kind, Kind::Scalar(Style::Literal | Style::Folded))
        && line_end(text, range.start) < range.end
}
