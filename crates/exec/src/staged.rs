//! Writes files under temporary names, and renames them once all are written: an error before the
//! first renaming changes no file.
//!
//! A file with secrets is for its owner only, from its first byte. It keeps no wider permissions of
//! an older file: these are often left from a version without the secret, or from another program.

use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use tempfile::{Builder, TempPath};

use crate::io_error::{reason, refuse_folder};

/// Begins the name of a file that is not complete yet.
const UNFINISHED: &str = ".krm-template-";

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Default permissions, or those of the existing file.
    Usual,
    /// The owner: it has secrets.
    Owner,
}

/// Files that are written under temporary names. Dropped, they are removed.
#[derive(Default)]
pub struct Staged {
    files: Vec<(TempPath, PathBuf)>,
    /// Folders that were made for them, the outermost first.
    folders: Vec<PathBuf>,
}

impl Staged {
    /// Writes `text` to a file beside `path`, in folders that are made where they are missing.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, path: &Path, text: &str, access: Access) -> anyhow::Result<()> {
        self.write(path, text, access)
            .map_err(|error| anyhow!("`{}` cannot be written: {}", path.display(), reason(&error)))
    }

    /// Makes a folder, and those around it, where they are missing.
    ///
    /// # Errors
    /// If one cannot be made.
    pub fn make_folder(&mut self, folder: &Path) -> anyhow::Result<()> {
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let mut new: Vec<PathBuf> =
            folder.ancestors().take_while(missing).map(Path::to_owned).collect();
        new.reverse();
        self.folders.append(&mut new);
        fs::create_dir_all(folder).map_err(|error| refuse_folder(folder, &error))
    }

    fn write(&mut self, path: &Path, text: &str, access: Access) -> std::io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = Builder::new();
        builder.prefix(UNFINISHED);
        // Without permissions, a temporary file has the mode 0600.
        #[cfg(unix)]
        if access == Access::Usual {
            builder.permissions(permissions());
        }
        let mut file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
        file.write_all(text.as_bytes())?;
        if let Ok(old) = fs::symlink_metadata(path)
            && old.is_file()
        {
            if old.permissions().readonly() {
                return Err(ErrorKind::PermissionDenied.into());
            }
            if access == Access::Usual || !is_open(&old) {
                file.as_file().set_permissions(old.permissions())?;
            }
            // Otherwise a power failure could leave neither text. New files do not wait for the disk.
            file.as_file().sync_all()?;
        }
        self.files.push((file.into_temp_path(), path.to_owned()));
        Ok(())
    }

    /// Gives all files their names.
    ///
    /// # Errors
    /// If one cannot be renamed; those before it have changed.
    pub fn commit(mut self) -> anyhow::Result<()> {
        self.folders.clear();
        let files = std::mem::take(&mut self.files);
        for (done, (file, path)) in files.into_iter().enumerate() {
            file.persist(&path).map_err(|failed| {
                let before = match done {
                    0 => String::new(),
                    _ => format!("; {done} other files were written"),
                };
                let reason = reason(&failed.error);
                anyhow!("`{}` cannot be written: {reason}{before}", path.display())
            })?;
        }
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        self.files.clear();
        for folder in self.folders.iter().rev() {
            // Somebody else may have put something into it.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The permissions of a new file, from which the system takes those that the umask names.
#[cfg(unix)]
fn permissions() -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

/// Whether others than the owner have permissions for a file.
pub fn is_open(file: &Metadata) -> bool {
    #[cfg(unix)]
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.permissions());
    #[cfg(not(unix))]
    let mode = {
        let _ = file;
        0
    };
    mode & 0o077 != 0
}

/// Takes an advisory lock on a folder, which is released when it is dropped. Not all systems have
/// such locks.
pub fn lock(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    folder.lock().ok()?;
    Some(folder)
}
