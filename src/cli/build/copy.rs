//! A copy of the directory of a Kustomization, with other files in it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;

use crate::composition::{KUSTOMIZATIONS, Kustomize};
use krm_template_exec::disk::LoadRestrictor;

/// How many files are copied.
const MAX_FILES: usize = 50_000;
/// How many bytes of files are copied.
const MAX_BYTES: u64 = 1 << 30;
/// Holds what kustomize has no business with, and much of it.
const NOT_COPIED: &str = ".git";

/// A directory with what is in another, and other files. The directories that it is in hold links
/// to what is in theirs, so that relative paths lead where they would lead there.
///
/// Kustomize follows links before it asks whether a file is below the directory. So files are
/// copied, unless it may read all files.
pub(super) struct Copy {
    root: TempDir,
    pub(super) directory: PathBuf,
    /// Paths of links, and what they lead to.
    links: Vec<(PathBuf, PathBuf)>,
}

impl Copy {
    pub(super) fn make(build: &Kustomize<'_>, restrictor: LoadRestrictor) -> io::Result<Self> {
        let original = fs::canonicalize(build.directory)?;
        let root = TempDir::with_prefix("krm-template-")?;
        let real = fs::canonicalize(root.path())?;
        let mut tree = Tree::new(&real, restrictor);
        let files = build.files.iter();
        let files = files.map(|(name, text)| (*name, Some(text.as_str())));
        let links = build.links.iter();
        let links = links.filter_map(|(name, _)| Some((name.split('/').next()?, None)));
        tree.add(original.clone(), files.chain(links));
        let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_));
        let top: PathBuf = original
            .components()
            .take_while(|part| !is_name(part))
            .collect();
        tree.fill(&top, &real, false)?;
        let directory = tree.copied(&original);
        let links = build.links.iter();
        let links = links.map(|(name, target)| place(&directory.join(name), target, restrictor));
        let links = links.collect::<io::Result<_>>()?;
        Ok(Self {
            root,
            directory,
            links,
        })
    }

    /// Names the originals where a text names what is in the copy.
    pub(super) fn in_words_of_the_user(&self, text: &[u8]) -> String {
        let mut text = String::from_utf8_lossy(text).into_owned();
        for (link, target) in &self.links {
            let target = target.to_string_lossy();
            text = text.replace(link.to_string_lossy().as_ref(), &target);
            if let Some(name) = link.file_name() {
                text = text.replace(name.to_string_lossy().as_ref(), &target);
            }
        }
        let real = fs::canonicalize(self.root.path()).unwrap_or_default();
        for root in [real.as_path(), self.root.path()] {
            if root.file_name().is_some() {
                text = text.replace(root.to_string_lossy().as_ref(), "");
            }
        }
        match std::env::current_dir() {
            Ok(here) if here.file_name().is_some() => {
                text.replace(&format!("{}/", here.display()), "")
            }
            _ => text,
        }
    }
}

/// Makes `here` what `target` is: a copy of a file that may be read, or else a link. Returns the
/// directories that both are in.
fn place(here: &Path, target: &str, restrictor: LoadRestrictor) -> io::Result<(PathBuf, PathBuf)> {
    let target = Path::new(target);
    let folder = |path: &Path| path.parent().unwrap_or(Path::new(".")).to_owned();
    let (link_folder, mut target_folder) = (folder(here), folder(target));
    if target_folder.as_os_str().is_empty() {
        target_folder.push(".");
    }
    fs::create_dir_all(&link_folder)?;
    // What is not there, kustomize misses at its place.
    if let Ok(real) = fs::canonicalize(target) {
        if real.is_file() && restrictor == LoadRestrictor::RootOnly {
            fs::copy(real, here)?;
        } else {
            link(&real, here)?;
        }
    }
    Ok((link_folder, fs::canonicalize(target_folder)?))
}

/// Fills the copies of directories, and counts what is copied.
struct Tree<'t> {
    /// The copy of the root of the file system.
    root: &'t Path,
    restrictor: LoadRestrictor,
    /// The directories to copy. Of each, the names that do not come from the original, with the
    /// texts of those that are files.
    places: BTreeMap<PathBuf, BTreeMap<&'t str, Option<&'t str>>>,
    files: usize,
    bytes: u64,
}

impl<'t> Tree<'t> {
    const fn new(root: &'t Path, restrictor: LoadRestrictor) -> Self {
        Self {
            root,
            restrictor,
            places: BTreeMap::new(),
            files: 0,
            bytes: 0,
        }
    }

    /// Has a directory copied, with other files in it.
    fn add(
        &mut self,
        directory: PathBuf,
        files: impl IntoIterator<Item = (&'t str, Option<&'t str>)>,
    ) {
        self.places.entry(directory).or_default().extend(files);
    }

    /// Where the copy of a path is.
    fn copied(&self, original: &Path) -> PathBuf {
        let names = original.components();
        let names = names.filter(|part| matches!(part, Component::Normal(_)));
        self.root.join(names.collect::<PathBuf>())
    }

    /// Fills the copy of a directory: with the files that are new in it, with copies of directories
    /// on the way to another place, and with the rest of what is there: as copies if `is_inside` a
    /// place, or else as links.
    fn fill(&mut self, original: &Path, copied: &Path, is_inside: bool) -> io::Result<()> {
        let mut except: BTreeSet<OsString> = BTreeSet::new();
        if let Some(files) = self.places.get(original) {
            except.extend(files.keys().map(OsString::from));
            if files.keys().any(|name| KUSTOMIZATIONS.contains(name)) {
                except.extend(KUSTOMIZATIONS.map(OsString::from));
            }
            for (name, text) in files {
                if let Some(text) = text {
                    fs::write(copied.join(name), text)?;
                }
            }
        }
        if is_inside {
            return self.copy_all(original, copied, &except);
        }
        let below = self.places.keys();
        let below = below.filter_map(|place| place.strip_prefix(original).ok()?.iter().next());
        let further: BTreeSet<OsString> = below.map(OsStr::to_owned).collect();
        except.extend(further.iter().cloned());
        link_all(original, copied, &except)?;
        for name in further {
            let (original, copied) = (original.join(&name), copied.join(&name));
            fs::create_dir(&copied)?;
            let is_inside =
                self.restrictor == LoadRestrictor::RootOnly && self.places.contains_key(&original);
            self.fill(&original, &copied, is_inside)?;
        }
        Ok(())
    }

    /// Copies what is in a directory, but for some names. What cannot be read is left out: nothing
    /// in it may be needed.
    fn copy_all(
        &mut self,
        original: &Path,
        copied: &Path,
        except: &BTreeSet<OsString>,
    ) -> io::Result<()> {
        let Ok(entries) = fs::read_dir(original) else {
            return Ok(());
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            if except.contains(&name) || name == NOT_COPIED {
                continue;
            }
            let (from, to, kind) = (entry.path(), copied.join(&name), entry.file_type()?);
            if kind.is_dir() {
                fs::create_dir(&to)?;
                self.fill(&from, &to, true)?;
            } else if kind.is_symlink() {
                self.link(&from, &to)?;
            } else if kind.is_file() {
                self.count(entry.metadata()?.len())?;
                // What may not be read may not be needed.
                let _ = fs::copy(&from, &to);
            }
        }
        Ok(())
    }

    /// Links what another link leads to; the copy of it, if there is one.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let Ok(target) = fs::canonicalize(from) else {
            return Ok(());
        };
        if self.places.keys().any(|place| target.starts_with(place)) {
            link(&self.copied(&target), to)
        } else {
            link(&target, to)
        }
    }

    fn count(&mut self, length: u64) -> io::Result<()> {
        self.files += 1;
        self.bytes += length;
        if self.files <= MAX_FILES && self.bytes <= MAX_BYTES {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "it has more than {MAX_FILES} files or {} MiB, which is too much to copy: move the Kustomization to its own directory, or allow all files with `--load-restrictor LoadRestrictionsNone`",
            MAX_BYTES >> 20
        )))
    }
}

/// Links what is in a directory, but for some names. A directory that cannot be listed is left out:
/// nothing in it may be needed.
fn link_all(from: &Path, to: &Path, except: &BTreeSet<OsString>) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(from) else {
        return Ok(());
    };
    for entry in entries {
        let name = entry?.file_name();
        if !except.contains(&name) {
            link(&from.join(&name), &to.join(&name))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(original: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(original, link)
}

#[cfg(windows)]
fn link(original: &Path, link: &Path) -> io::Result<()> {
    if original.is_dir() {
        std::os::windows::fs::symlink_dir(original, link)
    } else {
        std::os::windows::fs::symlink_file(original, link)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{LoadRestrictor, MAX_BYTES, MAX_FILES, Tree};

    #[test]
    fn only_so_much_is_copied() {
        let mut tree = Tree::new(Path::new("to"), LoadRestrictor::RootOnly);
        tree.files = MAX_FILES - 1;
        tree.count(1).unwrap();
        tree.count(1).unwrap_err();
        let mut tree = Tree::new(Path::new("to"), LoadRestrictor::RootOnly);
        tree.count(MAX_BYTES).unwrap();
        tree.count(1).unwrap_err();
    }
}
