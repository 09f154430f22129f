//! Selects objects and their fields, as configurations name them.

pub(crate) mod field_spec;
pub(crate) mod field_tree;
pub(crate) mod replacement_path;
pub(crate) mod selector;
