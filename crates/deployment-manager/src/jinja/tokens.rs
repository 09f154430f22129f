//! The tags of a template, and their tokens, as minijinja reads them.

/// The inside of a `{{ }}` or `{% %}`.
pub(super) struct Tag {
    pub start: usize,
    pub end: usize,
    pub is_statement: bool,
}

/// The type of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Name,
    Number,
    /// A text with its quotes.
    Text,
    /// An operator or a bracket.
    Sign,
}

/// A token, and where it starts in the template.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    pub start: usize,
}

impl Token<'_> {
    pub(super) const fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(super) fn is_sign(&self, signs: &[&str]) -> bool {
        self.kind == Kind::Sign && signs.contains(&self.text)
    }
}

/// The tags of a template outside of comments and `raw` blocks.
pub(super) fn tags(source: &str) -> impl Iterator<Item = Tag> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += memchr::memchr(b'{', source.as_bytes().get(at..)?)?;
            let rest = source.get(at..)?;
            let (close, is_statement) = match rest.as_bytes().get(1) {
                Some(b'#') => {
                    at += rest.find("#}").map_or(rest.len(), |end| end + 2);
                    continue;
                }
                Some(b'{') => ("}}", false),
                Some(b'%') => ("%}", true),
                _ => {
                    at += 1;
                    continue;
                }
            };
            if let Some(length) = raw_block(rest) {
                at += length;
                continue;
            }
            let start = at + 2;
            let end = start + end_of_tag(source.get(start..)?, close);
            at = end + 2;
            return Some(Tag { start, end, is_statement });
        }
    })
}

/// The length of the `raw` block that a text starts with.
fn raw_block(text: &str) -> Option<usize> {
    let mut rest = named_tag(text.strip_prefix("{%")?, "raw")?;
    while let Some(at) = rest.find("{%") {
        rest = rest.get(at + 2..)?;
        if let Some(after) = named_tag(rest, "endraw") {
            return Some(text.len() - after.len());
        }
    }
    Some(text.len())
}

/// The text after a tag that has nothing but this name.
fn named_tag<'t>(inside: &'t str, name: &str) -> Option<&'t str> {
    let inside = inside.strip_prefix(['-', '+']).unwrap_or(inside);
    let after = inside.trim_start().strip_prefix(name)?.trim_start();
    let after = after.strip_prefix(['-', '+']).unwrap_or(after);
    after.strip_prefix("%}")
}

/// The tokens of a tag, without the signs that trim whitespace.
pub(super) fn tokens<'t>(source: &'t str, tag: &Tag) -> Vec<Token<'t>> {
    let mut list: Vec<Token<'t>> = Vec::new();
    let mut start = tag.start;
    while let Some(rest) = source.get(start..tag.end).filter(|rest| !rest.is_empty()) {
        let after_dot = list.last().is_some_and(|token| token.text == ".");
        let Some((kind, length)) = next(rest, after_dot) else {
            start += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        let text = rest.get(..length).unwrap_or_default();
        list.push(Token { kind, text, start });
        start += length;
    }
    let is_trim = |token: &Token<'_>| token.is_sign(&["-", "+"]);
    list.pop_if(|token| is_trim(token) && token.end() == tag.end);
    if list.first().is_some_and(|token| is_trim(token) && token.start == tag.start) {
        list.remove(0);
    }
    list
}

/// Type and length of the token at the start of a text; none at a space.
fn next(text: &str, after_dot: bool) -> Option<(Kind, usize)> {
    let first = text.chars().next()?;
    if first.is_whitespace() {
        return None;
    }
    if first == '"' || first == '\'' {
        return Some((Kind::Text, quoted(text, first as u8)));
    }
    if first.is_ascii_digit() {
        return Some((Kind::Number, number(text, after_dot)));
    }
    if first.is_alphabetic() || first == '_' {
        return Some((Kind::Name, word(text)));
    }
    let double = ["//", "**", "==", "!=", "<=", ">="];
    let is_double = double.iter().any(|sign| text.starts_with(sign));
    Some((Kind::Sign, if is_double { 2 } else { first.len_utf8() }))
}

fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

fn number(text: &str, after_dot: bool) -> usize {
    let digit_at = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let mut end = word(text);
    let is_whole = text.bytes().take(end).all(|byte| byte != b'x');
    if is_whole && !after_dot && text.as_bytes().get(end) == Some(&b'.') && digit_at(end + 1) {
        end += 1 + word(text.get(end + 1..).unwrap_or_default());
    }
    let is_exponent = matches!(text.as_bytes().get(end - 1), Some(b'e' | b'E'));
    let is_signed = matches!(text.as_bytes().get(end), Some(b'-' | b'+'));
    if is_whole && is_exponent && is_signed && digit_at(end + 1) {
        end += 1 + word(text.get(end + 1..).unwrap_or_default());
    }
    end
}

/// The length of a text in quotes; all of the rest if it does not end.
fn quoted(text: &str, quote: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(next) = bytes.get(at..).and_then(|rest| memchr::memchr2(quote, b'\\', rest)) {
        at += next + 1;
        if bytes.get(at - 1) == Some(&quote) {
            return at;
        }
        at += 1;
    }
    text.len()
}

/// The length of the inside of a tag: up to the first `close` outside of texts and brackets.
fn end_of_tag(text: &str, close: &str) -> usize {
    let bytes = text.as_bytes();
    let mut open = 0_usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' => at += quoted(text.get(at..).unwrap_or_default(), byte) - 1,
            _ if open == 0
                && bytes.get(at..).is_some_and(|rest| rest.starts_with(close.as_bytes())) =>
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
