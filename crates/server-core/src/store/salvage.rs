//! Checks a file store, and recovers undamaged objects.
//!
//! Neither changes the file. If its index is not readable, its bytes are searched for records.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bytes::Bytes;

use super::contents::{Contents, GAP};
use super::disk::{Check, Disk, create_with, read_copy, read_file, unavailable};
use super::objects::Entry;
use super::record::{Kind, scan};
use super::types::Error;

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
    let bytes = || read_file(path).map_err(|error| unavailable(path, &error));
    match read_copy(bytes()?, Check::Pages) {
        Ok(contents) => Ok(Report::of(&contents, None)),
        Err(index) => {
            let contents = read_copy(bytes()?, Check::Objects);
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
    let bytes = || read_file(from).map_err(|error| unavailable(from, &error));
    let (contents, index) = match read_copy(bytes()?, Check::Objects) {
        Ok(contents) => (contents, None),
        Err(error) => (found(&bytes()?), Some(error.to_string())),
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

/// Finds the objects in the bytes of a file whose index is not readable. An event without the object
/// of its revision means that the object is lost.
fn found(bytes: &[u8]) -> Contents {
    let mut contents = Contents::default();
    let mut newest = BTreeMap::new();
    scan(bytes, |record| {
        let revision = record.revision;
        contents.revision = contents.revision.max(revision);
        let entry = match record.kind {
            Kind::Object => Some(Entry::whole(Bytes::copy_from_slice(record.value), revision)),
            Kind::Lost | Kind::Created | Kind::Updated => Some(Entry::damaged(revision)),
            Kind::Deleted => None,
            Kind::Last => return,
        };
        let rank = (revision, record.kind == Kind::Object);
        let known = newest.entry(record.key.to_owned()).or_insert((rank, None));
        if known.0 <= rank {
            *known = (rank, entry);
        }
    });
    contents.revision = contents.revision.saturating_add(GAP);
    let entries = newest.into_iter().filter_map(|(key, (_, entry))| Some((key, entry?)));
    contents.entries.extend(entries);
    contents
}
