//! Tables of kinds and their fields, as kustomize has them.

pub(crate) mod fields;
pub(crate) mod kind_order;
pub(crate) mod merge_keys;
pub(crate) mod name_references;
pub(crate) mod schema;
pub(crate) mod var_references;
