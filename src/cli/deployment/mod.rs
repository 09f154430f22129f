//! `krm-template deployment`: expands Deployment Manager configurations.

mod expand;
mod input;
mod parameters;
mod types;
mod validate;

use clap::{Args, Subcommand};

use crate::cli::console::Console;
use crate::cli::deferred::Deferred;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Expand a configuration
    ///
    /// Prints the resources that its templates create. Imports are collected from files as gcloud
    /// does; nothing is fetched.
    Expand(Deferred<expand::Arguments>),
    /// Check configurations
    ///
    /// Expands each configuration and reports errors in it, its templates and its schemas.
    /// Prints no output. The exit status is 1 if there are errors.
    Validate(Deferred<validate::Arguments>),
    /// List the types of a configuration and their instances
    ///
    /// Lists templates and resources as they are in the layout. Beside the types of Google is the
    /// kind of Config Connector for the same resource.
    Types(Deferred<types::Arguments>),
    /// List the properties of a template
    ///
    /// Reads the schema of the template, and prints a table, the schema, or a file for you to fill
    /// in.
    Parameters(Deferred<parameters::Arguments>),
}

pub(super) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    match &arguments.command {
        Command::Expand(Deferred(arguments)) => expand::run(arguments, console),
        Command::Validate(Deferred(arguments)) => Ok(validate::run(arguments, console)),
        Command::Types(Deferred(arguments)) => types::run(arguments, console),
        Command::Parameters(Deferred(arguments)) => parameters::run(arguments, console),
    }
}
