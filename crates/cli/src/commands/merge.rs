//! `krm-template merge`: makes one Template of several.

use std::sync::Arc;

use clap::{Args, ValueEnum};

use crate::args::files::parse_all;
use krm_core::names::check_object_name;
use krm_template_authoring::merge::{self, Options, Prefer, Prefix, Rename};
use krm_template_engine::OWN_GROUP;
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_template_exec::status::USAGE;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::{Document, SharedNode};

/// Merge several Templates into one
///
/// The objects and parameters of all Templates keep their text, with comments, in the order of the
/// files. A parameter that several Templates declare in the same way becomes one. Different
/// parameters with one name are errors, and so are different objects with one name; --prefix,
/// --rename, --share and --prefer resolve conflicts between parameters. docs/merge.md has the rules.
/// These options name a Template by its `metadata.name` or by its file.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A YAML or JSON file with Templates; `-` for standard input; each file with its own `-f`
    #[arg(short, long, value_name = "FILE", required = true)]
    filename: Vec<String>,

    /// The name of the merged Template
    #[arg(long, required = true)]
    name: String,

    /// The display name of the merged Template
    #[arg(long, value_name = "TEXT")]
    display_name: Option<String>,

    /// Prefix the names of all parameters of a Template, and the references to them
    #[arg(long, value_name = "TEMPLATE=PREFIX", value_parser = prefix)]
    prefix: Vec<Prefix>,

    /// Rename a parameter of a Template, and the references to it; overrides `--prefix`
    #[arg(long, value_name = "TEMPLATE:OLD=NEW", value_parser = rename)]
    rename: Vec<Rename>,

    /// Treat parameters with this name as one; it is required or secret if one of them is
    #[arg(long, value_name = "NAME")]
    share: Vec<String>,

    /// Where parameters differ only in their values, use the value of this Template
    #[arg(long, value_name = "WHICH")]
    prefer: Option<WhichValue>,

    /// Where labels differ, keep those of the first Template and drop the others
    ///
    /// Without this option, the labels of each Template are moved to its own objects.
    #[arg(long, value_name = "WHICH")]
    labels: Option<WhichLabels>,

    /// Output format; without it, the format of the first file
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<OutputFormat>,
}

const EXAMPLES: &str = "\
Examples:
  krm-template merge -f shop.yaml -f database.yaml --name both > both.yaml

  # both Templates have a parameter NAME, with different meanings
  krm-template merge -f shop.yaml -f database.yaml --name both --prefix database=DB_
  krm-template merge -f shop.yaml -f database.yaml --name both --rename database:NAME=DB_NAME

  # both have it with one meaning, and different defaults
  krm-template merge -f shop.yaml -f database.yaml --name both --prefer first";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum WhichValue {
    /// The first one with the parameter
    First,
    /// The last one
    Last,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum WhichLabels {
    /// The labels of the first Template
    KeepFirst,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OutputFormat {
    Yaml,
    Json,
}

/// Reads the argument `TEMPLATE=PREFIX`.
fn prefix(text: &str) -> Result<Prefix, String> {
    match text.rsplit_once('=') {
        Some((template, prefix)) if !template.is_empty() && !prefix.is_empty() => {
            Ok(Prefix { template: template.to_owned(), prefix: prefix.to_owned() })
        }
        _ => Err("write it as TEMPLATE=PREFIX, such as `database=DB_`".to_owned()),
    }
}

/// Reads the argument `TEMPLATE:OLD=NEW`.
fn rename(text: &str) -> Result<Rename, String> {
    let names = text.rsplit_once('=');
    let names = names.and_then(|(old, new)| Some((old.rsplit_once(':')?, new)));
    match names {
        Some(((template, from), to))
            if ![template, from, to].iter().any(|word| word.is_empty()) =>
        {
            Ok(Rename { template: template.to_owned(), from: from.to_owned(), to: to.to_owned() })
        }
        _ => Err("write it as TEMPLATE:OLD=NEW, such as `database:NAME=DB_NAME`".to_owned()),
    }
}

impl Arguments {
    fn options(&self) -> Options {
        Options {
            name: self.name.clone(),
            display_name: self.display_name.clone(),
            prefixes: self.prefix.clone(),
            renames: self.rename.clone(),
            shared: self.share.clone(),
            prefer: self.prefer.map(|which| match which {
                WhichValue::First => Prefer::First,
                WhichValue::Last => Prefer::Last,
            }),
            keep_first_labels: matches!(self.labels, Some(WhichLabels::KeepFirst)),
            format: self.output.map(|format| match format {
                OutputFormat::Yaml => merge::Format::Yaml,
                OutputFormat::Json => merge::Format::Json,
            }),
        }
    }
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let mut diagnostics = Diagnostics::new();
    if let Some(problem) = check_object_name(OWN_GROUP, "Template", &arguments.name) {
        diagnostics.push(problem);
        console.report(&diagnostics);
        return Ok(USAGE);
    }
    let documents = read(&arguments.filename, console, &mut diagnostics);
    let text = documents.and_then(|documents| {
        let roots: Vec<SharedNode> = documents.iter().flat_map(SharedNode::roots).collect();
        merge::merge(&roots, &arguments.options(), &mut diagnostics)
    });
    diagnostics.dedup();
    console.finish(&diagnostics, text)
}

/// Reads all files; nothing if one of them cannot be read or is empty.
fn read(
    files: &[String],
    console: Console,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Arc<Document>>> {
    diagnostics.take(io::check_stdin(files.iter()))?;
    let documents = parse_all(files, console, diagnostics);
    for document in &documents {
        if document.roots().next().is_none() {
            let name = document.source().name();
            diagnostics.push(
                Diagnostic::error(format!("`{name}` is empty, expected a Template"))
                    .hint("`krm-template --help` shows a small example"),
            );
        }
    }
    (!diagnostics.has_errors()).then_some(documents)
}
