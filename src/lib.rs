//! krm-template: a template engine for Kubernetes configuration.

pub mod cli;
pub mod diagnostic;
pub mod files;
pub mod function;
pub mod krm;
pub mod report;
pub mod source;
mod suggest;
pub mod template;
pub mod yaml;
