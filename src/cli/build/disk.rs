//! The real file system, as a Composition sees it.

use std::path::Path;

use crate::cli::Console;
use crate::diagnostic::Result;
use crate::files::{self, Entry, Files};

/// The files of this machine, by paths from the working directory.
pub(in crate::cli) struct Disk {
    pub(in crate::cli) console: Console,
}

impl Files for Disk {
    fn entry(&self, path: &str) -> Option<Entry> {
        let path = Path::new(path);
        if path.is_dir() {
            Some(Entry::Directory)
        } else {
            path.exists().then_some(Entry::File)
        }
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        if path.contains("://") {
            return Err(files::address(path).into());
        }
        // `-` is a file here like any other.
        let path = if path == "-" { "./-" } else { path };
        self.console.read_bytes(path)
    }
}
