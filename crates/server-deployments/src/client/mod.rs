//! The command-line client for deployments: `krm-template-server deployments`.
//!
//! | file | purpose |
//! |---|---|
//! | `run` | the subcommands |
//! | `follow` | waiting for an operation |
//! | `connection` | requests to the server |
//! | `print` | human-readable output |
//! | `args` | command-line arguments |

mod args;
mod connection;
mod follow;
mod print;
mod run;

pub use args::Args;
pub use run::run;
