//! A YAML or JSON document that prints exactly as it was read.

#[doc(hidden)]
pub mod scalar;
pub mod value;
