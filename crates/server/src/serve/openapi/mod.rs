//! `/openapi/v3` and `/openapi/v2`.
//!
//! The documents are generated once, when the program starts; `crates/server/openapi` has a copy of
//! each. kubectl uses them for `explain`, and to check for the query parameter `fieldValidation`.

mod documents;
mod operations;
mod schemas;
mod v2;

pub use documents::Documents;

#[cfg(test)]
mod tests;
