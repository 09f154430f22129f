//! System fields and validation of objects that are created or changed.

pub mod instance;
pub mod object_meta;
