//! Objects on their way through the transformers: reading, printing, recognizing them.

pub(crate) mod apart;
pub(crate) mod content;
pub(crate) mod follow;
pub(crate) mod print;
pub(crate) mod resource;
