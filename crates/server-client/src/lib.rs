//! The command-line clients: `krm-template-server deployments`, and the commands for instances and
//! stored Templates.
//!
//! | file | purpose |
//! |---|---|
//! | `instances`, `templates` | the commands for instances; for stored Templates |
//! | `deployments` | the commands for deployments |
//! | `connection` | requests to the server |
//! | `print` | human-readable output |
//! | `args` | command-line arguments |

mod args;
mod connection;
mod deployments;
mod instances;
mod print;
mod templates;

pub use args::{Args, Instances, Templates};
pub use deployments::run;
pub use instances::run as instances;
pub use templates::run as templates;
