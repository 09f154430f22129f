//! Checks a file store, and brings out what is whole.
//!
//! Neither changes the file. If its index is not readable, its bytes are searched for records.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bytes::Bytes;

use super::contents::{Contents, GAP};
use super::disk::{Check, Disk, create_with, read_unchanged, unavailable};
use super::objects::Entry;
use super::overlay::Overlay;
use super::record::{Kind, Record, scan};
use super::types::{Error, Revision};

/// The state of a file store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The number of whole objects.
    pub objects: usize,
    /// The keys of damaged objects.
    pub damaged: Vec<String>,
    /// Why a part of the file that is not an object is damaged; for a salvage, why the index was
    /// not readable.
    pub index: Option<String>,
}

/// Checks all pages and objects of a file that no server uses.
///
/// # Errors
///
/// [`Error::Unavailable`] if the objects cannot be read.
pub fn check(path: &Path) -> Result<Report, Error> {
    let is_free = Overlay::open(path).map(drop);
    is_free.map_err(|error| unavailable(path, &error))?;
    match read_unchanged(path, Check::Pages) {
        Ok(contents) => Ok(Report::of(&contents, None)),
        Err(index) => {
            let contents = read_unchanged(path, Check::Objects);
            let contents = contents.map_err(|error| unavailable(path, &error))?;
            Ok(Report::of(&contents, Some(index.to_string())))
        }
    }
}

/// Writes the whole objects of a file that no server uses into a new file. Damaged objects whose
/// keys are known stay damaged in the new file.
///
/// # Errors
///
/// [`Error::Unavailable`] if there are none, or if the new file exists or cannot be written.
pub fn salvage(from: &Path, to: &Path) -> Result<Report, Error> {
    let is_free = Overlay::open(from).map(drop);
    is_free.map_err(|error| unavailable(from, &error))?;
    let (contents, index) = match read_unchanged(from, Check::Objects) {
        Ok(contents) => (contents, None),
        Err(error) => {
            let bytes = Overlay::open(from).and_then(|file| file.bytes());
            let bytes = bytes.map_err(|error| unavailable(from, &error))?;
            (found(&bytes), Some(error.to_string()))
        }
    };
    if index.is_some() && contents.entries.is_empty() {
        return Err(unavailable(from, &"no object is whole"));
    }
    create_with(to, &contents).map_err(|error| unavailable(to, &error))?;
    Ok(Report::of(&contents, index))
}

/// Gives the unused space of a file that no server uses back to the disk. Returns its sizes before
/// and after.
///
/// # Errors
///
/// [`Error::Unavailable`] if the file is damaged or cannot be written.
pub fn compact(path: &Path) -> Result<(u64, u64), Error> {
    let size = || fs::metadata(path).map(|metadata| metadata.len());
    let before = size().map_err(|error| unavailable(path, &error))?;
    let (disk, _) = Disk::open(path, Check::Pages)?;
    disk.compact()?;
    let after = size().map_err(|error| unavailable(path, &error))?;
    Ok((before, after))
}

impl Report {
    fn of(contents: &Contents, index: Option<String>) -> Self {
        let damaged = contents.damaged();
        Self { objects: contents.entries.len() - damaged.len(), damaged, index }
    }

    /// Returns `true` if nothing is damaged.
    pub const fn is_whole(&self) -> bool {
        self.damaged.is_empty() && self.index.is_none()
    }
}

/// Finds the objects in the bytes of a file whose index is not readable.
fn found(bytes: &[u8]) -> Contents {
    let mut contents = Contents::default();
    let mut states = BTreeMap::new();
    scan(bytes, |record| {
        contents.revision = contents.revision.max(record.revision);
        if record.kind != Kind::Last {
            State::add(&mut states, &record);
        }
    });
    contents.revision = contents.revision.saturating_add(GAP);
    for (key, State { entry, .. }) in states {
        if let Some(entry) = entry {
            contents.entries.insert(key, entry);
        }
    }
    contents
}

/// The newest known state of a key.
struct State {
    revision: Revision,
    /// `None` if it is deleted.
    entry: Option<Entry>,
}

impl State {
    /// Adds a record. An event without the object of its revision means that the object is lost.
    fn add(states: &mut BTreeMap<String, Self>, record: &Record<'_>) {
        let Record { revision, kind, .. } = *record;
        let entry = match kind {
            Kind::Object => Some(Entry::whole(Bytes::copy_from_slice(record.value), revision)),
            Kind::Lost | Kind::Created | Kind::Updated => Some(Entry::damaged(revision)),
            Kind::Deleted | Kind::Last => None,
        };
        let is_whole = kind == Kind::Object;
        match states.get_mut(record.key) {
            None => _ = states.insert(record.key.to_owned(), Self { revision, entry }),
            Some(known)
                if known.revision < revision || (known.revision == revision && is_whole) =>
            {
                *known = Self { revision, entry };
            }
            Some(_) => {}
        }
    }
}
