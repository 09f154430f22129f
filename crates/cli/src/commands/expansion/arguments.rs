//! The arguments that `process` and `explain` have in common.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::args::environment::SeedScope;
use crate::args::fail_on::FailOn;

/// Which Template is expanded, and with what values.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Arguments {
    /// The YAML or JSON file with the Template; `-` for standard input
    ///
    /// A TemplateInstance, and the ConfigMaps and Secrets from which it takes values, may be in the
    /// same file or in further files, each given with its own `-f`.
    #[arg(short, long, value_name = "FILE", required = true)]
    pub(super) filename: Vec<String>,

    /// Set a parameter, like `-p NAME=VALUE`
    #[arg(value_name = "NAME=VALUE")]
    pub(super) values: Vec<String>,

    /// Set a parameter; overrides all other sources; if a name is repeated, the last value wins
    #[arg(short = 'p', long = "parameter", alias = "param", value_name = "NAME=VALUE")]
    pub(super) assignments: Vec<String>,

    /// Read parameters from a YAML or JSON file with `NAME: value` entries, or from a file with
    /// `NAME=VALUE` lines; later files win
    #[arg(short = 'P', long = "values", alias = "parameter-file", value_name = "FILE")]
    pub(super) parameter_files: Vec<String>,

    /// Read parameters from a file with `NAME=VALUE` lines as `oc process` does: earlier files win
    #[arg(long = "param-file", value_name = "FILE", hide = true)]
    pub(super) env_files: Vec<String>,

    /// Read parameters from the environment: the variable `PREFIX_NAME` sets the parameter NAME
    #[arg(long, value_name = "PREFIX_", value_parser = prefix)]
    pub(super) env: Option<String>,

    /// Set a parameter to the contents of a file, base64-encoded if the parameter has type `base64`
    #[arg(long = "parameter-from-file", value_name = "NAME=FILE")]
    pub(super) value_files: Vec<String>,

    /// Add labels to all objects, as `key=value,key=value`; overrides labels of the Template
    #[arg(short, long, value_name = "LABELS")]
    pub(super) labels: Vec<String>,

    /// Add labels like `--labels`, but not to selectors and pod templates
    #[arg(long, value_name = "LABELS")]
    pub(super) labels_without_selector: Vec<String>,

    /// Set the namespace of namespaced objects that have none
    #[arg(short, long, value_parser = NonEmptyStringValueParser::new())]
    pub(super) namespace: Option<String>,

    /// Keep the namespaces in an OpenShift Template, which `oc process` removes
    #[arg(long)]
    pub(super) keep_namespace: bool,

    /// Expand only this instance of a TemplateInstance
    #[arg(long, value_name = "NAME")]
    pub(super) instance: Option<String>,

    /// Ignore values for parameters that the Template does not declare, with a warning
    #[arg(long)]
    pub(super) ignore_unknown_parameters: bool,

    #[command(flatten)]
    pub(crate) seed_scope: SeedScope,

    #[command(flatten)]
    pub(crate) fail_on: FailOn,
}

/// An empty prefix would match every variable.
fn prefix(text: &str) -> std::result::Result<String, String> {
    if text.is_empty() {
        return Err("the prefix must not be empty; use one such as `APP_`".to_owned());
    }
    Ok(text.to_owned())
}
