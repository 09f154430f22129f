//! Files, with the names of those that were read.

use std::cell::RefCell;
use std::collections::BTreeSet;

use krm_core::files::{Entry, Files};
use krm_yaml::diagnostic::Result;

/// Records which files are read.
pub(crate) struct RecordingFiles<'f> {
    files: &'f dyn Files,
    pub(crate) names: RefCell<BTreeSet<String>>,
}

impl<'f> RecordingFiles<'f> {
    pub(crate) const fn new(files: &'f dyn Files) -> Self {
        Self { files, names: RefCell::new(BTreeSet::new()) }
    }
}

impl Files for RecordingFiles<'_> {
    fn entry(&self, path: &str) -> Option<Entry> {
        self.files.entry(path)
    }

    fn check(&self, path: &str, root: &str) -> Result<()> {
        self.files.check(path, root)
    }

    fn list(&self, directory: &str) -> Vec<String> {
        self.files.list(directory)
    }

    fn read(&self, path: &str, root: &str) -> Result<Vec<u8>> {
        let bytes = self.files.read(path, root)?;
        self.names.borrow_mut().insert(path.to_owned());
        Ok(bytes)
    }
}
