//! The command-line clients: `krm-template-server deployments`, and the commands for instances and
//! stored Templates.
//!
//! | file | purpose |
//! |---|---|
//! | `instances`, `templates` | the commands for instances; for stored Templates |
//! | `run` | the subcommands of deployments |
//! | `follow` | waiting for an operation |
//! | `connection` | requests to the server |
//! | `print` | human-readable output |
//! | `args`, `instance_args` | command-line arguments |

mod args;
mod connection;
mod follow;
mod instance_args;
mod instances;
mod print;
mod run;
mod templates;

pub use args::Args;
pub use instance_args::{Instances, Templates};
pub use instances::run as instances;
pub use run::run;
pub use templates::run as templates;
