//! `/openapi/v3` and `/openapi/v2`.
//!
//! The documents are made once, when the program starts; `crates/server/openapi` has a copy of
//! each. kubectl reads from them whether a kind has the query parameter `fieldValidation`, and
//! what `explain` prints.

mod documents;
mod operations;
mod schemas;
mod v2;

pub use documents::Documents;

#[cfg(test)]
mod tests;
