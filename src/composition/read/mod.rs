//! From files to one list of transformers.

pub mod consolidate;
pub(crate) mod model;
pub(crate) mod order;
pub(crate) mod overrides;
pub(crate) mod show;
