//! Paths with `*`, `?` and `[…]`, as a shell matches them.

use krm_core::files::{Files, join};
use krm_core::glob::{Patterns, fits};

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
            let names = names.filter(|name| fits(part, name, Patterns::Shell));
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

#[cfg(test)]
mod tests {
    use super::{MAX_MATCHES, matches};
    use krm_core::files::InMemory;

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
