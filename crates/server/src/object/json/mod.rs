//! JSON that keeps the order of keys, the digits of numbers, and the text of each value.

mod node;
mod write;

pub(crate) use node::{Data, Node, object};
pub use write::pretty;
pub(crate) use write::{compact, quote, write};
