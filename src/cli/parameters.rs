//! `krm-template parameters`: what values the Template in a file takes.

use std::sync::Arc;

use clap::{Args, ValueEnum};

use crate::cli::first_root::first_root;
use crate::cli::table;
use crate::cli::template_file::TemplateFile;
use crate::krm::long_lists::LONG_LISTS;
use crate::schema;
use crate::template::{self, Template, ValuesFormat};
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_yaml::Document;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;

/// List the parameters of the Template in a file
///
/// Prints a table, data for other programs, a JSON Schema for forms and editors, or a values file
/// for you to fill in. Never shows the values of secrets, of parameters of type `base64`, or of
/// parameters with `generate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    template: TemplateFile,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: OutputFormat,

    /// Do not print the header of the table
    #[arg(long)]
    no_headers: bool,
}

const EXAMPLES: &str = "\
Examples:
  krm-template parameters template.yaml
  krm-template parameters template.yaml -o json | jq -r '.[] | select(.required).name'

  # write a values file, and the schema by which editors complete it; fill it in, use it
  krm-template parameters template.yaml -o values > values.yaml
  krm-template parameters template.yaml -o schema > values.schema.json
  krm-template process -f template.yaml --values values.yaml";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OutputFormat {
    /// A table with one row per parameter
    Table,
    /// A list of all parameters with all their fields
    Json,
    /// The same list as YAML
    Yaml,
    /// A JSON Schema (2020-12) of the values
    Schema,
    /// A values file to fill in, with `NAME: VALUE` lines, for `process --values`
    Values,
    /// The same with `NAME=VALUE` lines
    Env,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let mut diagnostics = Diagnostics::new();
    let source = diagnostics.take(console.read(arguments.template.path()));
    let document = source.and_then(|source| diagnostics.take(open(&source)));
    let text = document.and_then(|document| print(arguments, &document, &mut diagnostics));
    console.finish(&diagnostics, text)
}

pub(super) fn open(source: &Arc<Source>) -> Result<Arc<Document>> {
    let document = Document::open(source, LONG_LISTS)?;
    Ok(Arc::new(document.upgrade()?.unwrap_or(document)))
}

fn print(
    arguments: &Arguments,
    document: &Arc<Document>,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let root = first_root(document, diagnostics)?;
    let template = Template::read(&root, diagnostics)?;
    if template.parameters().is_empty() && matches!(arguments.output, OutputFormat::Table) {
        let message = "the Template declares no parameters";
        diagnostics.push(Diagnostic::info(message));
    }
    Some(match arguments.output {
        OutputFormat::Table => table::parameters(&template, !arguments.no_headers, io::width()),
        OutputFormat::Json => {
            let list = krm_yaml::render_json(&template::list(&template), Some(2));
            diagnostics.take(list)? + "\n"
        }
        OutputFormat::Yaml => krm_yaml::to_string(&template::list(&template)),
        OutputFormat::Schema => format!("{:#}\n", schema::of_values(&template)),
        OutputFormat::Values => template::skeleton(&template, ValuesFormat::Yaml),
        OutputFormat::Env => template::skeleton(&template, ValuesFormat::Env),
    })
}
