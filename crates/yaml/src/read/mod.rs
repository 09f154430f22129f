//! From text to nodes and values.
//!
//! Two fast paths read plain block YAML line by line, and strict JSON. In doubt they give up, and
//! the text is read from the events of granit-parser. Tests compare the tables node by node.
//!
//! Long lists are read item by item: the first table has only the extent of each item. An opened
//! item has a table of its own, which is dropped afterwards, so memory does not grow with the
//! number of objects. An item that needs the full path makes `Document::upgrade` read the whole
//! text that way, because text in quotes may go on left of its item.

pub(crate) mod block;
pub(crate) mod characters;
pub(crate) mod document;
pub(crate) mod events;
pub(crate) mod go_compat;
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
pub(crate) mod scalars;
pub(crate) mod scan;
pub(crate) mod shared;
pub(crate) mod strict;
pub(crate) mod syntax;
pub(crate) mod text;
pub(crate) mod tokens;
pub(crate) mod values;
pub(crate) mod view;
pub(crate) mod view_mut;
