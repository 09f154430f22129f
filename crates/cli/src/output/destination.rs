//! Output, and where it goes: to standard output, to one file, or to a directory.

use std::path::Path;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::output::directory::File;
use crate::output::writing::{Mode, Writing};
use krm_template_exec::io;
use krm_template_exec::staged::Staged;
use krm_yaml::diagnostic::Diagnostics;

/// The directory for a file for each object, and what may happen to other files in it.
#[derive(Debug, Args)]
pub(crate) struct Directory {
    /// Write each object to its own file in this directory; unchanged files are not touched
    #[arg(long, value_name = "DIR", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) output_dir: Option<String>,

    /// With `--output-dir`, also replace links, files that krm-template did not write, and files
    /// that were changed after it wrote them
    #[arg(long, requires = "output_dir")]
    overwrite: bool,

    /// With `--output-dir`, also remove the files that krm-template wrote to it before and that no
    /// longer have an object
    ///
    /// Files that were changed since are kept, with a warning.
    #[arg(long, requires = "output_dir")]
    prune: bool,
}

impl Directory {
    /// Whether there is a file for each object, if the output is compared with `others`.
    pub(crate) fn is_wanted<'p>(&self, others: impl IntoIterator<Item = &'p str>) -> bool {
        self.output_dir.is_some() || others.into_iter().any(io::is_folder)
    }

    /// Prepares what may fail. Returns nothing if files must not be overwritten, which is reported.
    pub(crate) fn prepare(
        &self,
        output: Output,
        diagnostics: &mut Diagnostics,
    ) -> anyhow::Result<Option<Prepared>> {
        Ok(match output {
            Output::Text(pieces) => Some(Prepared::Text(pieces, None)),
            Output::Files(files) => {
                let folder = self.output_dir.as_deref().unwrap_or_default();
                let mode = Mode { overwrite: self.overwrite, prune: self.prune };
                Writing::prepare(folder, &files, mode, diagnostics)?.map(Prepared::Files)
            }
        })
    }
}

/// The output to print or write.
pub(crate) enum Output {
    /// A text in pieces.
    Text(Vec<String>),
    /// A file for each object.
    Files(Vec<File>),
}

impl Output {
    /// Prepares what may fail, for a file, or a directory whose files are replaced.
    pub(crate) fn prepare_at(self, path: &str) -> anyhow::Result<Prepared> {
        Ok(match self {
            Self::Text(pieces) => Prepared::Text(pieces, Some(path.to_owned())),
            Self::Files(files) => {
                let mut staged = Staged::default();
                for file in &files {
                    staged.add(&Path::new(path).join(file.path()), file.text(), file.access())?;
                }
                Prepared::Staged(staged)
            }
        })
    }
}

/// Output that is ready to be published.
pub(crate) enum Prepared {
    /// Text to print, or for a file.
    Text(Vec<String>, Option<String>),
    /// Files that are written under temporary names.
    Files(Writing),
    /// Files written under kustomize's names, replacing existing ones.
    Staged(Staged),
}

impl Prepared {
    /// Prints the text, or renames the files. Returns a summary of the files.
    pub(crate) fn finish(self) -> anyhow::Result<Option<String>> {
        match self {
            Self::Text(pieces, Some(file)) => io::write(&file, &pieces.concat()).map(|()| None),
            Self::Text(pieces, None) => io::print(pieces.iter().map(String::as_str)).map(|()| None),
            Self::Files(writing) => writing.commit().map(Some),
            Self::Staged(staged) => staged.commit().map(|()| None),
        }
    }
}
