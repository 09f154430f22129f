//! A text with a name, and places in it.

pub(crate) mod place;
pub(crate) mod positions;

pub use place::{Origin, Place, Source};
pub use positions::Positions;
