//! `krm-template parameters`: what values the Template in a file takes, or those in a directory.

use std::sync::Arc;

use clap::{Args, ValueEnum};

use crate::args::environment::disk;
use crate::output::table;
use krm_core::long_lists::LONG_LISTS;
use krm_core::visible::on_one_line;
use krm_template_authoring::lint;
use krm_template_authoring::schema;
use krm_template_engine::{self as template, Template, ValuesFormat};
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_template_workspace::Listings;
use krm_template_workspace::expansion::first_root;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Document, Value};

/// List the parameters of the Template in a file, or of all Templates in a directory
///
/// Prints a table, data for other programs, a JSON Schema for forms and editors, or a values file
/// for you to fill in. Never shows the values of secrets, of parameters of type `base64`, or of
/// parameters with `generate`. Of a directory, all of these name the file of each Template; files
/// without a Template are skipped.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The YAML or JSON file with the Template; `-` for standard input; or a directory, searched
    /// for *.yaml, *.yml and *.json files with Templates
    #[arg(value_name = "FILE|DIR", required_unless_present = "filename")]
    file: Option<String>,

    /// The file or directory, like the argument
    #[arg(short, long, value_name = "FILE|DIR", conflicts_with = "file")]
    filename: Option<String>,

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
  krm-template parameters templates/

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

pub(crate) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let mut diagnostics = Diagnostics::new();
    let path = arguments.file.as_ref().or(arguments.filename.as_ref());
    let path = path.map_or("-", String::as_str);
    let text = match diagnostics.take(io::yaml_files(path, &[])) {
        None => None,
        Some(None) => {
            let template = template_of(path, console, &mut diagnostics);
            template.and_then(|template| print(arguments, &template, &mut diagnostics))
        }
        Some(Some(files)) => {
            let library = read_all(files, console, &mut diagnostics);
            if library.is_empty() && !diagnostics.has_errors() {
                let problem = format!("found no Template in `{path}`");
                diagnostics.push(Diagnostic::error(problem));
            }
            print_all(arguments, &library, &mut diagnostics)
        }
    };
    console.finish(&diagnostics, text)
}

/// The Template in a file, or in standard input.
pub(super) fn template_of(
    path: &str,
    console: Console,
    diagnostics: &mut Diagnostics,
) -> Option<Template> {
    let source = diagnostics.take(console.read(path))?;
    let document = diagnostics.take(Document::open(&source, LONG_LISTS))?;
    let document = diagnostics.take(document.upgrade())?.unwrap_or(document);
    Template::read(&first_root(&Arc::new(document), diagnostics)?, diagnostics)
}

fn print(
    arguments: &Arguments,
    template: &Template,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    if template.parameters().is_empty() && matches!(arguments.output, OutputFormat::Table) {
        let message = "the Template declares no parameters";
        diagnostics.push(Diagnostic::info(message));
    }
    Some(match arguments.output {
        OutputFormat::Table => table::parameters(template, !arguments.no_headers, io::width()),
        OutputFormat::Json => json(&template::list(template), diagnostics)?,
        OutputFormat::Yaml => krm_yaml::to_string(&template::list(template)),
        OutputFormat::Schema => format!("{:#}\n", schema::of_values(template)),
        OutputFormat::Values => template::skeleton(template, ValuesFormat::Yaml),
        OutputFormat::Env => template::skeleton(template, ValuesFormat::Env),
    })
}

fn json(list: &Value<'_>, diagnostics: &mut Diagnostics) -> Option<String> {
    Some(diagnostics.take(krm_yaml::render_json(list, Some(2)))? + "\n")
}

/// A Template, and the file that it is in.
struct Shelved {
    file: String,
    template: Template,
}

/// The Templates in the files of a directory, but for patches of Templates.
fn read_all(files: Vec<String>, console: Console, diagnostics: &mut Diagnostics) -> Vec<Shelved> {
    let mut library = Vec::new();
    let disk = disk(console, "the Kustomization");
    let mut listings = Listings::new(&disk);
    for file in files {
        let Some(source) = diagnostics.take(console.read(&file)) else {
            continue;
        };
        let document = match Document::parse(&source) {
            Ok(document) => Arc::new(document),
            Err(error) => {
                if lint::may_hold_template(source.text()) {
                    diagnostics.push(*error);
                }
                continue;
            }
        };
        let mut roots = lint::templates(&document).peekable();
        if roots.peek().is_none() || listings.that_patches_with(&file).is_some() {
            console.info(format!("`{file}` does not contain a Template, and is skipped"));
            continue;
        }
        let templates = roots.filter_map(|root| Template::read(&root, diagnostics));
        library.extend(templates.map(|template| Shelved { file: file.clone(), template }));
    }
    library
}

/// Prints the Templates of a directory; nothing after an error.
fn print_all(
    arguments: &Arguments,
    library: &[Shelved],
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    if diagnostics.has_errors() {
        return None;
    }
    let templates = library.iter().map(|one| (one.file.as_str(), &one.template));
    let skeletons = |format, before: &str| {
        let one = |(file, template): (&str, &Template)| {
            format!("{before}# {}\n{}", on_one_line(file), template::skeleton(template, format))
        };
        templates.clone().map(one).collect::<Vec<_>>().join("\n")
    };
    Some(match arguments.output {
        OutputFormat::Table => table::library(templates, !arguments.no_headers, io::width()),
        OutputFormat::Json => json(&list_all(library), diagnostics)?,
        OutputFormat::Yaml => krm_yaml::to_string(&list_all(library)),
        OutputFormat::Schema => format!("{:#}\n", schema::of_library(templates)),
        OutputFormat::Values => skeletons(ValuesFormat::Yaml, "---\n"),
        OutputFormat::Env => skeletons(ValuesFormat::Env, ""),
    })
}

fn list_all(library: &[Shelved]) -> Value<'_> {
    let templates = library.iter().map(|Shelved { file, template }| {
        let fields = [
            ("file", file.as_str().into()),
            ("template", template.name().into()),
            ("parameters", template::list(template)),
        ];
        Value::mapping(fields.map(|(key, value)| (key.into(), value)).into())
    });
    Value::sequence(templates.collect())
}
