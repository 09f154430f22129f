//! Patterns with `*`, `?` and `[…]` for one part of a path.

/// The rules of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patterns {
    /// The rules of Go's `path/filepath`: `[^a-z]`, and `\` before a character.
    Go,
    /// The rules of a shell: `[!a-z]`; names that begin with a dot match only a dot.
    Shell,
}

/// Whether a pattern matches a whole text. `*` and `?` do not match `/`.
pub fn fits(pattern: &str, text: &str, patterns: Patterns) -> bool {
    if patterns == Patterns::Shell && text.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    // The last `*`, and how much it matches.
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() || at < pattern.len() {
        if pattern.get(at) == Some(&'*') {
            star = Some((at, read));
            at += 1;
            continue;
        }
        let length = |char: &char| part(pattern.get(at..)?, *char, patterns);
        if let Some(length) = text.get(read).and_then(length) {
            (at, read) = (at + length, read + 1);
            continue;
        }
        match star {
            Some((from, end)) if text.get(end).is_some_and(|char| *char != '/') => {
                star = Some((from, end + 1));
                (at, read) = (from + 1, end + 1);
            }
            _ => return false,
        }
    }
    true
}

/// The length of the part of a pattern that matches one character.
fn part(pattern: &[char], char: char, patterns: Patterns) -> Option<usize> {
    match pattern {
        ['?', ..] => (char != '/').then_some(1),
        ['\\', literal, ..] if patterns == Patterns::Go => (*literal == char).then_some(2),
        ['[', set @ ..] => {
            let negation = if patterns == Patterns::Go { '^' } else { '!' };
            let skipped = usize::from(set.first() == Some(&negation));
            let set = set.get(skipped..)?;
            // A `]` that comes first is one of the set.
            let end = 1 + set.iter().skip(1).position(|char| *char == ']')?;
            let mut rest = set.get(..end)?;
            let mut is_in = false;
            while let [from, after @ ..] = rest {
                let (to, after) = match after {
                    ['-', to, after @ ..] => (to, after),
                    _ => (from, after),
                };
                is_in |= (*from..=*to).contains(&char);
                rest = after;
            }
            (is_in != (skipped == 1)).then_some(skipped + end + 2)
        }
        [literal, ..] => (*literal == char).then_some(1),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Patterns, fits};

    #[test]
    fn patterns_match_as_in_go() {
        let all = [
            ("*.yaml", "a.yaml", true),
            ("*.yaml", "a/b.yaml", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("[a-c]?", "bz", true),
            ("[a-c]?", "-z", false),
            ("[^a-c]?", "bz", false),
            (r"\*", "*", true),
            (r"\*", "a", false),
            ("*", "", true),
            ("[a", "a", false),
        ];
        for (pattern, text, expected) in all {
            assert_eq!(fits(pattern, text, Patterns::Go), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn patterns_match_as_those_of_a_shell() {
        for (pattern, name, expected) in [
            ("*.jinja", "vm.jinja", true),
            ("*.jinja", ".jinja", false),
            ("*.jinja", "vm.py", false),
            ("v?.*", "vm.jinja", true),
            ("v?.*", "v.jinja", false),
            ("*a*b", "xaxxab", true),
            ("[a-c]1", "b1", true),
            ("[!a-c]1", "b1", false),
            ("[]x]", "]", true),
            ("[a", "[a", false),
            ("**", "", true),
        ] {
            assert_eq!(fits(pattern, name, Patterns::Shell), expected, "{pattern} {name}");
        }
    }
}
