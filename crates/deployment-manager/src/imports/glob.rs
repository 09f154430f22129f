//! Paths with `*`, `?` and `[…]`, as a shell matches them.

use krm_core::files::{Files, join};

/// How many files a pattern may match.
pub(super) const MAX_MATCHES: usize = 10_000;

/// Whether a path has characters that match others.
pub(super) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// The paths that a pattern matches, sorted; `None` beyond [`MAX_MATCHES`], in a folder on the way
/// too. Names that begin with a dot match only a dot.
pub(super) fn matches(files: &dyn Files, pattern: &str) -> Option<Vec<String>> {
    let start = if pattern.starts_with('/') { "/" } else { "." };
    let mut found = vec![start.to_owned()];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        for directory in &found {
            if !is_pattern(part) {
                let path = join(directory, part);
                if files.entry(&path).is_some() {
                    next.push(path);
                }
                continue;
            }
            let names = files.list(directory).into_iter();
            let names = names.filter(|name| fits(part, name));
            next.extend(names.map(|name| join(directory, &name)));
        }
        if next.len() > MAX_MATCHES {
            return None;
        }
        found = next;
    }
    found.sort();
    Some(found)
}

/// A path as it is written in a file of `directory`.
pub(super) fn relative<'p>(directory: &str, path: &'p str) -> &'p str {
    let rest = path.strip_prefix(directory);
    rest.and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
}

/// Whether a pattern matches a name.
fn fits(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let mut pattern = pattern.as_slice();
    let mut name = name.as_slice();
    // Where the last star is, and the name at its first try.
    let mut star: Option<(&[char], &[char])> = None;
    loop {
        let next = match (pattern, name) {
            ([], []) => return true,
            (['*', rest @ ..], _) => {
                star = Some((rest, name));
                pattern = rest;
                continue;
            }
            (['?', rest @ ..], [_, after @ ..]) => Some((rest, after)),
            (['[', rest @ ..], [c, after @ ..]) => {
                class(rest, *c).and_then(|(is_in, rest)| is_in.then_some((rest, after)))
            }
            ([p, rest @ ..], [c, after @ ..]) if p == c => Some((rest, after)),
            _ => None,
        };
        if let Some((rest, after)) = next {
            (pattern, name) = (rest, after);
            continue;
        }
        // The last star takes one character more.
        let Some((rest, [_, after @ ..])) = star else {
            return false;
        };
        star = Some((rest, after));
        (pattern, name) = (rest, after);
    }
}

/// Whether a class such as `a-z]` or `!0-9]` has the character, and the rest of the pattern.
fn class(pattern: &[char], c: char) -> Option<(bool, &[char])> {
    let (is_negated, mut rest) = match pattern {
        ['!', rest @ ..] => (true, rest),
        _ => (false, pattern),
    };
    let mut is_in = false;
    let mut is_first = true;
    loop {
        match rest {
            [] => return None,
            [']', after @ ..] if !is_first => return Some((is_in != is_negated, after)),
            [from, '-', to, after @ ..] if *to != ']' => {
                is_in |= (*from..=*to).contains(&c);
                rest = after;
            }
            [one, after @ ..] => {
                is_in |= *one == c;
                rest = after;
            }
        }
        is_first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_MATCHES, fits, matches};
    use krm_core::files::InMemory;

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
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn matches_are_sorted() {
        let files = ["t/b.jinja", "t/a.jinja", "t/a.py", "u/c.jinja", "d.jinja"];
        let files = InMemory::new(files.map(|path| (path.to_owned(), Vec::new())));
        let matches = |pattern| matches(&files, pattern).unwrap();
        assert_eq!(matches("t/*.jinja"), ["t/a.jinja", "t/b.jinja"]);
        assert_eq!(matches("*/*.jinja"), ["t/a.jinja", "t/b.jinja", "u/c.jinja"]);
        assert!(matches("x/*").is_empty());
    }

    #[test]
    fn too_many_matches_are_refused_and_not_cut() {
        let files = |count| {
            let paths = (0..count).map(|index| (format!("t/{index}"), Vec::new()));
            InMemory::new(paths)
        };
        let most = matches(&files(MAX_MATCHES), "t/*").unwrap();
        assert_eq!(most.len(), MAX_MATCHES);
        assert_eq!(matches(&files(MAX_MATCHES + 1), "t/*"), None);
    }
}
