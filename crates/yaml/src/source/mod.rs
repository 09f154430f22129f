//! Texts with names, and places in them.

pub(crate) mod place;
pub(crate) mod positions;
pub(crate) mod whole_lines;

pub use place::{Origin, Place, Source};
pub use positions::Positions;
