//! Texts of several lines, which a control of one line would join.

use krm_template_engine::Parameter;

/// Parts of patterns for texts of several lines: classes and flags that take a line break, and the
/// beginning of a PEM file.
const IN_PATTERNS: [&str; 7] = ["\\n", "\\r", "\\s", "\\S", "(?s", "(?m", "BEGIN"];

/// Words for a text of several lines in the description of a parameter, in lower case.
const WORDS: [&str; 5] = ["pem", "multiline", "multi-line", "lines", "private key"];

/// Ends of the names of certificates and keys, in upper case.
const ENDS: [&str; 5] = ["CERT", "CERTIFICATE", "CRT", "PRIVATE_KEY", "CA_BUNDLE"];

/// Returns `true` if a text would have several lines in a control.
pub(super) fn are_in(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// Returns `true` if the value of a parameter is likely to have several lines: its default or its
/// pattern says so, or what its author wrote about it.
pub(super) fn are_likely_in(parameter: &Parameter) -> bool {
    let default = parameter.default_text().unwrap_or_default();
    // Line breaks at the end of a secret are those of the file that it comes from.
    let default = if parameter.secret { default.trim_end() } else { &default };
    if are_in(default) {
        return true;
    }
    if let Some(pattern) = &parameter.pattern {
        return IN_PATTERNS.iter().any(|part| pattern.contains(part));
    }
    let name = parameter.name.to_uppercase();
    let texts = [parameter.display_name(), parameter.description()];
    ENDS.iter().any(|end| name.ends_with(end))
        || texts.into_iter().flatten().any(|text| are_described(&text))
}

/// Returns `true` if a text has one of [`WORDS`] as a word.
fn are_described(text: &str) -> bool {
    let text = text.to_lowercase();
    let is_part = |one: char| one.is_alphanumeric();
    let is_word = |word: &str, at: usize| {
        let (before, rest) = text.split_at(at);
        let after = rest.get(word.len()..).unwrap_or_default();
        !before.ends_with(is_part) && !after.starts_with(is_part)
    };
    WORDS.iter().any(|word| {
        let mut places = text.match_indices(word);
        places.any(|(at, _)| is_word(word, at))
    })
}
