//! `kind: Composition` (KEP-2299): a list of transformers that make and change resources in order.
//!
//! [`consolidate`] reads a Composition with all that it imports and overrides, and makes one list
//! of [`Transformer`]s of them. [`chain`] has the resources pass through these, from the first to
//! the last. A [`Resource`] is plain data that remembers the text it was read from: only when all
//! transformers are done is it compared with that text, and the text edited where the two differ.
//! So comments, order and layout stay, whatever the number of transformers.
//!
//! `docs/composition.md` says what is decided where the KEP is silent.

mod apart;
pub mod chain;
mod conflicts;
pub mod consolidate;
mod data;
mod field_spec;
mod follow;
mod heads;
mod json_patch;
mod merge;
mod merge_keys;
mod model;
mod order;
mod overrides;
mod patches;
mod print;
mod provider;
mod references;
mod replacement_path;
mod resource;
mod selector;
mod show;
mod strict;
#[cfg(test)]
mod tests;
mod texts;
mod transformer;
mod transformers;

pub(crate) use model::GROUP;
#[cfg(test)]
pub(crate) use model::{FIELDS, IMPORT_FIELDS, ORDER_FIELDS};
pub use print::{Format, print};
pub use provider::{Container, Exec, Provider};
pub use resource::{Documents, Resource};
pub use show::show;
pub use transformer::{Transformer, TransformerId};
pub use transformers::builtin_kinds;
