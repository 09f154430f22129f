//! Finds what a Kubernetes API server would refuse: objects of built-in kinds, of OpenShift's,
//! and custom resources, checked without a server.
//!
//! Decoding and the rules are those of a recorded kube-apiserver 1.36 and openshift-apiserver 4.21.
//! `data/schemas` and `data/rules` make the tables; rules over several fields are functions. If it is
//! not certain that a server refuses a value, nothing is reported.

mod check;
mod checker;
mod custom;
mod finding;
mod formats;
mod functions;
mod removed;
mod rules;
mod scalars;
mod schema;
mod walk;

#[cfg(test)]
mod tests;

pub use check::{Checked, Options, check, version};
pub use checker::Checker;
pub use custom::Definitions;
pub use finding::{Finding, Fix, Rule};
