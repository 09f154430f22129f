//! A YAML or JSON document that prints exactly as it was read.

pub mod value;
