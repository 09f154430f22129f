//! Regular expressions of Python 2 in the spelling of `fancy-regex`.

use std::iter::Peekable;
use std::str::Chars;

/// A regular expression of Python in the spelling of `fancy-regex`: classes such as `\w` are ASCII,
/// `$` also matches before a line break at the end, and what has no meaning in Python is a character.
pub(super) fn expression(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => escape(&mut rest, &mut out, false),
            '$' => out.push_str("(?=\\n?\\z)"),
            '[' => class(&mut rest, &mut out),
            '{' => repetition(&mut rest, &mut out),
            _ => out.push(c),
        }
    }
    out
}

/// Writes what is after a backslash.
fn escape(rest: &mut Peekable<Chars<'_>>, out: &mut String, in_class: bool) {
    let (open, close) = if in_class { ("", "") } else { ("[", "]") };
    let Some(c) = rest.next() else {
        out.push('\\');
        return;
    };
    let class = match c {
        'd' => Some("0-9"),
        'w' => Some("0-9A-Za-z_"),
        's' => Some(" \\t-\\r"),
        _ => None,
    };
    let negated = match c {
        'D' => Some("0-9"),
        'W' => Some("0-9A-Za-z_"),
        'S' => Some(" \\t-\\r"),
        _ => None,
    };
    match (c, class, negated) {
        (_, Some(class), _) => out.extend([open, class, close]),
        (_, _, Some(class)) => out.extend(["[^", class, "]"]),
        ('Z', ..) if !in_class => out.push_str("\\z"),
        ('b', ..) if in_class => out.push_str("\\x08"),
        ('0', ..) => out.push_str("\\x00"),
        ('A' | 'b' | 'B' | 'a' | 'f' | 'n' | 'r' | 't' | 'v' | 'x' | '1'..='9', ..) => {
            out.extend(['\\', c]);
        }
        _ if c.is_ascii_punctuation() => out.extend(['\\', c]),
        _ => out.push(c),
    }
}

/// Writes a class, in which a first `]` is a character, and there are no classes or operators.
fn class(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('[');
    out.extend(rest.next_if_eq(&'^'));
    let mut is_first = true;
    // Whether a `-` makes a range of the character before, and whether it just has.
    let (mut starts_range, mut ends_range) = (false, false);
    while let Some(c) = rest.next() {
        match c {
            ']' if !is_first => {
                out.push(']');
                return;
            }
            '-' if starts_range && rest.peek() != Some(&']') => {
                out.push('-');
                (starts_range, ends_range) = (false, true);
                continue;
            }
            '\\' => escape(rest, out, true),
            ']' | '[' | '-' | '&' | '~' => out.extend(['\\', c]),
            _ => out.push(c),
        }
        is_first = false;
        (starts_range, ends_range) = (!ends_range, false);
    }
}

/// Writes `{`, which is a character if no numbers and `}` are after it.
fn repetition(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    let after: String = rest.clone().take_while(|c| *c != '}').collect();
    let is_closed = rest.clone().nth(after.chars().count()) == Some('}');
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (from, to) = after.split_once(',').unwrap_or((&after, "0"));
    if !is_closed || !is_number(from) || !is_number(to) || after.is_empty() || after == "," {
        out.push_str("\\{");
    } else if from.is_empty() {
        out.push_str("{0");
    } else {
        out.push('{');
    }
}

#[cfg(test)]
mod tests {
    use super::expression;

    #[test]
    fn regular_expressions_of_python_are_read_as_python_reads_them() {
        for (pattern, expected) in [
            ("^a+$", "^a+(?=\\n?\\z)"),
            ("\\Aa\\Z", "\\Aa\\z"),
            ("[$\\]]$", "[$\\]](?=\\n?\\z)"),
            ("[]a]", "[\\]a]"),
            ("[^]a]", "[^\\]a]"),
            ("(?P<q>x)", "(?P<q>x)"),
            ("\\$", "\\$"),
            ("[--a]", "[\\--a]"),
            ("[+--]", "[+-\\-]"),
            ("[a-z-]", "[a-z\\-]"),
            ("[a-]", "[a\\-]"),
            ("x{2}{y}", "x{2}\\{y}"),
        ] {
            assert_eq!(expression(pattern), expected, "{pattern}");
        }
    }
}
