//! Expands a configuration: recursion, names, env, layout.

mod check;
mod expander;
mod outputs;
mod shared;
mod unused;
mod warnings;

pub use expander::{MAX_NESTING, MAX_RESOURCES, expand};
pub use unused::unused_imports;
