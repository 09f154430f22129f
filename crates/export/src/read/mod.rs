//! Reads the objects that are exported.

pub(crate) mod cluster;
pub(crate) mod gather;
