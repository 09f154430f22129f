//! Plans: which Templates are expanded, how often and with which values, for a functionConfig or
//! for files.

mod conflict;
#[cfg(feature = "deployment-manager")]
mod deployment;
mod inputs;
mod instance;
#[cfg(not(feature = "deployment-manager"))]
mod missing;
mod planner;
mod secret;
#[cfg(feature = "deployment-manager")]
mod written;

pub(crate) use conflict::both_create;
#[cfg(feature = "deployment-manager")]
pub(crate) use deployment::check as check_deployment;
pub(crate) use inputs::{Input, InputOrigin, Inputs, MISSING_TEMPLATE};
pub(crate) use instance::{Instance, Owns, Plan};
#[cfg(not(feature = "deployment-manager"))]
pub(crate) use missing::check as check_deployment;
pub(crate) use planner::read;
