//! From text to nodes and values.

pub(crate) mod block;
pub(crate) mod characters;
pub(crate) mod document;
pub(crate) mod events;
pub(crate) mod hints;
pub(crate) mod indented;
pub(crate) mod json;
pub(crate) mod keys;
pub(crate) mod lookup;
pub(crate) mod merges;
pub(crate) mod open;
pub(crate) mod ordinary;
pub(crate) mod parse;
pub(crate) mod parts;
pub(crate) mod patched;
pub(crate) mod rescan;
pub(crate) mod scalars;
pub(crate) mod scan;
pub(crate) mod shared;
pub(crate) mod spelling;
pub(crate) mod strict;
pub(crate) mod syntax;
pub(crate) mod text;
pub(crate) mod tokens;
pub(crate) mod values;
pub(crate) mod view;
