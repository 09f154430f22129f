//! Plans: which Templates are expanded, how often and with which values, for a functionConfig or
//! for files.

mod inputs;
mod instance;
mod planner;
mod secret;

pub(crate) use inputs::{Input, Inputs, Whence};
pub(crate) use instance::{Instance, Plan};
pub(crate) use planner::read;
