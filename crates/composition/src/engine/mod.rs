//! A transformer: its configuration, what runs it, and the context in which it runs.

pub(crate) mod field_tables;
pub(crate) mod functions;
pub(crate) mod merged_fields;
pub(crate) mod program;
pub(crate) mod state;
pub(crate) mod step;
pub(crate) mod transformer;
pub(crate) mod var;
