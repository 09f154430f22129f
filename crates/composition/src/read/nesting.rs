//! Refuses Compositions that import, or build, one another in a cycle or too deep.

use krm_core::files::is_below;
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
    check_depth(open, verb)
}

fn check_depth(open: &[String], verb: &str) -> Result<()> {
    if open.len() < MAX_NESTING {
        return Ok(());
    }
    let problem = format!("more than {MAX_NESTING} Compositions {verb} one another");
    Err(Diagnostic::error(problem).into())
}

/// Refuses the directory of a Kustomization that is being built, or one around it.
pub(crate) fn check_directory(open: &[String], next: &str) -> Result<()> {
    if let Some(at) = open.iter().position(|visited| is_within(visited, next)) {
        let chain = open.iter().skip(at).map(String::as_str).chain([next]);
        let chain: Vec<&str> = chain.collect();
        let problem = match open.get(at) {
            Some(same) if same == next => "Kustomizations build one another in a cycle".to_owned(),
            _ => format!("`{next}` contains a Kustomization that builds it"),
        };
        let problem = format!("{problem}: {}", chain.join(" → "));
        let hint = "move the shared part to a directory of its own";
        return Err(Diagnostic::error(problem).hint(hint).into());
    }
    check_depth(open, "build")
}

/// Whether a directory is another one, or in it.
fn is_within(directory: &str, outer: &str) -> bool {
    let ups = |path: &str| path.split('/').take_while(|part| *part == "..").count();
    let is_above = outer.split('/').all(|part| part == "..");
    directory == outer
        || is_below(outer, directory)
        || (is_above && !directory.starts_with('/') && ups(directory) <= ups(outer))
}

#[cfg(test)]
mod tests {
    use super::is_within;

    #[test]
    fn directories_around_others_are_known() {
        for (directory, outer, expected) in [
            ("a", "a", true),
            ("a/b", "a", true),
            ("ab", "a", false),
            (".", "..", true),
            ("../a", "..", true),
            ("../..", "..", false),
            ("a", ".", true),
            (".", "../b", false),
        ] {
            assert_eq!(is_within(directory, outer), expected, "{directory} {outer}");
        }
    }
}
