//! Command-line arguments of the server for deployments.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{anyhow, bail};
use krm_template_deployment_manager::python::{Forbidden, Interpreters};
use krm_template_exec::python::{Confinement, check_sandbox, interpreters};

use super::fetch::Fetcher;
use super::web::Host;

/// Arguments of the server for deployments.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Deployments")]
pub struct Args {
    /// Apply the objects of deployments to the cluster, with the rights of the caller
    #[arg(long)]
    pub apply: bool,

    /// Fetch the template of a type that is a URL, from these hosts only
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub allow_fetch: Vec<Host>,

    /// Run Python templates in a sandbox of the kernel, on a loopback address only
    #[arg(long)]
    pub allow_python: bool,

    /// Also run Python templates on other addresses: everyone who may expand can run any code
    #[arg(long, requires = "allow_python")]
    pub i_know_python_is_not_sandboxed: bool,

    /// The Python interpreter, 3.8 or later
    #[arg(long, value_name = "PROGRAM", default_value = "python3", requires = "allow_python")]
    pub python: String,
}

impl Args {
    /// Returns the fetcher of templates, if `--allow-fetch` is given.
    ///
    /// # Errors
    ///
    /// If the system has no certificate authorities.
    pub fn fetcher(&self) -> anyhow::Result<Option<Fetcher>> {
        if self.allow_fetch.is_empty() {
            return Ok(None);
        }
        Fetcher::new(&self.allow_fetch).map(Some)
    }

    /// Checks that the arguments are safe for a server that listens on `listen`.
    ///
    /// # Errors
    ///
    /// If they are not. The error says how to correct them.
    pub fn check(&self, listen: SocketAddr) -> anyhow::Result<()> {
        let is_loopback = listen.ip().is_loopback();
        if self.allow_python && !is_loopback && !self.i_know_python_is_not_sandboxed {
            bail!(
                "--allow-python lets everyone who may expand run any code, and --listen {listen} is \
                 not a loopback address: give --i-know-python-is-not-sandboxed if all of them are \
                 trusted"
            );
        }
        Ok(())
    }

    /// Checks that the kernel keeps Python templates in a sandbox, if they are run.
    ///
    /// # Errors
    ///
    /// If it cannot.
    pub fn check_sandbox(&self) -> anyhow::Result<()> {
        if self.allow_python {
            check_sandbox().map_err(|reason| {
                anyhow!("--allow-python needs a sandbox of the kernel, and there is none: {reason}")
            })?;
        }
        Ok(())
    }

    /// Returns the interpreters of Python templates, or interpreters that refuse them. `limit` is
    /// the timeout of the templates of one expansion.
    pub fn interpreters(&self, limit: Duration) -> Arc<dyn Interpreters> {
        if self.allow_python {
            interpreters(&self.python, limit, Confinement::Confined)
        } else {
            Arc::new(Forbidden(&[
                "start the server with --allow-python, only for templates that you trust",
                "or send what the template creates: `krm-template dm expand --allow-python`",
            ]))
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        args: Args,
    }

    fn check(arguments: &[&str], listen: &str) -> Result<(), String> {
        let program = Program::try_parse_from([&["server"], arguments].concat());
        let args = program.map_err(|error| error.to_string())?.args;
        args.check(listen.parse().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn python_is_for_loopback_addresses_unless_somebody_insists() {
        let python = "--allow-python";
        assert_eq!(check(&[python], "127.0.0.1:80"), Ok(()));
        assert_eq!(check(&[python], "[::1]:80"), Ok(()));
        let refused = check(&[python], "0.0.0.0:80").unwrap_err();
        assert!(refused.contains("--i-know-python-is-not-sandboxed"), "{refused}");
        let insisted = [python, "--i-know-python-is-not-sandboxed"];
        assert_eq!(check(&insisted, "0.0.0.0:80"), Ok(()));
        assert!(check(&insisted[1..], "127.0.0.1:80").is_err());
    }
}
