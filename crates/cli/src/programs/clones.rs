//! The copies of git repositories while a build runs.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::programs::repository::Repository;
use krm_core::files::{Checkout, is_below};
use krm_template_exec::interruption::Interruption;
use krm_template_exec::subprocess::folder;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::shorten::without_credentials;
use krm_yaml::source::{Place, Source};

/// The repositories that are cloned, in a directory that is removed at the end.
pub(crate) struct Git {
    folder: TempDir,
    pub(crate) clones: RefCell<Vec<(Repository, Checkout)>>,
}

impl Git {
    pub(crate) fn new(interruption: &Interruption) -> io::Result<Self> {
        Ok(Self { folder: folder("krm-template-git-", interruption)?, clones: RefCell::default() })
    }

    /// The directory, without links.
    pub(crate) fn directory(&self) -> io::Result<PathBuf> {
        fs::canonicalize(self.folder.path())
    }

    /// Messages in which the URLs of repositories are instead of the directories of their copies.
    pub(crate) fn with_repository_urls(&self, diagnostics: Diagnostics) -> Diagnostics {
        let clones = self.clones.borrow();
        let text = |text: &str| {
            let all = clones.iter();
            all.fold(text.to_owned(), |text, (_, clone)| {
                let begin = format!("{}/", clone.repository);
                let text = text.replace(&format!("{}/", clone.directory), &format!("{begin}/"));
                text.replace(&clone.directory, &clone.repository)
            })
        };
        let place = |place: Place| {
            let source = &place.source;
            let mut clones = clones.iter();
            let is_in_one = clones.any(|(_, clone)| is_below(&clone.directory, source.name()));
            if !is_in_one {
                return place;
            }
            let name = text(source.name());
            let name = without_credentials(&name).unwrap_or(name);
            let source = Source::new(name, source.text());
            Place { source, ..place }
        };
        diagnostics.map(|mut one| {
            one.message = text(&one.message);
            one.hints = one.hints.iter().map(|hint| text(hint)).collect();
            one.place = one.place.map(place);
            let related = one.related.into_iter();
            one.related = related.map(|(at, words)| (place(at), words)).collect();
            one
        })
    }
}
