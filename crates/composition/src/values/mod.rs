//! Values: typed reading, and the spelling of scalars.

pub(crate) mod quote;
pub(crate) mod typed;
pub(crate) mod words;
