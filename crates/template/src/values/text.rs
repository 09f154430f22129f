//! Texts that are meant as numbers, base64, lists or mappings.

use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys, Value};

/// The message and the hint for a list or mapping with a number that JSON does not have.
pub(crate) fn no_json_number(name: &str, digits: Option<&str>) -> (String, &'static str) {
    let found = digits.map_or_else(String::new, |digits| format!(", found `{digits}`"));
    (
        format!(
            "the value of parameter `{name}` may only have numbers that JSON can express{found}"
        ),
        "put it in quotes if it is a string",
    )
}

/// Reads the text of an array or map parameter.
pub(crate) fn read_text(text: &str) -> Option<Value<'static>> {
    let source = Source::new("value", text);
    let document = Document::parse(&source).ok()?;
    let root = document.roots().next()?;
    let mut ignored = Diagnostics::new();
    Some(root.value(DuplicateKeys::Refuse, &mut ignored)?.without_origin().into_owned())
}

/// Whether a text is digits with an optional sign.
pub(crate) fn is_int(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is a number by the JSON grammar, of any size.
pub(crate) fn is_json_number(text: &str) -> bool {
    // Most are natural numbers, which need no parser.
    let is_natural = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    let begins = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    begins
        && (is_natural
            || serde_json::from_str::<serde_json::Number>(text).is_ok()
                && !text.ends_with(|last: char| last.is_ascii_whitespace()))
}

pub(crate) fn is_base64(text: &str) -> bool {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).is_ok()
}

/// Whether a text is likely meant as it is, and is base64 by chance: it looks like a word, and its
/// bytes are not text.
pub(crate) fn is_base64_by_chance(text: &str) -> bool {
    use base64::Engine as _;
    /// Keys and files in base64 are longer.
    const WORD: usize = 40;
    let is_word = text.len() <= WORD && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let decoded = base64::engine::general_purpose::STANDARD.decode(text);
    is_word
        && decoded.is_ok_and(|bytes| {
            let text = std::str::from_utf8(&bytes);
            text.is_err() || text.is_ok_and(|text| text.contains(char::is_control))
        })
}

#[cfg(test)]
mod tests {
    use super::{is_base64, is_int, is_json_number};

    #[test]
    fn types_by_their_grammar() {
        for text in ["0", "-7", "+7", "007", "123456789012345678901234567890"] {
            assert!(is_int(text), "{text}");
        }
        for text in ["", "-", "1.0", "1e3", "0x1F", "1_000", " 1", "１"] {
            assert!(!is_int(text), "{text}");
        }
        for text in ["0", "-0", "1.50", "1e3", "1E+3", "123456789012345678901234567890"] {
            assert!(is_json_number(text), "{text}");
        }
        for text in ["", "+1", "007", ".5", "1.", "0x1F", " 7", "7 ", "NaN", "true"] {
            assert!(!is_json_number(text), "{text}");
        }
        for text in ["aGk=", "aGkh", "+/==", ""] {
            assert_eq!(is_base64(text), text != "+/==", "{text}");
        }
        assert!(!is_base64("aGk"), "padding is needed");
    }
}
