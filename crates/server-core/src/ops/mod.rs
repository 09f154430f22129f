//! Operation of the server: limits, audit, logs, metrics, health checks and shutdown.
//!
//! These modules know nothing about Templates. Logs, metrics and the audit log get no parameter
//! values, tokens or bodies, so they cannot print them.

pub mod admission;
pub mod audit;
pub mod body;
pub mod health;
pub mod lease;
pub mod limits;
pub mod logging;
pub mod measured;
pub mod metrics;
pub mod panics;
pub mod shutdown;
pub mod units;
