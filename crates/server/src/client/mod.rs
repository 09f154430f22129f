//! The command line client of deployments: `krm-template-server deployments`.
//!
//! | file | purpose |
//! |---|---|
//! | `run` | one function for each subcommand |
//! | `follow` | an operation, until it ends |
//! | `connection` | requests to the server |
//! | `print` | output for people |
//! | `args` | arguments |

mod args;
mod connection;
mod follow;
mod print;
mod run;

pub use args::Args;
pub use run::run;
