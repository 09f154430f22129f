//! Regular expressions as Go reads them.

use std::borrow::Cow;

use regex_lite::{Error, Regex};

/// Compiles an expression in which, as in Go, a brace that begins no repetition is that character.
///
/// # Errors
/// If it is malformed.
pub(crate) fn compile(expression: &str) -> Result<Regex, Error> {
    Regex::new(&with_literal_braces(expression))
}

/// The expression with a backslash before each brace that begins no repetition.
fn with_literal_braces(expression: &str) -> Cow<'_, str> {
    if !expression.contains('{') {
        return Cow::Borrowed(expression);
    }
    let mut text = String::with_capacity(expression.len() + 4);
    let mut rest = expression.chars();
    let mut is_in_class = false;
    while let Some(c) = rest.next() {
        match c {
            '\\' => {
                text.push(c);
                text.extend(rest.next());
                continue;
            }
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            '{' if is_in_class || !begins_repetition(rest.as_str()) => text.push('\\'),
            _ => {}
        }
        text.push(c);
    }
    Cow::Owned(text)
}

/// Whether `n}`, `n,}` or `n,m}` follows.
fn begins_repetition(rest: &str) -> bool {
    let Some((inside, _)) = rest.split_once('}') else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    match inside.split_once(',') {
        Some((least, most)) => is_number(least) && (most.is_empty() || is_number(most)),
        None => is_number(inside),
    }
}

#[cfg(test)]
mod tests {
    use super::compile;

    #[test]
    fn braces_without_a_repetition_are_literal() {
        for (expression, text, expected) in [
            (r"^\${CLUSTER}-x$", "${CLUSTER}-x", true),
            (r"^a{2}$", "aa", true),
            (r"^a{2,}$", "aaa", true),
            (r"^a{,2}$", "a{,2}", true),
            (r"^[{}]$", "{", true),
            (r"^\{{1,2}$", "{{", true),
            (r"^{a$", "{a", true),
        ] {
            assert_eq!(compile(expression).unwrap().is_match(text), expected, "{expression}");
        }
    }
}
