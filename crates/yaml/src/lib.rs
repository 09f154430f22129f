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
mod emit;
mod enclosing;
mod guard;
mod hints;
mod json;
mod node;
mod pairing;
mod parse;
mod path;
mod read;
mod render;
#[doc(hidden)]
pub mod scalar;
mod scan;
pub mod source;
mod spelling;
mod strict;
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

pub use edit::{Editor, Edits, Spot};
pub use node::Opened;
pub use node::{Cursor, Document, Kind, NodeId};
pub use parse::{MAX_DEPTH, MAX_KEY_LENGTH, MAX_LENGTH};
pub use path::{FieldPath, Step};
pub use read::{DuplicateKeys, MAX_ALIASED_BYTES, MAX_ALIASED_NODES, MERGE_DEPTH, Words};
pub use render::{Position, render};
pub use utf8::decode;
pub use value::{Data, Scalar, Value};

pub use path::{write_index, write_key};

pub use emit::json;
pub use enclosing::Enclosing;
pub use guard::name_of;
pub use pairing::{ItemKey, in_order_of, pairs};
pub use parse::{ends_line, next_line};
pub use read::is_word;
pub use write::Edited;

pub use render::{lines_of_root, render_json, render_new, to_line, to_string, update, update_read};
pub use write::{Edit, close_text, end_with_comments, lines_of_items, remove_items};
