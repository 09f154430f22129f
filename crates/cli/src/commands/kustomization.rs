//! Rules of a `kustomization.yaml` for the files beside and below it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use krm_template_composition::KUSTOMIZATIONS;
use krm_template_exec::disk;
use krm_yaml::{Cursor, Document};

/// How kustomizations name a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listed {
    No,
    /// A patch may complete it.
    Resource,
    Patch,
}

/// The kustomizations around files, each read once.
#[derive(Default)]
pub(crate) struct Kustomizations(BTreeMap<PathBuf, Lists>);

/// The files that a kustomization lists.
#[derive(Default)]
struct Lists {
    resources: BTreeSet<PathBuf>,
    patches: BTreeSet<PathBuf>,
}

impl Kustomizations {
    /// How those in the folder of a file and in the folders above name it.
    pub(crate) fn listed(&mut self, file: &str) -> Listed {
        if self.that_patches_with(file).is_some() {
            return Listed::Patch;
        }
        let file = without_detours(Path::new(file));
        let is_listed = around(&file).any(|path| self.lists(path).resources.contains(&file));
        if is_listed { Listed::Resource } else { Listed::No }
    }

    /// The kustomization that lists `file` as a patch, if one in its folder or a folder above does.
    pub(crate) fn that_patches_with(&mut self, file: &str) -> Option<String> {
        let file = without_detours(Path::new(file));
        let mut paths = around(&file);
        let found = paths.find(|path| self.lists(path.clone()).patches.contains(&file));
        found.map(|path| path.display().to_string())
    }

    fn lists(&mut self, kustomization: PathBuf) -> &Lists {
        self.0.entry(kustomization).or_insert_with_key(|path| Lists::read(path))
    }
}

/// The paths that a kustomization for a file may have.
fn around(file: &Path) -> impl Iterator<Item = PathBuf> {
    let folders = file.ancestors().skip(1);
    folders.flat_map(|folder| KUSTOMIZATIONS.map(|name| folder.join(name)))
}

impl Lists {
    /// One that cannot be read lists nothing.
    fn read(kustomization: &Path) -> Self {
        let mut lists = Self::default();
        let name = kustomization.display().to_string();
        let document = disk::read(&name).and_then(|source| Document::parse(&source));
        let folder = kustomization.parent().unwrap_or(kustomization);
        let path = |listed: Cow<'_, str>| without_detours(&folder.join(listed.as_ref()));
        for root in document.iter().flat_map(Document::roots) {
            let entries = |field| root.get(field).into_iter().flat_map(Cursor::children);
            let texts = |field| entries(field).filter_map(|path| path.text().ok().flatten());
            lists.resources.extend(texts("resources").map(path));
            lists.patches.extend(texts("patchesStrategicMerge").map(path));
            let patches = entries("patches").filter_map(|patch| patch.text_at(["path"]));
            lists.patches.extend(patches.map(path));
        }
        lists
    }
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
