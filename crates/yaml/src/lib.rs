//! Reads, edits and prints YAML and JSON without changing a byte that you did not ask to change.
//!
//! The text is the model: a [`Document`] holds the source and a table of byte ranges. A [`Cursor`] walks the
//! nodes. Reading turns a node into a [`Value`], which remembers where each part came from. Writing compares
//! a value with the text it came from, and edits only what differs. An [`Editor`] changes values by
//! [field path](FieldPath).
//!
//! The crate reads YAML as Kubernetes tools do (go-yaml and sigs.k8s.io/yaml), but knows no Kubernetes
//! objects: [`ItemKeys`] and [`LongLists`] are parameters.
//!
//! | module | content |
//! |---|---|
//! | `read` | from text to nodes and values |
//! | `write` | values written over their old text, or as new text |
//! | [`edit`] | changes by field path, updates in place, pairing of list items |
//! | [`scalar`] | the meaning and the spelling of one scalar |
//! | [`source`], [`diagnostic`] | texts with names and places; errors with hints |
//!
//! Libraries that print YAML from a tree, as the archived `serde_yaml`, lose comments, quotes and
//! layout, and print texts that go-yaml reads differently. So only the events of a text come from a
//! library, `granit-parser`.
#![doc = ""]
#![doc = include_str!("../README.md")]

pub mod diagnostic;
pub mod edit;
mod limits;
mod lines;
mod path;
mod read;
pub mod scalar;
pub mod shorten;
pub mod source;
pub mod suggest;
mod table;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;
mod utf8;
mod value;
mod words;
mod write;

pub use edit::pairing::{ItemKey, ItemKeys, in_order_of};
pub use edit::update::{update, update_read};
pub use edit::{Editor, Spot};
pub use limits::{
    MAX_ALIASED_BYTES, MAX_ALIASED_NODES, MAX_DEPTH, MAX_KEY_LENGTH, MAX_LENGTH, MERGE_DEPTH,
};
pub use lines::{ends_line, next_line};
pub use path::{FieldPath, Step, write_index, write_key};
pub use read::document::{Cursor, Document};
pub use read::hints::space_hint;
pub use read::open::Opened;
pub use read::ordinary::Ordinary;
pub use read::parts::EntryLine;
pub use read::patched::Patched;
pub use read::scan::LongLists;
pub use read::shared::SharedNode;
pub use read::values::{DuplicateKeys, Words, is_word};
pub use read::view::View;
pub use scalar::data::Scalar;
pub use table::{Kind, NodeId};
pub use utf8::decode;
pub use value::{Data, Value};
pub use write::comments::{comments_below, end_with_comments, paragraphs_above};
pub use write::edited::{Edit, Edited, close_text};
pub use write::emit::json;
pub use write::enclosing::Enclosing;
pub use write::guard::name_of;
pub use write::removal::{lines_of_items, remove_items};
pub use write::render::{
    Position, copy, lines_of_root, render, render_json, render_json_at, render_new, render_patched,
    to_line, to_string,
};
pub use write::rows::{Field, Rows};
