//! What the files of a project are: which Templates are expanded and how often, what a directory
//! builds, who lists a file, and whether all of it is right.
//!
//! Files and the environment come from the caller, as do the programs that a build may run.

pub mod build;
pub mod check;
pub mod expansion;
mod listing;
pub mod objects;
mod recording;

pub use listing::{Listed, Listings};
