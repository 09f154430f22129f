//! Values that no message may show, and their masking in texts that come from elsewhere.
//!
//! Where a text is made here, its author knows which part is secret (`Diagnostic::conceal`). Texts of
//! API servers, of other programs and of keys may quote a value in any spelling, so they are masked
//! by the values.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use krm_yaml::shorten::masked;

/// Replaces a secret value.
pub const MASK: &str = "***";

/// The length from which a value is masked within a word. Shorter ones occur in too many words.
const WITHIN_WORDS: usize = 6;

/// The maximum number of spellings. With more, no text is shown.
const MAX_SPELLINGS: usize = 50_000;

/// Secret values in each spelling that a message may have: as they are, each of their lines, in
/// base64, in JSON and in addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownSecrets {
    long: BTreeSet<String>,
    short: BTreeSet<String>,
    /// Whether there are more than [`MAX_SPELLINGS`].
    is_full: bool,
}

impl KnownSecrets {
    /// Adds a value. A single character is none: it tells nothing.
    pub fn add(&mut self, value: &str) {
        for line in value.lines().chain([value]) {
            if self.is_full {
                return;
            }
            let line = line.trim();
            self.insert(line.to_owned());
            let json = serde_json::Value::from(line).to_string();
            let json = json.trim_matches('"');
            // A JSON text within another.
            let nested = serde_json::Value::from(json).to_string();
            self.insert(json.to_owned());
            self.insert(nested.trim_matches('"').to_owned());
            self.insert(in_address(line));
        }
        self.insert(STANDARD.encode(value));
        // Within a longer text, such as `user:VALUE`, without the parts that depend on its neighbours.
        for before in 0..3 {
            let whole = (value.len() + before) / 3 * 4;
            let code = STANDARD.encode([&vec![0; before], value.as_bytes()].concat());
            let inner = code.get(if before == 0 { 0 } else { 4 }..whole);
            let inner = inner.filter(|inner| inner.len() >= WITHIN_WORDS);
            self.insert(inner.unwrap_or_default().to_owned());
        }
    }

    /// Returns `true` if no value is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.long.is_empty() && self.short.is_empty()
    }

    /// Returns a text with [`MASK`] for each value in it. A short value is masked only as a word.
    #[must_use]
    pub fn masked<'t>(&'t self, text: &'t str) -> Cow<'t, str> {
        if self.is_full && !text.is_empty() {
            return MASK.into();
        }
        // The longest ones first: one value may be a part of another.
        let mut long: Vec<&str> = self.long.iter().map(String::as_str).collect();
        long.sort_by_key(|value| std::cmp::Reverse(value.len()));
        let mut text = masked(text, long, MASK);
        for value in &self.short {
            if let Some(without) = without_word(&text, value) {
                text = without.into();
            }
        }
        text
    }

    fn insert(&mut self, spelling: String) {
        self.is_full |= self.long.len() + self.short.len() >= MAX_SPELLINGS;
        match spelling.len() {
            0 | 1 => {}
            2..WITHIN_WORDS => {
                self.short.insert(spelling);
            }
            _ => {
                self.long.insert(spelling);
            }
        }
    }
}

/// Replaces a word. Returns `None` if the text does not have it.
fn without_word(text: &str, word: &str) -> Option<String> {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut out = String::new();
    let mut end = 0;
    for (at, _) in text.match_indices(word) {
        let (before, after) = (text.get(..at)?, text.get(at + word.len()..)?);
        if !is_word(before.chars().next_back()) && !is_word(after.chars().next()) {
            out.push_str(text.get(end..at)?);
            out.push_str(MASK);
            end = at + word.len();
        }
    }
    out.push_str(text.get(end..)?);
    (end > 0).then_some(out)
}

/// Spells a text as a part of an address.
fn in_address(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_masked_in_each_spelling() {
        let mut known = KnownSecrets::default();
        known.add("p@ss \"w\"ord");
        known.add("first line\nsecond line");
        known.add("1234");
        for (text, expected) in [
            (
                "Invalid value: \"p@ss \\\"w\\\"ord\"",
                "Invalid value: \"***\"",
            ),
            (
                "{\\\"a\\\":\\\"p@ss \\\\\\\"w\\\\\\\"ord\\\"}",
                "{\\\"a\\\":\\\"***\\\"}",
            ),
            ("http://u:p%40ss%20%22w%22ord@h/", "http://u:***@h/"),
            ("data: cEBzcyAidyJvcmQ=", "data: ***"),
            ("at second line here", "at *** here"),
            (
                "PIN 1234, not 12345 or x1234",
                "PIN ***, not 12345 or x1234",
            ),
            ("nothing", "nothing"),
        ] {
            assert_eq!(known.masked(text), expected);
        }
        // As a part of a longer text, in each position.
        for before in ["", "u", "us", "use"] {
            let text = STANDARD.encode(format!("{before}:p@ss \"w\"ord:"));
            assert!(known.masked(&text).contains(MASK), "{text}");
        }
        assert!(KnownSecrets::default().is_empty());
        // A part before the mark of a cut.
        assert_eq!(known.masked("Invalid value: p@ss …"), "Invalid value: ***…");
    }

    #[test]
    fn too_many_values_hide_all_texts() {
        let mut known = KnownSecrets::default();
        let lines = (0..1_000_000).map(|number| format!("{number}\n"));
        known.add(&lines.collect::<String>());
        assert!(known.long.len() + known.short.len() <= MAX_SPELLINGS + 8);
        assert_eq!(known.masked("a word"), MASK);
    }
}
