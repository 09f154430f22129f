//! The spelling of scalar values.

pub(crate) mod expression;
pub(crate) mod quote;
