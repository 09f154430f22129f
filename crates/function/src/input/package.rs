//! The files of a package as a Composition sees them: those that are there, and before them the
//! Compositions among the items, which kpt brings along wherever it has a function run. Nothing
//! outside of the package is read.

use std::iter::successors;

use krm_core::files::{Entry, Files, InMemory, is_below, join, outside};
use krm_core::identity::Kept;
use krm_yaml::diagnostic::{Diagnostics, Result};
use krm_yaml::{Cursor, DuplicateKeys, Position};

/// What the topmost directory of a package has; the first is that of kpt.
const MARKS: [&str; 2] = ["Kptfile", ".git"];
/// How many directories are searched for them.
const MAX_UP: usize = 64;

/// The files of the machine, with the items in front of them.
pub(crate) struct Package<'f> {
    items: InMemory,
    others: &'f dyn Files,
    /// The topmost directory of the package.
    root: String,
}

impl<'f> Package<'f> {
    /// Takes items for the files that they are kept in. The functionConfig is in `directory`.
    pub(crate) fn new<'d>(
        items: impl Iterator<Item = Cursor<'d>>,
        others: &'f dyn Files,
        directory: &str,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let files = items.filter_map(|item| file(item, diagnostics));
        Self { items: InMemory::new(files), others, root: root(others, directory) }
    }

    /// Refuses a path that leads out of the package, whether anything is there or not.
    fn check_inside(&self, path: &str) -> Result<()> {
        let may_be_inside =
            is_below(".", path) || is_below(&self.root, path) || self.others.entry(path).is_some();
        if may_be_inside && self.others.check(path, &self.root).is_ok() {
            return Ok(());
        }
        let wrong = outside(path, &self.root, None, "the package");
        Err(wrong.hint("move it into the package, or build it on the command line, with `krm-template build`").into())
    }
}

/// The nearest directory with one of [`MARKS`], from `directory` upwards; else the working directory.
fn root(files: &dyn Files, directory: &str) -> String {
    let mut all = successors(Some(join(".", directory)), |at| Some(join(at, ".."))).take(MAX_UP);
    let has = |at: &str, mark| files.entry(&join(at, mark)).is_some();
    let found = all.find(|at| MARKS.iter().any(|mark| has(at, mark)));
    found.unwrap_or_else(|| ".".to_owned())
}

/// The path and the text of an item, if it is kept in a file.
fn file(item: Cursor<'_>, diagnostics: &mut Diagnostics) -> Option<(String, Vec<u8>)> {
    let opened = item.open();
    let item = opened.cursor();
    let value = item.value(DuplicateKeys::LastWins, &mut Diagnostics::new())?;
    let path = Kept::of(|key| value.str_at(&["metadata", "annotations", key])).path?.into_owned();
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
            _ => self.others.check(path, root),
        }
    }

    fn check_base(&self, path: &str, _: &str) -> Result<()> {
        self.check_inside(path)
    }

    fn read(&self, path: &str, root: &str) -> Result<Vec<u8>> {
        if self.items.entry(path) == Some(Entry::File) {
            return self.items.read(path, root);
        }
        self.check_inside(path)?;
        self.others.read(path, root)
    }
}

#[cfg(test)]
mod tests {
    use super::{Files, InMemory, Package, root};

    fn files(paths: &[&str]) -> InMemory {
        InMemory::new(paths.iter().map(|path| ((*path).to_owned(), Vec::new())))
    }

    #[test]
    fn a_package_ends_at_the_nearest_mark() {
        let nested = files(&["Kptfile", "a/b/Kptfile", "a/b/c/d/x", "e/.git/HEAD", "e/f/x"]);
        for (directory, expected) in
            [(".", "."), ("a", "."), ("a/b", "a/b"), ("a/b/c/d", "a/b"), ("e/f", "e")]
        {
            assert_eq!(root(&nested, directory), expected, "{directory}");
        }
        assert_eq!(root(&files(&["a/x"]), "a"), ".");
        assert_eq!(root(&files(&["../../Kptfile"]), "a"), "../..");
    }

    #[test]
    fn paths_that_lead_out_are_refused_without_a_look_at_them() {
        let files = files(&["a/Kptfile", "a/x", "b/x"]);
        let package =
            Package { items: InMemory::default(), others: &files, root: root(&files, "a") };
        for path in ["b/x", "/etc/passwd", "/none", "../none", "a/../b/x"] {
            let error = package.read(path, ".").unwrap_err().message;
            assert!(error.contains("is not in or below"), "{path}: {error}");
        }
        package.read("a/x", "a").unwrap();
        let missing = package.read("a/none", "a").unwrap_err().message;
        assert_eq!(missing, "`a/none` cannot be read: no such file");
    }
}
