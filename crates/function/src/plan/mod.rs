//! Plans: which Templates are expanded, how often and with which values, for a functionConfig or
//! for files.
//!
//! Every form of functionConfig becomes a list of instances: what to expand, values, labels, a
//! namespace and an owner. Expanding and placing do not know the forms.
//!
//! A plan owns what it needs: a Template shares its document and names its nodes
//! ([`SharedNode`](krm_yaml::SharedNode)), so plans have no lifetimes and several threads can use
//! them.

mod conflict;
#[cfg(feature = "deployment-manager")]
mod deployment;
mod inputs;
mod instance;
#[cfg(not(feature = "deployment-manager"))]
mod missing;
mod planner;
mod secret;
mod selector_conflicts;
#[cfg(feature = "deployment-manager")]
mod written;

pub use conflict::both_create;
#[cfg(feature = "deployment-manager")]
pub use deployment::check as check_deployment;
pub use inputs::{Input, InputOrigin, Inputs, MAX_MEANT, MISSING_TEMPLATE, Opening};
pub use instance::{Instance, Owns, Plan};
#[cfg(not(feature = "deployment-manager"))]
pub use missing::check as check_deployment;
pub use planner::read;
pub use selector_conflicts::{Selection, SelectorConflicts};
