//! The four kinds of patches, and field ownership.
//!
//! Nothing here depends on requests or the store.

mod bounds;
pub mod json;
pub mod managed_fields;
pub mod merge;
pub mod strategic;
