//! krm-template: a template engine for Kubernetes configuration.

pub mod diagnostic;
pub mod files;
mod krm;
pub mod source;
mod suggest;
pub mod template;
pub mod yaml;
