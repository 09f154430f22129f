//! Writes the files of `--output-dir`: all of them or none, and never over foreign files.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use crate::cli::process::directory::File;
use crate::cli::process::record::{self, Knowledge, Record};
use krm_template_exec::io;
use krm_template_exec::reason::reason;
use krm_template_exec::staged::{self, Access, Staged, is_open};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};

/// The maximum number of foreign files named in messages.
const NAMED: usize = 10;

/// Files that are written under temporary names.
pub(in crate::cli) struct Writing {
    staged: Staged,
    /// The message printed after success.
    summary: String,
    /// Locks the directory against other runs of this program.
    _lock: Option<fs::File>,
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
    /// Writes new and changed files under temporary names. Reports foreign files unless `overwrite`
    /// is set.
    pub(in crate::cli) fn prepare(
        folder: &str,
        files: &[File],
        overwrite: bool,
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
        if files.iter().any(File::is_secret) {
            record.add_salt()?;
        }
        let (mut new, mut changed) = (Vec::new(), Vec::new());
        let mut foreign = Vec::new();
        for file in files {
            let path = PathBuf::from(io::path_in(folder, file.path()));
            match look(root, file, &path, &old)? {
                FileState::Same => {}
                FileState::Nothing => new.push((path, file)),
                FileState::Foreign(why) if !overwrite => foreign.push((path, why)),
                FileState::Ours | FileState::Foreign(_) => changed.push((path, file)),
            }
            record.enter(file.path(), file.text(), file.is_secret());
        }
        if !foreign.is_empty() {
            refuse(&foreign, diagnostics);
            return Ok(None);
        }
        for (path, file) in new.iter().chain(&changed) {
            staged.make_folder(path.parent().unwrap_or(root))?;
            let access = if file.is_secret() {
                Access::Owner
            } else {
                Access::Usual
            };
            staged.add(path, file.text(), access)?;
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
            summary: format!("{folder}: {new} new, {changed} changed, {same} unchanged"),
            _lock: lock,
        }))
    }

    /// Renames all files. Returns a summary.
    pub(in crate::cli) fn commit(self) -> anyhow::Result<String> {
        self.staged.commit()?;
        Ok(self.summary)
    }
}

/// The state of `path`, where `file` is to be in the directory `root`.
fn look(root: &Path, file: &File, path: &Path, record: &Record) -> anyhow::Result<FileState> {
    let unable = |error: &std::io::Error| {
        let reason = reason(error);
        anyhow!("`{}` cannot be written: {reason}", path.display())
    };
    let folders = path.ancestors().skip(1);
    for folder in folders.take_while(|folder| *folder != root && folder.starts_with(root)) {
        if fs::symlink_metadata(folder).is_ok_and(|there| there.is_symlink()) {
            return Ok(FileState::Foreign("is in a directory that is a link"));
        }
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
        let is_sound = !(file.is_secret() && is_open(&there));
        return Ok(if is_sound {
            FileState::Same
        } else {
            FileState::Ours
        });
    }
    let known = record.look_up(file.path(), path);
    Ok(match known.map_err(|error| unable(&error))? {
        Knowledge::Same => FileState::Ours,
        Knowledge::Changed => FileState::Foreign("was changed after krm-template wrote it"),
        Knowledge::NoSalt => FileState::Foreign(
            "has secrets, and without `.krm-template.salt` it is unknown whether it was changed",
        ),
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
