//! Running the server: limits, audit, logs, metrics, health checks and the end of the process.
//!
//! Nothing here knows a Template. Values of parameters, tokens and bodies are not given to these
//! modules, so they cannot be printed.

pub mod admission;
pub mod audit;
pub mod body;
pub mod health;
pub mod limits;
pub mod logging;
pub mod measured;
pub mod metrics;
pub mod panics;
pub mod shutdown;
mod units;
