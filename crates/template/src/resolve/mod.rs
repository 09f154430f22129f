//! The value that each parameter has in one expansion.

pub(crate) mod check;
pub mod constant;
pub(crate) mod earlier;
pub(crate) mod generation;
pub(crate) mod parameters;
pub(crate) mod resolver;
