//! The files of a package as a Composition sees them: those that are there, and before them the
//! Compositions among the items, which kpt brings along wherever it has a function run. Nothing
//! outside of the package is read.

use crate::files::{Entry, Files, InMemory, is_below, join, outside};
use crate::krm::annotations::kept_at;
use krm_yaml::diagnostic::{Diagnostics, Result};
use krm_yaml::{Cursor, DuplicateKeys, Position};

/// What the topmost directory of a package has; the first is that of kpt.
const MARKS: [&str; 2] = ["Kptfile", ".git"];
/// How many directories are searched for them.
const MAX_UP: usize = 64;

/// The files of the machine, with the items in front of them.
pub(super) struct Package<'f> {
    items: InMemory,
    others: &'f dyn Files,
    /// The topmost directory of the package.
    root: String,
}

impl<'f> Package<'f> {
    /// Takes items for the files that they are kept in. The functionConfig is in `directory`.
    pub(super) fn new<'d>(
        items: impl Iterator<Item = Cursor<'d>>,
        others: &'f dyn Files,
        directory: &str,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let files = items.filter_map(|item| file(item, diagnostics));
        Self {
            items: InMemory::new(files),
            others,
            root: root(others, directory),
        }
    }

    /// Refuses a path that leads out of the package, whether anything is there or not.
    fn check_inside(&self, path: &str) -> Result<()> {
        let is_inside = |path: &str| self.others.check(path, &self.root).is_ok();
        let may_be_read = match self.others.entry(path) {
            Some(_) => is_inside(path),
            None => is_below(&self.root, path) || is_inside(&top(path)),
        };
        if may_be_read {
            return Ok(());
        }
        let wrong = outside(path, &self.root, None, "the package");
        let hint =
            "move it into the package, or build it on the command line, with `krm-template build`";
        Err(wrong.hint(hint).into())
    }
}

/// The nearest directory with one of [`MARKS`], from `directory` upwards; else the working directory.
/// One that is not below the working directory, which only a wrong annotation names, does not count.
fn root(files: &dyn Files, directory: &str) -> String {
    let start = Some(join(".", directory)).filter(|start| is_below(".", start));
    let mut at = start.unwrap_or_else(|| ".".to_owned());
    for _ in 0..MAX_UP {
        if MARKS
            .iter()
            .any(|mark| files.entry(&join(&at, mark)).is_some())
        {
            return at;
        }
        at = join(&at, "..");
    }
    ".".to_owned()
}

/// The topmost directory that a path leads to, which is there.
fn top(path: &str) -> String {
    let path = join(".", path);
    let ups = path.split('/').take_while(|part| *part == "..");
    match ups.collect::<Vec<_>>().join("/") {
        _ if path.starts_with('/') => "/".to_owned(),
        ups if ups.is_empty() => ".".to_owned(),
        ups => ups,
    }
}

/// The path and the text of an item, if it is kept in a file.
fn file(item: Cursor<'_>, diagnostics: &mut Diagnostics) -> Option<(String, Vec<u8>)> {
    let opened = item.open();
    let item = opened.cursor();
    let value = item.value(DuplicateKeys::LastWins, &mut Diagnostics::new())?;
    let (path, _) = kept_at(|key| value.str_at(&["metadata", "annotations", key]))?;
    let text = krm_yaml::render(item.document(), &value, Position::Document);
    Some((path, diagnostics.take(text)?.into_bytes()))
}

impl Files for Package<'_> {
    fn entry(&self, path: &str) -> Option<Entry> {
        let item = self.items.entry(path);
        item.or_else(|| self.others.entry(path))
    }

    fn check(&self, path: &str, root: &str) -> Result<()> {
        match self.items.entry(path) {
            Some(Entry::File) => self.items.check(path, root),
            _ => {
                self.others.check(path, root)?;
                self.check_inside(path)
            }
        }
    }

    fn check_base(&self, path: &str, from: &str) -> Result<()> {
        if self.items.entry(path).is_some() {
            return Ok(());
        }
        self.check_inside(path)?;
        self.others.check_base(path, from)
    }

    fn list(&self, directory: &str) -> Vec<String> {
        let names = self.check_inside(directory);
        names.map_or_else(|_| Vec::new(), |()| self.others.list(directory))
    }

    fn read(&self, path: &str, root: &str) -> Result<Vec<u8>> {
        match self.items.entry(path) {
            Some(Entry::File) => self.items.read(path, root),
            _ => {
                self.check(path, root)?;
                self.others.read(path, root)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Files, InMemory, Package, root, top};

    fn files(paths: &[&str]) -> InMemory {
        InMemory::new(paths.iter().map(|path| ((*path).to_owned(), Vec::new())))
    }

    #[test]
    fn a_package_ends_at_the_nearest_mark() {
        let nested = files(&[
            "Kptfile",
            "a/b/Kptfile",
            "a/b/c/d/x",
            "e/.git/HEAD",
            "e/f/x",
        ]);
        for (directory, expected) in [
            (".", "."),
            ("a", "."),
            ("a/b", "a/b"),
            ("a/b/c/d", "a/b"),
            ("e/f", "e"),
            ("../a/b", "."),
            ("/a/b", "."),
            ("a/../../a/b", "."),
        ] {
            assert_eq!(root(&nested, directory), expected, "{directory}");
        }
        assert_eq!(root(&files(&["a/x"]), "a"), ".");
        assert_eq!(root(&files(&["../../Kptfile"]), "a"), "../..");
    }

    #[test]
    fn what_is_not_there_is_where_the_last_directory_above_is() {
        for (path, expected) in [
            ("a", "."),
            ("a/../../b", ".."),
            ("../../a/b", "../.."),
            ("/a/b", "/"),
        ] {
            assert_eq!(top(path), expected, "{path}");
        }
    }

    #[test]
    fn paths_that_lead_out_are_refused_without_a_look_at_them() {
        let files = files(&["a/Kptfile", "a/x", "b/x"]);
        let package = Package {
            items: InMemory::default(),
            others: &files,
            root: root(&files, "a"),
        };
        for path in ["b/x", "b/none", "/etc/passwd", "/none", "a/../b/x"] {
            let error = package.read(path, ".").unwrap_err().message;
            assert!(error.contains("is not in or below"), "{path}: {error}");
        }
        package.read("a/x", "a").unwrap();
        let missing = package.read("a/none", "a").unwrap_err().message;
        assert_eq!(missing, "`a/none` cannot be read: no such file");
    }
}
