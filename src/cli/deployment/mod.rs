//! `krm-template dm`: expands Deployment Manager configurations.

mod expand;
mod input;
mod parameters;
mod types;
mod validate;

use clap::{ArgMatches, Args, Error, FromArgMatches, Subcommand};

use krm_template_exec::console::Console;

/// Expand Deployment Manager configurations, offline
///
/// Reads configurations of `name`, `type` and `properties`, with templates in Jinja or Python and
/// their schemas, and expands them with the result of the original service.
#[derive(Debug, Args)]
struct Known {
    #[command(subcommand)]
    command: Command,
}

/// The arguments, defined only if the command is given: all commands would wait for it otherwise.
#[derive(Debug)]
pub(super) struct Arguments(Known);

impl FromArgMatches for Arguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Known::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Args for Arguments {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.defer(Known::augment_args)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command.defer(Known::augment_args_for_update)
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Expand(Box<expand::Arguments>),
    Validate(Box<validate::Arguments>),
    Types(Box<types::Arguments>),
    Parameters(parameters::Arguments),
}

pub(super) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    match &arguments.0.command {
        Command::Expand(arguments) => expand::run(arguments, console),
        Command::Validate(arguments) => Ok(validate::run(arguments, console)),
        Command::Types(arguments) => types::run(arguments, console),
        Command::Parameters(arguments) => parameters::run(arguments, console),
    }
}
