//! Replaces references and puts labels and namespaces on the objects of a Template.

pub(crate) mod expander;
pub(crate) mod expansion;
pub(crate) mod label_sets;
pub mod labels;
mod patch;
pub(crate) mod path;
pub(crate) mod pods;
pub(crate) mod refused;
mod required;
mod spot;
pub(crate) mod strings;
mod substitute;
