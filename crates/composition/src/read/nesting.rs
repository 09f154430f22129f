//! Refuses Compositions that import, or build, one another in a cycle or too deep.

use krm_yaml::diagnostic::{Diagnostic, Result};

/// How deep Compositions may import, or build, one another.
pub(crate) const MAX_NESTING: usize = 64;

/// Refuses a file that is already being read or built.
pub(crate) fn check_chain(open: &[String], next: &str, verb: &str) -> Result<()> {
    if let Some(at) = open.iter().position(|file| file == next) {
        let chain = open.iter().skip(at).map(String::as_str).chain([next]);
        let chain: Vec<&str> = chain.collect();
        return Err(Diagnostic::error(format!(
            "Compositions {verb} one another in a cycle: {}",
            chain.join(" → ")
        ))
        .hint("move the shared part to a Composition of its own")
        .into());
    }
    if open.len() >= MAX_NESTING {
        return Err(Diagnostic::error(format!(
            "more than {MAX_NESTING} Compositions {verb} one another"
        ))
        .into());
    }
    Ok(())
}
