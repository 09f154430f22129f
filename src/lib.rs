//! krm-template: a template engine for Kubernetes configuration.

pub mod diagnostic;
pub mod source;
pub mod suggest;
pub mod template;
pub mod yaml;
