//! Scalars of objects and configurations: their text, and how Go spells them.

pub(crate) mod quote;
pub(crate) mod scalar;
pub(crate) mod typed;
pub(crate) mod words;
