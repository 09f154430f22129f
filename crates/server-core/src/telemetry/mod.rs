//! Audit, logs, metrics and health checks.
//!
//! These modules know nothing about Templates. They get no parameter values, tokens or bodies, so
//! they cannot print them.

pub mod audit;
pub mod health;
pub mod logging;
pub mod measured_store;
pub mod metrics;
