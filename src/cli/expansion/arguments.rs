//! The arguments that `process` and `explain` have in common.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

/// Which Template is expanded, and with what values.
#[derive(Debug, Args)]
#[group(skip)]
pub(in crate::cli) struct Arguments {
    /// The file that holds the Template, as YAML or JSON; `-` for standard input
    ///
    /// It may also hold a TemplateInstance, and each ConfigMap and Secret that it takes values from;
    /// or these stand in files of their own, each given by another `-f`.
    #[arg(short, long, value_name = "FILE", required = true)]
    pub(super) filename: Vec<String>,

    /// Values of parameters: the same as `-p NAME=VALUE`
    #[arg(value_name = "NAME=VALUE")]
    pub(super) values: Vec<String>,

    /// The value of a parameter; wins over all others; the last one of a name counts
    #[arg(
        short = 'p',
        long = "parameter",
        alias = "param",
        value_name = "NAME=VALUE"
    )]
    pub(super) assignments: Vec<String>,

    /// A YAML or JSON file with `NAME: value` entries; of several files the later ones win
    #[arg(short = 'P', long = "parameter-file", value_name = "FILE")]
    pub(super) parameter_files: Vec<String>,

    /// A file with `NAME=VALUE` lines, as `oc process` reads it; of several files the first wins
    #[arg(long = "param-file", value_name = "FILE")]
    pub(super) env_files: Vec<String>,

    /// Take values from the environment: that of the variable `PREFIX_NAME` for the parameter NAME
    #[arg(long, value_name = "PREFIX_", value_parser = prefix)]
    pub(super) env: Option<String>,

    /// The bytes of a file as the value of a parameter; in base64 if that is its type
    #[arg(long = "parameter-from-file", value_name = "NAME=FILE")]
    pub(super) value_files: Vec<String>,

    /// Labels to put on all objects, as `key=value,key=value`; they win over the Template's own
    #[arg(short, long, value_name = "LABELS")]
    pub(super) labels: Vec<String>,

    /// The namespace of objects that name none, where their kind belongs to one
    #[arg(short, long, value_parser = NonEmptyStringValueParser::new())]
    pub(super) namespace: Option<String>,

    /// Keep the namespaces of an OpenShift Template, which `oc process` removes
    #[arg(long)]
    pub(super) keep_namespace: bool,

    /// Of a TemplateInstance, only this one of its instances
    #[arg(long, value_name = "NAME")]
    pub(super) instance: Option<String>,

    /// Leave values out, with a warning, that are for no parameter of the Template
    #[arg(long)]
    pub(super) ignore_unknown_parameters: bool,

    /// Take a reference to a parameter that is not declared for an error
    #[arg(long)]
    pub(super) strict: bool,
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
