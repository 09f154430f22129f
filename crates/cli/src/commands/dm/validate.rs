//! `krm-template dm validate`: checks configurations, and prints no output.

use clap::Args;

use krm_template_exec::configuration::{Running, check_config};
use krm_template_exec::console::Console;
use krm_template_exec::interruption::Interruption;
use krm_template_exec::status::{FAILED, OK, USAGE};
use krm_yaml::diagnostic::{Diagnostics, Way};

/// Check configurations
///
/// Expands each configuration and reports errors in it, its templates and its schemas.
/// Prints no output. The exit status is 1 if there are errors.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The configurations; `-` for standard input
    #[arg(value_name = "CONFIG", required = true)]
    configs: Vec<String>,

    #[command(flatten)]
    running: Running,
}

const EXAMPLES: &str = "\
Examples:
  krm-template dm validate config.yaml --project my-project
  krm-template dm validate configs/*.yaml --allow-python";

pub(super) fn run(arguments: &Arguments, console: Console) -> u8 {
    let mut diagnostics = Diagnostics::new();
    for path in &arguments.configs {
        diagnostics.append(check_config(path));
    }
    if diagnostics.has_errors() {
        console.report(&diagnostics);
        return USAGE;
    }
    let interruption = Interruption::listen();
    for path in &arguments.configs {
        let mut found = Diagnostics::new();
        let config = found.take(console.read(path));
        let request =
            config.and_then(|config| arguments.running.request(config, path, console, &mut found));
        if let Some(request) = request {
            let expanded = arguments.running.expand(&request, &interruption);
            let (Ok(more) | Err(more)) =
                expanded.map(|expansion| expansion.diagnostics).map_err(|error| error.diagnostics);
            found.append(more);
        }
        diagnostics.append(found);
        interruption.obey();
    }
    diagnostics.address(Way::Arguments);
    diagnostics.dedup();
    console.report(&diagnostics);
    interruption.obey();
    if diagnostics.has_errors() { FAILED } else { OK }
}
