//! The output of commands: texts, tables, diffs, and files for objects.

pub(crate) mod destination;
pub(crate) mod diff;
pub(crate) mod directory;
pub(crate) mod mask;
mod record;
pub(crate) mod table;
mod writing;
