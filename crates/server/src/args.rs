//! The command line of the server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

#[cfg(feature = "etcd")]
use anyhow::Context as _;
use clap::{Parser, Subcommand};

use krm_template_server::instances;
use krm_template_server_client as client;
use krm_template_server_core::flow_control::{limits, shutdown};
#[cfg(feature = "etcd")]
use krm_template_server_core::store::EtcdOptions;
use krm_template_server_core::telemetry::{audit, logging};
use krm_template_server_core::{Store, auth};
use krm_template_server_deployments as deployments;

/// The version, with the commit if the build knows it.
const VERSION: &str = match option_env!("KRM_TEMPLATE_LONG_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// Serves the API of the Kubernetes Templates proposal, and of OpenShift's Templates
///
/// Without arguments, it listens on 127.0.0.1:8080 and stores objects in the file templates.redb in
/// the current directory.
#[derive(Debug, Parser)]
#[command(version = VERSION, max_term_width = 100, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    #[command(flatten)]
    pub(crate) serve: Serve,
}

/// The subcommands. Without one, the program serves.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Creates, changes and shows deployments of a server
    Deployments(Box<client::Args>),
    #[command(flatten)]
    Instances(client::Instances),
    /// Lists and processes stored Templates of a server
    Templates {
        #[command(subcommand)]
        action: client::Templates,
    },
    /// Dumps, loads, checks or repairs a store
    Store {
        #[command(subcommand)]
        action: StoreAction,
    },
}

/// The subcommands of `store`.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreAction {
    /// Writes all objects to standard output, one JSON document per line
    Dump {
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Reads the output of `store dump` from standard input into an empty store
    Load {
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Checks all objects of a file that no server uses, without changing it
    Check {
        /// The file of the store
        #[arg(value_name = "FILE", default_value = DEFAULT_FILE)]
        file: PathBuf,
    },
    /// Writes the whole objects of a damaged file into a new file
    ///
    /// FROM does not change. If its index is not readable, its bytes are searched for objects, and
    /// objects that were deleted long ago can be among them.
    Salvage {
        /// The damaged file
        from: PathBuf,
        /// The file to create
        to: PathBuf,
    },
    /// Gives the unused space of a file that no server uses back to the disk
    Compact {
        /// The file of the store
        #[arg(value_name = "FILE", default_value = DEFAULT_FILE)]
        file: PathBuf,
    },
}

/// The file of the default store.
const DEFAULT_FILE: &str = "templates.redb";

/// The arguments of the server.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Serve {
    /// The address and port to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,

    #[command(flatten)]
    pub(crate) store: StoreArgs,

    #[command(flatten)]
    pub(crate) auth: auth::Args,

    #[command(flatten)]
    pub(crate) deployments: deployments::Args,

    #[command(flatten)]
    pub(crate) instances: instances::Options,

    #[command(flatten)]
    pub(crate) limits: limits::Limits,

    #[command(flatten)]
    pub(crate) audit: audit::Args,

    #[command(flatten)]
    pub(crate) logging: logging::Args,

    #[command(flatten)]
    pub(crate) shutdown: shutdown::Args,
}

/// The arguments of the store.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Store")]
pub(crate) struct StoreArgs {
    /// Where to store objects: `memory`, `file:PATH` or `etcd`
    #[arg(long, value_name = "STORE", default_value = "file:templates.redb")]
    store: StoreKind,

    /// Starts without verifying the pages of a store in a file; its objects are always verified
    #[arg(long)]
    skip_store_check: bool,

    #[cfg(feature = "etcd")]
    #[command(flatten)]
    etcd: EtcdOptions,
}

#[derive(Clone, Debug)]
enum StoreKind {
    Memory,
    File(PathBuf),
    #[cfg(feature = "etcd")]
    Etcd,
}

impl FromStr for StoreKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "memory" => Ok(Self::Memory),
            #[cfg(feature = "etcd")]
            None if text == "etcd" => Ok(Self::Etcd),
            #[cfg(not(feature = "etcd"))]
            None if text == "etcd" => {
                Err("this program was built without the feature `etcd`".to_owned())
            }
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(PathBuf::from(path))),
            _ => Err("must be `memory`, `file:PATH` or `etcd`".to_owned()),
        }
    }
}

impl StoreArgs {
    /// Returns the files of the CAs that sign the certificates of the store.
    #[cfg_attr(not(feature = "etcd"), expect(clippy::unused_self, reason = "only etcd has one"))]
    pub(crate) fn cas(&self) -> Vec<PathBuf> {
        #[cfg(feature = "etcd")]
        return self.etcd.ca_file.iter().cloned().collect();
        #[cfg(not(feature = "etcd"))]
        Vec::new()
    }

    /// Opens the store that the arguments select.
    #[cfg_attr(not(feature = "etcd"), expect(clippy::unused_async, reason = "only etcd waits"))]
    pub(crate) async fn open(&self) -> anyhow::Result<Store> {
        match &self.store {
            StoreKind::Memory => Ok(Store::memory()),
            StoreKind::File(path) if self.skip_store_check => Ok(Store::unchecked_file(path)?),
            StoreKind::File(path) => Ok(Store::file(path)?),
            #[cfg(feature = "etcd")]
            StoreKind::Etcd => Store::etcd(self.etcd.clone()).await.context("etcd"),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Args;

    #[test]
    fn the_arguments_fit_together() {
        Args::command().debug_assert();
    }
}
