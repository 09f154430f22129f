//! Texts with names, and places in them.

pub(crate) mod place;
pub(crate) mod positions;

pub use place::{Origin, Place, Source};
pub use positions::Positions;
