//! Writes the files of `--output-dir`: all of them or none, and none over a file of somebody else.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use crate::cli::io;
use crate::cli::process::directory::File;
use crate::cli::process::record::{self, Record};
use crate::cli::reason::reason;
use crate::cli::staged::{self, Staged};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};

/// How many files are named that must not be overwritten.
const NAMED: usize = 10;

/// Files that are written, but do not have their names yet.
pub(super) struct Writing {
    staged: Staged,
    /// What is said when all is done.
    summary: String,
    /// Keeps other runs of this program from the folder.
    _lock: Option<fs::File>,
}

/// What there is where a file is to be written.
#[derive(Debug, PartialEq, Eq)]
enum There {
    Nothing,
    /// The same text.
    Same,
    /// What this program wrote.
    Ours,
    /// Something else, and what it is.
    Foreign(&'static str),
}

impl Writing {
    /// Writes the files that are not there or hold something else, beside their places. Files that
    /// this program did not write are reported, unless they may be overwritten.
    pub(super) fn prepare(
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
        let (mut new, mut changed) = (Vec::new(), Vec::new());
        let mut foreign = Vec::new();
        for file in files {
            let path = PathBuf::from(io::path_in(folder, file.path()));
            let digest = record::digest(file.text());
            match look(root, file.path(), &path, &digest, &old)? {
                There::Same => {}
                There::Nothing => new.push((path, file)),
                There::Foreign(why) if !overwrite => foreign.push((path, why)),
                There::Ours | There::Foreign(_) => changed.push((path, file)),
            }
            record.enter(file.path(), digest);
        }
        if !foreign.is_empty() {
            refuse(&foreign, diagnostics);
            return Ok(None);
        }
        for (path, file) in new.iter().chain(&changed) {
            staged.make_folder(path.parent().unwrap_or(root))?;
            staged.add(path, file.text())?;
        }
        if record != old {
            staged.add(&root.join(record::NAME), &record.text())?;
        }
        let (new, changed) = (new.len(), changed.len());
        let same = files.len() - new - changed;
        Ok(Some(Self {
            staged,
            summary: format!("{folder}: {new} new, {changed} changed, {same} unchanged"),
            _lock: lock,
        }))
    }

    /// Gives all files their names. Returns what was done.
    pub(super) fn commit(self) -> anyhow::Result<String> {
        self.staged.commit()?;
        Ok(self.summary)
    }
}

/// Looks what there is at `path`, which is called `name` in the folder `root`.
fn look(
    root: &Path,
    name: &str,
    path: &Path,
    digest: &str,
    record: &Record,
) -> anyhow::Result<There> {
    let unable = |error: &std::io::Error| {
        let reason = reason(error);
        anyhow!("`{}` cannot be written: {reason}", path.display())
    };
    let folders = path.ancestors().skip(1);
    for folder in folders.take_while(|folder| *folder != root && folder.starts_with(root)) {
        if fs::symlink_metadata(folder).is_ok_and(|there| there.is_symlink()) {
            return Ok(There::Foreign("is in a directory that is a link"));
        }
    }
    let there = match fs::symlink_metadata(path) {
        Ok(there) => there,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(There::Nothing),
        Err(error) => return Err(unable(&error)),
    };
    if there.is_dir() {
        return Err(unable(&ErrorKind::IsADirectory.into()));
    }
    if let Some(what) = special(&there) {
        return Ok(There::Foreign(what));
    }
    let found = record::digest_of(path).map_err(|error| unable(&error))?;
    Ok(if found == digest {
        There::Same
    } else if record.holds(name, &found) {
        There::Ours
    } else if record.knows(name) {
        There::Foreign("was changed after krm-template wrote it")
    } else {
        There::Foreign("exists, and krm-template did not write it")
    })
}

/// What something is that is not a file.
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
