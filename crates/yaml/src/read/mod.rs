//! From text to nodes and values.

pub(crate) mod document;
pub(crate) mod hints;
pub(crate) mod json;
pub(crate) mod parse;
pub(crate) mod scan;
pub(crate) mod spelling;
pub(crate) mod strict;
pub(crate) mod values;
