//! Deployment Manager configurations: templates in Jinja and Python, schemas, layouts.
//!
//! The crate expands a configuration offline, with the result of the original service. It has no
//! I/O: files come through [`Files`](krm_core::files::Files), and Python through
//! [`Interpreter`](python::Interpreter).

pub mod configuration;
pub mod connector;
pub mod error;
pub mod expand;
pub mod expansion;
pub mod imports;
pub mod instances;
pub mod jinja;
pub mod listing;
pub mod model;
pub mod objects;
pub mod properties;
pub mod python;
pub mod references;
pub mod repr;
pub mod request;
pub mod schema;
pub mod template;
pub mod variables;
pub mod yaml;
