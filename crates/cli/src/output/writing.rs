//! Writes the files of `--output-dir`: all of them or none, and never over foreign files.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use anyhow::anyhow;

use crate::output::directory::File;
use crate::output::record::{self, Knowledge, Record};
use krm_template_exec::io;
use krm_template_exec::io_error::reason;
use krm_template_exec::staged::{self, Access, Staged, is_open};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};

/// The maximum number of foreign files named in messages.
const NAMED: usize = 10;

/// Files that are written under temporary names.
pub(crate) struct Writing {
    staged: Staged,
    /// Files without an object, which are removed last.
    stale: Vec<PathBuf>,
    /// The directory.
    root: PathBuf,
    /// The message printed after success.
    summary: String,
    /// Locks the directory against other runs of this program.
    _lock: Option<fs::File>,
}

/// What may happen to files that are there already.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mode {
    /// Foreign files are replaced.
    pub(crate) overwrite: bool,
    /// Our files that no longer have an object are removed.
    pub(crate) prune: bool,
}

/// The state of a path to which a file is to be written.
#[derive(Debug, PartialEq, Eq)]
enum FileState {
    Nothing,
    /// A file with the same text.
    Same,
    /// A file that this program wrote, or one with the same text that others may read.
    Ours,
    /// Something else, with its description.
    Foreign(&'static str),
}

impl Writing {
    /// Writes new and changed files under temporary names. Reports foreign files unless they may be
    /// replaced.
    pub(crate) fn prepare(
        folder: &str,
        files: &[File],
        mode: Mode,
        diagnostics: &mut Diagnostics,
    ) -> anyhow::Result<Option<Self>> {
        let root = Path::new(folder);
        let mut staged = Staged::default();
        if !files.is_empty() {
            staged.make_folder(root)?;
        }
        let lock = staged::lock(root);
        let old = Record::of(root);
        let mut record = old.clone();
        record.keep(|path| root.join(path).exists());
        if files.iter().any(|file| file.is_secret) {
            record.add_salt()?;
        }
        let (mut new, mut changed) = (Vec::new(), Vec::new());
        let mut foreign = Vec::new();
        for file in files {
            let path = PathBuf::from(io::path_in(folder, file.path()));
            match look(root, file, &path, &old)? {
                FileState::Same => {}
                FileState::Nothing => new.push((path, file)),
                FileState::Foreign(why) if !mode.overwrite => foreign.push((path, why)),
                FileState::Ours | FileState::Foreign(_) => changed.push((path, file)),
            }
            record.enter(file.path(), file.text(), file.is_secret);
        }
        if !foreign.is_empty() {
            refuse(&foreign, diagnostics);
            return Ok(None);
        }
        let stale = if mode.prune {
            forget_stale(root, files, &old, &mut record, diagnostics)?
        } else {
            Vec::new()
        };
        for (path, file) in new.iter().chain(&changed) {
            staged.make_folder(path.parent().unwrap_or(root))?;
            staged.add(path, file.text(), file.access())?;
        }
        if record != old {
            staged.add(&root.join(record::NAME), &record.text(), Access::Usual)?;
        }
        if record.salt() != old.salt() {
            staged.add(&root.join(record::SALT), &record.salt(), Access::Owner)?;
        }
        let (new, changed) = (new.len(), changed.len());
        let same = files.len() - new - changed;
        Ok(Some(Self {
            staged,
            summary: summary(folder, [new, changed, same, stale.len()]),
            stale,
            root: root.to_owned(),
            _lock: lock,
        }))
    }

    /// Renames all files, then removes those without an object. Returns a summary.
    pub(crate) fn commit(self) -> anyhow::Result<String> {
        self.staged.commit()?;
        for path in &self.stale {
            fs::remove_file(path).map_err(|error| unable("removed", path, &error))?;
            let folder = path.parent().filter(|folder| *folder != self.root);
            // It stays if there is something else in it.
            let _ = folder.map(fs::remove_dir);
        }
        Ok(self.summary)
    }
}

fn summary(folder: &str, [new, changed, same, removed]: [usize; 4]) -> String {
    let removed = match removed {
        0 => String::new(),
        count => format!(", {count} removed"),
    };
    format!("{folder}: {new} new, {changed} changed, {same} unchanged{removed}")
}

/// The files of a record that no longer have an object, in alphabetical order.
pub(crate) fn stale_files<'r>(
    record: &'r Record,
    files: &[File],
) -> impl Iterator<Item = &'r str> + use<'r> {
    let used: BTreeSet<String> = files.iter().map(|file| file.path().to_lowercase()).collect();
    let paths = record.paths();
    paths.filter(move |path| !used.contains(&path.to_lowercase()))
}

/// Removes the files without an object from a record. Returns the paths of those to be removed.
fn forget_stale(
    root: &Path,
    files: &[File],
    old: &Record,
    record: &mut Record,
    diagnostics: &mut Diagnostics,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut stale = Vec::new();
    let mut removed = BTreeSet::new();
    for name in stale_files(old, files) {
        if let Some(path) = removable(root, name, old, diagnostics)? {
            removed.insert(name);
            stale.push(path);
        }
    }
    record.keep(|path| !removed.contains(path));
    Ok(stale)
}

/// The path of a file without an object, if it is as this program wrote it. Reports another one,
/// which stays.
fn removable(
    root: &Path,
    name: &str,
    record: &Record,
    diagnostics: &mut Diagnostics,
) -> anyhow::Result<Option<PathBuf>> {
    let path = root.join(name);
    // Records are files, which others may write.
    let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let Ok(there) = fs::symlink_metadata(&path) else {
        return Ok(None);
    };
    let why = match special(&there) {
        _ if !is_inside => "is not in the directory",
        _ if is_behind_link(root, &path) => "is in a directory that is a link",
        Some(what) => what,
        None => {
            let known = record.look_up(name, &path);
            match known.map_err(|error| unable("removed", &path, &error))? {
                Knowledge::Same => return Ok(Some(path)),
                Knowledge::Changed | Knowledge::Nothing => CHANGED,
                Knowledge::NoSalt => NO_SALT,
            }
        }
    };
    let problem = format!("`{}` has no object any more, but {why}", path.display());
    diagnostics.push(Diagnostic::warning(problem).hint("it stays; remove it by hand"));
    Ok(None)
}

/// Whether a directory between `root` and `path` is a link.
fn is_behind_link(root: &Path, path: &Path) -> bool {
    let folders = path.ancestors().skip(1);
    let mut inner = folders.take_while(|folder| *folder != root && folder.starts_with(root));
    inner.any(|folder| fs::symlink_metadata(folder).is_ok_and(|there| there.is_symlink()))
}

fn unable(done: &str, path: &Path, error: &std::io::Error) -> anyhow::Error {
    anyhow!("`{}` cannot be {done}: {}", path.display(), reason(error))
}

const CHANGED: &str = "was changed after krm-template wrote it";
const NO_SALT: &str =
    "has secrets, and without `.krm-template.salt` it is unknown whether it was changed";

/// The state of `path`, where `file` is to be in the directory `root`.
fn look(root: &Path, file: &File, path: &Path, record: &Record) -> anyhow::Result<FileState> {
    let unable = |error: &std::io::Error| unable("written", path, error);
    if is_behind_link(root, path) {
        return Ok(FileState::Foreign("is in a directory that is a link"));
    }
    let there = match fs::symlink_metadata(path) {
        Ok(there) => there,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(FileState::Nothing),
        Err(error) => return Err(unable(&error)),
    };
    if there.is_dir() {
        return Err(unable(&ErrorKind::IsADirectory.into()));
    }
    if let Some(what) = special(&there) {
        return Ok(FileState::Foreign(what));
    }
    if record::holds(path, file.text()).map_err(|error| unable(&error))? {
        let is_sound = !(file.is_secret && is_open(&there));
        return Ok(if is_sound { FileState::Same } else { FileState::Ours });
    }
    let known = record.look_up(file.path(), path);
    Ok(match known.map_err(|error| unable(&error))? {
        Knowledge::Same => FileState::Ours,
        Knowledge::Changed => FileState::Foreign(CHANGED),
        Knowledge::NoSalt => FileState::Foreign(NO_SALT),
        Knowledge::Nothing => FileState::Foreign("exists, and krm-template did not write it"),
    })
}

/// The description of something that is not a regular file.
fn special(there: &Metadata) -> Option<&'static str> {
    if there.is_symlink() {
        Some("is a link")
    } else if there.is_file() {
        None
    } else {
        Some("is not a regular file")
    }
}

/// Reports files that must not be overwritten.
fn refuse(foreign: &[(PathBuf, &str)], diagnostics: &mut Diagnostics) {
    for (path, what) in foreign.iter().take(NAMED) {
        let problem = format!("`{}` {what}", path.display());
        diagnostics.push(
            Diagnostic::error(problem)
                .hint("no file was written; to replace it, use `--overwrite`"),
        );
    }
    if foreign.len() > NAMED {
        let more = foreign.len() - NAMED;
        diagnostics.push(
            Diagnostic::error(format!("{more} more files would be replaced"))
                .hint("to replace them, use `--overwrite`"),
        );
    }
}
