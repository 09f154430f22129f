//! Arguments as other programs have them.

pub(crate) mod kustomize_alias;
pub(crate) mod suggestions;
