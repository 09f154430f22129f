//! The real file system, as a Composition or a configuration sees it.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;

use crate::console::Console;
use crate::io;
use krm_core::files::{self, Entry, Files, MAX_FILE};
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::source::Source;

/// Directories whose files the kernel generates.
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Which files a Composition or configuration may name, as kustomize has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LoadRestrictor {
    /// Files in or below its directory
    #[default]
    #[value(name = "LoadRestrictionsRootOnly")]
    RootOnly,
    /// All files
    #[value(name = "LoadRestrictionsNone")]
    None,
}

/// The hint where an option lifts the restriction.
pub const WAY_OUT: &str =
    "to allow files outside of it, use `--load-restrictor LoadRestrictionsNone`";

/// The files of this machine, by paths relative to the working directory.
pub struct Disk {
    /// Reports which files are read.
    pub console: Console,
    /// Which files may be read.
    pub restrictor: LoadRestrictor,
    /// The owner of the root directories, in the user's words.
    pub owner: &'static str,
    /// A hint how to read other files.
    pub way_out: &'static str,
    /// The directory, without links, with the copies of repositories: nothing in one leads out of it,
    /// whatever the restriction.
    pub clones: Option<PathBuf>,
}

impl Disk {
    /// The path without links, if it may be read from `root`.
    fn real(&self, path: &str, root: &str) -> Result<PathBuf> {
        let real = fs::canonicalize(path).map_err(|error| io::unreadable(path, &error))?;
        if self.restrictor == LoadRestrictor::None && self.clone_of(root).is_none() {
            return Ok(real);
        }
        let real_root = fs::canonicalize(root).map_err(|error| io::unreadable(root, &error))?;
        if real.starts_with(real_root) {
            return Ok(real);
        }
        let target = real.display().to_string();
        let target = files::is_below(root, path).then_some(target.as_str());
        let error = files::outside(path, root, target, self.owner);
        let way_out = self.clone_of(root).is_none().then(|| self.way_out.to_owned());
        Err(error.maybe_hint(way_out).into())
    }
}

impl Disk {
    /// The copy of a repository that a directory is in.
    fn clone_of(&self, directory: &str) -> Option<PathBuf> {
        let clones = self.clones.as_deref()?;
        let inner = Path::new(directory).strip_prefix(clones).ok()?;
        Some(clones.join(inner.components().next()?))
    }
}

impl Files for Disk {
    fn entry(&self, path: &str) -> Option<Entry> {
        let there = fs::metadata(path).ok()?;
        Some(if there.is_dir() { Entry::Directory } else { Entry::File })
    }

    fn check(&self, path: &str, root: &str) -> Result<()> {
        if Path::new(path).exists() {
            self.real(path, root)?;
        }
        Ok(())
    }

    fn check_base(&self, path: &str, from: &str) -> Result<()> {
        let Some(clone) = self.clone_of(from) else {
            return Ok(());
        };
        let real = fs::canonicalize(path);
        let real = real.unwrap_or_else(|_| PathBuf::from(path));
        if real.starts_with(&clone) {
            return Ok(());
        }
        let problem = format!("`{path}` is not in or below `{}`", clone.display());
        let wrong = Diagnostic::error(problem);
        let hint = "what is in a git repository may name only what is in it, and URLs";
        Err(wrong.hint(hint).into())
    }

    fn list(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(directory).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn read(&self, path: &str, root: &str) -> Result<Vec<u8>> {
        if path.contains("://") {
            return Err(files::address(path).into());
        }
        let real = self.real(path, root)?;
        let bytes = contents(path, &real)?;
        self.console.has_read(path, bytes.len());
        Ok(bytes)
    }
}

/// Reads a regular file of text that no argument names.
///
/// # Errors
/// If it is none, is too large, or is not UTF-8.
pub fn read(path: &str) -> Result<Arc<Source>> {
    krm_yaml::decode(path, contents(path, Path::new(path))?)
}

/// The bytes of the regular file `name`.
fn contents(name: &str, real: &Path) -> Result<Vec<u8>> {
    let unreadable = |error: std::io::Error| io::unreadable(name, &error);
    let there = fs::metadata(real).map_err(unreadable)?;
    let is_kernels = KERNEL.iter().any(|folder| real.starts_with(folder));
    if !there.is_dir() && (!there.is_file() || is_kernels) {
        let problem = format!("`{name}` cannot be read: it is not a regular file");
        return Err(Diagnostic::error(problem).into());
    }
    // With room for the end, which is read, too.
    let room = usize::try_from(there.len().min(MAX_FILE)).unwrap_or_default();
    let mut bytes = Vec::with_capacity(room.saturating_add(64));
    let file = File::open(real).map_err(unreadable)?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE {
        let most = MAX_FILE >> 20;
        let problem = format!("`{name}` cannot be read: it is larger than {most} MiB");
        return Err(Diagnostic::error(problem).hint("split it into several files").into());
    }
    Ok(bytes)
}
