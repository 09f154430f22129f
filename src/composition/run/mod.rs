//! Runs transformers, from the first to the last.

pub mod chain;
pub(crate) mod heads;
