//! What clients write around their objects: paths, queries, `Accept`, options, selectors.
//!
//! Pure functions from text to values, without a server. All texts of errors are those of
//! Kubernetes, unless the documentation of an item says otherwise.

pub mod accept;
pub mod cont;
pub mod content;
pub mod endpoint;
pub mod fields;
pub mod labels;
pub mod list;
pub mod names;
pub mod options;
pub mod path;
pub mod query;

#[cfg(test)]
mod recorded;
