//! The two kinds of patches: strategic merge patches and JSON patches.

pub(crate) mod json_patch;
pub(crate) mod merge;
