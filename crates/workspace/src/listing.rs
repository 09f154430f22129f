//! Which files a Kustomization, Component or Composition lists.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;
use std::rc::Rc;
use std::sync::Arc;

use krm_core::files::{Entry, Files, directory_of, join};
use krm_core::identity::group;
use krm_template_composition::KUSTOMIZATIONS;
use krm_yaml::{Cursor, Document, NodeId};

/// The group in which a Kustomization is an object for the controllers of Flux.
const FLUX: &str = "kustomize.toolkit.fluxcd.io";
/// The fields with files and directories, also of the transformers of a Composition.
const NAMES: [&str; 8] = [
    "resources",
    "bases",
    "components",
    "generators",
    "transformers",
    "validators",
    "transformersFrom",
    "paths",
];

/// How Kustomizations name a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// None names it.
    No,
    /// A patch may complete it.
    Resource,
    /// It is a patch.
    Patch,
}

/// The paths in the file of a Kustomization, Component or Composition.
pub(crate) struct Listing {
    pub(crate) file: String,
    pub(crate) directory: String,
    /// Its text, if that can be read.
    document: Option<Arc<Document>>,
    pub(crate) is_component: bool,
    pub(crate) is_of_flux: bool,
    /// The directories and files that it names, but for patches.
    pub(crate) names: Vec<String>,
    resources: BTreeSet<String>,
    patches: BTreeSet<String>,
}

impl Listing {
    pub(crate) fn of(file: &str, document: Option<Arc<Document>>) -> Self {
        let directory = join(".", directory_of(file));
        let root = document.as_ref().and_then(|one| one.roots().next());
        let listed = |node: Cursor<'_>, field| -> Vec<String> {
            let list = node.get(field).filter(|list| list.is_sequence());
            let items = list.into_iter().flat_map(Cursor::children);
            let texts = items
                .filter_map(|item| item.text().ok().flatten().or_else(|| item.text_at(["path"])));
            texts.map(|text| join(&directory, &text)).collect()
        };
        let of_root = |field| root.into_iter().flat_map(move |root| listed(root, field));
        let transformers = root.and_then(|root| root.get("transformers"));
        let nodes = root.into_iter().chain(transformers.into_iter().flat_map(Cursor::children));
        let text = |field| root.and_then(|root| root.text_at([field]));
        Self {
            is_of_flux: text("apiVersion").is_some_and(|text| group(&text) == FLUX),
            is_component: text("kind").as_deref() == Some("Component"),
            names: nodes
                .flat_map(|node| NAMES.map(|field| listed(node, field)))
                .flatten()
                .collect(),
            resources: of_root("resources").collect(),
            patches: of_root("patches").chain(of_root("patchesStrategicMerge")).collect(),
            file: join(".", file),
            directory,
            document,
        }
    }

    /// Whether its file or its directory is among these.
    pub(crate) fn is_in(&self, named: &BTreeSet<String>) -> bool {
        named.contains(&self.directory) || named.contains(&self.file)
    }

    /// Its document and root node, if it may be built.
    pub(crate) fn root(&self) -> Option<(&Arc<Document>, NodeId)> {
        let document = self.document.as_ref()?;
        Some((document, document.roots().next()?.id()))
    }
}

/// The listings of the Kustomizations around files, each read once.
pub struct Listings<'f> {
    files: &'f dyn Files,
    read: BTreeMap<String, Rc<Listing>>,
}

impl<'f> Listings<'f> {
    /// Listings of these files.
    pub const fn new(files: &'f dyn Files) -> Self {
        Self { files, read: BTreeMap::new() }
    }

    /// The listing of a file. One that cannot be read lists nothing.
    pub(crate) fn get(&mut self, file: &str) -> Rc<Listing> {
        let file = join(".", file);
        let listing = self.read.entry(file).or_insert_with_key(|file| {
            let is_there = self.files.entry(file) == Some(Entry::File);
            let read = |root| {
                let source = is_there.then(|| self.files.source(file, root).ok()).flatten()?;
                Document::parse(&source).ok().map(Arc::new)
            };
            let within = read(directory_of(file));
            // A link out of its directory lists files, too, but is not built.
            let document = within.clone().or_else(|| read("/"));
            Rc::new(Listing { document: within, ..Listing::of(file, document) })
        });
        Rc::clone(listing)
    }

    /// How the Kustomizations in the folder of a file and in the folders above name it.
    pub fn listed(&mut self, file: &str) -> Listed {
        if self.that_patches_with(file).is_some() {
            return Listed::Patch;
        }
        let is_listed = self.around(file, |listing| &listing.resources).is_some();
        if is_listed { Listed::Resource } else { Listed::No }
    }

    /// The Kustomization that lists `file` as a patch, if one in its folder or a folder above does.
    pub fn that_patches_with(&mut self, file: &str) -> Option<String> {
        self.around(file, |listing| &listing.patches)
    }

    fn around(&mut self, file: &str, list: fn(&Listing) -> &BTreeSet<String>) -> Option<String> {
        let file = join(".", file);
        let folders = successors(Some(directory_of(&file)), above);
        let mut paths = folders.flat_map(|folder| KUSTOMIZATIONS.map(|name| join(folder, name)));
        paths.find(|path| list(&self.get(path)).contains(&file))
    }
}

/// The folder around a folder.
fn above<'f>(folder: &&'f str) -> Option<&'f str> {
    (!matches!(*folder, "." | "/")).then(|| directory_of(folder))
}
