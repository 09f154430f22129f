//! The tokens of a tag, and the text written in their place.

use std::borrow::Cow;

/// The type of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Name,
    /// A number.
    Number,
    /// A text in quotes.
    Text,
    /// An operator or a bracket.
    Sign,
}

/// A token, and the text written around it.
#[derive(Debug)]
pub(super) struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    /// Where it starts in the tag.
    pub start: usize,
    /// The functions called with an argument that starts here, the innermost first.
    pub opened: Vec<&'static str>,
    /// The text written in its place.
    pub replaced: Option<Cow<'static, str>>,
    /// The number of calls that end here.
    pub closed: usize,
}

/// The tokens of one tag.
#[derive(Debug)]
pub(super) struct Tokens<'t> {
    inside: &'t str,
    pub list: Vec<Token<'t>>,
    /// The text written at the end.
    pub suffix: String,
}

impl<'t> Tokens<'t> {
    /// Reads the inside of a tag.
    pub(super) fn of(inside: &'t str) -> Self {
        let mut list: Vec<Token<'t>> = Vec::new();
        let mut start = 0;
        while let Some(rest) = inside.get(start..).filter(|rest| !rest.is_empty()) {
            let after_dot = list.last().is_some_and(|token| token.text == ".");
            let Some((kind, length)) = next(rest, after_dot) else {
                start += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            };
            let text = rest.get(..length).unwrap_or_default();
            list.push(Token {
                kind,
                text,
                start,
                opened: Vec::new(),
                replaced: (kind == Kind::Text).then(|| respelled(text)).flatten(),
                closed: 0,
            });
            start += length;
        }
        Self {
            inside,
            list,
            suffix: String::new(),
        }
    }

    /// The name of the tag.
    pub(super) fn name(&self) -> Option<&Token<'t>> {
        let is_trim = |token: &Token<'_>| token.start == 0 && "-+".contains(token.text);
        let index = usize::from(self.list.first().is_some_and(is_trim));
        self.list
            .get(index)
            .filter(|token| token.kind == Kind::Name)
    }

    /// The first of these names that is used, and where.
    pub(super) fn first_of(&self, names: &[&'static str]) -> Option<(&'static str, usize)> {
        self.list
            .iter()
            .filter(|token| token.kind == Kind::Name)
            .find_map(|token| {
                let name = names.iter().find(|name| **name == token.text)?;
                Some((*name, token.start))
            })
    }

    /// The original text of some tokens.
    pub(super) fn text(&self, range: std::ops::Range<usize>) -> String {
        let tokens = self.list.get(range).unwrap_or_default();
        let start = tokens.first().map_or(0, |token| token.start);
        let end = tokens
            .last()
            .map_or(0, |token| token.start + token.text.len());
        self.inside.get(start..end).unwrap_or_default().to_owned()
    }

    /// Whether a tag ends in this token, a `-` or `+`.
    pub(super) fn is_trim(&self, at: usize) -> bool {
        let last = at + 1 == self.list.len();
        self.list.get(at).is_some_and(|token| {
            let end = token.start + token.text.len();
            last && end == self.inside.len() && (token.text == "-" || token.text == "+")
        })
    }

    /// The number of tokens without a `-` or `+` that ends the tag.
    pub(super) fn len(&self) -> usize {
        let length = self.list.len();
        length - usize::from(length > 0 && self.is_trim(length - 1))
    }

    /// Writes the tag with all changes.
    pub(super) fn write(&self, out: &mut String) {
        let mut copied = 0;
        for (index, token) in self.list.iter().enumerate() {
            if index == self.len() {
                out.push_str(&self.suffix);
            }
            out.push_str(self.inside.get(copied..token.start).unwrap_or_default());
            if !token.opened.is_empty() && out.ends_with(|c: char| c.is_alphanumeric()) {
                out.push(' ');
            }
            for function in token.opened.iter().rev() {
                out.push_str(function);
                out.push('(');
            }
            out.push_str(token.replaced.as_deref().unwrap_or(token.text));
            out.extend(std::iter::repeat_n(')', token.closed));
            copied = token.start + token.text.len();
        }
        out.push_str(self.inside.get(copied..).unwrap_or_default());
        if self.len() == self.list.len() {
            out.push_str(&self.suffix);
        }
    }
}

/// A text in quotes whose escapes minijinja reads as Python does, if it has others.
fn respelled(text: &str) -> Option<Cow<'static, str>> {
    memchr::memchr(b'\\', text.as_bytes())?;
    let mut out = String::with_capacity(text.len());
    let mut breaks = 0;
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let length = 1 + escape.chars().nth(1).map_or(0, char::len_utf8);
        let (escape, mut after) = escape.split_at(length);
        match escape {
            "\\/" => out.push_str("\\\\/"),
            "\\a" => out.push_str("\\x07"),
            "\\v" => out.push_str("\\x0b"),
            "\\\n" => breaks += 1,
            "\\U" => {
                let code = after
                    .get(..8)
                    .and_then(|code| u32::from_str_radix(code, 16).ok());
                match code.filter(|code| *code > 0xff).and_then(char::from_u32) {
                    Some(c) => {
                        out.push(c);
                        after = after.get(8..).unwrap_or_default();
                    }
                    None => out.push_str(escape),
                }
            }
            _ => out.push_str(escape),
        }
        rest = after;
    }
    out.push_str(rest);
    // Lines are counted, so a break outside of the text comes after it.
    out.extend(std::iter::repeat_n('\n', breaks));
    (out != text).then_some(Cow::Owned(out))
}

/// Kind and length of the token at the start of a text; none at a blank.
fn next(text: &str, after_dot: bool) -> Option<(Kind, usize)> {
    let first = text.chars().next()?;
    if first.is_whitespace() {
        return None;
    }
    if first == '"' || first == '\'' {
        return Some((Kind::Text, quoted(text, first as u8)));
    }
    let word = |text: &str| {
        text.find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(text.len())
    };
    if first.is_ascii_digit() {
        return Some((Kind::Number, number(text, word(text), after_dot)));
    }
    if first.is_alphabetic() || first == '_' {
        return Some((Kind::Name, word(text)));
    }
    let double = ["//", "**", "==", "!=", "<=", ">="];
    let length = if double.iter().any(|sign| text.starts_with(sign)) {
        2
    } else {
        first.len_utf8()
    };
    Some((Kind::Sign, length))
}

/// The length of a number whose first word is this long.
fn number(text: &str, word: usize, after_dot: bool) -> usize {
    let digits_at = |at: usize| {
        let next = text.as_bytes().get(at);
        next.is_some_and(u8::is_ascii_digit)
    };
    let mut end = word;
    let is_whole = text
        .bytes()
        .take(word)
        .all(|byte| byte.is_ascii_digit() || byte == b'_');
    if !after_dot && is_whole && text.as_bytes().get(end) == Some(&b'.') && digits_at(end + 1) {
        end += 1;
        let rest = text.get(end..).unwrap_or_default();
        end += rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
    }
    let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let is_signed = matches!(text.as_bytes().get(end), Some(b'-' | b'+'));
    let before = text.as_bytes().get(end.saturating_sub(1));
    if is_signed && !is_hexadecimal && matches!(before, Some(b'e' | b'E')) && digits_at(end + 1) {
        end += 1;
        while digits_at(end) {
            end += 1;
        }
    }
    end
}

/// The length of a text in quotes; all of the rest if it does not end.
fn quoted(text: &str, quote: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(next) = bytes
        .get(at..)
        .and_then(|rest| memchr::memchr2(quote, b'\\', rest))
    {
        at += next + 1;
        if bytes.get(at - 1) == Some(&quote) {
            return at;
        }
        at += 1;
    }
    text.len()
}

/// The length of the inside of a tag: up to the first `close` outside of texts and brackets.
pub(super) fn end_of_tag(text: &str, close: &str) -> usize {
    let bytes = text.as_bytes();
    let mut open = 0_usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' => at += quoted(text.get(at..).unwrap_or_default(), byte) - 1,
            _ if open == 0
                && bytes
                    .get(at..)
                    .is_some_and(|rest| rest.starts_with(close.as_bytes())) =>
            {
                return at;
            }
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    text.len()
}
