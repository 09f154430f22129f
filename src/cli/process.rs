//! `krm-template process`: expands the Template in a file.

use std::sync::Arc;

use clap::{Args, ValueEnum};

use crate::cli::{FAILED, OK, io};
use crate::diagnostic::{Diagnostic, Diagnostics, Result};
use crate::source::{Place, Source};
use crate::template::{self, Format, Generation, Given, Options, Printed, Template, env_file};
use crate::yaml::{Cursor, Document};

/// Expands the Template in a file and prints its objects
///
/// As `oc process --local`, for any cluster: nothing is fetched and nothing is sent.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The file that holds the Template, as YAML or JSON; `-` for standard input
    #[arg(short, long, value_name = "FILE", required = true)]
    filename: String,

    /// Values of parameters: the same as `-p NAME=VALUE`
    #[arg(value_name = "NAME=VALUE")]
    values: Vec<String>,

    /// The value of a parameter; wins over those from files; the last one of a name counts
    #[arg(
        short = 'p',
        long = "parameter",
        alias = "param",
        value_name = "NAME=VALUE"
    )]
    parameters: Vec<String>,

    /// A YAML or JSON file with `NAME: value` entries; of several files the later ones win
    #[arg(short = 'P', long = "parameter-file", value_name = "FILE")]
    parameter_files: Vec<String>,

    /// A file with `NAME=VALUE` lines, as `oc process` reads it; of several files the first wins
    #[arg(long = "param-file", value_name = "FILE")]
    env_files: Vec<String>,

    /// Labels to put on all objects, as `key=value,key=value`; they win over the Template's own
    #[arg(short, long, value_name = "LABELS")]
    labels: Vec<String>,

    /// How to print the objects: `yaml` as a stream of documents, `json` as one `v1` List
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
    output: OutputFormat,

    /// Leave values out, with a warning, that are for no parameter of the Template
    #[arg(long)]
    ignore_unknown_parameters: bool,

    /// Take a reference to a parameter that is not declared for an error
    #[arg(long)]
    strict: bool,
}

const EXAMPLES: &str = "\
Examples:
  krm-template process -f template.yaml -p NAME=web REPLICAS=3
  krm-template process -f template.yaml -P production.yaml | kubectl apply -f -
  krm-template process -f openshift.json --param-file values.env -o json";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OutputFormat {
    Yaml,
    Json,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let mut diagnostics = Diagnostics::new();
    let mut output = None;
    if let Some(inputs) = Inputs::read(arguments, &mut diagnostics) {
        let done = Document::read_with(&inputs.template, |document| {
            let mut found = Diagnostics::new();
            let output = process(arguments, &inputs, document, &mut found);
            (output, found)
        });
        let (made, found) = done.unwrap_or_else(|error| (None, error.into()));
        diagnostics.append(found);
        output = made;
    }
    io::report(&diagnostics);
    let Some(output) = output.filter(|_| !diagnostics.has_errors()) else {
        return Ok(FAILED);
    };
    if let Some(message) = output.message {
        io::print_error(&format!("{}\n", message.trim_end()));
    }
    io::print(output.pieces.iter().map(String::as_str))?;
    Ok(OK)
}

/// The texts of all files.
struct Inputs {
    template: Arc<Source>,
    parameter_files: Vec<Arc<Source>>,
    env_files: Vec<Arc<Source>>,
}

impl Inputs {
    fn read(arguments: &Arguments, diagnostics: &mut Diagnostics) -> Option<Self> {
        let files = &arguments.parameter_files;
        let paths = || {
            [&arguments.filename]
                .into_iter()
                .chain(files)
                .chain(&arguments.env_files)
        };
        if paths().filter(|path| *path == "-").count() > 1 {
            diagnostics.push(Diagnostic::error(
                "`-` is there more than once, and standard input can be read only once",
            ));
            return None;
        }
        let mut read = |path: &String| diagnostics.take(io::read(path));
        let template = read(&arguments.filename);
        let parameter_files = files.iter().filter_map(&mut read).collect();
        let env_files = arguments.env_files.iter().filter_map(&mut read).collect();
        if diagnostics.has_errors() {
            return None;
        }
        Some(Self {
            template: template?,
            parameter_files,
            env_files,
        })
    }
}

fn process(
    arguments: &Arguments,
    inputs: &Inputs,
    document: &Document,
    diagnostics: &mut Diagnostics,
) -> Option<Printed> {
    let root = only_root(document, diagnostics)?;
    let template = Template::read(root, diagnostics);
    let labels = labels(&arguments.labels, diagnostics);
    let given = given(
        arguments,
        inputs,
        template.as_ref().map_or("", Template::name),
        diagnostics,
    );
    let template = template?;
    if diagnostics.has_errors() {
        return None;
    }
    let options = Options {
        labels,
        ignore_unknown_parameters: arguments.ignore_unknown_parameters,
        strict: arguments.strict,
        require_name: false,
        generation: Generation::Random,
    };
    let format = match arguments.output {
        OutputFormat::Yaml => Format::Yaml,
        OutputFormat::Json => Format::Json,
    };
    template::print(&template, &given, &options, format, diagnostics)
}

/// The document of the stream that is processed: the first that is not empty.
fn only_root<'d>(document: &'d Document, diagnostics: &mut Diagnostics) -> Option<Cursor<'d>> {
    let mut roots = document.roots();
    let Some(root) = roots.next() else {
        let name = document.source().name();
        diagnostics.push(Diagnostic::error(format!(
            "`{name}` is empty, expected a Template"
        )));
        return None;
    };
    if let Some(second) = roots.next() {
        diagnostics.push(
            Diagnostic::warning("there are several documents, and only the first is processed")
                .at(second.key_place()),
        );
    }
    Some(root)
}

/// All values, the strongest last.
fn given(
    arguments: &Arguments,
    inputs: &Inputs,
    template: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<Given> {
    let mut given = env_values(&inputs.env_files, diagnostics);
    for source in &inputs.parameter_files {
        let document = diagnostics.take(Document::parse(source));
        for root in document.iter().flat_map(Document::roots).take(1) {
            given.extend(template::values_of_file(root, template, diagnostics));
        }
    }
    let first = given.len();
    for (argument, origin) in arguments
        .values
        .iter()
        .map(|argument| (argument, ""))
        .chain(
            arguments
                .parameters
                .iter()
                .map(|argument| (argument, "-p ")),
        )
    {
        let origin = format!("{origin}{}", argument.split('=').next().unwrap_or_default());
        match env_file::parse_assignment(argument) {
            Ok((name, value)) => given.push(Given::text(name, value, origin)),
            Err(error) => diagnostics.push(Diagnostic::error(error.message).maybe_hint(error.hint)),
        }
    }
    warn_about_twice(given.get(first..).unwrap_or_default(), diagnostics);
    given
}

fn warn_about_twice(given: &[Given], diagnostics: &mut Diagnostics) {
    for (index, one) in given.iter().enumerate() {
        if given.iter().take(index).any(|other| other.name == one.name) {
            diagnostics.push(
                Diagnostic::warning(format!("parameter `{}` is given more than once", one.name))
                    .hint("the last value counts; those without `-p` stand before those with it"),
            );
        }
    }
}

/// The values of `oc`'s files: the first file that has a name wins.
fn env_values(sources: &[Arc<Source>], diagnostics: &mut Diagnostics) -> Vec<Given> {
    let mut given: Vec<Given> = Vec::new();
    for source in sources {
        let place = |range: std::ops::Range<usize>| Place {
            source: Arc::clone(source),
            range,
        };
        let assignments = match env_file::parse(source.text()) {
            Ok(assignments) => assignments,
            Err(errors) => {
                for error in errors {
                    diagnostics.push(
                        Diagnostic::error(error.message)
                            .at(place(error.range))
                            .maybe_hint(error.hint),
                    );
                }
                continue;
            }
        };
        let known = given.len();
        for assignment in assignments {
            let earlier = given
                .iter()
                .take(known)
                .any(|one| one.name == assignment.name);
            if earlier {
                diagnostics.push(
                    Diagnostic::warning(format!(
                        "parameter `{}` is in an earlier file already, whose value counts",
                        assignment.name
                    ))
                    .at(place(assignment.name_range)),
                );
                continue;
            }
            given.push(Given {
                place: Some(place(assignment.range)),
                name_place: Some(place(assignment.name_range)),
                ..Given::text(assignment.name, assignment.value, source.name())
            });
        }
    }
    given
}

/// Reads `key=value,key=value`.
fn labels(arguments: &[String], diagnostics: &mut Diagnostics) -> Vec<(String, String)> {
    arguments
        .iter()
        .flat_map(|argument| argument.split(','))
        .filter_map(|label| diagnostics.take(one_label(label)))
        .collect()
}

fn one_label(label: &str) -> Result<(String, String)> {
    match label.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.contains('=') => {
            Ok((key.trim().to_owned(), value.to_owned()))
        }
        _ => Err(Diagnostic::error(format!("`{label}` is no label"))
            .hint("write it as `key=value`")
            .into()),
    }
}
