//! Spellings that go-yaml allows and the parser does not: `[a]#comment`, `"it\'s"`, `[-]`, `[fd00::]`,
//! a byte order mark before a later document, and quoted scalars with lines that are not indented
//! deeper than the block around them.
//!
//! The parser gets a copy of the text with other spellings of the same length, so all places stay
//! as they are; the text itself is never changed. A scan finds candidates. It knows little of YAML,
//! so the copy counts only if the parser confirms each of them: up to the first one the copy is the
//! text, so the first one is right; by the same argument, so is each that follows.

use std::ops::Range;

use crate::lines::{
    after_line_break, byte_at, ends_line, is_document_marker, lines, may_end_document,
};
use crate::read::block::block_end;
use crate::read::document::Document;
use crate::read::tokens::{Token, TokenKind, scalars};
use crate::scalar::data::Style;
use crate::source::Source;
use crate::table::{Flags, KeyKind, Kind};
use crate::words;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A spelling that the parser does not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Spelling {
    /// A `#` directly after a quote, a bracket, a comma or the header of a block scalar.
    Comment(usize),
    /// The `\` of `\'` in double quotes.
    Quote(usize),
    /// A `-` that is an item, an entry's value or its key, in braces or brackets.
    Dash(usize),
    /// The `:` at the end of plain text in braces or brackets, before what ends the entry.
    Colon(usize),
    /// A byte order mark after the line of a `---`, with the line break before it.
    Mark(Range<usize>),
    /// A quoted scalar of several lines in a block. The copy has it on one line.
    Lines(Range<usize>),
}

/// A copy of a text for the parser.
pub(crate) struct Respelled {
    pub(crate) text: String,
    spellings: Vec<Spelling>,
}

impl Respelled {
    /// The copy, if the text seems to have such a spelling.
    pub(crate) fn new(source: &Source) -> Option<Self> {
        let text = source.text();
        let finder = Finder {
            source,
            text,
            at: if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 },
            depth: 0,
            parent: None,
            token: None,
            found: Vec::new(),
        };
        let spellings = finder.find();
        if spellings.is_empty() {
            return None;
        }
        let mut bytes = text.as_bytes().to_vec();
        for spelling in &spellings {
            respell(text, &mut bytes, spelling);
        }
        let text = String::from_utf8(bytes).ok()?;
        Some(Self { text, spellings })
    }

    /// Whether the parser confirms every spelling.
    pub(crate) fn is_confirmed(&self, document: &Document) -> bool {
        let tokens = scalars(document);
        let mut quoted = quoted_in_blocks(document);
        self.spellings.iter().all(|spelling| {
            let text = document.text();
            match spelling {
                Spelling::Comment(at) => is_comment(&document.source, &tokens, *at),
                Spelling::Quote(at) => token_at(&tokens, *at).is_some_and(|token| {
                    token.kind == TokenKind::Quoted
                        && text.as_bytes().get(token.range.start) == Some(&b'"')
                }),
                Spelling::Dash(at) => {
                    token_at(&tokens, *at).is_some_and(|token| token.range == (*at..at + 1))
                }
                Spelling::Colon(at) => token_at(&tokens, *at).is_some_and(|token| {
                    matches!(token.kind, TokenKind::Plain(_)) && token.range.end == at + 1
                }),
                Spelling::Mark(range) => {
                    token_at(&tokens, range.start).is_none()
                        && token_at(&tokens, range.end - 1).is_none()
                }
                Spelling::Lines(range) => quoted.any(|found| found == *range),
            }
        })
    }
}

/// The extents of quoted keys and values in blocks, in order. A key in brackets must be on one
/// line, so scalars in brackets keep their lines.
fn quoted_in_blocks(document: &Document) -> impl Iterator<Item = Range<usize>> {
    const fn is_quoted(style: Style) -> bool {
        matches!(style, Style::SingleQuoted | Style::DoubleQuoted)
    }
    let nodes = document.nodes.iter();
    let nodes = nodes.filter(|node| !node.has(Flags::IN_FLOW));
    nodes.flat_map(|node| {
        let is_key = matches!(node.key_kind, KeyKind::Scalar(style) if is_quoted(style));
        let is_value = matches!(node.kind, Kind::Scalar(style) if is_quoted(style));
        let key = is_key.then(|| node.key.range());
        let value = is_value.then(|| node.value.range());
        key.into_iter().chain(value)
    })
}

/// Writes another spelling of the same length.
fn respell(text: &str, bytes: &mut [u8], spelling: &Spelling) {
    let mut put = |range: Range<usize>, new: &[u8]| {
        if let Some(old) = bytes.get_mut(range).filter(|old| old.len() == new.len()) {
            old.copy_from_slice(new);
        }
    };
    match spelling {
        Spelling::Comment(at) => {
            put(*at..at + 1, b" ");
            // The next character becomes the `#`.
            let next = text.get(at + 1..).and_then(|rest| rest.chars().next());
            let next = next.filter(|next| !matches!(next, '\n' | '\r'));
            let length = next.map_or(0, char::len_utf8);
            put(at + 1..at + 1 + length, &vec![b'#'; length]);
        }
        Spelling::Quote(at) => put(at + 1..at + 2, b"\""),
        Spelling::Dash(at) | Spelling::Colon(at) => put(*at..at + 1, b"x"),
        Spelling::Lines(range) => {
            let raw = text.get(range.clone()).unwrap_or_default();
            put(range.clone(), raw.replace(['\n', '\r'], " ").as_bytes());
        }
        Spelling::Mark(range) => {
            let line_break = text.get(range.clone()).unwrap_or_default();
            let line_break = line_break.trim_end_matches(BYTE_ORDER_MARK);
            let mut new = vec![b' '; BYTE_ORDER_MARK.len()];
            new.extend_from_slice(line_break.as_bytes());
            put(range.clone(), &new);
        }
    }
}

/// The scalar, alias or key that the byte at `at` is a part of.
fn token_at(tokens: &[Token], at: usize) -> Option<&Token> {
    let index = tokens.partition_point(|token| token.range.start <= at);
    let token = tokens.get(index.checked_sub(1)?)?;
    token.range.contains(&at).then_some(token)
}

/// Whether a comment begins at `at`: after the last byte of a token that is not plain, or in the
/// header of a block scalar.
fn is_comment(source: &Source, tokens: &[Token], at: usize) -> bool {
    let is_header =
        |token: &Token| token.kind == TokenKind::Block && at < source.line_end(token.range.start);
    let ends_token = match at.checked_sub(1).and_then(|before| token_at(tokens, before)) {
        None => true,
        Some(token) => {
            (token.kind == TokenKind::Quoted && token.range.end == at) || is_header(token)
        }
    };
    ends_token && token_at(tokens, at).is_none_or(is_header)
}

/// Where a quoted scalar ends whose quote is at `start`, after its closing quote.
fn closing_quote(text: &str, start: usize) -> Option<usize> {
    let quote = byte_at(text, start)?;
    let mut at = start + 1;
    loop {
        let byte = byte_at(text, at)?;
        let is_escape = if quote == b'"' {
            byte == b'\\'
        } else {
            byte == quote && byte_at(text, at + 1) == Some(quote)
        };
        if is_escape {
            at += 2;
        } else if byte == quote {
            return Some(at + 1);
        } else {
            at += 1;
        }
    }
}

/// A walk over the tokens of a text.
struct Finder<'t> {
    source: &'t Source,
    text: &'t str,
    at: usize,
    /// How many braces and brackets are open.
    depth: usize,
    /// The column of the last key or dash in a block.
    parent: Option<usize>,
    /// Where, on this line, the node begins that may be a key.
    token: Option<usize>,
    found: Vec<Spelling>,
}

impl Finder<'_> {
    fn find(mut self) -> Vec<Spelling> {
        while let Some(byte) = byte_at(self.text, self.at) {
            if self.token(byte).is_none() {
                break;
            }
        }
        self.found
    }

    /// Skips what begins with `byte`; `None` if a quote is not closed.
    fn token(&mut self, byte: u8) -> Option<()> {
        let (text, at) = (self.text, self.at);
        let in_block = self.depth == 0;
        let is_alone = byte_at(text, at + 1).is_none_or(|next| next.is_ascii_whitespace());
        let is_first = is_line_start(text, at);
        match byte {
            b'\n' | b'\r' => self.token = None,
            b' ' => {
                let rest = text.as_bytes().get(at..).unwrap_or_default();
                self.at += words::after_spaces(rest) - 1;
            }
            b'\t' => {}
            b'#' => self.comment(),
            b'%' if is_first => self.at = self.source.line_end(at) - 1,
            b'-' | b'.' if is_first && is_document_marker(text.get(at..).unwrap_or_default()) => {
                self.marker();
            }
            b'-' if !in_block && matches!(byte_at(text, at + 1), Some(b',' | b']' | b'}')) => {
                self.found.push(Spelling::Dash(at));
            }
            b'-' | b'?' | b':' if in_block && is_alone => {
                let entry = self.token.take().unwrap_or(at);
                self.parent = Some(entry - self.source.line_start(entry));
            }
            b':' | b',' if !in_block => {}
            b'"' | b'\'' => return self.quoted(),
            b'[' | b'{' => {
                self.token.get_or_insert(at);
                self.depth += 1;
            }
            b']' | b'}' if !in_block => self.depth -= 1,
            b'|' | b'>' if in_block => self.block(),
            b'&' | b'!' | b'*' => self.property(),
            _ => {
                self.plain();
                return Some(());
            }
        }
        self.at += 1;
        Some(())
    }

    /// Skips a comment except its last byte. go-yaml does not require a space before it.
    fn comment(&mut self) {
        let before = self.at.checked_sub(1);
        let before = before.and_then(|before| byte_at(self.text, before));
        if before.is_some_and(|before| b"\"']}[{,".contains(&before)) {
            self.found.push(Spelling::Comment(self.at));
        }
        self.at = self.source.line_end(self.at) - 1;
    }

    /// Skips `---` or `...` except its last byte. kubectl and kustomize read the lines after a
    /// `---` as a separate text, which may begin with a byte order mark.
    fn marker(&mut self) {
        (self.depth, self.parent, self.token) = (0, None, None);
        let end = self.source.line_end(self.at);
        let next = after_line_break(self.text, end);
        let rest = self.text.get(self.at + 3..end).unwrap_or_default();
        let rest = rest.trim_start_matches([' ', '\t']);
        let is_alone = rest.is_empty() || rest.starts_with('#');
        let below = self.text.get(next..).unwrap_or_default();
        let is_start = byte_at(self.text, self.at) == Some(b'-') && is_alone;
        if is_start && next > end && below.starts_with(BYTE_ORDER_MARK) {
            // Before the line break, the copy has spaces in place of the mark.
            let mark = end..next + BYTE_ORDER_MARK.len();
            self.at = mark.end - 1;
            self.found.push(Spelling::Mark(mark));
        } else {
            self.at += 2;
        }
    }

    /// Skips a block scalar except its last byte.
    fn block(&mut self) {
        let end = self.source.line_end(self.at);
        let header = self.text.get(self.at + 1..end).unwrap_or_default();
        let rest = header.trim_start_matches(|c: char| "+-".contains(c) || c.is_ascii_digit());
        if rest.starts_with('#') {
            self.found.push(Spelling::Comment(end - rest.len()));
        }
        self.token = None;
        self.at = block_end(self.text, self.at, self.parent).max(end) - 1;
    }

    fn quoted(&mut self) -> Option<()> {
        let range = self.at..closing_quote(self.text, self.at)?;
        self.token.get_or_insert(range.start);
        self.at = range.end;
        let raw = self.text.get(range.clone())?;
        let rest = self.text.get(range.end..)?;
        let is_key = rest.trim_start_matches([' ', '\t']).starts_with(':');
        let is_several = raw.contains(['\n', '\r']);
        if self.depth == 0 && is_several && !is_key && !lines(raw).skip(1).any(may_end_document) {
            self.found.push(Spelling::Lines(range.clone()));
        }
        self.escapes(raw, range.start);
        Some(())
    }

    /// Finds the escapes of quotes in the scalar `raw`, which begins at `start`.
    fn escapes(&mut self, raw: &str, start: usize) {
        let mut rest = raw.strip_prefix('"').unwrap_or_default();
        while let Some((before, after)) = rest.split_once('\\') {
            if after.starts_with('\'') {
                let at = start + raw.len() - rest.len() + before.len();
                self.found.push(Spelling::Quote(at));
            }
            let mut characters = after.chars();
            characters.next();
            rest = characters.as_str();
        }
    }

    /// Skips an anchor, tag or alias except its last byte.
    fn property(&mut self) {
        self.token.get_or_insert(self.at);
        let rest = self.text.get(self.at..).unwrap_or_default();
        let ends = |byte: &u8| {
            byte.is_ascii_whitespace() || (self.depth > 0 && matches!(byte, b',' | b']' | b'}'))
        };
        let length = rest.bytes().position(|byte| ends(&byte));
        self.at += length.unwrap_or(rest.len()).max(1) - 1;
    }

    /// Skips plain text with all its lines.
    fn plain(&mut self) {
        self.token.get_or_insert(self.at);
        let least = self.parent.map_or(0, |column| column + 1);
        loop {
            self.at = self.plain_line();
            if self.at < self.source.line_end(self.at) {
                self.colon();
                return;
            }
            let line = self.line_with_text(self.at);
            let text = skip_spaces(self.text, line);
            let rest = self.text.get(text..).unwrap_or_default();
            let ends = |c: char| c == '#' || (self.depth > 0 && ",:[]{}".contains(c));
            let is_deeper = self.depth > 0 || text - line >= least;
            let is_marker = text == line && is_document_marker(rest);
            if !is_deeper || is_marker || rest.is_empty() || rest.starts_with(ends) {
                return;
            }
            self.at = text;
        }
    }

    /// Finds the colon before the end of an entry at `at`.
    fn colon(&mut self) {
        let ends_entry = matches!(byte_at(self.text, self.at), Some(b',' | b']' | b'}'));
        let last = self.at - 1;
        if self.depth > 0 && ends_entry && byte_at(self.text, last) == Some(b':') {
            self.found.push(Spelling::Colon(last));
        }
    }

    /// The first line below the one that `at` is on which is not blank.
    fn line_with_text(&self, at: usize) -> usize {
        let mut line = after_line_break(self.text, self.source.line_end(at));
        loop {
            let text = skip_spaces(self.text, line);
            if text < self.source.line_end(text) || text >= self.text.len() {
                return line;
            }
            line = after_line_break(self.text, self.source.line_end(text));
        }
    }

    /// Where the plain text on the line ends: at its end, a colon, a comment or, in braces, what
    /// separates entries.
    fn plain_line(&self) -> usize {
        let text = self.text;
        let end = self.source.line_end(self.at);
        let in_flow = self.depth > 0;
        let stops = |at: usize| match byte_at(text, at) {
            Some(b':') => byte_at(text, at + 1).is_none_or(|next| {
                next.is_ascii_whitespace() || (in_flow && b"[{".contains(&next))
            }),
            Some(b'#') => matches!(byte_at(text, at - 1), Some(b' ' | b'\t')),
            Some(b',' | b'[' | b']' | b'{' | b'}') => in_flow,
            _ => false,
        };
        (self.at + 1..end).find(|at| stops(*at)).unwrap_or(end)
    }
}

fn is_line_start(text: &str, at: usize) -> bool {
    ends_line(text, at) || text.get(..at).is_some_and(|before| matches!(before, "" | "\u{feff}"))
}

fn skip_spaces(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.len() - rest.trim_start_matches([' ', '\t']).len()
}
