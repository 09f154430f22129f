//! The files that items are kept in, and the packages that these belong to.
//!
//! kpt sends paths relative to the package of each item, and the directory of that package: two
//! items of a package and its subpackage may both say `inst.yaml`. So files are compared by their
//! full paths, which begin with the directory of the package, where that is known. Where it is not,
//! as in `kpt fn eval`, the package of an item is the nearest directory with a Kptfile.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::input::paths;

/// A file, by its position in [`Storage::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileId(u32);

/// The files that items are kept in.
#[derive(Default)]
pub(crate) struct Storage {
    /// Whether items are kept in files, to which the output is written back.
    pub(crate) are_kept: bool,
    /// The directory of the package whose function runs; empty if it is not known.
    pub(crate) current: String,
    /// Whether the functionConfig came with the directory of its package.
    pub(crate) has_package_path: bool,
    /// The path of the functionConfig's file as it was sent.
    pub(crate) config_path: Option<String>,
    /// The same as a full path.
    pub(crate) config_file: Option<String>,
    files: Vec<KeptFile>,
    /// By the directory of the package as sent, and the path.
    index: BTreeMap<Arc<str>, BTreeMap<Arc<str>, FileId>>,
    /// By the full path, once it is asked for.
    by_full: OnceCell<BTreeMap<String, FileId>>,
    /// The directories with a Kptfile.
    packages: BTreeSet<String>,
    /// Packages whose paths are relative to the current package.
    outer: BTreeSet<Arc<str>>,
}

struct KeptFile {
    /// The directory of its package as it was sent; empty if it was not.
    base: Arc<str>,
    path: Arc<str>,
    /// The highest index of its items.
    last_index: usize,
}

impl Storage {
    /// Notes that an item is at `index` of a file.
    pub(crate) fn add(&mut self, base: &str, path: &str, index: usize) -> FileId {
        self.are_kept = true;
        let known = self.index.get(base).and_then(|files| files.get(path));
        if let Some(id) = known.copied() {
            if let Some(file) = self.file_mut(id) {
                file.last_index = file.last_index.max(index);
            }
            return id;
        }
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        let known = self.index.get_key_value(base).map(|(base, _)| base);
        let base: Arc<str> = known.map_or_else(|| base.into(), Arc::clone);
        let path: Arc<str> = path.into();
        let files = self.index.entry(Arc::clone(&base)).or_default();
        files.insert(Arc::clone(&path), id);
        self.files.push(KeptFile { base, path, last_index: index });
        id
    }

    fn file(&self, id: FileId) -> Option<&KeptFile> {
        self.files.get(usize::try_from(id.0).ok()?)
    }

    fn file_mut(&mut self, id: FileId) -> Option<&mut KeptFile> {
        self.files.get_mut(usize::try_from(id.0).ok()?)
    }

    /// Sets the current package: `known`, or the one of the items that contains the others.
    pub(crate) fn set_current(&mut self, known: Option<String>) {
        let mut sent = self.index.keys().filter(|base| !base.is_empty());
        let first = sent.next().map(|first| {
            let shortest =
                sent.fold(first, |one, other| if other.len() < one.len() { other } else { one });
            shortest.to_string()
        });
        self.current = known.or(first).unwrap_or_default();
    }

    /// Notes the file of a Kptfile: its directory is a package.
    pub(crate) fn add_package(&mut self, kptfile: FileId) {
        let Some(file) = self.file(kptfile) else {
            return;
        };
        let base = Arc::clone(&file.base);
        let from_current = paths::joined(&self.current, &file.path);
        let of_base = paths::joined(&base, "Kptfile");
        if !base.is_empty() && &*file.path != "Kptfile" && from_current == of_base {
            self.outer.insert(base);
        }
        if let Some(full) = self.full(kptfile) {
            self.packages.insert(paths::parent(&full).to_owned());
        }
    }

    /// The full path of a file; none if its path leaves what is above it.
    pub(crate) fn full(&self, id: FileId) -> Option<String> {
        let file = self.file(id)?;
        paths::joined(self.directory(&file.base), &file.path)
    }

    /// The directory that the paths of a package are relative to.
    fn directory<'s>(&'s self, base: &'s str) -> &'s str {
        // What has no package of its own becomes part of the current one.
        if base.is_empty() || self.outer.contains(base) { &self.current } else { base }
    }

    /// The full path for a path as it was sent with the directory of a package.
    pub(crate) fn full_path(&self, base: &str, path: &str) -> Option<String> {
        paths::joined(self.directory(base), path)
    }

    /// The directory of the package that a file belongs to.
    pub(crate) fn package(&self, id: FileId) -> String {
        match self.file(id) {
            Some(file) if !file.base.is_empty() => file.base.to_string(),
            Some(_) => self.full(id).map_or_else(String::new, |full| self.package_of(&full)),
            None => self.current.clone(),
        }
    }

    /// The directory of the package that a full path belongs to.
    pub(crate) fn package_of(&self, full: &str) -> String {
        self.package_at(paths::parent(full))
    }

    /// The directory of the package that a directory belongs to.
    pub(crate) fn package_at(&self, directory: &str) -> String {
        let mut directory = directory;
        loop {
            if self.packages.contains(directory) || self.index.contains_key(directory) {
                return directory.to_owned();
            }
            if directory.is_empty() || directory == self.current {
                return self.current.clone();
            }
            directory = paths::parent(directory);
        }
    }

    /// The directory of the functionConfig's package.
    pub(crate) fn config_package(&self) -> String {
        let file = self.config_file.as_deref();
        file.map_or_else(|| self.current.clone(), |file| self.package_of(file))
    }

    /// A file as the user knows it: relative to the current package.
    pub(crate) fn shown(&self, full: &str) -> String {
        paths::relative(&self.current, full)
    }

    /// The file for the new objects of an instance, relative to the package of the functionConfig.
    pub(crate) fn file_of(&self, instance: &str) -> String {
        paths::of_instance(self.config_path.as_deref(), instance)
    }

    /// The highest index in the file with a full path; none if no item is in it.
    pub(crate) fn last_index(&self, full: &str) -> Option<usize> {
        let by_full = self.by_full.get_or_init(|| {
            let ids = (0..self.files.len()).filter_map(|id| u32::try_from(id).ok());
            let files = ids.map(FileId).filter_map(|id| Some((self.full(id)?, id)));
            files.collect()
        });
        let file = self.file(*by_full.get(full)?)?;
        Some(file.last_index)
    }
}

/// The positions that new objects get in files.
#[derive(Default)]
pub(crate) struct NewPositions(BTreeMap<String, usize>);

impl NewPositions {
    /// The index of the next object of a file, with a path of the current package. It continues
    /// after the highest one: kpt rejects two objects at one position.
    pub(crate) fn next(&mut self, storage: &Storage, path: &str) -> usize {
        let full = storage.full_path("", path).unwrap_or_default();
        let last = storage.last_index(&full);
        let known = self.0.get(&full).copied().or(last);
        let next = known.map_or(0, |last| last + 1);
        self.0.insert(full, next);
        next
    }
}
