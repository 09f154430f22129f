//! Rules of a `kustomization.yaml` for the files beside and below it.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use crate::composition::KUSTOMIZATIONS;
use krm_template_exec::io;
use krm_yaml::{Cursor, Document};

/// The kustomization that lists `file` as a patch, if one in its folder or a folder above does.
pub(super) fn that_patches_with(file: &str) -> Option<String> {
    let file = Path::new(file);
    let folders = file.ancestors().skip(1);
    folders
        .flat_map(|folder| KUSTOMIZATIONS.map(|name| folder.join(name)))
        .find(|kustomization| lists(kustomization, file))
        .map(|kustomization| kustomization.display().to_string())
}

/// One that cannot be read lists nothing.
fn lists(kustomization: &Path, patch: &Path) -> bool {
    let name = kustomization.display().to_string();
    if !io::is_there(&name) {
        return false;
    }
    let document = io::read(&name).and_then(|source| Document::parse(&source));
    let folder = kustomization.parent().unwrap_or(kustomization);
    document.is_ok_and(|document| {
        let mut paths = document.roots().flat_map(patches);
        paths.any(|listed| without_detours(&folder.join(listed)) == without_detours(patch))
    })
}

/// The files of strategic merge patches.
fn patches(root: Cursor<'_>) -> Vec<String> {
    let entries = |field| root.get(field).into_iter().flat_map(Cursor::children);
    let paths = entries("patches").filter_map(|patch| patch.text_at(["path"]));
    let old = entries("patchesStrategicMerge").filter_map(|path| path.text().ok().flatten());
    paths.chain(old).map(Cow::into_owned).collect()
}

/// A path without `.`, and without `..` behind a folder.
fn without_detours(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut out, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            part => out.push(part),
        }
        out
    })
}
