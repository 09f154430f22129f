//! Tables of kinds and their fields, as kustomize has them.

pub(crate) mod kind_order;
pub(crate) mod merge_keys;
pub(crate) mod schema;
