//! A YAML or JSON document that prints exactly as it was read.
//!
//! The text is the model: [`Document`] holds the source and a table of byte ranges. Reading turns
//! nodes into [`Value`]s that remember where they came from; writing compares a value with the
//! text it came from and edits only what differs. Nothing else is ever printed anew.
//!
//! This module knows YAML and how Kubernetes reads it (go-yaml and sigs.k8s.io/yaml), but no
//! Kubernetes objects.

pub mod diagnostic;
pub mod edit;
mod limits;
mod lines;
mod path;
mod read;
#[doc(hidden)]
pub mod scalar;
pub mod source;
pub mod suggest;
mod table;
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
pub use edit::{Editor, Edits, Spot};
pub use limits::{
    MAX_ALIASED_BYTES, MAX_ALIASED_NODES, MAX_DEPTH, MAX_KEY_LENGTH, MAX_LENGTH, MERGE_DEPTH,
};
pub use lines::{ends_line, next_line};
pub use path::{FieldPath, Step, write_index, write_key};
pub use read::document::{Cursor, Document};
pub use read::open::Opened;
pub use read::values::{DuplicateKeys, Words, is_word};
pub use scalar::data::Scalar;
pub use table::{Kind, NodeId};
pub use utf8::decode;
pub use value::{Data, Value};
pub use write::comments::end_with_comments;
pub use write::edited::{Edit, Edited, close_text};
pub use write::emit::json;
pub use write::enclosing::Enclosing;
pub use write::guard::name_of;
pub use write::removal::{lines_of_items, remove_items};
pub use write::render::{
    Position, lines_of_root, render, render_json, render_new, to_line, to_string,
};
