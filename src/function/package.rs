//! The files of a package as a Composition sees them: those that are there, and before them the
//! Compositions among the items, which kpt brings along wherever it has a function run.

use crate::files::{Entry, Files, InMemory};
use crate::krm::annotations::kept_at;
use krm_yaml::diagnostic::{Diagnostics, Result};
use krm_yaml::{Cursor, DuplicateKeys, Position};

/// The files of the machine, with the items in front of them.
pub(super) struct Package<'f> {
    items: InMemory,
    others: &'f dyn Files,
}

impl<'f> Package<'f> {
    /// Takes items for the files that they are kept in.
    pub(super) fn new<'d>(
        items: impl Iterator<Item = Cursor<'d>>,
        others: &'f dyn Files,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let files = items.filter_map(|item| file(item, diagnostics));
        Self {
            items: InMemory::new(files),
            others,
        }
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
            _ => self.others.check(path, root),
        }
    }

    fn read(&self, path: &str, root: &str) -> Result<Vec<u8>> {
        match self.items.entry(path) {
            Some(Entry::File) => self.items.read(path, root),
            _ => self.others.read(path, root),
        }
    }
}
