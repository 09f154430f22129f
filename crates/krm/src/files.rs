//! Files by relative paths.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Source;

/// The kind of entry at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Anything but a directory; links are followed.
    File,
    /// A directory, or a link to one.
    Directory,
}

/// A copy of a git repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// Its directory.
    pub directory: String,
    /// The path in it that the URL names; `.` for all of it.
    pub path: String,
    /// The URL of the repository alone.
    pub repository: String,
    /// The branch, tag or commit that the URL names; empty for the default branch.
    pub reference: String,
}

/// How many bytes a file may have that a Composition names. Resources that are read take up to
/// eleven times as much memory.
pub const MAX_FILE: u64 = 64 << 20;

/// Reads files for layers without I/O. Paths are separated by slashes, and relative to where the
/// files are taken from; they may begin with `..`.
///
/// Whoever names a file has a root, the directory of the Composition or configuration that it is
/// named in, and may read what is in or below that, as with kustomize. Directories that have a root of their own may
/// be anywhere.
pub trait Files {
    /// The kind of entry at `path`; `None` if there is none, or it cannot be told.
    fn entry(&self, path: &str) -> Option<Entry>;

    /// Whether the file at `path` may be read from `root`.
    ///
    /// # Errors
    /// If it is not in or below `root`. A file that is not there is not an error.
    fn check(&self, path: &str, root: &str) -> Result<()> {
        if is_below(root, path) {
            Ok(())
        } else {
            Err(outside(path, root, None, "the Composition").into())
        }
    }

    /// Whether a file in the directory `from` may name what is at `path` to be built.
    ///
    /// # Errors
    /// If `from` is in a copy of a repository, and the path leads out of it.
    fn check_base(&self, path: &str, from: &str) -> Result<()> {
        let _ = (path, from);
        Ok(())
    }

    /// The bytes of a file in or below the directory `root`.
    ///
    /// # Errors
    /// If it cannot or must not be read: with the path and the reason.
    fn read(&self, path: &str, root: &str) -> Result<Vec<u8>>;

    /// The names of what is in a directory, sorted; none if it cannot be read.
    fn list(&self, directory: &str) -> Vec<String> {
        let _ = directory;
        Vec::new()
    }

    /// The text of a file in or below the directory `root`.
    ///
    /// # Errors
    /// If it cannot or must not be read, or is not UTF-8.
    fn source(&self, path: &str, root: &str) -> Result<Arc<Source>> {
        krm_yaml::decode(path, self.read(path, root)?)
    }
}

/// Files that stand in memory.
#[derive(Clone, Debug, Default)]
pub struct InMemory {
    files: BTreeMap<String, Vec<u8>>,
}

impl InMemory {
    /// Takes files by their paths.
    pub fn new(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        Self { files: files.into_iter().collect() }
    }
}

impl Files for InMemory {
    fn entry(&self, path: &str) -> Option<Entry> {
        if self.files.contains_key(path) {
            return Some(Entry::File);
        }
        let inside = format!("{path}/");
        let is_directory = path == "." || self.files.keys().any(|file| file.starts_with(&inside));
        is_directory.then_some(Entry::Directory)
    }

    fn list(&self, directory: &str) -> Vec<String> {
        let inside = match directory {
            "." => String::new(),
            directory => format!("{directory}/"),
        };
        let rest = self.files.keys().filter_map(|path| path.strip_prefix(&inside));
        let mut names: Vec<String> =
            rest.filter_map(|rest| rest.split('/').next()).map(str::to_owned).collect();
        names.dedup();
        names
    }

    fn read(&self, path: &str, root: &str) -> Result<Vec<u8>> {
        self.check(path, root)?;
        self.files.get(path).cloned().ok_or_else(|| {
            Diagnostic::error(format!("`{path}` cannot be read: no such file")).into()
        })
    }
}

/// The path that `relative` names, seen from `directory`, without `.` and inner `..`.
pub fn join(directory: &str, relative: &str) -> String {
    if relative.starts_with('/') || relative.contains("://") {
        return relative.to_owned();
    }
    let is_absolute = directory.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(relative.split('/')) {
        match part {
            "" | "." => {}
            ".." if !parts.is_empty() && parts.last() != Some(&"..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (is_absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// Whether `path` is in or below the directory `root`, by what they say.
pub fn is_below(root: &str, path: &str) -> bool {
    let (root, path) = (join(".", root), join(".", path));
    let rest = match root.as_str() {
        "." => Some(path.as_str()).filter(|path| !path.starts_with('/')),
        "/" => path.strip_prefix('/'),
        _ => path.strip_prefix(&root).filter(|rest| rest.is_empty() || rest.starts_with('/')),
    };
    rest.is_some_and(|rest| rest.split('/').all(|part| part != ".."))
}

/// Refuses a file outside of `root`, the directory of `owner`; a link is in it, and leads to
/// `target`.
pub fn outside(path: &str, root: &str, target: Option<&str>, owner: &str) -> Diagnostic {
    let root = match root {
        "." => format!("the directory of {owner}"),
        root => format!("`{root}`, the directory of {owner}"),
    };
    Diagnostic::error(match target {
        Some(target) => {
            format!("`{path}` leads to `{target}`, which is not in or below {root}")
        }
        None => format!("`{path}` is not in or below {root}"),
    })
}

/// Whether kustomize would fetch this from a remote place.
pub fn is_address(path: &str) -> bool {
    path.contains("://") || path.starts_with("git@") || path.starts_with("git::")
}

/// The error for a path that is an address.
pub fn address(path: &str) -> Diagnostic {
    Diagnostic::error(format!(
        "`{path}` is a URL, and krm-template fetches nothing from the network"
    ))
    .hint("download it first, and refer to the file or its directory")
}

/// The directory that a file is in: `.` where its path names none.
pub fn directory_of(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((directory, _)) => directory,
        None => ".",
    }
}

#[cfg(test)]
mod tests {
    use super::{directory_of, is_below, join};

    #[test]
    fn paths_below_a_directory_are_told_from_others() {
        for (root, path, expected) in [
            (".", "a", true),
            (".", "./a/../b", true),
            (".", "../a", false),
            (".", "a/../../b", false),
            (".", "/a", false),
            ("a", "a/b", true),
            ("a", "ab", false),
            ("a", "b", false),
            ("..", "../a", true),
            ("..", "../../a", false),
            ("../a", "../b", false),
            ("/", "/a", true),
            ("/a", "/a/b", true),
            ("/a", "/b", false),
            ("/a", "a", false),
        ] {
            assert_eq!(is_below(root, path), expected, "{root} {path}");
        }
    }

    #[test]
    fn paths_are_joined_without_detours() {
        for (directory, relative, expected) in [
            (".", "base", "base"),
            (".", ".", "."),
            ("overlay/prod", "../../base", "base"),
            ("overlay", "../../x", "../x"),
            ("..", "../x", "../../x"),
            ("a", "./b//c/", "a/b/c"),
            ("a", "/etc", "/etc"),
            ("a", "https://example.com/x", "https://example.com/x"),
            ("/a/b", "../c", "/a/c"),
        ] {
            assert_eq!(join(directory, relative), expected, "{directory} {relative}");
        }
        assert_eq!(directory_of("a/b/c.yaml"), "a/b");
        assert_eq!(directory_of("c.yaml"), ".");
        assert_eq!(directory_of("/c.yaml"), "/");
    }
}
