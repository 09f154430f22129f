//! The four kinds of patches, and the owners of fields.
//!
//! Everything here is a function of JSON values: nothing reads a request or a store.

mod bounds;
pub mod json;
pub mod managed;
pub mod merge;
pub mod strategic;
