//! `krm-template dm types`: lists the types of a configuration.

use clap::{Args, ValueEnum};

use crate::commands::dm::input::Input;
use crate::output::table;
use krm_template_deployment_manager::connector::config_connector_kind;
use krm_template_deployment_manager::instances::{TypeInstance, type_instances};
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_template_exec::status::OK;
use krm_yaml::Value;

/// List the types of a configuration and their instances
///
/// Lists templates and resources as they are in the layout. Beside the types of Google is the kind
/// of Config Connector for the same resource.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: OutputFormat,
}

const EXAMPLES: &str = "\
Examples:
  krm-template dm types config.yaml
  krm-template dm types config.yaml -o json | jq -r '.[].type' | sort -u";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OutputFormat {
    /// A table with one row per instance
    Table,
    /// A list of all instances
    Json,
    /// The same list as YAML
    Yaml,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let text = arguments.input.expand(console, |request, expansion, diagnostics| {
        let manifest = format!("manifest-{}", request.name);
        let instances = type_instances(&expansion.layout, &request.name, &manifest);
        diagnostics.take(print(arguments.output, instances))
    });
    match text {
        Ok(text) => io::print([text.as_str()])?,
        Err(status) => return Ok(status),
    }
    Ok(OK)
}

fn print(
    format: OutputFormat,
    mut instances: Vec<TypeInstance>,
) -> krm_yaml::diagnostic::Result<String> {
    if matches!(format, OutputFormat::Table) {
        instances.sort_by(|a, b| a.kind.cmp(&b.kind));
        let rows = instances.into_iter().map(|one| {
            let connector = config_connector_kind(&one.kind).unwrap_or_default();
            [one.kind, one.name, one.path, connector.to_owned()]
        });
        let head = ["TYPE", "NAME", "PATH", "CONFIG CONNECTOR"];
        return Ok(table::plain(head, rows, io::width()));
    }
    let list = Value::sequence(instances.iter().map(TypeInstance::to_value).collect());
    Ok(match format {
        OutputFormat::Json => krm_yaml::render_json(&list, Some(2))? + "\n",
        _ => krm_yaml::to_string(&list),
    })
}
