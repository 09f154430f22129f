//! Texts with names, and places in them.

pub(crate) mod line_index;
pub(crate) mod place;

pub use place::{Origin, Place, Source};
