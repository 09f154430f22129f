//! What is expanded, how often and with what values: the plan of a functionConfig or of files.

mod inputs;
mod instance;
mod planner;
mod secret;

pub(crate) use inputs::{Input, Inputs, Whence};
pub(crate) use instance::{Instance, Plan};
pub(crate) use planner::read;
