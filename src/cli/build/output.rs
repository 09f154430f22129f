//! The output of `build`: one text, or a file for each object.

use crate::cli::build::arguments::{Arguments, OutputFormat, Style};
use crate::cli::process::diff::{self, New};
use crate::cli::process::directory::{self, File};
use crate::cli::process::mask::Secrets;
use crate::cli::process::writing::{Mode, Writing};
use crate::composition::{self, Resource};
use crate::template::{Format, Object, Printer};
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, Position, Value};

/// The output to print or write.
pub(super) enum Output {
    /// A text in pieces.
    Text(Vec<String>),
    Files(Vec<File>),
}

impl Output {
    /// Prints the resources; none after an error, which is reported.
    pub(super) fn of(
        resources: &[Resource<'_>],
        arguments: &Arguments,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let format = match arguments.output {
            OutputFormat::Yaml => Format::Yaml,
            OutputFormat::Json => Format::Json,
            OutputFormat::ResourceList => Format::ResourceList,
            OutputFormat::Name => Format::Name,
        };
        if arguments.goes_to_folder() {
            return files(resources, format, arguments.style, diagnostics).map(Self::Files);
        }
        let pieces = match format {
            Format::ResourceList => {
                composition::print(resources, composition::Format::ResourceList, diagnostics)?
            }
            Format::Json | Format::Name => as_data(resources, format, diagnostics)?,
            _ => {
                let format = match arguments.style {
                    Some(Style::Kustomize) => composition::Format::KustomizeStyle,
                    None => composition::Format::Yaml,
                };
                composition::print(resources, format, diagnostics)?
            }
        };
        Some(Self::Text(pieces))
    }

    /// The diff from an earlier output, as [`diff::against`].
    pub(super) fn diff(
        &self,
        path: &str,
        secrets: &Secrets,
        console: Console,
        diagnostics: &mut Diagnostics,
    ) -> Option<String> {
        let new = match self {
            Self::Text(pieces) => New::Text(pieces.concat()),
            Self::Files(files) => New::Files(files),
        };
        diff::against(path, new, secrets, console, diagnostics)
    }

    /// Prepares what may fail. Returns nothing if files must not be overwritten, which is reported.
    pub(super) fn prepare(
        self,
        arguments: &Arguments,
        diagnostics: &mut Diagnostics,
    ) -> anyhow::Result<Option<Prepared>> {
        let files = match self {
            Self::Text(pieces) => {
                return Ok(Some(Prepared::Text(pieces, arguments.output_file.clone())));
            }
            Self::Files(files) => files,
        };
        let folder = arguments.output_dir.as_deref().unwrap_or_default();
        let mode = Mode {
            overwrite: arguments.overwrite,
            prune: arguments.prune,
        };
        let writing = Writing::prepare(folder, &files, mode, diagnostics)?;
        Ok(writing.map(Prepared::Files))
    }
}

/// Output that is ready to be published.
pub(super) enum Prepared {
    /// Text to print, or for a file.
    Text(Vec<String>, Option<String>),
    /// Files that are written under temporary names.
    Files(Writing),
}

impl Prepared {
    /// Prints the text, or renames the files. Returns a summary of the files.
    pub(super) fn finish(self) -> anyhow::Result<Option<String>> {
        match self {
            Self::Text(pieces, Some(file)) => io::write(&file, &pieces.concat()).map(|()| None),
            Self::Text(pieces, None) => io::print(pieces.iter().map(String::as_str)).map(|()| None),
            Self::Files(writing) => writing.commit().map(Some),
        }
    }
}

/// The resources in a format without their layout.
fn as_data(
    resources: &[Resource<'_>],
    format: Format,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<String>> {
    let nothing = diagnostics.take(Document::parse(&Source::new("output", "")))?;
    let mut printer = Printer::new(format);
    let objects = resources.iter().map(|resource| Object {
        value: resource.value().clone(),
        document: resource.document().map_or(&nothing, |document| document),
        field: String::new(),
    });
    printer.objects(objects, diagnostics);
    (!diagnostics.has_errors()).then(|| printer.finish())
}

/// A file for each resource.
fn files(
    resources: &[Resource<'_>],
    format: Format,
    style: Option<Style>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<File>> {
    let mut files = Vec::with_capacity(resources.len());
    for resource in resources {
        let value: &Value<'_> = resource.value();
        let text = match format {
            Format::Json => krm_yaml::render_json(value, Some(4)).map(|text| text + "\n"),
            _ if style.is_some() => Ok(composition::print_as_kustomize(resource)),
            _ => resource.text(Position::Document),
        };
        let text = diagnostics.take(text)?;
        files.push(File::of(value, text, format));
    }
    directory::check(&files, diagnostics);
    (!diagnostics.has_errors()).then_some(files)
}
