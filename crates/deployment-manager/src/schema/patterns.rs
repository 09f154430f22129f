//! Regular expressions of schemas, each compiled once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use fancy_regex::{Regex, RegexBuilder};

use crate::schema::deadline::Deadline;
use crate::schema::expression::expression;
use crate::schema::problem::Problem;

/// The most bytes of a compiled expression, multiplied with those of a text that it searches. With
/// each look ahead or behind, a search may pass through the text once more at each place of it.
const MAX_WORK: usize = 1 << 32;

/// The most ways that a search goes back, multiplied with the bytes of the text.
const MAX_BACK: usize = 1 << 28;

/// The most bytes of a compiled expression.
const MAX_COMPILED: usize = 1024 * 1024;

/// The steps that a search takes at least, for the deadline.
const SEARCH: usize = 1_024;

/// The regular expressions that have been used.
#[derive(Default)]
pub(super) struct Patterns {
    /// By the pattern and the size of what they search; none if they are too large for that.
    known: RefCell<BTreeMap<(String, usize), Option<Regex>>>,
}

impl Patterns {
    /// Whether a pattern of Python matches a text somewhere, as `re.search` does. A search that takes
    /// too many steps finds nothing.
    pub(super) fn matches(
        &self,
        pattern: &str,
        text: &str,
        deadline: &Deadline<'_>,
    ) -> Result<bool, Problem> {
        deadline.take(text.len().saturating_mul(64).saturating_add(SEARCH))?;
        let mut known = self.known.borrow_mut();
        let size = (MAX_WORK / text.len().max(1).next_power_of_two()).min(MAX_COMPILED);
        let key = (pattern.to_owned(), size);
        let regex = match known.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(compiled(pattern, size)?),
        };
        let regex = regex.as_ref().filter(|_| !is_long(pattern, text));
        Ok(regex.is_some_and(|regex| regex.is_match(text).unwrap_or_default()))
    }
}

/// Compiles a pattern; none if it is larger than `size` only.
fn compiled(pattern: &str, size: usize) -> Result<Option<Regex>, Problem> {
    let expression = expression(pattern);
    let build = |size| {
        let mut builder = RegexBuilder::new(&expression);
        let back = MAX_BACK / (MAX_WORK / size);
        builder.delegate_size_limit(size).backtrack_limit(back).build()
    };
    match build(size) {
        Ok(regex) => Ok(Some(regex)),
        Err(_) if size < MAX_COMPILED && build(MAX_COMPILED).is_ok() => Ok(None),
        Err(error) => {
            Err(Problem::Pattern { pattern: pattern.to_owned(), reason: error.to_string() })
        }
    }
}

/// Whether a text is too long for the looks ahead and behind of a pattern.
fn is_long(pattern: &str, text: &str) -> bool {
    let looks = ["(?=", "(?!", "(?<=", "(?<!"].map(|look| pattern.matches(look).count());
    let passes = u32::try_from(looks.iter().sum::<usize>()).unwrap_or(u32::MAX);
    let work = text.len().checked_pow(passes.saturating_add(1));
    work.is_none_or(|work| work > MAX_WORK)
}

#[cfg(test)]
mod tests {
    use super::Patterns;
    use crate::schema::deadline::Deadline;

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
            let found = patterns.matches(pattern, text, &Deadline::new(None)).ok();
            assert_eq!(found, Some(fits), "{pattern} {text:?}");
        }
    }

    #[test]
    fn a_search_without_end_finds_nothing() {
        let patterns = Patterns::default();
        let text = "a".repeat(60);
        assert_eq!(
            patterns.matches("^(a|a)*(?=b)$", &text, &Deadline::new(None)).ok(),
            Some(false)
        );
    }

    #[test]
    fn patterns_that_would_search_a_long_text_for_long_find_nothing() {
        let patterns = Patterns::default();
        for (pattern, length, fits) in [
            ("^a*$", 1_000_000, true),
            ("^(?:a{1,9}){1,9}", 100_000, true),
            ("^(?:(?:a{0,99}){0,99})*$", 1_000_000, false),
            ("^(?:(?:a{0,99}){0,9})*$", 1_000, true),
            ("^(?=.*a)(?=.*a).{8,}$", 200, true),
            ("^(?:(?=.*a)a)*$", 1_000_000, false),
            ("^(?=(?:(?=(?:(?=.*a)a)*$)a)*$)", 10_000, false),
        ] {
            let text = "a".repeat(length);
            let found = patterns.matches(pattern, &text, &Deadline::new(None));
            assert_eq!(found.ok(), Some(fits), "{pattern}");
        }
    }

    #[test]
    fn patterns_that_are_too_deep_or_unfinished_are_errors() {
        let patterns = Patterns::default();
        for pattern in ["(", "[", "*", "(?<x", "a{3}{", &"(".repeat(100_000)] {
            assert!(
                patterns.matches(pattern, "a", &Deadline::new(None)).is_err() || pattern == "a{3}{"
            );
        }
    }
}
