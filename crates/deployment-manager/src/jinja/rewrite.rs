//! Instruments a template, so that the engine is charged for what operands hold before it uses them.
//!
//! minijinja charges an operation for what it makes, not for what it reads: comparing two lists that
//! contain one another's copies takes time that doubles with each level. It has no hook for operators
//! and literals. So the filter `_c` follows each operand and each filter, which counts the parts of its value
//! ([`values::check`](super::values::check)) and makes a list one that templates can append to; `_i`
//! counts a text before it is indexed, `_s` bounds the step of a slice. No line moves.

use std::ops::Range;

use krm_yaml::suggest::closest;

use super::tokens::{Kind, Tag, Token, tags, tokens};

/// The most words and signs between two commas, with those of the brackets around. The engine reads
/// operators in a row as levels of a tree, which must fit on the stack.
const MAX_WORDS: usize = 1_000;

/// The most `elif` of an `if`, with those of the `if`s around.
const MAX_CONDITIONS: usize = 500;

/// The engine refuses expressions that nest deeper.
const MAX_NESTING: usize = 200;

/// Words that end an operand.
const KEYWORDS: [&str; 7] = ["and", "or", "in", "is", "if", "else", "not"];

/// The tags of Jinja2 without extensions.
const TAGS: &str = "for endfor if elif else endif macro endmacro call endcall filter endfilter set endset \
    include import from extends block endblock with endwith autoescape endautoescape raw \
    endraw";

/// Something that must not be in a template.
#[derive(Debug)]
pub(super) struct Refused {
    pub message: String,
    pub hint: Option<String>,
    /// Where it is in the template.
    pub range: Range<usize>,
}

/// A template with marked operands.
pub(super) fn rewrite(source: &str) -> Result<String, Refused> {
    let mut edits = Vec::new();
    let mut conditions = Conditions::default();
    for tag in tags(source) {
        let tokens = tokens(source, &tag);
        if tag.is_statement {
            known(&tokens)?;
            conditions.check(&tokens, &tag)?;
        }
        short(&tokens)?;
        Scanner { tokens: &tokens, at: 0, depth: 0, edits: &mut edits }.tag(tag.is_statement);
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(source.len() + 4 * edits.len());
    let mut copied = 0;
    for (range, text) in edits {
        out.push_str(source.get(copied..range.start).unwrap_or_default());
        out.push_str(text);
        copied = range.end;
    }
    out.push_str(source.get(copied..).unwrap_or_default());
    Ok(out)
}

/// Checks the name of a tag.
fn known(tokens: &[Token<'_>]) -> Result<(), Refused> {
    let Some(name) = tokens.first().filter(|token| token.kind == Kind::Name) else {
        return Ok(());
    };
    if TAGS.split(' ').any(|known| known == name.text) {
        return Ok(());
    }
    Err(Refused {
        message: format!("unknown tag `{}`", name.text),
        hint: match name.text {
            "do" => Some("write `{% set _ = … %}`".to_owned()),
            text => closest(text, TAGS.split(' ')).map(|tag| format!("did you mean `{tag}`?")),
        },
        range: name.start..name.end(),
    })
}

/// Checks the length of the expressions of a tag.
fn short(tokens: &[Token<'_>]) -> Result<(), Refused> {
    let mut around = Vec::new();
    let (mut outside, mut count) = (0, 0);
    for token in tokens {
        if token.is_sign(&["(", "[", "{"]) {
            around.push(count + 1);
            outside += count + 1;
            count = 0;
        } else if token.is_sign(&[")", "]", "}"]) {
            count = around.pop().unwrap_or_default();
            outside -= count;
        } else if token.is_sign(&[","]) {
            count = 0;
        } else {
            count += 1;
        }
        if outside + count > MAX_WORDS {
            return Err(Refused {
                message: format!("an expression has more than {MAX_WORDS} words and signs"),
                hint: Some("split it with `{% set %}`".to_owned()),
                range: token.start..token.start,
            });
        }
    }
    Ok(())
}

/// The numbers of `elif` of the `if`s around a tag.
#[derive(Default)]
struct Conditions(Vec<usize>);

impl Conditions {
    fn check(&mut self, tokens: &[Token<'_>], tag: &Tag) -> Result<(), Refused> {
        match tokens.first().map(|name| name.text) {
            Some("if") => self.0.push(0),
            Some("elif") => {
                if let Some(count) = self.0.last_mut() {
                    *count += 1;
                }
            }
            Some("endif") => _ = self.0.pop(),
            _ => return Ok(()),
        }
        if self.0.iter().sum::<usize>() <= MAX_CONDITIONS {
            return Ok(());
        }
        Err(Refused {
            message: format!("more than {MAX_CONDITIONS} `elif` in a row"),
            hint: Some("look the value up in a mapping".to_owned()),
            range: tag.start..tag.end,
        })
    }
}

/// The step in the brackets of a slice.
fn step<'s, 't>(inside: &'s [Token<'t>]) -> &'s [Token<'t>] {
    let mut depth = 0_usize;
    let is_colon = |token: &Token<'_>| {
        if token.is_sign(&["(", "[", "{"]) {
            depth += 1;
        } else if token.is_sign(&[")", "]", "}"]) {
            depth = depth.saturating_sub(1);
        }
        depth == 0 && token.is_sign(&[":"])
    };
    inside.splitn(3, is_colon).nth(2).unwrap_or_default()
}

/// Reads the tokens of a tag from left to right.
struct Scanner<'s, 't> {
    tokens: &'s [Token<'t>],
    at: usize,
    depth: usize,
    edits: &'s mut Vec<(Range<usize>, &'static str)>,
}

impl<'t> Scanner<'_, 't> {
    fn tag(&mut self, is_statement: bool) {
        if !is_statement {
            return self.rest();
        }
        let name = self.token().map_or("", |token| token.text);
        self.at += 1;
        match name {
            "if" | "elif" | "with" => self.rest(),
            "for" => {
                self.skip_to("in");
                self.iterable();
            }
            "set" => {
                self.skip_to("=");
                self.whole();
            }
            "include" => self.whole(),
            _ => {}
        }
    }

    fn token(&self) -> Option<Token<'t>> {
        self.tokens.get(self.at).copied()
    }

    fn is(&self, sign: &str) -> bool {
        self.token().is_some_and(|token| token.text == sign && token.kind != Kind::Text)
    }

    fn take(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        self.at += usize::from(is);
        is
    }

    fn skip_to(&mut self, word: &str) {
        while self.token().is_some() && !self.take(word) {
            self.at += 1;
        }
    }

    /// The start of the next token.
    fn start(&self) -> usize {
        self.token().map_or(0, |token| token.start)
    }

    fn insert(&mut self, at: usize, text: &'static str) {
        self.edits.push((at..at, text));
    }

    /// Inserts a text after the last token taken.
    fn append(&mut self, text: &'static str) {
        if let Some(token) = self.tokens.get(self.at - 1) {
            self.insert(token.end(), text);
        }
    }

    /// Marks all operands up to the end of the tag.
    fn rest(&mut self) {
        while self.token().is_some() {
            self.expression();
            self.at += 1;
        }
    }

    /// Marks the whole expression, too.
    fn whole(&mut self) {
        let start = self.start();
        let words = ["ignore", "with", "without"];
        let ends = |token: &Token<'_>| token.kind == Kind::Name && words.contains(&token.text);
        let rest = self.tokens.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        let all = self.tokens;
        self.tokens = all.get(..self.at + length).unwrap_or_default();
        if self.starts_operand() {
            self.operand();
        }
        if self.token().is_some() {
            self.rest();
            self.at = self.tokens.len();
            self.insert(start, "(");
            self.append(")|_c");
        }
    }

    /// Marks operands up to the bracket that closes the one around.
    fn expression(&mut self) {
        let mut is_operand = true;
        while let Some(token) = self.token() {
            if token.is_sign(&[")", "]", "}"]) {
                return;
            }
            if token.is_sign(&["|"]) {
                self.filter();
            } else if token.kind == Kind::Name && token.text == "is" {
                self.test();
            } else if is_operand && self.starts_operand() {
                self.operand();
                is_operand = false;
            } else {
                self.at += 1;
                is_operand = token.kind == Kind::Sign || KEYWORDS.contains(&token.text);
            }
        }
    }

    /// Marks what a loop goes over, and makes several values a tuple.
    fn iterable(&mut self) {
        let mut depth = 0_usize;
        let mut last = None;
        for (token, at) in self.tokens.iter().zip(1..).skip(self.at) {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                "if" | "recursive" if depth == 0 => break,
                "," if depth == 0 => last = Some(at),
                _ => {}
            }
            last = last.map(|_| at);
        }
        let Some(last) = last else { return self.rest() };
        self.insert(self.start(), "(");
        self.rest();
        self.at = last;
        self.append(")");
    }

    fn starts_operand(&self) -> bool {
        self.token().is_some_and(|token| match token.kind {
            Kind::Name => !KEYWORDS.contains(&token.text),
            Kind::Number | Kind::Text => true,
            Kind::Sign => ["(", "[", "{"].contains(&token.text),
        })
    }

    /// Marks an operand: a name, a literal or a group, with the `.x`, `[…]` and `(…)` after it.
    fn operand(&mut self) {
        let (first, start) = (self.at, self.start());
        let Some(token) = self.token() else { return };
        if token.kind == Kind::Sign {
            self.bracket();
        } else {
            self.at += 1;
        }
        loop {
            if self.take(".") {
                let is_name = |token: Token<'_>| matches!(token.kind, Kind::Name | Kind::Number);
                self.at += usize::from(self.token().is_some_and(is_name));
            } else if self.is("(") {
                self.bracket();
            } else if self.is("[") {
                self.subscript(start);
            } else {
                break;
            }
        }
        let is_alone = self.at == first + 1;
        if is_alone && token.kind == Kind::Text && self.is("%") {
            self.format();
        } else if !(is_alone && matches!(token.kind, Kind::Text | Kind::Number) || self.is("=")) {
            self.append("|_c");
        }
    }

    fn bracket(&mut self) {
        self.at += 1;
        if self.depth == MAX_NESTING {
            self.at = self.tokens.len();
            return;
        }
        self.depth += 1;
        self.expression();
        self.depth -= 1;
        self.at = self.tokens.len().min(self.at + 1);
    }

    fn subscript(&mut self, start: usize) {
        let (open, first) = (self.start(), self.at + 1);
        self.bracket();
        let inside = self.tokens.get(first..self.at - 1).unwrap_or_default();
        if let (Some(from), Some(to)) = (step(inside).first(), step(inside).last()) {
            self.insert(from.start, "(");
            self.insert(to.end(), ")|_s");
        }
        let is_literal = |token: &Token<'_>| {
            matches!(token.kind, Kind::Text | Kind::Number) && token.text.len() < 100
        };
        if !matches!(inside, [token] if is_literal(token)) {
            self.insert(start, "(");
            self.insert(open, "|_i)");
        }
    }

    /// Makes `'text' % x` a call of the filter `_format`.
    fn format(&mut self) {
        if let Some(sign) = self.token() {
            self.edits.push((sign.start..sign.end(), "|_format("));
        }
        self.at += 1;
        self.signs();
        self.operand();
        while self.is("|") {
            self.filter();
        }
        self.append(")");
    }

    fn signs(&mut self) {
        while self.is("-") || self.is("+") {
            self.at += 1;
        }
    }

    /// Marks the result of a filter, too.
    fn filter(&mut self) {
        self.at += 1;
        self.name();
        if self.is("(") {
            self.bracket();
        }
        self.append("|_c");
    }

    fn test(&mut self) {
        self.at += 1;
        self.take("not");
        self.name();
        if self.is("(") {
            self.bracket();
        } else if self.starts_operand() || self.is("-") {
            let start = self.start();
            self.insert(start, "(");
            self.signs();
            self.operand();
            self.append(")");
        }
    }

    /// The name of a filter or a test.
    fn name(&mut self) {
        self.at += 1;
        while self.take(".") {
            self.at += 1;
        }
    }
}
