//! References to parameters in the texts of objects.

pub(crate) mod marks;
pub(crate) mod spell;
