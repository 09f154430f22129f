//! Properties of every input, for tests and fuzzing.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a property that does not hold is a panic"
)]

pub mod object;
pub mod patch;
pub mod request;
#[cfg(test)]
mod tests;
