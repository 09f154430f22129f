//! The output of `process`: objects, files, Templates or tables.

use crate::cli::expansion::Expansion;
use crate::cli::process::arguments::Arguments;
use crate::cli::process::diff::{self, New};
use crate::cli::process::directory::{self, File};
use crate::cli::process::format::OutputFormat;
use crate::cli::process::mask::Secrets;
use crate::cli::process::tables;
use crate::cli::process::writing::{Mode, Writing};
use crate::template::{self, Format, Printer, Template};
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_yaml::diagnostic::Diagnostics;

/// The requested output, as far as it is complete.
pub(super) enum Output {
    /// Objects as one text, for standard output.
    Objects(Printer),
    /// A file for each object.
    Files(Format, Vec<File>),
    /// Templates with their objects expanded, each as YAML.
    Templates(Vec<String>),
    /// Tables of parameters, each with a name.
    Tables(Vec<(String, String)>),
}

impl Output {
    /// Empty output for these arguments.
    pub(super) fn new(arguments: &Arguments) -> Self {
        match arguments.output {
            _ if arguments.parameters || arguments.dump_parameters => Self::Tables(Vec::new()),
            OutputFormat::Template => Self::Templates(Vec::new()),
            OutputFormat::Objects(format) if arguments.goes_to_folder() => {
                Self::Files(format, Vec::new())
            }
            OutputFormat::Objects(format) => Self::Objects(Printer::new(match format {
                Format::Json if arguments.raw => Format::JsonStream,
                Format::List if arguments.raw => Format::Yaml,
                other => other,
            })),
        }
    }

    /// Adds the parameters of a Template.
    pub(super) fn declare(&mut self, template: &Template) {
        if let Self::Tables(tables) = self {
            tables.push((template.name().to_owned(), tables::declared(template)));
        }
    }

    /// Adds the objects of an expansion. Returns the message of its Template, if it has one.
    pub(super) fn add(
        &mut self,
        expansion: &Expansion<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<String> {
        let Expansion { instance, template, given, options, .. } = expansion;
        match self {
            Self::Objects(printer) => return printer.add(template, given, options, diagnostics),
            Self::Files(format, files) => {
                return directory::files(expansion, *format, files, diagnostics);
            }
            Self::Templates(texts) => {
                texts.extend(template::processed(template, given, options, diagnostics));
            }
            Self::Tables(tables) => {
                let table = tables::in_force(template, given, options, diagnostics);
                tables.extend(table.map(|table| ((*instance).to_owned(), table)));
            }
        }
        None
    }

    /// The format of the files, if there is one for each object.
    pub(super) const fn file_format(&self) -> Option<Format> {
        match self {
            Self::Files(format, _) => Some(*format),
            _ => None,
        }
    }

    /// Reports conflicts between the parts of the output.
    pub(super) fn check(&self, diagnostics: &mut Diagnostics) {
        if let Self::Files(_, files) = self {
            directory::check(files, diagnostics);
        }
    }

    /// Makes all preparations that may fail. Returns nothing if there is a conflict, which is
    /// reported.
    pub(super) fn prepare(
        self,
        arguments: &Arguments,
        console: Console,
    ) -> anyhow::Result<Option<Prepared>> {
        let Self::Files(_, files) = &self else {
            return Ok(Some(Prepared::Printed(self.into_pieces())));
        };
        let folder = arguments.output_dir.as_deref().unwrap_or_default();
        let mut found = Diagnostics::new();
        let mode = Mode { overwrite: arguments.overwrite, prune: arguments.prune };
        let writing = Writing::prepare(folder, files, mode, &mut found)?;
        console.report(&found);
        Ok(writing.map(Prepared::Written))
    }

    /// The diff from an earlier output to this one, as [`diff::against`].
    pub(super) fn diff(
        self,
        path: &str,
        secrets: &Secrets,
        console: Console,
        diagnostics: &mut Diagnostics,
    ) -> Option<String> {
        let files = match self {
            Self::Files(_, files) => files,
            output => {
                let new = New::Text(output.into_pieces().concat());
                return diff::against(path, new, secrets, console, diagnostics);
            }
        };
        diff::against(path, New::Files(&files), secrets, console, diagnostics)
    }

    /// The text that goes to standard output, in pieces.
    pub(super) fn into_pieces(self) -> Vec<String> {
        match self {
            Self::Objects(printer) => printer.finish(),
            Self::Files(..) => Vec::new(),
            Self::Templates(texts) => vec![texts.join("---\n")],
            Self::Tables(tables) => tables::under_headings(tables),
        }
    }
}

/// Output that is ready to be published.
pub(super) enum Prepared {
    /// Text for standard output, in pieces.
    Printed(Vec<String>),
    /// Files that are written under temporary names.
    Written(Writing),
}

impl Prepared {
    /// Prints the text, or renames the files.
    pub(super) fn finish(self, console: Console) -> anyhow::Result<()> {
        match self {
            Self::Printed(pieces) => io::print(pieces.iter().map(String::as_str)),
            Self::Written(writing) => {
                console.say(&writing.commit()?);
                Ok(())
            }
        }
    }
}
