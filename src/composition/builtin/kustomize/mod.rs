//! The transformers that an installed kustomize does.

pub(crate) mod bases;
pub(crate) mod helm_chart;
pub(crate) mod iam_policy;
pub(crate) mod kustomization;
pub(crate) mod kustomized;
