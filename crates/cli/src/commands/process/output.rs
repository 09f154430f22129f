//! The output of `process`: objects, files, Templates or tables.

use std::collections::BTreeSet;

use crate::commands::expansion::Expansion;
use crate::commands::process::arguments::Arguments;
use crate::commands::process::format::OutputFormat;
use crate::commands::process::tables;
use crate::output::destination;
use crate::output::directory::{self, File, file};
use krm_template_engine::{self as template, Format, Object, Parameter, Printer, Template};
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
            Self::Files(format, list) => return files(expansion, *format, list, diagnostics),
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

/// Expands a Template and adds a file for each object. Returns the message of the Template.
fn files(
    expansion: &Expansion<'_>,
    format: Format,
    files: &mut Vec<File>,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let Expansion { template, given, options, .. } = expansion;
    let secret = paths_of_secrets(expansion, format);
    let sink = &mut |object: Object<'_>, found: &mut Diagnostics| {
        files.extend(file(&object, format, found).map(|mut file| {
            file.is_secret |= secret.contains(file.path());
            file
        }));
    };
    template::process(template, given, options, diagnostics, sink)
}

/// The paths of the objects with values of secret parameters.
fn paths_of_secrets(expansion: &Expansion<'_>, format: Format) -> BTreeSet<String> {
    let parameters = expansion.template.parameters();
    if parameters.iter().all(Parameter::may_show) {
        return BTreeSet::new();
    }
    // The expansion itself reports everything.
    let trace = expansion.trace(&mut Diagnostics::new());
    let objects = trace.iter().flat_map(|trace| &trace.objects);
    let secret = objects.filter(|one| one.fields.iter().any(|field| one.is_secret(field)));
    secret.map(|one| directory::path(&one.value, format)).collect()
}
