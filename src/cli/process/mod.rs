//! `krm-template process`: expands the Template in a file.

mod diff;
mod directory;
mod format;
mod mask;
mod output;
mod record;
mod source_map;
mod tables;
mod writing;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use self::format::OutputFormat;
use self::mask::Secrets;
use self::output::Output;
use self::source_map::SourceMap;
use crate::cli::expansion::{self, Expansion, Expansions};
use crate::cli::{Console, FAILED, OK, Suggested, USAGE, io};
use crate::template::Format;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};

/// Expand the Template in a file and print its objects
///
/// Works like `oc process --local`, for any cluster. It never connects to a cluster.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option, and they are independent"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    expansion: expansion::Arguments,

    /// Output format
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "yaml",
        value_parser = Suggested { parser: OutputFormat::parse, words: OutputFormat::words }
    )]
    output: OutputFormat,

    /// With `-o json`, print the objects one after another instead of as a List
    #[arg(long)]
    raw: bool,

    /// Write each object to its own file in this directory; unchanged files are not touched
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "raw",
        value_parser = NonEmptyStringValueParser::new()
    )]
    output_dir: Option<String>,

    /// With `--output-dir`, also replace links, files that krm-template did not write, and files
    /// that were changed after it wrote them
    #[arg(long, requires = "output_dir")]
    overwrite: bool,

    /// Show as a unified diff what would change in this file or directory, and write nothing
    ///
    /// FILE is an earlier output of `process`, DIR an earlier `--output-dir`. Files in DIR without a
    /// matching object are ignored. Secrets are masked. The exit status is 0 if nothing would
    /// change, 1 if something would change, and 2 if an error occurred.
    #[arg(long, value_name = "FILE|DIR", conflicts_with_all = ["raw", "output_dir"])]
    diff_against: Option<String>,

    /// Write the origin of each field of the objects to this file, as JSON
    ///
    /// The source map lists the objects in the order in which they are printed. For each field it
    /// has the file, line and column of the source, what set the field, and the names of the
    /// parameters used, without their values. `-` is standard output, if the objects go to files.
    /// docs/process.md describes the format.
    #[arg(long, value_name = "FILE", conflicts_with = "diff_against")]
    source_map: Option<String>,

    /// List the parameters of the Template and exit
    #[arg(long, conflicts_with_all = [
        "values", "assignments", "parameter_files", "env_files", "env", "value_files", "labels",
        "namespace", "instance", "output", "raw", "output_dir", "diff_against", "source_map",
        "dump_parameters", "template",
    ])]
    parameters: bool,

    /// Show the value of each parameter and its source, and exit
    #[arg(long, conflicts_with_all = [
        "output", "raw", "output_dir", "diff_against", "source_map",
    ])]
    dump_parameters: bool,

    /// Accepted for compatibility with `oc process --local`; has no effect
    #[arg(long)]
    local: bool,

    /// Refused: `oc` uses it for Go templates
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

pub(super) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let misused = usage(arguments).map_or_else(Diagnostics::from, |()| arguments.expansion.check());
    if misused.has_errors() {
        console.report(&misused);
        return Ok(USAGE);
    }
    let mut diagnostics = Diagnostics::new();
    let others = arguments.diff_against.as_slice();
    let made = arguments.expansion.read(
        others,
        console,
        &mut diagnostics,
        &|expansions, diagnostics| process(arguments, expansions, diagnostics),
    );
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
    let Some(writing) = made.output.prepare(arguments, console)? else {
        return Ok(FAILED);
    };
    // First, so that nothing is applied whose map is missing.
    if let (Some(path), Some(map)) = (&arguments.source_map, &made.source_map) {
        io::write(path, &map.to_json()?)?;
    }
    writing.finish(console)?;
    for message in made.messages {
        console.say(message.trim_end());
    }
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
        return Err(
            Diagnostic::error("`--template` takes a Go template, which is not supported")
                .hint("print JSON and select from it: `-o json | jq …`")
                .hint("to name the file with the Template, use `-f`")
                .into(),
        );
    }
    if arguments.source_map.as_deref() == Some("-") && arguments.output_dir.is_none() {
        return Err(Diagnostic::error(
            "`--source-map -` writes to standard output, to which the objects are also written",
        )
        .hint("write the source map to a file, or the objects to a directory with `--output-dir`")
        .hint("to look at one object, use `krm-template explain`")
        .into());
    }
    let is_text = |format| matches!(format, Format::Yaml | Format::Json);
    if arguments.output_dir.is_some() && !arguments.output.format().is_some_and(is_text) {
        return Err(Diagnostic::error("`--output-dir` writes only YAML or JSON")
            .hint("use `-o yaml` or `-o json`")
            .into());
    }
    if arguments.diff_against.is_some() && !arguments.output.format().is_some_and(is_text) {
        return Err(
            Diagnostic::error("`--diff-against` compares only YAML or JSON")
                .hint("use `-o yaml` or `-o json`")
                .into(),
        );
    }
    Ok(())
}

/// What was made, and what there is to be told of it.
struct Made {
    output: Output,
    /// The messages of the Templates.
    messages: Vec<String>,
    /// What a diff must not show.
    secrets: Secrets,
    /// Where the fields came from, if that is asked for.
    source_map: Option<SourceMap>,
}

/// Makes the output and collects the messages of the Templates.
fn process(
    arguments: &Arguments,
    expansions: &Expansions<'_>,
    diagnostics: &mut Diagnostics,
) -> Made {
    let mut made = Made {
        output: Output::new(arguments),
        messages: Vec::new(),
        secrets: Secrets::default(),
        source_map: arguments.source_map.as_ref().map(|_| SourceMap::default()),
    };
    if arguments.parameters {
        for template in expansions.templates() {
            made.output.declare(template);
        }
        return made;
    }
    let traces = arguments.diff_against.is_some() || arguments.source_map.is_some();
    expansions.each(diagnostics, |expansion, found| {
        let message = made.output.add(&expansion, found);
        made.messages.extend(message);
        if traces {
            made.trace(&expansion);
        }
    });
    expansions.check_identities(diagnostics);
    if !diagnostics.has_errors() {
        made.output.check(diagnostics);
    }
    made
}

impl Made {
    /// Keeps in mind where the fields of the objects came from.
    fn trace(&mut self, expansion: &Expansion<'_>) {
        // All there is to say was said when the objects were made.
        let unheard = &mut Diagnostics::new();
        let Some(trace) = expansion.trace(unheard) else {
            return;
        };
        for object in &trace.objects {
            self.secrets.add(object);
        }
        if let Some(map) = &mut self.source_map {
            map.add(expansion, &trace, self.output.file_format());
        }
    }
}
