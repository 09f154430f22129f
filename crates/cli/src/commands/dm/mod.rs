//! `krm-template dm`: expands Deployment Manager configurations.

mod expand;
mod input;
mod parameters;
mod types;
mod validate;

use clap::{Args, Subcommand};

use krm_template_exec::console::Console;

/// Expand Deployment Manager configurations, offline
///
/// Reads configurations of `name`, `type` and `properties`, with templates in Jinja or Python and
/// their schemas, and expands them with the result of the original service.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Expand(Box<expand::Arguments>),
    Validate(Box<validate::Arguments>),
    Types(Box<types::Arguments>),
    Parameters(parameters::Arguments),
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    match &arguments.command {
        Command::Expand(arguments) => expand::run(arguments, console),
        Command::Validate(arguments) => Ok(validate::run(arguments, console)),
        Command::Types(arguments) => types::run(arguments, console),
        Command::Parameters(arguments) => parameters::run(arguments, console),
    }
}
