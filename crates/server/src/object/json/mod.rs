//! JSON with the order of its keys, the spelling of its numbers, and the text of each value.

mod node;
mod write;

pub(crate) use node::{Data, Node, object};
pub use write::pretty;
pub(crate) use write::{compact, quote, write};
