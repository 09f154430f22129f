//! The built-in transformers: a file for each, or for those alike, and their table.

mod affix;
mod annotations;
mod config_map;
pub(crate) mod generator;
pub(crate) mod hash;
mod helm_chart;
mod iam_policy;
mod images;
pub(crate) mod known;
pub(crate) mod labels;
pub(crate) mod legacy_order;
mod namespace;
mod patch;
mod patch_json6902;
mod patch_strategic_merge;
mod patches;
mod replacement;
mod replicas;
mod resource_accumulator;
mod secret;
pub(crate) mod sort_order;
pub(crate) mod table;
pub(crate) mod texts;
mod value_add;

pub use self::table::builtin_kinds;
