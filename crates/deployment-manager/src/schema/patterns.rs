//! Regular expressions of schemas, each compiled once.

use std::cell::RefCell;
use std::collections::BTreeMap;

use fancy_regex::Regex;

use crate::schema::expression::expression;
use crate::schema::problem::Problem;

/// The regular expressions that have been used.
#[derive(Default)]
pub(super) struct Patterns {
    known: RefCell<BTreeMap<String, Regex>>,
}

impl Patterns {
    /// Whether a pattern of Python matches a text somewhere, as `re.search` does. A search that takes
    /// too many steps finds nothing.
    pub(super) fn matches(&self, pattern: &str, text: &str) -> Result<bool, Problem> {
        let mut known = self.known.borrow_mut();
        if let Some(regex) = known.get(pattern) {
            return Ok(regex.is_match(text).unwrap_or_default());
        }
        let regex = Regex::new(&expression(pattern)).map_err(|error| Problem::Pattern {
            pattern: pattern.to_owned(),
            reason: error.to_string(),
        })?;
        let found = regex.is_match(text).unwrap_or_default();
        known.insert(pattern.to_owned(), regex);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::Patterns;

    #[test]
    fn regular_expressions_match_what_they_match_in_python() {
        let patterns = Patterns::default();
        for (pattern, text, fits) in [
            ("^a$", "a\n", true),
            ("^a\\Z", "a\n", false),
            ("(?P<q>x)y", "xy", true),
            ("(?P<q>x)(?P=q)", "xx", true),
            ("^(?!b).*x", "ax", true),
            ("^(?!b).*x", "bx", false),
            ("b", "abc", true),
            ("^\\d+$", "12", true),
            ("^\\d+$", "١٢", false),
            ("^[\\w.-]+$", "a-b.c_d", true),
            ("^[\\w.-]+$", "é", false),
            ("^[^\\s]+$", "a b", false),
            ("^\\S+$", "a\u{a0}b", true),
            ("^[\\W]+$", "- é", true),
            ("^[[]$", "[", true),
            ("^[a&&b]+$", "a&b", true),
            ("^[+--]+$", ",-+", true),
            ("^a{$", "a{", true),
            ("^a{,2}$", "aa", true),
            ("^a{,2}$", "aaa", false),
            ("^a{2,}$", "aaa", true),
            ("^\\h\\e$", "he", true),
            ("^\\/\\-\\@\\\"\\ $", "/-@\" ", true),
            ("(?i)^ABC$", "abc", true),
            ("^(?:a|b)*?c$", "ababc", true),
            ("\\bfoo\\b", "a foo b", true),
            ("\\x41\\t", "A\t", true),
        ] {
            let found = patterns.matches(pattern, text).ok();
            assert_eq!(found, Some(fits), "{pattern} {text:?}");
        }
    }

    #[test]
    fn a_search_without_end_finds_nothing() {
        let patterns = Patterns::default();
        let text = "a".repeat(60);
        assert_eq!(patterns.matches("^(a|a)*(?=b)$", &text).ok(), Some(false));
    }

    #[test]
    fn patterns_that_are_too_deep_or_unfinished_are_errors() {
        let patterns = Patterns::default();
        for pattern in ["(", "[", "*", "(?<x", "a{3}{", &"(".repeat(100_000)] {
            assert!(patterns.matches(pattern, "a").is_err() || pattern == "a{3}{");
        }
    }
}
