//! The Kubernetes Resource Model: what identifies an object, and the ResourceList that functions
//! exchange.

pub(crate) mod annotations;
pub(crate) mod identity;
pub(crate) mod label_fields;
pub(crate) mod resource_list;

pub use identity::Identity;
