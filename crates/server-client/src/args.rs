//! The command-line arguments of all commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};
use krm_template_exec::disk::LoadRestrictor;

use krm_template_server_core::units::duration;

/// Creates, changes and shows deployments of a server
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    pub(super) action: Action,

    #[command(flatten)]
    pub(super) to: To,

    /// The namespace of the deployments
    #[arg(short, long, value_name = "NAME", default_value = "default", global = true)]
    pub(super) namespace: String,

    /// Print the server's response in this format
    #[arg(short, long, value_name = "FORMAT", global = true)]
    pub(super) output: Option<Output>,
}

const EXAMPLES: &str = "\
Examples:
  krm-template-server deployments create web --config config.yaml
  krm-template-server deployments update web --config config.yaml
  krm-template-server deployments manifest web
  krm-template-server deployments types site.jinja -o json
  krm-template-server deployments delete web";

/// The server and the user's credentials.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Connection")]
pub(super) struct To {
    /// The URL of the server [default: `http://127.0.0.1:8080`]
    #[arg(short, long, value_name = "URL", env = "KRM_TEMPLATE_SERVER", global = true)]
    pub(super) server: Option<String>,

    /// A kubeconfig with the user's credentials, and the server unless --server names another one
    #[arg(long, value_name = "FILE", global = true)]
    pub(super) kubeconfig: Option<PathBuf>,

    /// A bearer token
    #[arg(
        long,
        value_name = "TOKEN",
        env = "KRM_TEMPLATE_TOKEN",
        hide_env_values = true,
        global = true
    )]
    pub(super) token: Option<String>,

    /// The certificate authorities that sign the server's certificate, in PEM
    #[arg(long, value_name = "FILE", global = true)]
    pub(super) certificate_authority: Option<String>,

    /// The client certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "client_key", global = true)]
    pub(super) client_certificate: Option<String>,

    /// The private key of the client certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "client_certificate", global = true)]
    pub(super) client_key: Option<String>,

    /// Do not verify the server's certificate: others can then read and change the traffic
    #[arg(long, global = true)]
    pub(super) insecure_skip_tls_verify: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Output {
    /// JSON
    Json,
    /// YAML
    Yaml,
}

/// The subcommands.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum Action {
    /// Create a deployment
    Create {
        /// The name of the deployment
        name: String,
        #[command(flatten)]
        configuration: Configuration,
        #[command(flatten)]
        change: ChangeOptions,
    },
    /// Replace the configuration of a deployment
    Update {
        /// The name of the deployment
        name: String,
        #[command(flatten)]
        configuration: Configuration,
        #[command(flatten)]
        change: ChangeOptions,
    },
    /// Show a deployment
    Get {
        /// The name of the deployment
        name: String,
    },
    /// Delete a deployment
    Delete {
        /// The name of the deployment
        name: String,
        /// Leave its objects in the cluster
        #[arg(long)]
        abandon: bool,
        #[command(flatten)]
        change: ChangeOptions,
    },
    /// List the names of deployments
    List,
    /// Print a manifest of a deployment
    Manifest {
        /// The name of the deployment
        name: String,
        /// The name of the manifest [default: the latest one]
        manifest: Option<String>,
    },
    /// List types, or the instances of a type
    Types {
        /// The type, or `all`
        #[arg(value_name = "TYPE")]
        kind: Option<String>,
    },
}

/// A configuration and its imports.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Configuration {
    /// The configuration, or `-` for standard input. Its imports are read from files
    #[arg(long, value_name = "FILE")]
    pub(super) config: String,

    /// One more import, which wins over those of the configuration; repeatable
    #[arg(long = "import", value_name = "NAME=FILE")]
    pub(super) imports: Vec<String>,

    /// Which files the configuration may import, and so send to the server
    #[arg(long, value_name = "RESTRICTION", default_value = "LoadRestrictionsRootOnly")]
    pub(super) load_restrictor: LoadRestrictor,

    /// The project, `env["project"]`
    #[arg(long, value_name = "ID")]
    pub(super) project: Option<String>,

    /// Another variable of templates, such as `current_time`; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) env: Vec<String>,
}

/// Options of a change.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ChangeOptions {
    /// Print the operation instead of waiting for its end
    #[arg(long = "async")]
    pub(super) is_async: bool,

    /// Also delete Namespaces, PersistentVolumeClaims and CustomResourceDefinitions
    #[arg(long)]
    pub(super) prune_all: bool,
}

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
