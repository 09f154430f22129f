//! `kind: Composition` (KEP-2299): a list of transformers that create and change resources in
//! order.
//!
//! [`consolidate`] reads a Composition with its imports and overrides into one list of [`Step`]s,
//! and [`chain::Build`] passes resources through them. A [`Resource`] is plain data that remembers
//! the text it was read from. After the last step it is compared with that text, which is edited
//! where the two differ, so comments, order and layout stay.
//!
//! The rooms, from the bottom up: `values` reads and spells scalars; `tables` holds what kustomize
//! knows of kinds; `patch` merges; `resources` are the objects; `fields` selects objects and their
//! fields; `engine` is the transformer, its context and what runs it; `read` turns files into a
//! list of transformers; `names` keeps references right; `builtin` has a file for each built-in
//! transformer; `kustomization` makes steps of a Kustomization; `run` runs the list.
//!
//! `docs/composition.md` lists our decisions where the KEP is silent.

mod builtin;
mod engine;
mod fields;
mod kustomization;
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
pub use engine::field_tables::name_references;
pub use engine::functions::{Chart, FunctionOutput, Functions, HelmChart};
pub use engine::program::{Container, Exec, Mount, Program};
pub use engine::step::Step;
pub use engine::transformer::{Transformer, TransformerId};
pub use fields::field_spec::{FieldSpec, Kind};
pub use kustomization::fields as kustomization_fields;
pub use kustomization::finalize::Ending;
pub use names::references::{Referrer, Renames, Target};
pub use read::locate::{COMPOSITIONS, KUSTOMIZATIONS, is_kustomization};
pub use read::model::{FIELDS, IMPORT_FIELDS, OPENAPI_FIELDS, ORDER_FIELDS};
pub use read::model::{GROUP, built_kind};
pub use read::show::show;
pub use resources::history::Setter;
pub use resources::objects::objects;
pub use resources::print::{Format, print, print_as_kustomize};
pub use resources::resource::Resource;
pub use run::chain;
pub use run::steps::{consolidate, consolidate_kustomization, consolidate_node, consolidate_root};
pub use tables::kind_order::legacy_rank;
