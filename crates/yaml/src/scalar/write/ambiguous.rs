//! Texts that some YAML reader does not read as text when they are plain.
//!
//! The union of go-yaml v2 and v3, the types of YAML 1.1 and the core schema of YAML 1.2, with room
//! to spare: a text that is quoted for nothing is still the same text.

use crate::scalar::decimal::{Decimal, split_digits, split_sign};

/// Whether a reader could read `text`, written plain, as a null, boolean, number, date or merge
/// key.
pub(crate) fn may_be_typed(text: &str) -> bool {
    match text.as_bytes().first() {
        None => true,
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => may_be_number_or_date(text),
        Some(_) => is_word(text),
    }
}

fn is_word(text: &str) -> bool {
    /// Bytes of the longest word.
    const LONGEST: usize = 5;
    /// In lower case. Readers know some casings of them; the other casings are quoted too.
    const WORDS: [&str; 10] = ["~", "null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    text.len() <= LONGEST
        && (matches!(text, "<<" | "=") || WORDS.iter().any(|word| word.eq_ignore_ascii_case(text)))
}

fn may_be_number_or_date(text: &str) -> bool {
    let without_underscores;
    let text = if text.contains('_') {
        without_underscores = text.replace('_', "");
        &without_underscores
    } else {
        text
    };
    let magnitude = split_sign(text).1;
    is_radix_integer(magnitude)
        || Decimal::split(text).is_some()
        || is_sexagesimal(magnitude)
        || is_date(magnitude)
        || [".inf", ".nan"].iter().any(|word| word.eq_ignore_ascii_case(magnitude))
}

/// `0x1F`, `0o17`, `0b101`; go-yaml also reads `0b-101` and `0o-17`.
fn is_radix_integer(text: &str) -> bool {
    let Some(prefixed) = text.strip_prefix('0') else {
        return false;
    };
    let Some(prefix) = prefixed.chars().next() else {
        return false;
    };
    let radix = match prefix {
        'x' | 'X' => 16,
        'o' | 'O' => 8,
        'b' | 'B' => 2,
        _ => return false,
    };
    let (_, digits) = split_sign(prefixed.get(1..).unwrap_or_default());
    !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix))
}

/// `12:30:45` and `190:20:30.15`, in base 60.
fn is_sexagesimal(text: &str) -> bool {
    let (first, rest) = split_digits(text);
    !first.is_empty()
        && rest.starts_with(':')
        && rest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b':' | b'.'))
}

/// `2001-01-01` and `2001-1-1`, alone or before a time.
fn is_date(text: &str) -> bool {
    let (year, rest) = split_digits(text);
    let Some((month, rest)) = rest.strip_prefix('-').map(split_digits) else {
        return false;
    };
    let Some((day, rest)) = rest.strip_prefix('-').map(split_digits) else {
        return false;
    };
    year.len() == 4
        && (1..=2).contains(&month.len())
        && (1..=2).contains(&day.len())
        && (rest.is_empty() || rest.starts_with(['t', 'T', ' ', '\t']))
}

#[cfg(test)]
mod tests {
    use super::may_be_typed;

    #[test]
    fn what_any_reader_types_is_ambiguous() {
        let typed = [
            "",
            "~",
            "null",
            "NULL",
            "True",
            "yes",
            "Off",
            "y",
            "N",
            "<<",
            "=",
            "0",
            "-0",
            "+1",
            "0644",
            "08",
            "0o644",
            "0O7",
            "0x1F",
            "-0X1f",
            "0b101",
            "0b-101",
            "0o-7",
            "1_000",
            "1_",
            "0x_1",
            "1.",
            ".5",
            "-.5e3",
            "1e3",
            "1E+03",
            "1e400",
            ".inf",
            "-.INF",
            ".nan",
            ".5_0",
            "12:30",
            "-190:20:30.15",
            "1:60",
            "2001-01-01",
            "2001-1-1",
            "2001-12-14t21:59:43.10-05:00",
            "2001-12-14 21:59:43.10 -5",
        ];
        for text in typed {
            assert!(may_be_typed(text), "`{text}`");
        }
    }

    #[test]
    fn other_texts_are_not() {
        for text in [
            "a",
            "none",
            "nil",
            "1.2.3",
            "0x",
            "0xG",
            "0b2",
            "0o8",
            "1e",
            ".",
            "-",
            "--",
            "+",
            "+a",
            "_1",
            "100m",
            "1Gi",
            "25%",
            "v1",
            "inf",
            "NaN",
            "1,000",
            "10.0.0.1/8",
            "2001-01",
            "2001-01-01a",
            "12:30h",
            "e3",
            ".e1",
        ] {
            assert!(!may_be_typed(text), "`{text}`");
        }
    }
}
