//! Command-line arguments of the client.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use krm_template_exec::disk::LoadRestrictor;

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
