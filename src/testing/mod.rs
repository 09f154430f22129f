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

use krm_yaml::diagnostic::Diagnostics;

/// Whether a message reports a mistake of the program. Other messages may quote these words.
fn has_internal_error(diagnostics: &Diagnostics) -> bool {
    diagnostics.iter().any(|one| {
        let message = &one.message;
        message.starts_with("internal error: ") || message.contains(": internal error: ")
    })
}
