//! Reads, edits and prints YAML and JSON without changing a byte that you did not ask to change.
//!
//! The text is the model: a [`Document`] holds the source and a table of byte ranges. A [`Cursor`] walks the
//! nodes. Reading turns a node into a [`Value`], which remembers where each part came from. Writing compares
//! a value with the text it came from, and edits only what differs. A [`FieldPath`] leads to a part of a
//! value.
//!
//! The crate reads YAML as Kubernetes tools do (go-yaml and sigs.k8s.io/yaml), but knows no Kubernetes
//! objects: [`ItemKeys`] and [`LongLists`] are parameters.
//!
//! | module | content |
//! |---|---|
//! | `read` | from text to nodes and values |
//! | `write` | values written over their old text, or as new text |
//! | [`edit`] | updates in place, pairing of list items |
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
#[doc(hidden)]
pub mod shorten;
pub mod source;
#[doc(hidden)]
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

pub use edit::pairing::{ItemKey, ItemKeys};
pub use edit::update::{update, update_read};
pub use limits::{
    ALIASES_EXPAND, MAX_ALIASED_BYTES, MAX_ALIASED_NODES, MAX_DEPTH, MAX_KEY_LENGTH, MAX_LENGTH,
    MERGE_DEPTH,
};
pub use path::{FieldPath, Step};
pub use read::document::{Cursor, Document};
pub use read::open::Opened;
pub use read::scan::LongLists;
pub use read::shared::SharedNode;
pub use read::values::{DuplicateKeys, Words};
pub use scalar::data::Scalar;
pub use table::{Kind, NodeId};
pub use utf8::decode;
pub use value::{Data, Value};
pub use write::edited::{Edit, Edited};
pub use write::render::{Position, render, render_json, render_new, to_string};

// Hidden, here and below, is what the programs of this repository share: it may change in any
// version. It looks at single lines and comments, relies on what its caller has checked, or is about
// messages to their users.
#[doc(hidden)]
pub use crate::{
    edit::pairing::in_order_of,
    lines::{ends_line, next_line},
    path::{write_index, write_key},
    read::hints::space_hint,
    read::ordinary::Ordinary,
    read::parts::EntryLine,
    read::patched::Patched,
    read::values::is_word,
    read::view::View,
    read::view_mut::ViewMut,
    write::comments::{comments_below, end_with_comments, paragraphs_above},
    write::edited::close_text,
    write::emit::json,
    write::enclosing::Enclosing,
    write::guard::name_of,
    write::removal::{lines_of_items, remove_items},
    write::render::{copy, lines_of_root, render_json_at, render_patched, to_line},
};
