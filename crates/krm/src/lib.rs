//! The Kubernetes Resource Model: the identity of objects, and the ResourceList that functions
//! exchange; access to files, and reports of diagnostics.

pub mod annotations;
pub mod created;
pub mod field_types;
pub mod fields;
pub mod files;
pub mod glob;
pub mod identity;
pub mod item_keys;
mod keys;
pub mod kind_names;
pub mod kinds;
pub mod label_fields;
pub mod label_selector;
pub mod lists;
pub mod long_lists;
pub mod names;
pub mod pods;
pub mod pointer;
pub mod report;
pub mod resource_list;
pub mod scalar;
pub mod scope;
pub mod secret_places;
pub mod secrets;
pub mod selection;
pub mod threads;
pub mod typed;
pub mod validation;
pub mod visible;

pub use identity::Identity;
