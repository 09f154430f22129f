//! `krm-template process`: expands the Template in a file.

mod diff;
mod directory;
mod format;
mod inputs;
mod mask;
mod output;
mod tables;
mod targets;
mod values;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use self::format::OutputFormat;
use self::inputs::Inputs;
use self::mask::Secrets;
use self::output::Output;
use crate::cli::{Console, FAILED, OK, Suggested, USAGE, io};
use crate::diagnostic::{Diagnostic, Diagnostics, Result, Severity};
use crate::function::items::Input;
use crate::function::plan::{self, Whence};
use crate::lint;
use crate::template::{self, Format, Generation, Options};
use crate::yaml::Document;

/// Expands the Template in a file and prints its objects
///
/// As `oc process --local`, for any cluster: nothing is fetched and nothing is sent.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option, and they are independent"
)]
pub(super) struct Arguments {
    /// The file that holds the Template, as YAML or JSON; `-` for standard input
    ///
    /// It may also hold a TemplateInstance, and each ConfigMap and Secret that it takes values from;
    /// or these stand in files of their own, each given by another `-f`.
    #[arg(short, long, value_name = "FILE", required = true)]
    filename: Vec<String>,

    /// Values of parameters: the same as `-p NAME=VALUE`
    #[arg(value_name = "NAME=VALUE")]
    values: Vec<String>,

    /// The value of a parameter; wins over all others; the last one of a name counts
    #[arg(
        short = 'p',
        long = "parameter",
        alias = "param",
        value_name = "NAME=VALUE"
    )]
    assignments: Vec<String>,

    /// A YAML or JSON file with `NAME: value` entries; of several files the later ones win
    #[arg(short = 'P', long = "parameter-file", value_name = "FILE")]
    parameter_files: Vec<String>,

    /// A file with `NAME=VALUE` lines, as `oc process` reads it; of several files the first wins
    #[arg(long = "param-file", value_name = "FILE")]
    env_files: Vec<String>,

    /// Take values from the environment: that of the variable `PREFIX_NAME` for the parameter NAME
    #[arg(long, value_name = "PREFIX_", value_parser = prefix)]
    env: Option<String>,

    /// The bytes of a file as the value of a parameter; in base64 if that is its type
    #[arg(long = "parameter-from-file", value_name = "NAME=FILE")]
    value_files: Vec<String>,

    /// Labels to put on all objects, as `key=value,key=value`; they win over the Template's own
    #[arg(short, long, value_name = "LABELS")]
    labels: Vec<String>,

    /// The namespace of objects that name none, where their kind belongs to one
    #[arg(short, long, value_parser = NonEmptyStringValueParser::new())]
    namespace: Option<String>,

    /// Keep the namespaces of an OpenShift Template, which `oc process` removes
    #[arg(long)]
    keep_namespace: bool,

    /// Of a TemplateInstance, only this one of its instances
    #[arg(long, value_name = "NAME")]
    instance: Option<String>,

    /// How to print the objects
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "yaml",
        value_parser = Suggested { parser: OutputFormat::parse, words: OutputFormat::words }
    )]
    output: OutputFormat,

    /// With `-o json`: print the objects one after another, not as a List
    #[arg(long)]
    raw: bool,

    /// Write each object to a file of its own in this folder; files that stay the same are left alone
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "raw",
        value_parser = NonEmptyStringValueParser::new()
    )]
    output_dir: Option<String>,

    /// Show what would change in this file or folder, as a unified diff, and write nothing
    ///
    /// FILE holds what `process` printed, DIR what `--output-dir` wrote; files in DIR for which
    /// there is no object are not looked at. Secrets are masked. The exit status is 0 if nothing
    /// would change, 1 if something would, 2 if there is an error.
    #[arg(long, value_name = "FILE|DIR", conflicts_with_all = ["raw", "output_dir"])]
    diff_against: Option<String>,

    /// List the parameters of the Template and do nothing else
    #[arg(long, conflicts_with_all = [
        "values", "assignments", "parameter_files", "env_files", "env", "value_files", "labels",
        "namespace", "instance", "output", "raw", "output_dir", "diff_against", "dump_parameters",
        "template",
    ])]
    parameters: bool,

    /// Show the value of each parameter and where it comes from, and do nothing else
    #[arg(long, conflicts_with_all = ["output", "raw", "output_dir", "diff_against"])]
    dump_parameters: bool,

    /// Leave values out, with a warning, that are for no parameter of the Template
    #[arg(long)]
    ignore_unknown_parameters: bool,

    /// Take a reference to a parameter that is not declared for an error
    #[arg(long)]
    strict: bool,

    /// Taken for the sake of `oc process --local`: nothing is ever fetched here
    #[arg(long)]
    local: bool,

    /// Refused: Go templates are what `oc` has it for
    #[arg(short, long, hide = true)]
    template: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  krm-template process -f template.yaml -p NAME=web REPLICAS=3
  krm-template process -f template.yaml -P production.yaml | kubectl apply -f -
  krm-template process -f template.yaml --parameter-from-file CERTIFICATE=tls.crt --output-dir out
  krm-template process -f template.yaml REPLICAS=5 --diff-against out
  krm-template process -f openshift.json --param-file values.env -o json
  krm-template process -f template.yaml -f site.yaml --instance production";

impl Arguments {
    /// Whether there is a file for each object.
    fn goes_to_folder(&self) -> bool {
        let compared = self.diff_against.as_deref();
        self.output_dir.is_some() || compared.is_some_and(io::is_folder)
    }
}

/// Of an empty prefix every variable would be a value.
fn prefix(text: &str) -> std::result::Result<String, String> {
    if text.is_empty() {
        return Err(
            "a prefix tells variables that are values from all others, as `APP_`".to_owned(),
        );
    }
    Ok(text.to_owned())
}

pub(super) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let misused = usage(arguments).map_or_else(Diagnostics::from, |()| malformed(arguments));
    if misused.has_errors() {
        console.report(&misused);
        return Ok(USAGE);
    }
    let mut diagnostics = Diagnostics::new();
    let mut made = None;
    if let Some(inputs) = Inputs::read(arguments, console, &mut diagnostics) {
        let done = inputs.with_documents(&|documents| {
            let mut found = Diagnostics::new();
            let made = process(arguments, &inputs, documents, &mut found);
            found.dedup();
            (made, found)
        });
        let (done, found) = done.unwrap_or_else(|errors| (None, errors));
        diagnostics.append(found);
        made = done;
    }
    let made = made.filter(|_| !diagnostics.has_errors());
    if let Some(path) = &arguments.diff_against {
        let diff = made.and_then(|made| {
            diff::against(path, made.output, &made.secrets, console, &mut diagnostics)
        });
        console.report(&diagnostics);
        return diff.map_or(Ok(USAGE), |diff| show(&diff));
    }
    console.report(&diagnostics);
    let Some(made) = made else {
        return Ok(FAILED);
    };
    for message in made.messages {
        console.say(message.trim_end());
    }
    made.output
        .write(arguments.output_dir.as_deref(), console)?;
    Ok(OK)
}

/// Prints a diff. Returns the exit status.
fn show(diff: &str) -> anyhow::Result<u8> {
    if io::stdout_color() {
        io::print([diff::colored(diff).as_str()])?;
    } else {
        io::print([diff])?;
    }
    Ok(if diff.is_empty() { OK } else { FAILED })
}

/// What is wrong with the arguments themselves and not for clap to find.
fn usage(arguments: &Arguments) -> Result<()> {
    if arguments.template.is_some() {
        return Err(Diagnostic::error(
            "`--template` takes a Go template, and these are not supported",
        )
        .hint("print JSON and choose from it: `-o json | jq …`")
        .hint("the file with the Template is given by `-f`")
        .into());
    }
    if let Some(name) = arguments.values.iter().find(|value| !value.contains('=')) {
        return Err(Diagnostic::error(format!(
            "`{name}` names a Template that is stored in a cluster, and none is asked"
        ))
        .hint("give the file with the Template by `-f`")
        .hint(format!(
            "if it is the value of a parameter, write `NAME={name}`"
        ))
        .into());
    }
    let is_text = |format| matches!(format, Format::Yaml | Format::Json);
    if arguments.output_dir.is_some() && !arguments.output.format().is_some_and(is_text) {
        return Err(Diagnostic::error(
            "`--output-dir` writes YAML or JSON, a file for each object",
        )
        .hint("use it with `-o yaml` or `-o json`")
        .into());
    }
    if arguments.diff_against.is_some() && !arguments.output.format().is_some_and(is_text) {
        return Err(Diagnostic::error("`--diff-against` compares YAML or JSON")
            .hint("use it with `-o yaml` or `-o json`")
            .into());
    }
    Ok(())
}

/// What is wrong with arguments that give something to a name.
fn malformed(arguments: &Arguments) -> Diagnostics {
    let mut found = Diagnostics::new();
    for argument in arguments.values.iter().chain(&arguments.assignments) {
        found.take(values::assignment(argument));
    }
    for argument in &arguments.value_files {
        found.take(inputs::value_file(argument));
    }
    labels(&arguments.labels, &mut found);
    found
}

/// What was made, and what there is to be told of it.
struct Made {
    output: Output,
    /// The messages of the Templates.
    messages: Vec<String>,
    /// What a diff must not show.
    secrets: Secrets,
}

/// Makes the output and collects the messages of the Templates.
fn process(
    arguments: &Arguments,
    inputs: &Inputs,
    documents: &[&Document],
    diagnostics: &mut Diagnostics,
) -> Option<Made> {
    let roots = documents.iter().flat_map(|document| document.roots());
    let objects: Vec<Input<'_>> = roots.filter_map(Input::of_document).collect();
    let objects = plan::Inputs::of(&objects, Whence::Files);
    let instance = arguments.instance.as_deref();
    let targets = targets::read(documents, &objects, instance, diagnostics)?;
    let labels = labels(&arguments.labels, diagnostics);
    warn_about_names(arguments.namespace.as_deref(), &labels, diagnostics);
    let mut made = Made {
        output: Output::new(arguments),
        messages: Vec::new(),
        secrets: Secrets::default(),
    };
    if arguments.parameters {
        for template in &targets.templates {
            made.output.declare(template);
        }
        return Some(made);
    }
    let has_failed = diagnostics.has_errors();
    for target in &targets.list {
        let Some(template) = targets.templates.get(target.template) else {
            continue;
        };
        let mut found = Diagnostics::new();
        let given = values::given(arguments, inputs, &targets, target, &mut found);
        let namespace = arguments.namespace.as_ref().or(target.namespace.as_ref());
        let options = Options {
            labels: [target.labels.as_slice(), &labels].concat(),
            namespace: namespace.cloned(),
            ignore_unknown_parameters: arguments.ignore_unknown_parameters,
            strict: arguments.strict,
            require_name: false,
            keep_namespace: arguments.keep_namespace,
            generation: Generation::Random,
        };
        if !has_failed && !found.has_errors() {
            let name = &target.name;
            let message = made
                .output
                .add(name, template, &given, &options, &mut found);
            made.messages.extend(message);
            if arguments.diff_against.is_some() {
                let unheard = &mut Diagnostics::new();
                let traced = template::trace(template, &given, &options, unheard, |_| ());
                for object in traced.iter().flat_map(|(objects, ())| objects) {
                    made.secrets.add(object);
                }
            }
        }
        if let Some(place) = &target.place {
            found.relate(place, &format!("for the instance `{}`", target.name));
        }
        diagnostics.append(found);
    }
    made.output.check(diagnostics);
    Some(made)
}

/// Reads `key=value,key=value`.
fn labels(arguments: &[String], diagnostics: &mut Diagnostics) -> Vec<(String, String)> {
    arguments
        .iter()
        .flat_map(|argument| argument.split(','))
        .filter_map(|label| diagnostics.take(one_label(label)))
        .collect()
}

/// What no cluster takes, though `oc process` does. A label may hold references.
fn warn_about_names(
    namespace: Option<&str>,
    labels: &[(String, String)],
    diagnostics: &mut Diagnostics,
) {
    let is_final = |label: &&(String, String)| !label.0.contains('$') && !label.1.contains('$');
    let labels = labels.iter().filter(is_final);
    let problems = labels.flat_map(|(key, value)| lint::check_label(key, value));
    for problem in namespace
        .and_then(lint::check_namespace)
        .into_iter()
        .chain(problems)
    {
        diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            ..problem
        });
    }
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
