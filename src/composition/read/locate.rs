//! Finds the file of a Composition or Kustomization by a path.

use crate::files::{self, Entry, Files, directory_of, join};
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::suggest::closest;

/// What the file of a Composition may be called, as with Kustomizations.
pub(crate) const FILE_NAMES: [&str; 3] = ["composition.yaml", "composition.yml", "Composition"];
/// What the file of a Kustomization may be called.
pub const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// What there is to build at a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A file, as it is named.
    File,
    /// A directory with a Composition: the path of its file.
    Composition(String),
    /// A directory with a Kustomization.
    Kustomization,
    /// A directory with neither of them.
    Nothing,
}

/// Looks what is at a path.
///
/// # Errors
/// If nothing is, if it is an address, or if a directory has more than one thing to build.
pub(crate) fn find(files: &dyn Files, path: &str) -> Result<Found> {
    if is_address(path) {
        return Err(files::address(path).into());
    }
    match files.entry(path) {
        Some(Entry::File) => return Ok(Found::File),
        Some(Entry::Directory) => {}
        None => {
            return Err(Diagnostic::error(format!("there is no `{path}`"))
                .maybe_hint(near(files, path))
                .into());
        }
    }
    let within = |names: &[&str]| -> Vec<String> {
        let paths = names.iter().map(|name| join(path, name));
        paths
            .filter(|path| files.entry(path) == Some(Entry::File))
            .collect()
    };
    let (compositions, kustomizations) = (within(&FILE_NAMES), within(&KUSTOMIZATIONS));
    match (compositions.as_slice(), kustomizations.as_slice()) {
        ([one], []) => Ok(Found::Composition(one.clone())),
        ([], []) => Ok(Found::Nothing),
        ([], _) => Ok(Found::Kustomization),
        ([first, ..], [second, ..]) | ([first, second, ..], []) => Err(Diagnostic::error(format!(
            "`{path}` holds both `{first}` and `{second}`: which one is meant is unclear"
        ))
        .hint("move one of them to a directory of its own")
        .into()),
    }
}

/// Whether a file is called like a Kustomization.
pub(crate) fn is_kustomization(path: &str) -> bool {
    path.rsplit('/')
        .next()
        .is_some_and(|name| KUSTOMIZATIONS.contains(&name))
}

/// Whether a file is called like a Composition.
pub(crate) fn is_composition(path: &str) -> bool {
    path.rsplit('/')
        .next()
        .is_some_and(|name| FILE_NAMES.contains(&name))
}

/// Where a directory is named that has another spelling of a Composition's name.
fn near(files: &dyn Files, path: &str) -> Option<String> {
    let directory = directory_of(path);
    let known = FILE_NAMES.map(|name| join(directory, name));
    let is_there = |known: &&String| files.entry(known) == Some(Entry::File);
    let known: Vec<&str> = known.iter().filter(is_there).map(String::as_str).collect();
    closest(path, known).map(|known| format!("did you mean `{known}`?"))
}

/// Whether this is what kustomize would fetch from somewhere.
pub(crate) fn is_address(path: &str) -> bool {
    path.contains("://") || path.starts_with("git@") || path.starts_with("git::")
}

/// The file of the Composition that a path names.
pub(crate) fn locate(files: &dyn Files, path: &str) -> Result<String> {
    let problem = match find(files, path)? {
        Found::File => return Ok(path.to_owned()),
        Found::Composition(file) => return Ok(file),
        Found::Kustomization => {
            return Err(Diagnostic::error(format!(
                "`{path}` holds a Kustomization, which has no list of transformers"
            ))
            .hint("for its resources, name the directory under `paths` of a ResourceAccumulator")
            .into());
        }
        Found::Nothing => format!("`{path}` holds no `{}`", FILE_NAMES[0]),
    };
    Err(Diagnostic::error(problem)
        .hint("name the directory that does, or the file, if it is called otherwise")
        .into())
}
