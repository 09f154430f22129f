//! Parsing of requests: paths, queries, `Accept`, `Content-Type`, options, selectors.
//!
//! The functions are pure. Errors have the messages of Kubernetes, unless the documentation of an
//! item says otherwise.

pub mod accept;
pub mod cont;
pub mod content;
pub mod endpoint;
pub mod fields;
pub mod list;
pub mod options;
pub mod path;
pub mod query;
