//! The spelling of scalar values.

pub(crate) mod expression;
pub(crate) mod go_yaml;
pub(crate) mod quote;
