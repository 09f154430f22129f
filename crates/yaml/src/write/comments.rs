//! Which lines belong to an entry or item and move with it: its text and its comments.

use crate::lines::{ends_line, lines, next_line};
use crate::read::document::{Cursor, Document};
use crate::read::open::Opened;
use crate::scalar::Style;
use crate::table::{Flags, KeyKind, Kind, NodeId};
use crate::words::after_spaces;

/// After the line on which an entry ends.
pub(super) fn end_of_entry(document: &Document, end: usize) -> usize {
    if ends_line(document.text(), end) { end } else { document.next_line(end) }
}

/// After the blank rest of the line on which a value ends; `None` if there is a comment.
pub(super) fn after_blank(text: &str, end: usize) -> Option<usize> {
    if ends_line(text, end) {
        return Some(end);
    }
    let rest = text.get(end..).unwrap_or_default();
    let left = rest.trim_start_matches([' ', '\t']);
    let is_blank = left.is_empty() || left.starts_with(['\n', '\r']);
    is_blank.then_some(end + rest.len() - left.len())
}

/// Where the comment lines directly above the line at `line` begin: those that are indented to
/// `column` and after `floor`.
pub(crate) fn lead_comments(text: &str, line: usize, column: usize, floor: usize) -> usize {
    let mut start = line;
    while start > floor {
        let before = text.get(..start).unwrap_or_default();
        let above = before.strip_suffix("\r\n");
        let above = above.or_else(|| before.strip_suffix(['\n', '\r']));
        let above = above.unwrap_or(before);
        let from = memchr::memrchr2(b'\n', b'\r', above.as_bytes());
        let from = from.map_or(0, |newline| newline + 1);
        let content = above.get(from..).unwrap_or_default();
        let spaces = content.len() - content.trim_start_matches([' ', '\t']).len();
        let is_comment = content.get(spaces..).is_some_and(|rest| rest.starts_with('#'));
        if spaces != column || !is_comment || from < floor {
            break;
        }
        start = from;
    }
    start
}

/// Where the head comment of an entry or item that is the first on its line begins; without one,
/// the start of that line.
pub(crate) fn head(document: &Document, id: NodeId) -> usize {
    let entry = document.node(id).entry as usize;
    let line = document.line_start(entry);
    // A line of a scalar in quotes may look like a comment.
    let floor = id.0.checked_sub(1).map_or(0, |before| {
        let before = document.node(NodeId(before));
        if before.next == id.0 {
            before.value.end as usize
        } else if before.has(Flags::ANCHOR) || before.has(Flags::TAG) {
            document.line_end(before.props as usize)
        } else if before.key.is_empty() {
            document.bom()
        } else {
            before.key.end as usize
        }
    });
    lead_comments(document.text(), line, entry - line, floor)
}

/// The end of an entry's or item's text with its foot comment.
pub(crate) fn extent(entry: Cursor<'_>) -> usize {
    extent_from(entry, end_with_comments(entry))
}

/// As [`extent`], of an entry that [ends](end_with_comments) here.
pub(super) fn extent_from(entry: Cursor<'_>, end: usize) -> usize {
    let document = entry.document();
    let text = document.text();
    if begins_text(text, end) {
        return end;
    }
    let column = document.column(entry.start());
    let mut at = end;
    loop {
        let after = next_line(text, at);
        let line = document.slice(at..after);
        let content = line.trim_start_matches(' ');
        let spaces = line.len() - content.len();
        if !content.starts_with('#') || spaces < column {
            let is_foot = content.trim().is_empty() || spaces < column;
            return if is_foot { at } else { end };
        }
        at = after;
    }
}

/// After the blank lines at `at`, and the spaces of the line that follows them.
pub(super) fn moves_up(text: &str, at: usize) -> usize {
    let at = skip_blank_lines(text, at);
    let rest = text.get(at..).unwrap_or_default();
    at + rest.len() - rest.trim_start_matches(' ').len()
}

/// Whether the first character of a line after its spaces shows that it is neither blank nor a
/// comment: so it is for most lines.
fn begins_text(text: &str, line: usize) -> bool {
    let line = text.as_bytes().get(line..).unwrap_or_default();
    let first = line.get(after_spaces(line));
    first.is_some_and(|byte| byte.is_ascii_graphic() && *byte != b'#')
}

pub(crate) fn skip_blank_lines(text: &str, at: usize) -> usize {
    let mut at = at;
    while at < text.len() && !begins_text(text, at) {
        let after = next_line(text, at);
        let line = text.get(at..after).unwrap_or_default();
        if !line.trim().is_empty() {
            break;
        }
        at = after;
    }
    at
}

/// A block scalar above lines that are removed.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// Whether it keeps the line breaks at its end.
    keeps: bool,
    /// The column that its text begins in, at least.
    column: usize,
}

impl Block {
    /// Of the text of a block scalar in an entry at `column`.
    fn of(raw: &str, column: usize) -> Self {
        let header = raw.split([' ', '\n', '\r']).next().unwrap_or_default();
        let digit = header.chars().find_map(|c| c.to_digit(10));
        let mut texts = lines(raw).skip(1).filter(|line| !line.trim().is_empty());
        let detected = texts.next();
        let detected = detected.map(|line| line.len() - line.trim_start_matches(' ').len());
        Self {
            keeps: header.contains('+'),
            column: match digit {
                Some(digit) => column + digit as usize,
                // Without a text, no line of spaces is one.
                None => detected.unwrap_or(usize::MAX),
            },
        }
    }

    /// After the blank lines at `at`, if one of them would become part of its text.
    pub(super) fn skip_taken_in(self, text: &str, at: usize) -> usize {
        let end = skip_blank_lines(text, at);
        let blank = text.get(at..end).unwrap_or_default();
        if self.keeps
            || lines(blank).any(|line| line.trim_end_matches(['\r', '\n']).len() > self.column)
        {
            end
        } else {
            at
        }
    }
}

/// The block scalar that ends the text before `start`, where child `id` is removed.
pub(super) fn block_above(document: &Document, id: NodeId, start: usize) -> Option<Block> {
    let node = document.node(NodeId(id.0.checked_sub(1)?));
    // For an entry without a value, its key.
    let (style, range) = match (node.kind, node.key_kind) {
        (_, KeyKind::Scalar(style)) if node.value.is_empty() => (style, node.key.range()),
        (Kind::Scalar(style), _) => (style, node.value.range()),
        _ => return None,
    };
    let is_above = matches!(style, Style::Literal | Style::Folded)
        && document.slice(range.end..start).trim().is_empty();
    is_above.then(|| Block::of(document.slice(range), document.column(node.entry as usize)))
}

/// Whether nothing but a comment follows on the line.
pub(super) fn rest_is_blank(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let rest = rest.trim_start_matches([' ', '\t']);
    rest.is_empty() || rest.starts_with(['#', '\n', '\r'])
}

/// The comment lines that belong to an item: those directly above its dash and those between the
/// dash and its value, without indentation.
pub(crate) fn head_comments(item: Cursor<'_>) -> Vec<&str> {
    let document = item.document();
    let node = item.node();
    let entry = node.entry as usize;
    let line = document.line_start(entry);
    let mut comments = Vec::new();
    if document.slice(line..entry).bytes().all(|byte| byte == b' ') {
        let start = head(document, item.id());
        comments.extend(lines(document.slice(start..line)).map(without_indentation));
    }
    if !node.has(Flags::IN_FLOW) {
        let between = document.slice(node.key.end as usize..node.props as usize);
        comments
            .extend(lines(between).map(without_indentation).filter(|line| line.starts_with('#')));
    }
    comments
}

/// The paragraphs of comments above a root, from the top of its document on; without the one that
/// is directly above it if they must be `apart`.
pub fn paragraphs_above(root: Cursor<'_>, apart: bool) -> Vec<String> {
    let document = root.document();
    let end = if apart { head(document, root.id()) } else { document.line_start(root.start()) };
    let before = root.id().0.checked_sub(1).map(NodeId);
    let before = before.map(|before| document.node(before));
    let start = before.map_or(document.bom(), |node| node.value.end.max(node.key.end) as usize);
    let mut paragraphs: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in lines(document.slice(start.min(end)..end)) {
        let line = line.trim();
        let is_comment = line.starts_with('#');
        match paragraphs.last_mut().filter(|_| goes_on && is_comment) {
            Some(paragraph) => {
                paragraph.push('\n');
                paragraph.push_str(line);
            }
            None if is_comment => paragraphs.push(line.to_owned()),
            // The text before it belongs to the document before.
            None if before.is_some() && !line.is_empty() => paragraphs.clear(),
            None => {}
        }
        goes_on = is_comment;
    }
    paragraphs
}

/// The comment lines below a document, up to the next one, without their indentation.
pub fn comments_below(root: Cursor<'_>) -> Vec<String> {
    let document = root.document();
    let rest = document.slice(end_with_comments(root)..document.text().len());
    let lines = lines(rest).map(str::trim_end);
    let near = lines.take_while(|line| line.is_empty() || line.trim_start().starts_with('#'));
    let comments = near.filter(|line| !line.is_empty());
    comments.map(|line| without_indentation(line).to_owned()).collect()
}

/// A comment line without its indentation, with the spaces at its end.
fn without_indentation(line: &str) -> &str {
    line.trim_start_matches([' ', '\t'])
}

/// The end of an item's text: after its last value and the comment lines below that are
/// indented deeper than its dash.
pub fn end_with_comments(item: Cursor<'_>) -> usize {
    let document = item.document();
    let text = document.text();
    let node = item.node();
    let column = || document.column(node.entry as usize);
    let last = document.cursor(NodeId(node.next.saturating_sub(1)));
    // An item that is deferred has blank lines and comments after its text.
    let last_end = match last.open() {
        Opened::Part(part, _) => part.cursor(NodeId(0)).end(),
        Opened::Here(_) => node.value.end as usize,
    };
    let mut end = end_of_entry(document, last_end);
    let mut at = end;
    while at < text.len() && !begins_text(text, at) {
        let after = next_line(text, at);
        let line = document.slice(at..after);
        let content = line.trim_start_matches(' ');
        if content.starts_with('#') && line.len() - content.len() > column() {
            end = after;
        } else if !content.trim().is_empty() {
            break;
        }
        at = after;
    }
    end
}
