//! Matches values with patterns, within a limit of work.

use regex_lite::{Error, Regex, RegexBuilder};

/// The most bytes of a compiled pattern, multiplied with those of the value. A search takes as many
/// steps in the worst case.
const MAX_WORK: usize = 1 << 32;

/// The most bytes of a compiled pattern.
const MAX_COMPILED: usize = 1024 * 1024;

/// The most groups of a pattern: a search takes memory for each in each state of the pattern.
const MAX_GROUPS: usize = 100;

/// Why a value was not compared with a pattern.
#[derive(Debug)]
pub(crate) enum Unmatched {
    /// Comparing them could take too long.
    Long,
    /// The pattern is not a regular expression, or too large.
    Wrong(String),
}

/// Says whether a value can be compared with a pattern at all.
///
/// # Errors
/// If it is not a regular expression, or too large; the text gives the reason.
pub fn check(pattern: &str) -> Result<(), String> {
    let regex = build(pattern, MAX_COMPILED).map_err(|error| error.to_string())?;
    if regex.captures_len() > MAX_GROUPS {
        return Err(format!("it has more than {MAX_GROUPS} groups: write `(?:` instead of `(`"));
    }
    Ok(())
}

/// Whether a pattern matches a part of a value.
pub(crate) fn matches(pattern: &str, value: &str) -> Result<bool, Unmatched> {
    check(pattern).map_err(Unmatched::Wrong)?;
    let size = MAX_WORK / value.len().max(1);
    let regex = build(pattern, size.min(MAX_COMPILED)).map_err(|_| Unmatched::Long)?;
    Ok(regex.is_match(value))
}

fn build(pattern: &str, size: usize) -> Result<Regex, Error> {
    RegexBuilder::new(pattern).size_limit(size).build()
}

#[cfg(test)]
mod tests {
    use super::{Unmatched, matches};

    #[test]
    fn what_would_take_long_is_not_matched() {
        let text = |pattern: &str, length| match matches(pattern, &"a".repeat(length)) {
            Ok(fits) => fits.to_string(),
            Err(Unmatched::Long) => "long".to_owned(),
            Err(Unmatched::Wrong(error)) => error,
        };
        let groups = "()".repeat(100);
        for (pattern, length, expected) in [
            ("^a+$", 1 << 20, "true"),
            ("^a{63}$", 63, "true"),
            ("^(?:a{0,200}){0,20}$", 1_000, "true"),
            ("^(?:a{0,200}){0,20}$", 1 << 20, "long"),
            ("^a{0,999}b", 1 << 18, "long"),
            (&groups, 1, "it has more than 100 groups: write `(?:` instead of `(`"),
        ] {
            assert_eq!(text(pattern, length), expected, "{pattern} {length}");
        }
        for (pattern, length) in [("(", 1), ("(?:a{9999}){9999}", 1), ("(", 1 << 20)] {
            assert!(matches!(matches(pattern, &"a".repeat(length)), Err(Unmatched::Wrong(_))));
        }
    }
}
