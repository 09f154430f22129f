//! Finds the file of a Composition or Kustomization by a path.

use krm_core::files::{self, Entry, Files, directory_of, join};
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::suggest::closest;

/// The names for the file of a Composition, like those of a Kustomization.
pub const COMPOSITIONS: [&str; 3] = ["composition.yaml", "composition.yml", "Composition"];
/// The names for the file of a Kustomization.
pub const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The thing to build at a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    File,
    /// A directory with a Composition: the path of its file.
    Composition(String),
    /// A directory with a Kustomization.
    Kustomization,
    /// A directory with neither of them.
    Nothing,
}

/// Finds the thing to build at a path.
///
/// # Errors
/// If the path does not exist or is an address, or if a directory has more than one thing to build.
pub(crate) fn find(files: &dyn Files, path: &str) -> Result<Found> {
    if files::is_address(path) {
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
        paths.filter(|path| files.entry(path) == Some(Entry::File)).collect()
    };
    let (compositions, kustomizations) = (within(&COMPOSITIONS), within(&KUSTOMIZATIONS));
    match (compositions.as_slice(), kustomizations.as_slice()) {
        ([one], []) => Ok(Found::Composition(one.clone())),
        ([], []) => Ok(Found::Nothing),
        ([], _) => Ok(Found::Kustomization),
        ([first, ..], [second, ..]) | ([first, second, ..], []) => Err(Diagnostic::error(format!(
            "`{path}` holds both `{first}` and `{second}`: only one is allowed"
        ))
        .hint("move one of them to a directory of its own")
        .into()),
    }
}

/// Whether a file has the name of a Kustomization.
pub fn is_kustomization(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| KUSTOMIZATIONS.contains(&name))
}

/// Whether a file has the name of a Composition.
pub(crate) fn is_composition(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| COMPOSITIONS.contains(&name))
}

/// A hint if the directory holds something with a similar name.
fn near(files: &dyn Files, path: &str) -> Option<String> {
    let directory = directory_of(path);
    let names = files.list(directory);
    let name = path.rsplit('/').next()?;
    // Most have an extension in common.
    let stem = |name: &'_ str| name.split('.').next().unwrap_or_default().to_owned();
    let is_near = |other: &&String| closest(&stem(name), [stem(other).as_str()]).is_some();
    let near = names.iter().filter(is_near);
    let meant = closest(name, near.map(String::as_str))?;
    Some(format!("did you mean `{}`?", join(directory, meant)))
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
        Found::Nothing => format!("`{path}` holds no `{}`", COMPOSITIONS[0]),
    };
    Err(Diagnostic::error(problem)
        .hint("name the directory that does, or the file if it has another name")
        .into())
}
