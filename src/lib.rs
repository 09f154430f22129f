//! krm-template: a template engine for Kubernetes configuration.

pub mod diagnostic;
pub mod report;
pub mod source;
pub mod yaml;
