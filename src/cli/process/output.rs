//! The output of `process`: objects, files, Templates or tables.

use crate::cli::expansion::Expansion;
use crate::cli::process::arguments::Arguments;
use crate::cli::process::destination;
use crate::cli::process::directory::{self, File};
use crate::cli::process::format::OutputFormat;
use crate::cli::process::tables;
use crate::template::{self, Format, Printer, Template};
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
            OutputFormat::Objects(format)
                if arguments.directory.is_wanted(arguments.diff_against.as_deref()) =>
            {
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

    /// The output as one text in pieces, or as files.
    pub(super) fn finish(self) -> destination::Output {
        destination::Output::Text(match self {
            Self::Files(_, files) => return destination::Output::Files(files),
            Self::Objects(printer) => printer.finish(),
            Self::Templates(texts) => vec![texts.join("---\n")],
            Self::Tables(tables) => tables::under_headings(tables),
        })
    }
}
