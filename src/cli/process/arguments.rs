//! The arguments of `process`.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::cli::process::format::OutputFormat;
use crate::cli::suggested::Suggested;
use crate::cli::{expansion, io};

/// Expands the Template in a file and prints its objects
///
/// As `oc process --local`, for any cluster: nothing is fetched and nothing is sent.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option, and they are independent"
)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    pub(super) expansion: expansion::Arguments,

    /// How to print the objects
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "yaml",
        value_parser = Suggested { parser: OutputFormat::parse, words: OutputFormat::words }
    )]
    pub(super) output: OutputFormat,

    /// With `-o json`: print the objects one after another, not as a List
    #[arg(long)]
    pub(super) raw: bool,

    /// Write each object to a file of its own in this folder; files that stay the same are left alone
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "raw",
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub(super) output_dir: Option<String>,

    /// With `--output-dir`: replace also files that this program did not write, or that were changed
    /// after it wrote them, and links
    #[arg(long, requires = "output_dir")]
    pub(super) overwrite: bool,

    /// Show what would change in this file or folder, as a unified diff, and write nothing
    ///
    /// FILE holds what `process` printed, DIR what `--output-dir` wrote; files in DIR for which
    /// there is no object are not looked at. Secrets are masked. The exit status is 0 if nothing
    /// would change, 1 if something would, 2 if there is an error.
    #[arg(long, value_name = "FILE|DIR", conflicts_with_all = ["raw", "output_dir"])]
    pub(super) diff_against: Option<String>,

    /// Write to this file where each field of the objects came from, as JSON
    ///
    /// For each object, in the order they are printed, and each of its fields: the file, line and
    /// column it is written at, what put it there, and the parameters that went into it, without
    /// their values. `-` is standard output, if the objects go to files. docs/process.md describes
    /// the format.
    #[arg(long, value_name = "FILE", conflicts_with = "diff_against")]
    pub(super) source_map: Option<String>,

    /// List the parameters of the Template and do nothing else
    #[arg(long, conflicts_with_all = [
        "values", "assignments", "parameter_files", "env_files", "env", "value_files", "labels",
        "namespace", "instance", "output", "raw", "output_dir", "diff_against", "source_map",
        "dump_parameters", "template",
    ])]
    pub(super) parameters: bool,

    /// Show the value of each parameter and where it comes from, and do nothing else
    #[arg(long, conflicts_with_all = [
        "output", "raw", "output_dir", "diff_against", "source_map",
    ])]
    pub(super) dump_parameters: bool,

    /// Taken for the sake of `oc process --local`: nothing is ever fetched here
    #[arg(long)]
    pub(super) local: bool,

    /// Refused: Go templates are what `oc` has it for
    #[arg(short, long, hide = true)]
    pub(super) template: Option<String>,
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
    pub(super) fn goes_to_folder(&self) -> bool {
        let compared = self.diff_against.as_deref();
        self.output_dir.is_some() || compared.is_some_and(io::is_folder)
    }
}
