//! Reads files into one list of transformers.

pub(crate) mod consolidate;
pub(crate) mod locate;
pub(crate) mod model;
pub(crate) mod nesting;
pub(crate) mod order;
pub(crate) mod overrides;
pub(crate) mod show;
