//! The methods of texts in Python that look at each character alone.

use minijinja::Value;

use super::chars::is_blank;

/// Calls such a method, none of which has arguments.
pub(super) fn method(text: &str, method: &str) -> Option<Value> {
    let all = |is: fn(char) -> bool| Value::from(!text.is_empty() && text.chars().all(is));
    Some(match method {
        "upper" => Value::from(text.to_uppercase()),
        "lower" | "casefold" => Value::from(text.to_lowercase()),
        "capitalize" => Value::from(capitalize(text)),
        "title" => Value::from(title(text, char::is_alphabetic)),
        "swapcase" => Value::from(text.chars().map(swapped).collect::<String>()),
        "islower" => Value::from(has_case(text, char::is_lowercase, char::is_uppercase)),
        "isupper" => Value::from(has_case(text, char::is_uppercase, char::is_lowercase)),
        "istitle" => Value::from(is_title(text)),
        "isspace" => all(is_blank),
        "isdigit" | "isdecimal" => all(is_digit),
        "isnumeric" => all(char::is_numeric),
        "isalnum" => all(char::is_alphanumeric),
        "isalpha" => all(char::is_alphabetic),
        "isascii" => Value::from(text.is_ascii()),
        "isidentifier" => {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let starts = text.chars().next().is_some_and(|c| !c.is_numeric());
            Value::from(starts && text.chars().all(is_part))
        }
        "isprintable" => Value::from(!text.chars().any(char::is_control)),
        _ => return None,
    })
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
        || c.is_numeric() && !c.is_alphabetic() && c.to_digit(10).is_none() && {
            // Superscripts and digits of other scripts, but no fractions.
            !matches!(c, '\u{bc}'..='\u{be}' | '\u{2150}'..='\u{218b}')
        }
}

fn has_case(text: &str, is: fn(char) -> bool, is_not: fn(char) -> bool) -> bool {
    text.chars().any(is) && !text.chars().any(is_not)
}

fn swapped(c: char) -> String {
    if c.is_uppercase() {
        c.to_lowercase().collect()
    } else {
        c.to_uppercase().collect()
    }
}

/// The first character in upper case, all others in lower case.
pub(super) fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = match chars.next() {
        Some('ß') => "Ss".to_owned(),
        first => first.into_iter().flat_map(char::to_uppercase).collect(),
    };
    first + &chars.as_str().to_lowercase()
}

/// The first letter of each word in upper case, all others in lower case.
pub(super) fn title(text: &str, is_in_word: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_inside = false;
    for c in text.chars() {
        if is_inside {
            out.extend(c.to_lowercase());
        } else {
            out.extend(c.to_uppercase());
        }
        is_inside = is_in_word(c);
    }
    out
}

fn is_title(text: &str) -> bool {
    text.chars().any(char::is_alphabetic) && title(text, char::is_alphabetic) == text
}
