//! Objects on their way through the transformers: reading, printing, recognizing them.
//!
//! A resource is a value that remembers its text. It is read when a transformer first asks for it,
//! and only `value_mut` hands it out to be changed: a resource that nobody changes is copied
//! without a comparison. Its text is edited once, after the last transformer; only other programs
//! get text in between.
//!
//! All items are kept until the last transformer is done, so their list is read as a whole at once.

pub(crate) mod apart;
pub(crate) mod content;
pub(crate) mod end_block;
pub(crate) mod follow;
pub(crate) mod history;
pub(crate) mod objects;
pub(crate) mod positions;
pub(crate) mod print;
pub(crate) mod resource;
pub(crate) mod trace;
