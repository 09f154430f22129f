//! Why a schema cannot be used.

/// What makes a schema unusable, although it is valid.
#[derive(Debug)]
pub(super) enum Problem {
    /// A `$ref` without a target; with the pointer.
    Unresolvable(String),
    /// A `$ref` to another file, which is not read; with the address.
    Elsewhere(String),
    /// Schemas refer to one another without end.
    Endless,
    /// A pattern that is not a regular expression.
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
}
