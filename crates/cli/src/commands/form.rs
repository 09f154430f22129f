//! `krm-template form`: a form for the values of a Template, as one file.

use clap::Args;

use crate::commands::parameters::template_of;
use krm_template_authoring::form;
use krm_template_exec::console::Console;
use krm_yaml::diagnostic::Diagnostics;

/// Write an HTML form for the values of a Template
///
/// Prints one file that needs no server and nothing from the network. It has a field for each
/// parameter, and makes a values file, a command line for `process` and a TemplateInstance of what
/// is entered. It never contains the values of secrets.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The YAML or JSON file with the Template; `-` for standard input
    #[arg(value_name = "FILE", required_unless_present = "filename")]
    file: Option<String>,

    /// The file with the Template, like the argument
    #[arg(short, long, value_name = "FILE", conflicts_with = "file")]
    filename: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  krm-template form template.yaml > form.html

  # use the values file that the form made
  krm-template process -f template.yaml --values values.yaml";

/// The file that outputs name if the Template comes from standard input.
const FILE: &str = "template.yaml";

pub(crate) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let mut diagnostics = Diagnostics::new();
    let path = arguments.file.as_ref().or(arguments.filename.as_ref());
    let path = path.map_or("-", String::as_str);
    let template = template_of(path, console, &mut diagnostics);
    let text = template.map(|template| {
        let path = if path == "-" { FILE } else { path };
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        form::file(&template, name)
    });
    console.finish(&diagnostics, text)
}
