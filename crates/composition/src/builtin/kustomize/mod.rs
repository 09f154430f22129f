//! The transformers that an installed kustomize runs.

pub(crate) mod bases;
pub(crate) mod helm_chart;
pub(crate) mod iam_policy;
pub(crate) mod kustomization;
pub(crate) mod kustomized;
