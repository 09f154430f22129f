//! Command-line arguments of the commands for instances and stored Templates.

use std::time::Duration;

use clap::Subcommand;
use krm_template_server_core::units::duration;

use super::args::{Output, To};

/// The commands for TemplateInstances, as subcommands of the program.
#[derive(Clone, Debug, Subcommand)]
#[expect(missing_docs, reason = "the help would show it")]
pub enum Instances {
    /// Installs a Template as an application
    Install {
        /// The name of the instance
        name: String,
        #[command(flatten)]
        template: Source,
        #[command(flatten)]
        values: Values,
        #[command(flatten)]
        waiting: Waiting,
        #[command(flatten)]
        shared: Shared,
    },
    /// Lists installed Templates
    List {
        #[command(flatten)]
        shared: Shared,
    },
    /// Shows an installed Template with its objects
    Status {
        /// The name of the instance
        name: String,
        #[command(flatten)]
        shared: Shared,
    },
    /// Changes the values or the Template of an installed one
    ///
    /// Values that are not given stay as they are, also generated ones. A stored Template is taken as
    /// it is now.
    Upgrade {
        /// The name of the instance
        name: String,
        #[command(flatten)]
        template: Source,
        #[command(flatten)]
        values: Values,
        /// Forget the values that were given before
        #[arg(long)]
        reset_values: bool,
        /// Only show the differences that the upgrade would make to the objects
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        waiting: Waiting,
        #[command(flatten)]
        shared: Shared,
    },
    /// Deletes an installed Template and its objects
    Uninstall {
        /// The name of the instance
        name: String,
        /// Leave its objects in the cluster
        #[arg(long)]
        keep: bool,
        #[command(flatten)]
        waiting: Waiting,
        #[command(flatten)]
        shared: Shared,
    },
    /// Lists the revisions of an installed Template
    History {
        /// The name of the instance
        name: String,
        #[command(flatten)]
        shared: Shared,
    },
    /// Returns to the values of an earlier revision, as a new one
    ///
    /// A stored Template is taken as it is now.
    Rollback {
        /// The name of the instance
        name: String,
        /// The revision [default: the one before the last]
        revision: Option<u64>,
        #[command(flatten)]
        waiting: Waiting,
        #[command(flatten)]
        shared: Shared,
    },
}

/// The subcommands of `templates`.
#[derive(Clone, Debug, Subcommand)]
#[expect(missing_docs, reason = "the help would show it")]
pub enum Templates {
    /// Lists stored Templates
    List {
        #[command(flatten)]
        shared: Shared,
    },
    /// Prints the objects of a stored Template
    Process {
        /// The name of the Template
        name: String,
        #[command(flatten)]
        values: Values,
        #[command(flatten)]
        shared: Shared,
    },
}

/// Options of all commands.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Shared {
    /// The namespace
    #[arg(short, long, value_name = "NAME", default_value = "default")]
    pub(super) namespace: String,

    /// Print the server's response in this format
    #[arg(short, long, value_name = "FORMAT")]
    pub(super) output: Option<Output>,

    #[command(flatten)]
    pub(super) to: To,
}

/// Where the Template is.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Source {
    /// A file with the Template, or `-` for standard input
    #[arg(short, long, value_name = "FILE", conflicts_with = "template")]
    pub(super) filename: Option<String>,

    /// The name of a stored Template
    #[arg(long, value_name = "NAME")]
    pub(super) template: Option<String>,
}

/// Values of parameters.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Values {
    /// The value of a parameter; repeatable
    #[arg(short = 'p', long = "param", value_name = "NAME=VALUE")]
    pub(super) params: Vec<String>,

    /// A YAML file with values, which those of `-p` override; repeatable
    #[arg(short = 'P', long = "parameter-file", value_name = "FILE")]
    pub(super) files: Vec<String>,
}

/// Whether and how long to wait.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(skip)]
pub struct Waiting {
    /// Do not wait for the result
    #[arg(long)]
    pub(super) no_wait: bool,

    /// How long to wait
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub(super) timeout: Duration,
}
