//! Properties of every input, for tests and fuzzing.
#![expect(
    clippy::expect_used,
    clippy::string_slice,
    clippy::panic,
    reason = "a property that does not hold is a panic"
)]

pub mod composition;
pub mod function;
#[cfg(feature = "deployment-manager")]
pub mod jinja;
pub mod merge;
mod reading;
pub mod template;
#[cfg(test)]
mod tests;
