//! `krm-template dm parameters`: lists the properties that a template takes.

use std::sync::Arc;

use clap::{Args, ValueEnum};

use crate::output::table;
use krm_template_deployment_manager::listing::{Property, properties};
use krm_template_deployment_manager::template::is_template;
use krm_template_deployment_manager::yaml;
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};

/// List the properties of a template
///
/// Reads the schema of the template, and prints a table, the schema, or a file for you to fill in.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The template, or its schema
    #[arg(value_name = "TEMPLATE")]
    template: String,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: OutputFormat,
}

const EXAMPLES: &str = "\
Examples:
  krm-template dm parameters vm.jinja

  # write the properties, fill them in, use them
  krm-template dm parameters vm.jinja -o values > properties.yaml
  krm-template dm expand --template vm.jinja --properties-file properties.yaml";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OutputFormat {
    /// A table with one row per property
    Table,
    /// The schema, as JSON
    Schema,
    /// A file for `--properties-file`
    Values,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let mut diagnostics = Diagnostics::new();
    let text = read(arguments, console, &mut diagnostics).and_then(|schema| {
        let printed = print(arguments.output, &schema, &mut diagnostics);
        diagnostics.take(printed)
    });
    console.finish(&diagnostics, text)
}

/// The schema of the template.
fn read(
    arguments: &Arguments,
    console: Console,
    diagnostics: &mut Diagnostics,
) -> Option<Value<'static>> {
    let path = &arguments.template;
    let schema = if is_template(path) { format!("{path}.schema") } else { path.clone() };
    if is_template(path) && !io::is_there(&schema) {
        diagnostics.take(console.read(path))?;
        let error = Diagnostic::error(format!("`{path}` has no schema"));
        let hint = format!("write one to `{schema}`: the properties that the template takes");
        diagnostics.push(error.hint(hint));
        return None;
    }
    let source = diagnostics.take(console.read(&schema))?;
    let parsed = yaml::read(&Arc::clone(&source), diagnostics);
    let parsed = parsed.map_err(|errors| diagnostics.append(errors)).ok()?;
    if parsed.value.get("resources").is_some() && parsed.value.get("properties").is_none() {
        let error = Diagnostic::error(format!("`{path}` is a configuration, not a template"));
        diagnostics.push(error.hint("name the template of one of its resources"));
        return None;
    }
    Some(parsed.value)
}

fn print(
    format: OutputFormat,
    schema: &Value<'static>,
    diagnostics: &mut Diagnostics,
) -> Result<String> {
    let listed = properties(schema);
    if listed.is_empty() {
        diagnostics.push(Diagnostic::info("the schema declares no properties"));
    }
    match format {
        OutputFormat::Table => {
            let head = ["NAME", "TYPE", "REQUIRED", "DEFAULT", "DESCRIPTION"];
            Ok(table::plain(head, listed.iter().map(Property::row), io::width()))
        }
        OutputFormat::Schema => Ok(krm_yaml::render_json(schema, Some(2))? + "\n"),
        OutputFormat::Values => Ok(listed.iter().map(Property::lines).collect()),
    }
}
