//! How much work is let in: limits, permits, bodies, shutdown.

pub mod admission;
pub mod body;
pub mod limits;
pub mod shutdown;
