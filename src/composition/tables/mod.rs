//! What kustomize knows of kinds and their fields, as data.

pub(crate) mod fields;
pub(crate) mod merge_keys;
