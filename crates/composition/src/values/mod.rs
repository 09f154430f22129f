//! The spelling of scalar values, and the size of all values.

pub(crate) mod budget;
pub(crate) mod expression;
pub(crate) mod go_yaml;
pub(crate) mod quote;
