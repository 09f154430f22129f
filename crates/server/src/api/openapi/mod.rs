//! `/openapi/v3` and `/openapi/v2`.
//!
//! The documents are the files in `crates/server/openapi`, which a test generates. kubectl uses them
//! for `explain`, and to check for the query parameter `fieldValidation`.

mod documents;

pub use documents::Documents;

#[cfg(test)]
mod tests;
