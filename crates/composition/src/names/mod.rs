//! Names: what refers to an object, and which objects are the same.

pub(crate) mod conflicts;
pub(crate) mod references;
