//! The spelling of scalar values.

pub(crate) mod quote;
