//! Finds the references to parameters in a text.

use std::borrow::Cow;

use memchr::memchr_iter;

use crate::declare::dialect::Dialect;

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'t> {
    /// Text that refers to nothing.
    Text(&'t str),
    /// `$(NAME)` or `${NAME}`, with its spelling.
    String {
        /// The name of the parameter.
        name: &'t str,
        /// The reference as it is written.
        spelling: &'t str,
    },
    /// `$((NAME))`, or `${{NAME}}` that is the whole text, with its spelling.
    Raw {
        /// The name of the parameter.
        name: &'t str,
        /// The reference as it is written.
        spelling: &'t str,
    },
    /// `$$(NAME)`, which is written for `$(NAME)`.
    Escaped {
        /// The reference as it is written.
        spelling: &'t str,
    },
    /// `${NAME}` or `${{NAME}}` in the proposal's dialect, where it refers to nothing; escaped,
    /// `$${NAME}`.
    Foreign {
        /// The name of the parameter.
        name: &'t str,
        /// The reference as it is written.
        spelling: &'t str,
        /// Whether it is written with two `$`.
        is_escaped: bool,
    },
}

/// Splits a text at its references.
pub fn parts(text: &str, dialect: Dialect) -> Parts<'_> {
    let parts = |text, reference| Parts { text, reference, next: None, has_more: false };
    match dialect {
        Dialect::Proposal => parts(text, proposal_reference),
        Dialect::OpenShift => match whole_raw(text) {
            Some(name) => Parts {
                next: Some(Part::Raw { name, spelling: text }),
                ..parts("", openshift_reference)
            },
            None => parts(text, openshift_reference),
        },
    }
}

/// The pieces of a text, in order.
pub struct Parts<'t> {
    /// The rest, which is not split yet.
    text: &'t str,
    /// Parses the reference that a text begins with.
    reference: fn(&'t str) -> Option<Part<'t>>,
    /// The reference before that text.
    next: Option<Part<'t>>,
    /// Whether a `$` began no reference.
    has_more: bool,
}

impl Parts<'_> {
    /// Whether the pieces had a `$` that begins no reference.
    pub(crate) const fn has_more(&self) -> bool {
        self.has_more
    }
}

impl<'t> Iterator for Parts<'t> {
    type Item = Part<'t>;

    fn next(&mut self) -> Option<Part<'t>> {
        if let Some(part) = self.next.take() {
            return Some(part);
        }
        let text = self.text;
        if text.is_empty() {
            return None;
        }
        let found = memchr_iter(b'$', text.as_bytes()).find_map(|at| {
            let part = text.get(at..).and_then(self.reference);
            self.has_more |= part.is_none();
            Some((at, part?))
        });
        let Some((at, part)) = found else {
            self.text = "";
            return Some(Part::Text(text));
        };
        self.text = text.get(at + part.spelling().len()..).unwrap_or_default();
        if at == 0 {
            return Some(part);
        }
        self.next = Some(part);
        text.get(..at).map(Part::Text)
    }
}

impl<'t> Part<'t> {
    /// The piece as it is written.
    pub const fn spelling(self) -> &'t str {
        match self {
            Self::Text(spelling)
            | Self::String { spelling, .. }
            | Self::Raw { spelling, .. }
            | Self::Escaped { spelling }
            | Self::Foreign { spelling, .. } => spelling,
        }
    }

    /// The name that a reference refers to.
    pub const fn name(self) -> Option<&'t str> {
        match self {
            Self::String { name, .. } | Self::Raw { name, .. } => Some(name),
            Self::Text(_) | Self::Escaped { .. } | Self::Foreign { .. } => None,
        }
    }

    /// An escaped reference without the `$` that escapes it.
    pub fn unescaped(self) -> &'t str {
        self.spelling().get(1..).unwrap_or_default()
    }
}

/// A text in which `new` replaces each part for which it returns something; `None` if it replaces
/// nothing.
pub fn replace<'t, 'n>(
    text: &'t str,
    dialect: Dialect,
    new: impl FnMut(Part<'t>) -> Option<Cow<'n, str>>,
) -> Option<String> {
    replace_parts(text, &mut parts(text, dialect), new)
}

/// As [`replace`], for the parts of the text.
pub(crate) fn replace_parts<'t, 'n>(
    text: &'t str,
    parts: &mut Parts<'t>,
    mut new: impl FnMut(Part<'t>) -> Option<Cow<'n, str>>,
) -> Option<String> {
    /// How much longer than its reference a value often is.
    const LONGER: usize = 32;
    let mut out = String::with_capacity(text.len() + LONGER);
    let mut is_changed = false;
    for part in parts {
        match new(part) {
            Some(new) => {
                is_changed = true;
                out.push_str(&new);
            }
            None => out.push_str(part.spelling()),
        }
    }
    is_changed.then_some(out)
}

/// A text with the values of those parameters put in for which `value` has one.
pub fn with_values<'v>(
    text: &str,
    dialect: Dialect,
    value: impl Fn(&str) -> Option<&'v str>,
) -> String {
    let value = |part: Part<'_>| value(part.name()?).map(Cow::Borrowed);
    let replaced = has_dollar(text).then(|| replace(text, dialect, value));
    replaced.flatten().unwrap_or_else(|| text.to_owned())
}

/// Whether there can be references in a text.
pub(crate) fn has_dollar(text: &str) -> bool {
    memchr::memchr(b'$', text.as_bytes()).is_some()
}

/// The references in a text: the name of each and its spelling.
pub(crate) fn references(text: &str, dialect: Dialect) -> impl Iterator<Item = (&str, &str)> {
    let parts = parts(text, dialect);
    parts.filter_map(|part| Some((part.name()?, part.spelling())))
}

/// The reference of the proposal's dialect that `text` begins with.
fn proposal_reference(text: &str) -> Option<Part<'_>> {
    let rest = text.strip_prefix('$')?;
    if rest.starts_with('$') {
        let inner = proposal_reference(rest)?;
        let spelling = text.get(..1 + inner.spelling().len())?;
        return match inner {
            Part::String { .. } | Part::Raw { .. } => Some(Part::Escaped { spelling }),
            Part::Foreign { name, is_escaped: false, .. } => {
                Some(Part::Foreign { name, spelling, is_escaped: true })
            }
            _ => None,
        };
    }
    if rest.starts_with('{') {
        return foreign_reference(text);
    }
    if let Some(inner) = rest.strip_prefix("((") {
        let name = leading_name(inner)?;
        inner.get(name.len()..)?.strip_prefix("))")?;
        return Some(Part::Raw { name, spelling: text.get(..name.len() + 5)? });
    }
    let inner = rest.strip_prefix('(')?;
    let name = leading_name(inner)?;
    inner.get(name.len()..)?.strip_prefix(')')?;
    Some(Part::String { name, spelling: text.get(..name.len() + 3)? })
}

/// The `${NAME}` or `${{NAME}}` that `text` begins with, for a NAME of the proposal's dialect.
fn foreign_reference(text: &str) -> Option<Part<'_>> {
    let (open, close) = if text.starts_with("${{") { ("${{", "}}") } else { ("${", "}") };
    let inner = text.strip_prefix(open)?;
    let name = leading_name(inner)?;
    inner.get(name.len()..)?.strip_prefix(close)?;
    Some(Part::Foreign {
        name,
        spelling: text.get(..open.len() + name.len() + close.len())?,
        is_escaped: false,
    })
}

/// `[A-Za-z_][A-Za-z0-9_.-]*` at the beginning of a text.
pub(crate) fn leading_name(text: &str) -> Option<&str> {
    let first = text.bytes().next()?;
    if !(first.is_ascii_alphabetic() || first == b'_') {
        return None;
    }
    let end = text
        .bytes()
        .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')))
        .unwrap_or(text.len());
    text.get(..end)
}

/// The `${NAME}` that `text` begins with.
fn openshift_reference(text: &str) -> Option<Part<'_>> {
    let inner = text.strip_prefix("${")?;
    let length = inner.bytes().position(|byte| !is_in_openshift_name(byte))?;
    let (name, rest) = inner.split_at_checked(length)?;
    (!name.is_empty() && rest.starts_with('}'))
        .then_some(Part::String { name, spelling: text.get(..name.len() + 3)? })
}

/// The name in a text that is `${{NAME}}` and nothing else.
pub(crate) fn whole_raw(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${{")?.strip_suffix("}}")?;
    is_openshift_name(name).then_some(name)
}

fn is_openshift_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(is_in_openshift_name)
}

const fn is_in_openshift_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The names that a text refers to.
pub(crate) fn names(text: &str, dialect: Dialect) -> impl Iterator<Item = &str> {
    references(text, dialect).map(|(name, _)| name)
}

/// Whether a text has `${NAME}` for any name, declared or not: such a namespace is kept.
pub fn has_openshift_reference(text: &str) -> bool {
    parts(text, Dialect::OpenShift).any(|part| matches!(part, Part::String { .. }))
}

#[cfg(test)]
mod tests {
    use super::parts;
    use crate::Dialect;

    #[track_caller]
    fn check(dialect: Dialect, text: &str, expected: &[&str]) {
        let found: Vec<String> = parts(text, dialect)
            .map(|part| match part {
                super::Part::Text(text) => format!("text {text}"),
                super::Part::String { name, .. } => format!("string {name}"),
                super::Part::Raw { name, .. } => format!("raw {name}"),
                super::Part::Foreign { name, is_escaped: false, .. } => format!("foreign {name}"),
                super::Part::Escaped { spelling } | super::Part::Foreign { spelling, .. } => {
                    format!("escaped {spelling}")
                }
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn proposal_references_and_escapes() {
        let check = |text, expected: &[&str]| check(Dialect::Proposal, text, expected);
        check("plain", &["text plain"]);
        check("$(A)", &["string A"]);
        check("$((A))", &["raw A"]);
        check("a-$(B.c-d)_$((E))!", &["text a-", "string B.c-d", "text _", "raw E", "text !"]);
        check("$$(A)", &["escaped $$(A)"]);
        check("$$((A))", &["escaped $$((A))"]);
        check("$$$(A)", &["text $", "escaped $$(A)"]);
        check("$(A)$(B)", &["string A", "string B"]);
        check(
            "$( A ) $(A $(1A) $() $A $(((A))) $((A)",
            &["text $( A ) $(A $(1A) $() $A $(((A))) $((A)"],
        );
        check("$(ä)$(A)", &["text $(ä)", "string A"]);
        check("cost: 5$", &["text cost: 5$"]);
    }

    #[test]
    fn in_the_proposals_dialect_braces_belong_to_the_other() {
        let check = |text, expected: &[&str]| check(Dialect::Proposal, text, expected);
        check("a${A}", &["text a", "foreign A"]);
        check("${{A}}b", &["foreign A", "text b"]);
        check("$${A}$${{A}}", &["escaped $${A}", "escaped $${{A}}"]);
        check("$$${A}", &["text $", "escaped $${A}"]);
        check(
            "${ A } ${A:-x} ${1} ${} ${{ A }} ${A",
            &["text ${ A } ${A:-x} ${1} ${} ${{ A }} ${A"],
        );
    }

    #[test]
    fn openshift_references() {
        let check = |text, expected: &[&str]| check(Dialect::OpenShift, text, expected);
        check("${A}", &["string A"]);
        check("${{A}}", &["raw A"]);
        check("$${A}", &["text $", "string A"]);
        check("${A}}", &["string A", "text }"]);
        check("${1}_${a_B}", &["string 1", "text _", "string a_B"]);
        check("a${{P}}", &["text a${{P}}"]);
        check("${{P}}\n", &["text ${{P}}\n"]);
        check(
            "${{ P }} ${A:-x} ${A-B} ${A.B} ${} $(A) $A",
            &["text ${{ P }} ${A:-x} ${A-B} ${A.B} ${} $(A) $A"],
        );
        check("${${PN}}", &["text ${", "string PN", "text }"]);
    }
}
