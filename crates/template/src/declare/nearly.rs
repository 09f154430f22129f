//! Texts that look like a reference to a parameter, but are none: in the syntax of a shell or of
//! another tool, with blanks, or not closed.

use std::borrow::Cow;

use memchr::{memchr2_iter, memrchr};

use crate::declare::dialect::Dialect;
use crate::declare::model::Template;
use crate::declare::reference::{leading_name, whole_raw};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};

/// The rule that such a text breaks.
pub const RULE: &str = "reference-syntax";

/// A text that looks like a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearly<'t, 'n> {
    /// The declared parameter that it names.
    pub name: &'n str,
    /// The text as it is written.
    pub spelling: &'t str,
    /// Where it begins.
    pub start: usize,
    /// Whose syntax it is.
    pub syntax: Syntax,
}

/// The syntax that a text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// That of a reference, with blanks, not closed, or with two braces inside a longer text.
    Reference,
    /// That of a shell: `$NAME` or `$(( NAME ))`.
    Shell,
    /// That of a template engine: `{{NAME}}` or `{{ .NAME }}`.
    Braces,
    /// Helm's or kro's, which name the values: `{{ .Values.name }}` or `${schema.spec.name}`.
    Values,
}

/// Finds the texts in `text` that look like a reference. `declared` returns a name if it is that
/// of a parameter.
pub fn find<'t, 'n>(
    text: &'t str,
    dialect: Dialect,
    declared: impl Fn(&str) -> Option<&'n str>,
) -> Vec<Nearly<'t, 'n>> {
    if dialect == Dialect::OpenShift && whole_raw(text).is_some() {
        return Vec::new();
    }
    let bytes = text.as_bytes();
    let last = |closing| memrchr(closing, bytes);
    let closing = [last(b')'), last(b'}')];
    let mut found: Vec<Nearly<'t, 'n>> = Vec::new();
    for at in memchr2_iter(b'$', b'{', bytes) {
        let before = text.get(..at).unwrap_or_default();
        // Helm's own variables are `{{ $name }}`.
        let is_helms = before.trim_end_matches([' ', '\t', '-']).ends_with("{{");
        let is_escaped = before.ends_with(['$', '\\']) || is_helms;
        let is_inside = found.last().is_some_and(|last| at < last.start + last.spelling.len());
        let Some(rest) = text.get(at..).filter(|_| !is_escaped && !is_inside) else {
            continue;
        };
        let one =
            if rest.starts_with('$') { dollar(rest, at, closing, dialect) } else { braces(rest) };
        let Some((name, length, syntax)) = one else {
            continue;
        };
        let name = match syntax {
            Syntax::Values => in_our_case(name, &declared),
            _ => declared(name),
        };
        if let Some((name, spelling)) = name.zip(rest.get(..length)) {
            found.push(Nearly { name, spelling, start: at, syntax });
        }
    }
    found
}

/// A name, the length of the text that names it, and the syntax.
type Found<'t> = Option<(&'t str, usize, Syntax)>;

/// The name in a text that begins with `$`. `closing` has the last `)` and the last `}` of the
/// whole text, and `at` is the offset in it.
fn dollar(text: &str, at: usize, closing: [Option<usize>; 2], dialect: Dialect) -> Found<'_> {
    let (open, close, last) = match text.as_bytes() {
        [_, b'(', b'(', ..] => ("$((", "))", closing[0]),
        [_, b'(', ..] => ("$(", ")", closing[0]),
        [_, b'{', b'{', ..] => ("${{", "}}", closing[1]),
        [_, b'{', ..] => ("${", "}", closing[1]),
        _ => {
            let name = shell_name(text.get(1..)?)?;
            return Some((name, name.len() + 1, Syntax::Shell));
        }
    };
    let inner = text.get(open.len()..)?;
    let padded = inner.trim_start_matches(BLANKS);
    let name = leading_name(padded)?;
    let rest = padded.get(name.len()..)?;
    let after = rest.trim_start_matches(BLANKS);
    let has_blanks = inner.len() != padded.len() || rest.len() != after.len();
    let length = |after: &str| text.len() - after.len();
    if let Some(after) = after.strip_prefix(close) {
        if let Some(path) = name.strip_prefix("schema.spec.").filter(|_| open == "${") {
            return Some((path, length(after), Syntax::Values));
        }
        let syntax = match open {
            "$((" => Syntax::Shell,
            _ => Syntax::Reference,
        };
        // Others report references in the other dialect's syntax.
        let is_inside = open == "${{" && dialect == Dialect::OpenShift;
        return (has_blanks || is_inside).then_some((name, length(after), syntax));
    }
    // Half of the brackets is there, or none.
    let half = close.get(1..).filter(|half| !half.is_empty());
    let rest = half.and_then(|half| rest.strip_prefix(half)).unwrap_or(rest);
    let end = at + length(rest);
    let is_open = last.is_none_or(|last| last < end) && !has_blanks;
    is_open.then_some((name, length(rest), Syntax::Reference))
}

/// The name in a text that begins with `{`.
fn braces(text: &str) -> Found<'_> {
    let inner = text.strip_prefix("{{")?;
    let inner = inner.strip_prefix('-').unwrap_or(inner);
    let inner = inner.trim_start_matches(BLANKS);
    let (inner, syntax) = match inner.strip_prefix(".Values.") {
        Some(path) => (path, Syntax::Values),
        None => (inner.strip_prefix('.').unwrap_or(inner), Syntax::Braces),
    };
    let name = leading_name(inner)?;
    let mut rest = inner.get(name.len()..)?.trim_start_matches(BLANKS);
    if syntax == Syntax::Values && rest.starts_with('|') {
        // `| quote` and `| default "a"`.
        rest = rest.trim_start_matches(|one: char| !matches!(one, '{' | '}' | '$'));
    }
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    let rest = rest.strip_prefix("}}")?;
    Some((name, text.len() - rest.len(), syntax))
}

/// The parameter that a path of values means: as it is written, or in the case that parameters
/// have, `image.pullPolicy` as `IMAGE_PULL_POLICY`.
fn in_our_case<'n>(path: &str, declared: impl Fn(&str) -> Option<&'n str>) -> Option<&'n str> {
    let mut snake = String::with_capacity(path.len() + 4);
    let mut was_lower = false;
    for one in path.chars() {
        let is_separator = matches!(one, '.' | '-');
        if one.is_ascii_uppercase() && was_lower {
            snake.push('_');
        }
        snake.push(if is_separator { '_' } else { one });
        was_lower = one.is_ascii_lowercase() || one.is_ascii_digit();
    }
    let spellings = [
        Cow::Borrowed(path),
        Cow::Owned(snake.to_ascii_uppercase()),
        Cow::Owned(snake.to_ascii_lowercase()),
        Cow::Owned(path.to_ascii_uppercase()),
    ];
    spellings.iter().find_map(|name| declared(name))
}

const BLANKS: [char; 2] = [' ', '\t'];

/// The name of a shell's variable that a text begins with.
fn shell_name(text: &str) -> Option<&str> {
    let name = leading_name(text)?;
    let end = name.find(['.', '-']).unwrap_or(name.len());
    name.get(..end)
}

impl Nearly<'_, '_> {
    /// Whether it is certain that no shell and no other program reads it, in a text of one line.
    /// `in_command` and `in_annotation` describe the field of the text.
    pub fn is_meant(&self, text: &str, in_command: bool, in_annotation: bool) -> bool {
        if self.spelling.len() == text.len() {
            return true;
        }
        let before = text.get(..self.start).unwrap_or_default();
        let after = text.get(self.start + self.spelling.len()..);
        let has =
            |signs: &[char]| before.contains(signs) || after.is_some_and(|one| one.contains(signs));
        let is_script = in_command && has(&[' ', ';', '|', '&', '`']);
        match self.syntax {
            Syntax::Reference | Syntax::Values => !is_script,
            Syntax::Shell | Syntax::Braces => {
                let is_code =
                    text.starts_with(['[', '<']) || text.starts_with('{') && self.start > 0;
                !is_script && !in_annotation && !is_code
            }
        }
    }

    /// Whether it looks like a raw reference that is the whole text.
    pub(crate) fn is_raw(&self, text: &str) -> bool {
        let is_raw = self.spelling.starts_with("$((") || self.spelling.starts_with("${{");
        is_raw && self.spelling.len() == text.len()
    }

    /// Says how the reference is written in a Template in `dialect`.
    pub(crate) fn diagnostic(&self, is_raw: bool, dialect: Dialect, is_error: bool) -> Diagnostic {
        let Self { name, spelling, .. } = self;
        let message = format!("`{spelling}` does not refer to parameter `{name}`");
        let diagnostic =
            if is_error { Diagnostic::error(message) } else { Diagnostic::warning(message) };
        let reference =
            if is_raw { dialect.raw_reference(name) } else { dialect.string_reference(name) };
        let why = match self.syntax {
            Syntax::Reference if spelling.contains(BLANKS) => ", without blanks",
            Syntax::Reference if !is_raw && spelling.starts_with("${{") => {
                ": two braces are for a text that is the reference and nothing else"
            }
            Syntax::Values if spelling.starts_with('{') => ": this is Helm's syntax",
            _ => "",
        };
        diagnostic.rule(RULE).hint(format!("to insert the value, write `{reference}`{why}"))
    }
}

/// Says of each key that is a mapping, as YAML reads `{{ .Values.color }}` without quotes, how a
/// reference is written.
pub(crate) fn explain_braces(template: &Template, found: &mut Diagnostics) {
    let declared = |name: &str| {
        let mut names = template.parameters().iter().map(|one| one.name.as_str());
        names.find(|known| *known == name)
    };
    found.explain(|one| {
        let place = one.place.as_ref()?;
        let start = place.range.start;
        let line = |at: usize| place.source.text().get(at..)?.lines().next();
        // As a value, only the inner braces are the key.
        let texts = [line(start.saturating_sub(1)), line(start)];
        let mut texts = texts.into_iter().flatten();
        let text = texts.find(|text| text.starts_with("{{"))?;
        let name = find(text, template.dialect(), declared).first().map(|one| one.name);
        let reference = template.dialect().string_reference(name.unwrap_or("NAME"));
        Some(format!(
            "`{{{{ … }}}}` is Helm's syntax; to refer to a parameter, write `{reference}`"
        ))
    });
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::Dialect;

    #[track_caller]
    fn check(dialect: Dialect, text: &str, expected: &[&str]) {
        let names = ["COLOR", "IMAGE_TAG", "N"];
        let declared = |name: &str| names.into_iter().find(|known| *known == name);
        let found = find(text, dialect, declared);
        let found: Vec<String> =
            found.iter().map(|one| format!("{}={}", one.name, one.spelling)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn texts_that_look_like_a_reference_in_either_dialect() {
        for dialect in [Dialect::Proposal, Dialect::OpenShift] {
            let check = |text, expected: &[&str]| check(dialect, text, expected);
            check("$( COLOR )", &["COLOR=$( COLOR )"]);
            check("$(( N ))", &["N=$(( N ))"]);
            check("${ COLOR }", &["COLOR=${ COLOR }"]);
            check("a-${{ N }}", &["N=${{ N }}"]);
            check("$(COLOR", &["COLOR=$(COLOR"]);
            check("$((N)", &["N=$((N)"]);
            check("${COLOR", &["COLOR=${COLOR"]);
            check("$COLOR-$N", &["COLOR=$COLOR", "N=$N"]);
            check("{{COLOR}}", &["COLOR={{COLOR}}"]);
            check("{{ .COLOR }}", &["COLOR={{ .COLOR }}"]);
            check("{{ .Values.color }}", &["COLOR={{ .Values.color }}"]);
            check(
                "{{- .Values.image.tag | quote -}}",
                &["IMAGE_TAG={{- .Values.image.tag | quote -}}"],
            );
            check("x:{{ .Values.imageTag }}", &["IMAGE_TAG={{ .Values.imageTag }}"]);
            check("${schema.spec.color}", &["COLOR=${schema.spec.color}"]);
            check("$COLORS $(COLOR x) ${COLOR:-a} $((N + 1)) \\$COLOR $$COLOR $(OTHER", &[]);
            check("{{ COLOR.x }} {{.Values}} {{ $N }} {COLOR} {{color}} $color", &[]);
        }
    }

    #[test]
    fn two_braces_are_a_reference_in_one_dialect_only() {
        check(Dialect::OpenShift, "repo:${{COLOR}}", &["COLOR=${{COLOR}}"]);
        check(Dialect::OpenShift, "${{COLOR}", &["COLOR=${{COLOR}"]);
        check(Dialect::OpenShift, "$(COLOR) $((N))", &[]);
        check(Dialect::OpenShift, "${{COLOR}}", &[]);
        check(Dialect::Proposal, "repo:${{COLOR}} ${N}", &[]);
    }
}
