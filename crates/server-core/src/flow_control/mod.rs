//! Limits on concurrent work: permits, request bodies, shutdown.

pub mod admission;
pub mod body;
pub mod limits;
pub mod shutdown;
