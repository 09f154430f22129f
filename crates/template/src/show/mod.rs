//! Prints objects, describes a Template, and traces its objects back to it.

pub(crate) mod listing;
pub(crate) mod output;
pub(crate) mod processed;
pub(crate) mod skeleton;
pub(crate) mod source_map;
pub mod survey;
pub(crate) mod trace;
pub(crate) mod visit;
