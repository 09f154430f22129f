//! Work on Templates themselves: merging them, checking them, and describing them as schemas and
//! forms.
//!
//! The modules do not use one another.

#[cfg(feature = "form")]
pub mod form;
pub mod lint;
pub mod merge;
pub mod schema;
