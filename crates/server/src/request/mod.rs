//! Parsing of requests: paths, queries, `Accept`, `Content-Type`, options, selectors.
//!
//! The functions are pure. Errors have the messages of Kubernetes, unless the documentation of an
//! item says otherwise.

pub mod accept;
pub mod content_type;
pub mod continue_token;
pub mod field_selector;
pub mod list_options;
pub mod path;
pub mod query;
pub mod resources;
pub mod write_options;
