//! Macros with `varargs` and `kwargs`, and defaults that use other parameters.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::expressions::Parser;
use super::tags::tags;
use super::tokens::{Kind, Tokens};

/// The macros of a template.
pub(super) struct Macros<'t> {
    /// For each macro whose header comes next, whether it uses `varargs` or `kwargs`.
    coming: VecDeque<bool>,
    /// The names of the macros that are open, if they use them.
    open: Vec<Option<&'t str>>,
}

impl<'t> Macros<'t> {
    /// Looks for macros that use `varargs` or `kwargs`.
    pub(super) fn of(source: &'t str) -> Self {
        let mut found: Vec<bool> = Vec::new();
        let mut open = Vec::new();
        let is_candidate = source.contains("varargs") || source.contains("kwargs");
        for tag in tags(source).filter(|_| is_candidate) {
            let tokens = Tokens::of(source.get(tag.start..tag.end).unwrap_or_default());
            match tokens
                .name()
                .filter(|_| tag.is_statement)
                .map(|name| name.text)
            {
                Some("macro") => {
                    open.push(found.len());
                    // The macro may have a parameter of this name.
                    found.push(false);
                    continue;
                }
                Some("endmacro") => _ = open.pop(),
                _ => {}
            }
            let uses = tokens.first_of(&["varargs", "kwargs"]).is_some();
            if let Some(used) = open.last().and_then(|at| found.get_mut(*at)) {
                *used |= uses;
            }
        }
        Self {
            coming: found.into(),
            open: Vec::new(),
        }
    }

    /// Marks the changes in a tag, if it starts or ends a macro.
    pub(super) fn mark(&mut self, tokens: &mut Tokens<'t>) {
        match tokens.name().map(|name| name.text) {
            Some("macro") => {
                let is_variadic = self.coming.pop_front().unwrap_or(false);
                let name = header(tokens, is_variadic);
                self.open.push(name.filter(|_| is_variadic));
            }
            Some("endmacro") => {
                if let Some(name) = self.open.pop().flatten() {
                    tokens.suffix = format!("%}}{{% set {name} = _macro({name}) ");
                }
            }
            _ => {}
        }
    }
}

/// Changes the header of a macro; its name.
fn header<'t>(tokens: &mut Tokens<'t>, is_variadic: bool) -> Option<&'t str> {
    let open = tokens.list.iter().position(|token| token.text == "(")?;
    let close = tokens.list.iter().rposition(|token| token.text == ")")?;
    let name = tokens.list.get(open.checked_sub(1)?)?.text;
    let mut known: Vec<&str> = Vec::new();
    let mut defaults = String::new();
    let (mut depth, mut start) = (0_usize, open + 1);
    for at in open + 1..=close {
        match tokens.list.get(at).map_or("", |token| token.text) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if at < close => depth = depth.saturating_sub(1),
            "," | ")" if depth == 0 || at == close => {
                let parameter = tokens.list.get(start).map_or("", |token| token.text);
                if uses(tokens, start + 2..at, &known) {
                    defaults.push_str(&moved(tokens, parameter, start + 1..at));
                }
                known.push(parameter);
                start = at + 1;
            }
            _ => {}
        }
    }
    tokens.suffix = defaults;
    if is_variadic && let Some(token) = tokens.list.get_mut(close) {
        let is_alone = close == open + 1;
        token.replaced = Some(Cow::Borrowed(if is_alone {
            "varargs=(), kwargs=_dict({}))"
        } else {
            ", varargs=(), kwargs=_dict({}))"
        }));
    }
    Some(name)
}

/// Whether tokens use one of these names.
fn uses(tokens: &Tokens<'_>, range: std::ops::Range<usize>, names: &[&str]) -> bool {
    let part = tokens.list.get(range).unwrap_or_default();
    part.iter()
        .any(|token| token.kind == Kind::Name && names.contains(&token.text))
}

/// Takes a default out of the header, and sets it in the body.
fn moved(tokens: &mut Tokens<'_>, parameter: &str, range: std::ops::Range<usize>) -> String {
    let text = tokens.text(range.start + 1..range.end);
    let mut inner = Tokens::of(&text);
    Parser::mark(&mut inner, false);
    let mut default = String::new();
    inner.write(&mut default);
    for token in tokens.list.get_mut(range).unwrap_or_default() {
        token.opened.clear();
        token.closed = 0;
        // No line moves.
        let lines = "\n".repeat(token.text.matches('\n').count());
        token.replaced = Some(Cow::Owned(lines));
    }
    let default = default.replace('\n', " ");
    format!("%}}{{% if {parameter} is undefined %}}{{% set {parameter} = {default} %}}{{% endif ")
}
