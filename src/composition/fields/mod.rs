//! Which objects and which of their fields a configuration means.

pub(crate) mod field_spec;
pub(crate) mod replacement_path;
pub(crate) mod selector;
