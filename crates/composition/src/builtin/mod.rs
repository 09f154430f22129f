//! The built-in transformers: a file for each, or for those alike, and their table.

mod affix;
mod annotations;
mod config_map;
mod generator;
mod hash;
mod images;
mod known;
mod kustomize;
mod labels;
mod legacy_order;
mod namespace;
mod patch;
mod patch_json6902;
mod patch_strategic_merge;
mod patches;
mod replacement;
mod replicas;
mod resource_accumulator;
mod secret;
mod sort_order;
pub(crate) mod table;
mod texts;
mod value_add;

pub use self::table::builtin_kinds;
