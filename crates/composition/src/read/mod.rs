//! Reads files into one list of transformers.
//!
//! Reading finds the runtime and the typed configuration of each transformer, so all errors are
//! reported before the first one runs.
//!
//! An override adds a layer: a node of its own document for a field path. So an error points to the
//! file with the field, and a path is relative to that file.

pub(crate) mod configurations;
pub(crate) mod consolidate;
pub(crate) mod locate;
pub(crate) mod model;
pub(crate) mod nesting;
pub(crate) mod order;
pub(crate) mod overrides;
pub(crate) mod show;
