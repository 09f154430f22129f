//! The Kubernetes Resource Model: the identity of objects, and the ResourceList that functions
//! exchange.

pub(crate) mod annotations;
pub(crate) mod fields;
pub(crate) mod identity;
pub(crate) mod item_keys;
pub(crate) mod kind_names;
pub(crate) mod label_fields;
pub mod label_selector;
pub(crate) mod lists;
pub(crate) mod long_lists;
pub(crate) mod names;
pub(crate) mod pods;
pub mod pointer;
pub(crate) mod resource_list;
pub(crate) mod scalar;
pub(crate) mod scope;
pub(crate) mod selection;
pub mod typed;
pub mod validation;

pub use identity::Identity;
