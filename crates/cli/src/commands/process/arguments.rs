//! The arguments of `process`.

use clap::Args;

use crate::args::object_check;
use crate::args::suggested::Suggested;
use crate::commands::expansion;
use crate::commands::process::format::OutputFormat;
use crate::output::destination::Directory;

/// Expand the Template in a file and print its objects
///
/// Works like `oc process --local`, for any cluster. It never connects to a cluster.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option, and they are independent")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) expansion: expansion::Arguments,

    #[command(flatten)]
    pub(super) objects: object_check::Check,

    /// Output format
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "yaml",
        value_parser = Suggested { parser: OutputFormat::parse, words: OutputFormat::words }
    )]
    pub(super) output: OutputFormat,

    /// With `-o json`, print the objects one after another instead of as a List
    #[arg(long, conflicts_with = "output_dir")]
    pub(super) raw: bool,

    #[command(flatten)]
    pub(super) directory: Directory,

    /// Show as a unified diff what would change in this file or directory, and write nothing
    ///
    /// FILE is an earlier output of `process`, DIR an earlier `--output-dir`. A file in DIR that
    /// krm-template wrote and that no longer has an object is shown as `Only in DIR: FILE`; other
    /// files without an object are ignored. Secrets are masked. The exit status is 0 if nothing would
    /// change, 1 if something would change, and 2 if an error occurred.
    #[arg(long, value_name = "FILE|DIR", conflicts_with_all = ["raw", "output_dir"])]
    pub(super) diff_against: Option<String>,

    /// Write the origin of each field of the objects to this file, as JSON
    ///
    /// The source map lists the objects in the order in which they are printed. For each field it
    /// has the file, line and column of the source, what set the field, and the names of the
    /// parameters used, without their values. `-` is standard output, if the objects go to files.
    /// docs/process.md describes the format.
    #[arg(long, value_name = "FILE", conflicts_with = "diff_against")]
    pub(super) source_map: Option<String>,

    /// List the parameters of the Template and exit
    #[arg(long, conflicts_with_all = [
        "values", "assignments", "parameter_files", "env_files", "env", "value_files", "labels", "labels_without_selector",
        "namespace", "instance", "output", "raw", "output_dir", "diff_against", "source_map",
        "dump_parameters", "template",
    ])]
    pub(super) parameters: bool,

    /// Show the value of each parameter and its source, and exit
    #[arg(long, conflicts_with_all = [
        "output", "raw", "output_dir", "diff_against", "source_map",
    ])]
    pub(super) dump_parameters: bool,

    /// Accepted for compatibility with `oc process --local`; has no effect
    #[arg(long)]
    pub(super) local: bool,

    /// Refused: `oc` uses it for Go templates
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
