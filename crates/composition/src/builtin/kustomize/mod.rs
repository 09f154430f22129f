//! The transformers that an installed kustomize runs.

pub(crate) mod helm_chart;
pub(crate) mod kustomized;
