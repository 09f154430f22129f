//! `kind: Kustomization` and `kind: Component`: a file of kustomize as the steps of a Composition.
//!
//! [`file`] finds and checks the file of a directory, by the types in [`fields`]; [`steps`] makes a
//! list of transformers of it, in kustomize's order; [`plugins`] those of `generators`,
//! `transformers` and `validators`. [`vars`] and [`ending`] are what a root does after all others.
//! There is no second engine: the transformers are those of Compositions, except that references
//! to renamed objects are updated once, at the end of the root.
//!
//! Source: kustomize 5.8, `api/types/kustomization.go` and `api/internal/target/kusttarget.go`.

pub(crate) mod check;
pub mod fields;
pub(crate) mod file;
pub(crate) mod finalize;
pub(crate) mod label_field;
pub(crate) mod plugins;
pub(crate) mod steps;
pub(crate) mod vars;
