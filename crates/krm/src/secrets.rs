//! Values that no message may show, and their masking in texts that come from elsewhere.
//!
//! Where a text is made here, its author knows which part is secret (`Diagnostic::conceal`). Texts of
//! API servers, of other programs and of keys may quote a value in any spelling, so they are masked
//! by the values.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Bound::{Included, Unbounded};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use krm_yaml::Value;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::shorten::CUT;
pub use krm_yaml::shorten::MASK;

use crate::scalar::text_of;

/// The length from which a value is masked within a word. Shorter ones occur in too many words.
const WITHIN_WORDS: usize = 6;

/// The length from which a line of a longer value is masked.
const LINE: usize = 8;

/// The maximum number of spellings. With more, no text is shown.
const MAX_SPELLINGS: usize = 200_000;

/// Secret values in each spelling that a message may have: as they are, each of their lines, in
/// base64, in JSON and in addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownSecrets {
    spellings: BTreeSet<String>,
    /// Whether there are more than [`MAX_SPELLINGS`].
    is_full: bool,
}

impl KnownSecrets {
    /// Adds a value. A single character is none: it tells nothing.
    pub fn add(&mut self, value: &str) {
        let lines = value.lines().filter(|line| line.trim().len() >= LINE);
        for line in lines.chain([value]) {
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

    /// Adds a value that may be the base64 of one.
    pub fn add_encoded(&mut self, value: &str) {
        self.add(value);
        let code: String = value.split_whitespace().collect();
        let bytes = STANDARD.decode(code).unwrap_or_default();
        self.add(&String::from_utf8(bytes).unwrap_or_default());
    }

    /// Adds the values of an object, if it is a Secret.
    pub fn add_secret(&mut self, object: &Value<'_>) {
        if object.str_at(&["kind"]) == Some("Secret") {
            for key in ["data", "stringData"] {
                object.get(key).into_iter().for_each(|data| self.add_all(data));
            }
        }
    }

    /// Adds all scalars of a value, which may be base64.
    pub fn add_all(&mut self, value: &Value<'_>) {
        self.add_encoded(text_of(value).unwrap_or_default());
        let entries = value.entries().into_iter().flatten();
        let items = value.items().into_iter().flatten();
        let parts = entries.map(|(_, part)| part).chain(items);
        parts.for_each(|part| self.add_all(part));
    }

    /// Returns `true` if no value is known.
    pub fn is_empty(&self) -> bool {
        self.spellings.is_empty()
    }

    /// Masks the values in the texts of diagnostics.
    pub fn conceal(&self, diagnostics: &mut Diagnostics) {
        if !self.is_empty() {
            diagnostics.rewrite(|_, text| self.changed(text));
        }
    }

    /// As [`masked`](Self::masked), if the text has a value.
    pub fn changed(&self, text: &str) -> Option<String> {
        match self.masked(text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(masked) => Some(masked),
        }
    }

    /// Returns a text with [`MASK`] for each value in it. A short value is masked only as a word.
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        if self.is_full {
            return MASK.into();
        }
        let mut out = String::new();
        let (mut done, mut before) = (0, None);
        let mut cuts = text.match_indices(CUT).map(|(cut, _)| cut).peekable();
        for (at, c) in text.char_indices() {
            if at < done {
                continue;
            }
            while cuts.next_if(|cut| *cut < at).is_some() {}
            let rest = text.get(at..).unwrap_or_default();
            let start = cuts.peek().and_then(|cut| text.get(at..*cut));
            let found = self.at(before, rest);
            let found = found.or_else(|| self.is_start(start.unwrap_or_default()));
            before = Some(c);
            if let Some(length) = found {
                out.push_str(text.get(done..at).unwrap_or_default());
                out.push_str(MASK);
                done = at + length;
                let masked = text.get(at..done).unwrap_or_default();
                before = masked.chars().next_back();
            }
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// The length of the longest value that `text`, after `before`, begins with.
    fn at(&self, before: Option<char>, text: &str) -> Option<usize> {
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        // Each value that the text begins with sorts before it, and after all shorter ones.
        let mut most = text;
        loop {
            let range = (Unbounded, Included(most));
            let value = self.spellings.range::<str, _>(range).next_back()?;
            let pairs = value.bytes().zip(text.bytes());
            let mut common = pairs.take_while(|(one, other)| one == other).count();
            if common == value.len() {
                let after = text.get(common..).and_then(|rest| rest.chars().next());
                if common >= WITHIN_WORDS || !(is_word(before) || is_word(after)) {
                    return Some(common);
                }
                common -= 1;
            }
            most = text.get(..text.floor_char_boundary(common))?;
        }
    }

    /// The length of a text that is the start of a value.
    fn is_start(&self, text: &str) -> Option<usize> {
        let value = self.spellings.range::<str, _>((Included(text), Unbounded)).next()?;
        (!text.is_empty() && value.starts_with(text)).then_some(text.len())
    }

    fn insert(&mut self, spelling: String) {
        self.is_full |= self.spellings.len() >= MAX_SPELLINGS;
        if spelling.len() > 1 {
            self.spellings.insert(spelling);
        }
    }
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
            ("Invalid value: \"p@ss \\\"w\\\"ord\"", "Invalid value: \"***\""),
            ("{\\\"a\\\":\\\"p@ss \\\\\\\"w\\\\\\\"ord\\\"}", "{\\\"a\\\":\\\"***\\\"}"),
            ("http://u:p%40ss%20%22w%22ord@h/", "http://u:***@h/"),
            ("data: cEBzcyAidyJvcmQ=", "data: ***"),
            ("at second line here", "at *** here"),
            ("PIN 1234, not 12345 or x1234", "PIN ***, not 12345 or x1234"),
            ("cut p@ss \"w\"o… and 123… of p@…", "cut ***… and ***… of ***…"),
            ("1234 1234p@ss \"w\"ord1234", "*** 1234***1234"),
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
    }

    #[test]
    fn too_many_values_hide_all_texts() {
        let mut known = KnownSecrets::default();
        let lines = (10_000_000..11_000_000).map(|number| format!("{number}\n"));
        known.add(&lines.collect::<String>());
        assert!(known.spellings.len() <= MAX_SPELLINGS + 8);
        assert_eq!(known.masked("a word"), MASK);
    }
}
