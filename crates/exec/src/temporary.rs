//! Temporary folders for other programs: only this user reads them, and they end with this program.

use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::interruption::Interruption;

/// A temporary folder, which is removed at the end, also by a signal.
pub struct Temporary {
    folder: TempDir,
    interruption: Interruption,
}

impl Temporary {
    /// Makes a folder whose name begins with `prefix`.
    ///
    /// # Errors
    /// If the system does not make it.
    pub fn new(prefix: &str, interruption: &Interruption) -> io::Result<Self> {
        let folder = private(|| TempDir::with_prefix(prefix))?;
        interruption.guard(folder.path());
        Ok(Self {
            folder,
            interruption: interruption.clone(),
        })
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.path());
        self.interruption.release(self.folder.path());
    }
}

/// Does work whose new files and folders only this user can read, also those of programs that it
/// starts.
pub fn private<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(unix)]
    {
        use rustix::{fs::Mode, process::umask};
        let before = umask(Mode::RWXG | Mode::RWXO);
        let done = work();
        umask(before);
        done
    }
    #[cfg(not(unix))]
    work()
}
