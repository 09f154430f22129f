//! Expands a configuration: recursion, names, env, layout.

mod budget;
mod check;
mod expander;
mod outputs;
mod unused;
mod warnings;

pub use expander::{MAX_NESTING, MAX_RESOURCES, expand, expand_within};
pub use unused::unused_imports;
