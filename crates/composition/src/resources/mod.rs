//! Objects on their way through the transformers: reading, printing, recognizing them.
//!
//! A resource is a value that remembers its text. Transformers look at it through `view`, and change
//! parts of it through `view_mut`: only these parts are read and compared with their text, and a
//! resource that nobody changes is copied. `value` and `value_mut` read all of it. Its text is edited once, after the last transformer; only other programs
//! get text in between.
//!
//! All items are kept until the last transformer is done, so their list is read as a whole at once.

pub(crate) mod content;
pub(crate) mod end_block;
pub(crate) mod follow;
pub(crate) mod history;
pub(crate) mod objects;
pub(crate) mod positions;
pub(crate) mod print;
pub(crate) mod resource;
pub(crate) mod stream_comments;
pub(crate) mod trace;
