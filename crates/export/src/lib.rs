//! Makes Templates from objects that exist.
//!
//! Objects are stripped of what the cluster and its tools put into them: most of them only lose
//! parts, which are remembered. What all of them share is found. Then parameters are made of the fields
//! of one object after the other: references are marked, and spelled in the dialect at the end.
//! No secret reaches the Template.
//!
//! A stripped object is a text of its own, so the input is not needed afterwards. Its references
//! are marks in the text until they are spelled, when other text that looks like a reference is
//! escaped. Kinds are known from tables, one entry a line.

mod fields;
mod json;
mod options;
mod parameters;
mod read;
mod references;
mod run;
mod strip;
mod survey;
mod visit;
mod write;

pub use options::{FieldPattern, Format, GROUPS, Options, groups};
pub use run::{Exported, of_nodes, of_texts};
