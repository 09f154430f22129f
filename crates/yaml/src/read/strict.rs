//! Texts that YAML allows and the readers of Kubernetes refuse or read differently: errors here,
//! with a hint how to write them for all readers.
//!
//! go-yaml reads YAML 1.1 in its own way. A text that it refuses, but that has only one meaning (a
//! directive that it does not know, `\/` in quotes), is read. A line that it or a person could read
//! in another way is refused. `docs/yaml.md` has the list.

use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr2};

use crate::diagnostic::{Diagnostic, Result};
use crate::lines::{is_document_marker, line_end, skip_blank};
use crate::read::document::Document;
use crate::read::hints::{NO_COMMENTS, has_json_comment};
use crate::read::tokens::{Token, TokenKind, scalars};
use crate::scalar::data::Style;
use crate::source::{Place, Source};
use crate::table::{Flags, KeyKind, Kind, Node};

/// Line breaks of YAML 1.1, and so of go-yaml, that are text in YAML 1.2.
const RARE_BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// In the middle of a text, go-yaml reads it as text everywhere.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The first character beyond ASCII that go-yaml allows nowhere, with its offset: a control
/// character except U+0085, or U+FFFE or U+FFFF.
pub(crate) fn forbidden_character(text: &str) -> Option<(usize, char)> {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let at = from + memchr2(0xC2, 0xEF, bytes.get(from..)?)?;
        let c = text.get(at..)?.chars().next()?;
        if matches!(c, '\u{80}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}') {
            return Some((at, c));
        }
        from = at + c.len_utf8();
    }
}

/// Refuses the characters of [`forbidden_character`].
pub(crate) fn check_characters(source: &Arc<Source>) -> Result<()> {
    let Some((at, c)) = forbidden_character(source.text()) else {
        return Ok(());
    };
    let code = u32::from(c);
    let spelled = if code < 0x100 { format!("\\x{code:02X}") } else { format!("\\u{code:04X}") };
    Err(refusal(
        source,
        at..at + c.len_utf8(),
        format!("character U+{code:04X} is not allowed in YAML"),
        format!("in a double-quoted string, write it as `{spelled}`"),
    ))
}

/// Refuses a name of an anchor or alias, at `range` with its `&` or `*`, that go-yaml cuts short.
pub(crate) fn check_name(source: &Arc<Source>, range: Range<usize>) -> Result<()> {
    let text = source.text();
    let name = text.get(range.start + 1..range.end).unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let after = text.as_bytes().get(range.end);
    let ends = after.is_none_or(|byte| b" \t\r\n,]}".contains(byte));
    if !name.is_empty() && name.bytes().all(is_plain) && ends {
        return Ok(());
    }
    Err(refusal(
        source,
        range,
        "an anchor's name has a character that Kubernetes tools do not accept",
        "use only letters, digits, `-` and `_`, and a space after it",
    ))
}

/// Refuses a tag that is not followed by white space, or that go-yaml ends elsewhere.
pub(crate) fn check_tag(source: &Arc<Source>, range: Range<usize>) -> Result<()> {
    const OTHERS: &[u8] = b"-_;/?:@&=+$,.!~*'()[]%<>";
    let after = source.text().as_bytes().get(range.end);
    let tag = source.text().get(range.clone()).unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || OTHERS.contains(&byte);
    if after.is_none_or(u8::is_ascii_whitespace) && tag.bytes().all(is_plain) {
        return Ok(());
    }
    let message =
        "a tag is not followed by a space, or has a character that Kubernetes tools do not accept";
    let hint = "write a space after it; text that begins with `!` needs quotes";
    Err(refusal(source, range, message, hint))
}

/// The checks that need the nodes of the document.
pub(crate) fn check(document: &Document) -> Result<()> {
    let text = document.text();
    for node in &document.nodes {
        check_key(document, node)?;
        if node.has(Flags::IN_FLOW) && node.kind == Kind::Scalar(Style::Plain) {
            check_flow_plain(document, node.value.range())?;
        }
    }
    let has_tabs = memchr(b'\t', text.as_bytes()).is_some();
    let has_odd = |text: &str| text.contains(RARE_BREAKS) || text.contains(BYTE_ORDER_MARK);
    if has_tabs || (!text.is_ascii() && has_odd(text)) {
        let scalars = scalars(document);
        check_breaks(document, &scalars)?;
        check_tabs(document, &scalars)?;
    }
    Ok(())
}

fn check_key(document: &Document, node: &Node) -> Result<()> {
    if node.key_kind != KeyKind::Scalar(Style::Plain) {
        return Ok(());
    }
    let flow = node.has(Flags::IN_FLOW);
    let key = node.key.range();
    if key.is_empty() {
        let before = document.slice(node.entry as usize..key.start);
        if before.contains(['?', '&', '!']) {
            return Ok(());
        }
        return Err(refusal(
            &document.source,
            key.start..key.start + 1,
            "a key is missing",
            "for an empty key, write `\"\":`; text that begins with `:` or `?` needs quotes",
        ));
    }
    if !flow {
        return Ok(());
    }
    check_flow_plain(document, key.clone())?;
    let bytes = document.text().as_bytes();
    let colon = skip_blank(document.text(), key.end);
    let end = if bytes.get(colon) == Some(&b':') { colon + 1 } else { key.end };
    let is_tight = bytes.get(end - 1) == Some(&b':')
        && bytes.get(end).is_some_and(|byte| !byte.is_ascii_whitespace());
    if is_tight {
        return Err(refusal(
            &document.source,
            key.start..end,
            "in braces and brackets, some readers read this colon as part of the key",
            "write a space after the colon, or put the key in quotes",
        ));
    }
    Ok(())
}

/// A plain scalar in braces or brackets: to go-yaml a `?` in it begins a key, and so does a `:` at
/// its start end one.
fn check_flow_plain(document: &Document, range: Range<usize>) -> Result<()> {
    let text = document.slice(range.clone());
    if has_json_comment(document.text(), text) {
        let message = "this comment is read as text";
        return Err(refusal(&document.source, range, message, NO_COMMENTS));
    }
    if !text.starts_with(':') && !text.contains('?') {
        return Ok(());
    }
    let found = if text.contains('?') { '?' } else { ':' };
    Err(refusal(
        &document.source,
        range,
        format!("in braces and brackets, a plain scalar cannot hold this `{found}`"),
        "put it in quotes",
    ))
}

/// A byte order mark is allowed in scalars, and at the start of the text. Rare line breaks are
/// allowed in quotes and block scalars; elsewhere, some readers end a comment or a plain scalar at
/// them, and others do not.
fn check_breaks(document: &Document, scalars: &[Token]) -> Result<()> {
    let mut tokens = scalars.iter().peekable();
    let is_odd = |c: char| RARE_BREAKS.contains(&c) || c == BYTE_ORDER_MARK;
    for (at, found) in document.text().match_indices(is_odd) {
        let is_mark = found.starts_with(BYTE_ORDER_MARK);
        while tokens.next_if(|token| token.range.end <= at).is_some() {}
        let is_inside = tokens.peek().is_some_and(|token| {
            let range = &token.range;
            range.contains(&at)
                && match token.kind {
                    TokenKind::Quoted => true,
                    TokenKind::Block => document.line_end(range.start) < at,
                    TokenKind::Plain(_) => is_mark,
                    TokenKind::Other => false,
                }
        });
        if is_inside || (is_mark && begins_document(document, at)) {
            continue;
        }
        if is_mark {
            let message = "unexpected byte order mark inside the text";
            let range = at..at + found.len();
            return Err(refusal(&document.source, range, message, "remove it"));
        }
        let code = found.chars().next().map_or(0, u32::from);
        let escape = match code {
            0x85 => "\\N",
            0x2028 => "\\L",
            _ => "\\P",
        };
        return Err(refusal(
            &document.source,
            at..at + found.len(),
            format!("U+{code:04X} is a line break to some readers of YAML, and text to others"),
            format!("remove it, or write it as `{escape}` in a double-quoted string"),
        ));
    }
    Ok(())
}

/// Whether a byte order mark is the first of a document: at the start of the text, or on the line
/// below a `---`. kubectl and kustomize read the lines between such lines as separate texts.
fn begins_document(document: &Document, at: usize) -> bool {
    let before = document.text().get(..at).unwrap_or_default();
    let above = before.strip_suffix("\r\n");
    let above = above.or_else(|| before.strip_suffix(['\n', '\r']));
    above.map_or(at == 0, |above| {
        let start = above.rfind(['\n', '\r']).map_or(0, |newline| newline + 1);
        let line = above.get(start..).unwrap_or_default();
        let line = line.trim_start_matches(BYTE_ORDER_MARK);
        line.starts_with("---") && is_document_marker(line)
    })
}

/// A tab may separate tokens on a line, but it cannot indent a line or follow a dash: go-yaml does
/// not allow a tab where a key could begin.
fn check_tabs(document: &Document, scalars: &[Token]) -> Result<()> {
    let length = document.text().len();
    let mut gaps = Gaps { document, depth: 0, key_may_begin: true, least: None, before: b'\n' };
    // Before a brace, tabs do no harm: kubectl reads such a text as JSON.
    let start = document.text().get(document.bom()..).unwrap_or_default();
    let blank = start.len() - start.trim_ascii_start().len();
    let is_braced = start.trim_ascii_start().starts_with(['{', '[']);
    let mut from = document.bom() + if is_braced { blank } else { 0 };
    for token in scalars {
        gaps.gap(from..token.range.start)?;
        let before = document.text().as_bytes().get(..token.range.end);
        let is_line = before.is_some_and(|before| before.ends_with(b"\n"));
        gaps.key_may_begin = token.kind == TokenKind::Block && is_line;
        gaps.before = if gaps.key_may_begin { b'\n' } else { b'x' };
        gaps.least = match token.kind {
            TokenKind::Plain(least) => Some(least),
            _ => None,
        };
        from = token.range.end;
    }
    gaps.gap(from..length)
}

/// The text between scalars, front to back.
struct Gaps<'d> {
    document: &'d Document,
    /// How many braces and brackets are open.
    depth: usize,
    /// Whether a key may begin here, to go-yaml.
    key_may_begin: bool,
    /// After a plain scalar: the column from which on it may have another line.
    least: Option<usize>,
    before: u8,
}

impl Gaps<'_> {
    fn gap(&mut self, range: Range<usize>) -> Result<()> {
        let text = self.document.text();
        let mut at = range.start;
        while at < range.end {
            let byte = text.as_bytes().get(at).copied().unwrap_or_default();
            match byte {
                b'\n' | b'\r' => self.key_may_begin = true,
                b' ' => {}
                b'\t' => self.tab(at)?,
                // No scalar is here, so it is a comment, with a space before it or without.
                b'#' => {
                    self.least = None;
                    at = line_end(text, at);
                    continue;
                }
                // A directive.
                b'%' if self.document.column(at) == 0 => {
                    at = line_end(text, at);
                    continue;
                }
                _ => self.indicator(byte),
            }
            self.before = byte;
            at += 1;
        }
        Ok(())
    }

    fn indicator(&mut self, byte: u8) {
        self.least = None;
        match byte {
            // But not after `---`.
            b'-' => self.key_may_begin = self.before != b'-',
            b'?' => self.key_may_begin = true,
            // The colon of a key on the same line allows no tab, the colon below a `?` does.
            b':' => {}
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                self.key_may_begin = false;
            }
            _ => self.key_may_begin = false,
        }
    }

    fn tab(&self, at: usize) -> Result<()> {
        let continues = || self.least.is_some_and(|least| self.document.column(at) >= least);
        if self.depth > 0 || !self.key_may_begin || continues() {
            return Ok(());
        }
        let message = "YAML does not allow a tab here";
        let hint = "indent with spaces, not with tabs";
        Err(refusal(&self.document.source, at..at + 1, message, hint))
    }
}

fn refusal(
    source: &Arc<Source>,
    range: Range<usize>,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Box<Diagnostic> {
    let place = Place { source: Arc::clone(source), range };
    Diagnostic::error(message).at(place).hint(hint).into()
}
