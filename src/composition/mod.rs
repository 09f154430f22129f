//! `kind: Composition` (KEP-2299): a list of transformers that make and change resources in order.
//!
//! [`consolidate`] reads a Composition with all that it imports and overrides, and makes one list
//! of [`Transformer`]s of them. [`chain`] has the resources pass through these, from the first to
//! the last. A [`Resource`] is plain data that remembers the text it was read from: only when all
//! transformers are done is it compared with that text, and the text edited where the two differ.
//! So comments, order and layout stay, whatever the number of transformers.
//!
//! `docs/composition.md` says what is decided where the KEP is silent.

mod builtin;
mod engine;
mod fields;
mod names;
mod patch;
mod read;
mod resources;
mod run;
mod tables;
#[cfg(test)]
mod tests;
mod values;

pub use builtin::builtin_kinds;
pub use engine::functions::{Base, FunctionOutput, Functions, Kustomize};
pub use engine::program::{Container, Exec, Program};
pub use engine::step::Step;
pub use engine::transformer::{Transformer, TransformerId};
pub use read::locate::KUSTOMIZATIONS;
pub(crate) use read::model::GROUP;
#[cfg(test)]
pub(crate) use read::model::{FIELDS, IMPORT_FIELDS, ORDER_FIELDS};
pub use read::show::show;
pub use resources::print::{Format, print};
pub use resources::resource::{Documents, Resource};
pub use run::chain;
pub use run::steps::{consolidate, consolidate_node};
