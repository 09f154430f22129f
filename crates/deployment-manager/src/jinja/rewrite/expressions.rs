//! Finds literals, slices and operators in the tokens of a tag, with the precedence of Jinja2.

use std::borrow::Cow;

use super::tokens::{Kind, Token, Tokens};

/// Deeper nested expressions stay as they are: minijinja refuses them.
const MAX_NESTING: usize = 200;

/// Words that end an operand.
const KEYWORDS: [&str; 7] = ["and", "or", "in", "is", "if", "else", "not"];

/// Operators of one level, with the functions that replace them.
type Level = &'static [(&'static str, Option<&'static str>)];

const SUMS: Level = &[("+", Some("_add")), ("-", None)];
const COMPARISONS: [(&str, &str); 6] = [
    ("==", "_eq"),
    ("!=", "_ne"),
    ("<", "_lt"),
    ("<=", "_le"),
    (">", "_gt"),
    (">=", "_ge"),
];
const TEXTS: Level = &[("~", Some("_concat"))];
const PRODUCTS: Level = &[
    ("*", Some("_mul")),
    ("/", None),
    ("//", None),
    ("%", Some("_mod")),
];

fn starts_operand(token: &Token<'_>) -> bool {
    match token.kind {
        Kind::Name => token.text == "not" || !KEYWORDS.contains(&token.text),
        Kind::Number | Kind::Text => true,
        Kind::Sign => ["-", "+", "(", "[", "{"].contains(&token.text),
    }
}

/// Reads the tokens of a tag from left to right.
pub(super) struct Parser<'p, 't> {
    tokens: &'p mut Tokens<'t>,
    at: usize,
    depth: usize,
}

impl<'p, 't> Parser<'p, 't> {
    /// Marks the changes in the tokens of a tag.
    pub(super) fn mark(tokens: &'p mut Tokens<'t>, is_statement: bool) {
        let mut parser = Self {
            tokens,
            at: 0,
            depth: 0,
        };
        let first = parser.token(0);
        let is_trim = first.is_some_and(|token| token.start == 0 && "-+".contains(token.text));
        parser.at = usize::from(is_trim);
        if !is_statement {
            return parser.printed();
        }
        if parser.take("for") {
            parser.loop_over();
        } else if parser.take("set") {
            parser.assignment();
        } else {
            parser.at += 1;
        }
        while parser.at < parser.tokens.list.len() {
            parser.list();
        }
    }

    /// The target of a `set`, and its value if there is one.
    fn assignment(&mut self) {
        let mut function = "_set";
        while self.at < self.tokens.len() {
            if self.take("=") {
                let start = self.at;
                self.printed();
                self.call_at(function, start);
                return;
            }
            if self.take("|") {
                return;
            }
            if self.take(".") {
                function = "_part";
            } else {
                self.at += 1;
            }
        }
    }

    /// The contents of `{{ }}`: an expression, or several that make a tuple.
    fn printed(&mut self) {
        let start = self.at;
        let mut is_tuple = false;
        while self.at < self.tokens.len() {
            if self.starts_operand() {
                self.expression();
            } else {
                is_tuple |= self.is(",");
                self.at += 1;
            }
        }
        if is_tuple {
            self.at = self.tokens.len();
            self.call_at("", start);
        }
    }

    fn token(&self, at: usize) -> Option<&Token<'t>> {
        self.tokens.list.get(at)
    }

    fn is(&self, text: &str) -> bool {
        self.token(self.at)
            .is_some_and(|token| token.text == text && token.kind != Kind::Text)
    }

    fn take(&mut self, text: &str) -> bool {
        let is = self.is(text);
        self.at += usize::from(is);
        is
    }

    /// Expressions up to the next closing bracket, with anything between them.
    fn list(&mut self) {
        while let Some(token) = self.token(self.at) {
            let text = token.text;
            if token.kind == Kind::Sign && [")", "]", "}"].contains(&text) {
                self.at += 1;
                return;
            }
            if self.starts_operand() {
                self.expression();
            } else {
                self.at += 1;
            }
        }
    }

    fn starts_operand(&self) -> bool {
        self.token(self.at).is_some_and(starts_operand)
    }

    /// The target of a `for`, and its iterable.
    fn loop_over(&mut self) {
        while self.at < self.tokens.list.len() && !self.take("in") {
            self.at += 1;
        }
        let start = self.at;
        if self.starts_operand() {
            self.operands(false);
            if self.is(",") {
                while self.take(",") && self.starts_operand() {
                    self.operands(false);
                }
                self.call_at("", start);
            }
            self.call_at("_in", start);
        }
    }

    fn expression(&mut self) {
        self.operands(true);
    }

    /// Operands that are compared or joined by words.
    fn operands(&mut self, with_conditions: bool) {
        if self.depth == MAX_NESTING {
            self.at = self.tokens.list.len();
            return;
        }
        self.depth += 1;
        loop {
            while self.take("not") {}
            self.comparison();
            let is_joined = ["and", "or"].iter().any(|word| self.take(word))
                || with_conditions && (self.take("if") || self.take("else"));
            if !is_joined || !self.starts_operand() {
                break;
            }
        }
        self.depth -= 1;
    }

    fn sum(&mut self) {
        self.chain(SUMS, |parser| {
            parser.chain(TEXTS, |parser| parser.chain(PRODUCTS, Self::power));
        });
    }

    /// Operands that are compared; several comparisons in a row stay as they are.
    fn comparison(&mut self) {
        let start = self.at;
        self.sum();
        let mut signs = Vec::new();
        while let Some((function, end)) = self.comparing() {
            signs.push((self.at, function));
            self.at = end;
            let operand = self.at;
            self.sum();
            if function == "_in" && !self.is(",") {
                self.call_at("_in", operand);
            } else if signs.len() > 1 {
                self.call_at("_operand", operand);
            }
        }
        if let &[(sign, function)] = signs.as_slice()
            && function != "_in"
        {
            self.replace(sign, ",");
            self.call_at(function, start);
        }
    }

    /// The comparison that comes next, and where it ends.
    fn comparing(&self) -> Option<(&'static str, usize)> {
        let word = |at: usize| self.token(at).map_or("", |token| token.text);
        let is_text = self.token(self.at)?.kind == Kind::Text;
        let (function, end) = match (word(self.at), word(self.at + 1)) {
            _ if is_text => return None,
            ("in", _) => ("_in", self.at + 1),
            ("not", "in") => ("_in", self.at + 2),
            (sign, _) => {
                let (_, function) = COMPARISONS.iter().find(|(known, _)| *known == sign)?;
                (*function, self.at + 1)
            }
        };
        let is_followed = self.token(end).is_some_and(starts_operand);
        is_followed.then_some((function, end))
    }

    /// Operands of one level, joined from left to right.
    fn chain(&mut self, level: Level, operand: impl Fn(&mut Self)) {
        let start = self.at;
        operand(self);
        let mut open = None;
        while let Some(&(_, function)) = level.iter().find(|(sign, _)| self.is(sign)) {
            let sign = self.at;
            let is_followed = self.token(sign + 1).is_some_and(starts_operand);
            if !is_followed {
                break;
            }
            if function != open {
                self.close(open);
                self.open(start, function);
                open = function;
            }
            if function.is_some() {
                self.replace(sign, ",");
            }
            self.at += 1;
            operand(self);
        }
        self.close(open);
    }

    fn power(&mut self) {
        self.unary(true);
        while self.take("**") {
            self.unary(true);
        }
    }

    fn unary(&mut self, with_filters: bool) {
        let start = self.at;
        while self.is("-") || self.is("+") {
            self.at += 1;
        }
        let first = self.at;
        self.primary();
        self.postfix(first);
        self.signs(start, first);
        if with_filters {
            self.filters();
        }
    }

    /// Replaces the signs before an operand: minijinja applies them after filters.
    fn signs(&mut self, start: usize, first: usize) {
        let is_number = first + 1 == self.at
            && self
                .token(first)
                .is_some_and(|token| token.kind == Kind::Number)
            && !(self.is("|") || self.is("is") || self.is("**"));
        for sign in start..first {
            if self.at == first {
                return;
            }
            if self.token(sign).is_some_and(|token| token.text == "+") {
                self.replace(sign, " ");
            } else if !is_number {
                self.replace(sign, "_neg(");
                self.close(Some(""));
            }
        }
    }

    fn primary(&mut self) {
        let start = self.at;
        let Some(token) = self.token(start) else {
            return;
        };
        match (token.kind, token.text) {
            (Kind::Text, _) => {
                while self
                    .token(self.at)
                    .is_some_and(|token| token.kind == Kind::Text)
                {
                    self.at += 1;
                }
            }
            (Kind::Sign, "(") => self.bracket(),
            (Kind::Sign, "[") => {
                self.bracket();
                self.call_at("_list", start);
            }
            (Kind::Sign, "{") => {
                self.bracket();
                self.call_at("_dict", start);
            }
            (Kind::Name, word) if KEYWORDS.contains(&word) => {}
            (Kind::Name | Kind::Number, _) => self.at += 1,
            (Kind::Sign, _) => {}
        }
    }

    /// Calls a function with the tokens from there to the last one taken.
    fn call_at(&mut self, function: &'static str, start: usize) {
        if self
            .token(start)
            .is_some_and(|token| token.text == function)
        {
            // It was rewritten before.
            return;
        }
        self.open(start, Some(function));
        self.close(Some(function));
    }

    fn bracket(&mut self) {
        self.at += 1;
        if self.depth == MAX_NESTING {
            self.at = self.tokens.list.len();
            return;
        }
        self.depth += 1;
        self.list();
        self.depth -= 1;
    }

    /// The suffixes of an operand: `.x`, `[…]`, `(…)`.
    fn postfix(&mut self, start: usize) {
        loop {
            if self.take(".") {
                self.at += 1;
            } else if self.is("(") {
                self.bracket();
            } else if self.is("[") {
                self.subscript(start);
            } else {
                return;
            }
        }
    }

    /// A subscript, which may be a slice.
    fn subscript(&mut self, start: usize) {
        let open = self.at;
        self.at += 1;
        if self.depth == MAX_NESTING {
            self.at = self.tokens.list.len();
            return;
        }
        self.depth += 1;
        let mut colons = Vec::new();
        let mut is_empty = true;
        while let Some(token) = self.token(self.at) {
            match (token.kind, token.text) {
                (Kind::Sign, ":") => {
                    colons.push((self.at, is_empty));
                    is_empty = true;
                    self.at += 1;
                }
                (Kind::Sign, ")" | "]" | "}") => break,
                _ if self.starts_operand() => {
                    is_empty = false;
                    self.expression();
                }
                _ => self.at += 1,
            }
        }
        self.depth -= 1;
        let end = self.at;
        self.at += 1;
        if end >= self.tokens.list.len() {
            return;
        }
        if colons.is_empty() {
            return self.item(start, open, end);
        }
        self.replace(open, ",");
        for (colon, is_empty) in colons {
            self.replace(colon, if is_empty { " none," } else { "," });
        }
        self.replace(end, if is_empty { " none)" } else { ")" });
        self.open(start, Some("_slice"));
    }

    /// A subscript that is not a slice.
    fn item(&mut self, start: usize, open: usize, end: usize) {
        let is_literal = end == open + 2
            && self.token(open + 1).is_some_and(|token| {
                token.kind == Kind::Text || token.kind == Kind::Number && token.text.len() < 5
            });
        if is_literal || end == open + 1 {
            return;
        }
        self.replace(open, ",(");
        self.replace(end, "))");
        self.open(start, Some("_item"));
    }

    /// Filters and tests after an operand.
    fn filters(&mut self) {
        loop {
            let start = self.at;
            if self.take("|") {
                self.dotted_name();
                if self.is("(") {
                    self.bracket();
                }
            } else if self.take("is") {
                self.take("not");
                self.dotted_name();
                if self.is("(") {
                    self.bracket();
                } else if self.starts_argument() {
                    self.unary(false);
                }
            } else if self.is("(") {
                self.bracket();
            } else {
                return;
            }
            if self.at == start {
                return;
            }
        }
    }

    fn starts_argument(&self) -> bool {
        self.token(self.at).is_some_and(|token| match token.kind {
            Kind::Name => !KEYWORDS.contains(&token.text) && token.text != "recursive",
            Kind::Number | Kind::Text => true,
            Kind::Sign => ["[", "{"].contains(&token.text),
        })
    }

    fn dotted_name(&mut self) {
        self.at += 1;
        while self.take(".") {
            self.at += 1;
        }
    }

    fn open(&mut self, at: usize, function: Option<&'static str>) {
        if let (Some(function), Some(token)) = (function, self.tokens.list.get_mut(at)) {
            token.opened.push(function);
        }
    }

    /// Ends a call at the last token taken.
    fn close(&mut self, function: Option<&'static str>) {
        let last = self.at.min(self.tokens.list.len()).saturating_sub(1);
        if let (Some(_), Some(token)) = (function, self.tokens.list.get_mut(last)) {
            token.closed += 1;
        }
    }

    fn replace(&mut self, at: usize, text: &'static str) {
        if let Some(token) = self.tokens.list.get_mut(at) {
            token.replaced = Some(Cow::Borrowed(text));
        }
    }
}
