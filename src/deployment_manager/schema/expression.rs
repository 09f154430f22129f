//! Regular expressions of Python in the spelling of ECMAScript.

use std::borrow::Cow;

/// Parts of Python's regular expressions, and how ECMAScript has them. Its `$` is the very end.
const PARTS: &[(&str, &str)] = &[
    ("\\A", "^"),
    ("\\Z", "$"),
    ("$", "(?:\\n?$)"),
    ("(?P<", "(?<"),
];

/// A regular expression of Python as ECMAScript has it.
pub(super) fn expression(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains(['$', '\\', '[', '(']) {
        return Cow::Borrowed(pattern);
    }
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(first) = rest.chars().next() {
        let part = PARTS.iter().filter(|_| !in_class);
        let part = part.copied().find(|(from, _)| rest.starts_with(from));
        let length = if let Some((from, to)) = part {
            out.push_str(to);
            from.len()
        } else {
            let length = match first {
                '\\' => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
                _ => first.len_utf8(),
            };
            out.push_str(rest.get(..length).unwrap_or_default());
            length
        };
        rest = rest.get(length..).unwrap_or_default();
        match first {
            '[' if !in_class => {
                in_class = true;
                rest = after_bracket(rest, &mut out);
            }
            ']' => in_class = false,
            _ => {}
        }
    }
    Cow::Owned(out)
}

/// Writes the start of a class, in which a first `]` is a character.
fn after_bracket<'t>(rest: &'t str, out: &mut String) -> &'t str {
    let mut after = rest;
    if let Some(negated) = after.strip_prefix('^') {
        out.push('^');
        after = negated;
    }
    if let Some(class) = after.strip_prefix(']') {
        out.push_str("\\]");
        after = class;
    }
    after
}

#[cfg(test)]
mod tests {
    use super::expression;

    #[test]
    fn regular_expressions_of_python_are_read_as_python_reads_them() {
        for (pattern, expected) in [
            ("^a+$", "^a+(?:\\n?$)"),
            ("\\Aa\\Z", "^a$"),
            ("[$\\]]$", "[$\\]](?:\\n?$)"),
            ("[]a]", "[\\]a]"),
            ("[^]a]", "[^\\]a]"),
            ("(?P<q>x)", "(?<q>x)"),
            ("\\$", "\\$"),
        ] {
            assert_eq!(expression(pattern), expected, "{pattern}");
        }
    }
}
