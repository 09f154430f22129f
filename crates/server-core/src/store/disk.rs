//! The tables of a file store.
//!
//! An event keeps the value *before* its change. The value after it is in the next event of the key
//! or, for the last event, in the objects. So each value is in the file once.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use jiff::Timestamp;
use redb::{
    Database, DatabaseError, ReadableDatabase, ReadableTable, Table, TableDefinition,
    WriteTransaction,
};
use tempfile::NamedTempFile;

use super::feed::{KeyChange, MAX_EVENT_BYTES, MAX_EVENTS};
use super::objects::Entry;
use super::types::{Error, Item, Revision};

/// Key → the revision that wrote the value, and the value.
const OBJECTS: TableDefinition<&str, (u64, &[u8])> = TableDefinition::new("objects");

/// Revision → seconds since 1970, key, whether the key exists after it, and the value before it.
const EVENTS: TableDefinition<u64, StoredEvent> = TableDefinition::new("events");

type StoredEvent = (i64, &'static str, bool, Option<&'static [u8]>);

/// The values of [`FORMAT_KEY`] and [`REVISION_KEY`].
const META: TableDefinition<&str, u64> = TableDefinition::new("meta");

const FORMAT_KEY: &str = "format";
const REVISION_KEY: &str = "revision";

/// The version of the table layout.
const FORMAT: u64 = 1;

/// How long events are kept: one day.
const EVENT_SECONDS: i64 = 24 * 60 * 60;

/// The cache size of `redb`. It is small because everything is in memory, too.
const CACHE_BYTES: usize = 4 << 20;

#[derive(Debug)]
pub(super) struct Disk {
    path: PathBuf,
    database: Database,
    /// The events in the file, oldest first.
    kept: VecDeque<Kept>,
    kept_bytes: usize,
}

#[derive(Debug)]
struct Kept {
    revision: Revision,
    seconds: i64,
    bytes: usize,
}

/// The contents of a file.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) entries: BTreeMap<String, Entry>,
    pub(super) revision: Revision,
    /// The last changes, oldest first.
    pub(super) changes: Vec<KeyChange>,
}

impl Disk {
    /// Opens a file for this process alone, or creates it with mode 0600.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] says why the file cannot be used.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let failed = |error: &dyn std::fmt::Display| unavailable(path, error);
        create(path)?;
        let database = builder().create(path).map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen => failed(&"another process uses the file"),
            error => failed(&error),
        })?;
        let path = path.to_owned();
        let mut disk = Self {
            path,
            database,
            kept: VecDeque::new(),
            kept_bytes: 0,
        };
        disk.prepare().map_err(|error| failed(&error))?;
        let format = disk.meta(FORMAT_KEY).map_err(|error| failed(&error))?;
        if format != FORMAT {
            return Err(failed(&format_args!(
                "its format is {format}, expected {FORMAT}"
            )));
        }
        Ok(disk)
    }

    /// Returns the revision of the last durable change.
    pub(super) fn revision(&self) -> Result<Revision, Error> {
        self.meta(REVISION_KEY)
            .map_err(|error| unavailable(&self.path, &error))
    }

    pub(super) fn contents(&self) -> Result<Contents, Error> {
        self.read().map_err(|error| unavailable(&self.path, &error))
    }

    /// Commits all changes or none. After an error, the outcome is unknown and the file must be
    /// reopened.
    pub(super) fn append(&mut self, changes: &[KeyChange]) -> Result<(), Error> {
        self.commit(changes)
            .map_err(|error| unavailable(&self.path, &error))
    }

    /// Creates the tables of a new file, or counts the events of an existing one.
    fn prepare(&mut self) -> Result<(), redb::Error> {
        let transaction = self.database.begin_write()?;
        let is_new = {
            transaction.open_table(OBJECTS)?;
            let mut meta = transaction.open_table(META)?;
            let is_new = meta.get(FORMAT_KEY)?.is_none();
            if is_new {
                meta.insert(FORMAT_KEY, FORMAT)?;
                meta.insert(REVISION_KEY, 0)?;
            }
            for event in transaction.open_table(EVENTS)?.iter()? {
                let (revision, event) = event?;
                let (seconds, key, _, before) = event.value();
                let bytes = key.len() + before.map_or(0, <[u8]>::len);
                self.kept.push_back(Kept {
                    revision: revision.value(),
                    seconds,
                    bytes,
                });
                self.kept_bytes += bytes;
            }
            is_new
        };
        if is_new {
            transaction.commit()?;
        } else {
            transaction.abort()?;
        }
        Ok(())
    }

    fn meta(&self, key: &str) -> Result<u64, redb::Error> {
        let meta = self.database.begin_read()?.open_table(META)?;
        Ok(meta.get(key)?.map_or(0, |number| number.value()))
    }

    fn read(&self) -> Result<Contents, redb::Error> {
        let transaction = self.database.begin_read()?;
        let mut entries = BTreeMap::new();
        for object in transaction.open_table(OBJECTS)?.iter()? {
            let (key, object) = object?;
            let (revision, value) = object.value();
            let value = Bytes::copy_from_slice(value);
            entries.insert(key.value().to_owned(), Entry { value, revision });
        }
        // The values of keys before the event that was read last.
        let mut earlier: BTreeMap<String, Option<Bytes>> = BTreeMap::new();
        let mut changes = Vec::new();
        for event in transaction.open_table(EVENTS)?.iter()?.rev() {
            let (revision, event) = event?;
            let (_, key, exists, before) = event.value();
            let (key, revision) = (key.to_owned(), revision.value());
            let before = before.map(Bytes::copy_from_slice);
            let now = entries.get(&key).map(|entry| entry.value.clone());
            let after = earlier.insert(key.clone(), before.clone()).unwrap_or(now);
            changes.push(match (exists, before, after) {
                (true, before, Some(value)) => KeyChange::Put(
                    Item {
                        key,
                        value,
                        revision,
                    },
                    before,
                ),
                (false, Some(value), _) => KeyChange::Delete(Item {
                    key,
                    value,
                    revision,
                }),
                _ => {
                    return Err(redb::Error::Corrupted(format!(
                        "event {revision} has no value"
                    )));
                }
            });
        }
        changes.reverse();
        Ok(Contents {
            entries,
            revision: self.meta(REVISION_KEY)?,
            changes,
        })
    }

    fn commit(&mut self, changes: &[KeyChange]) -> Result<(), redb::Error> {
        let seconds = Timestamp::now().as_second();
        let transaction = self.database.begin_write()?;
        self.write(&transaction, changes, seconds)?;
        transaction.commit()?;
        Ok(())
    }

    fn write(
        &mut self,
        transaction: &WriteTransaction,
        changes: &[KeyChange],
        seconds: i64,
    ) -> Result<(), redb::Error> {
        let mut objects = transaction.open_table(OBJECTS)?;
        let mut events = transaction.open_table(EVENTS)?;
        for change in changes {
            let item = change.item();
            let key = item.key.as_str();
            let (exists, before) = match change {
                KeyChange::Put(item, before) => {
                    objects.insert(key, (item.revision, item.value.as_ref()))?;
                    (true, before.as_deref())
                }
                KeyChange::Delete(item) => {
                    objects.remove(key)?;
                    (false, Some(item.value.as_ref()))
                }
            };
            events.insert(item.revision, (seconds, key, exists, before))?;
            let bytes = key.len() + before.map_or(0, <[u8]>::len);
            self.kept.push_back(Kept {
                revision: item.revision,
                seconds,
                bytes,
            });
            self.kept_bytes += bytes;
            transaction
                .open_table(META)?
                .insert(REVISION_KEY, item.revision)?;
        }
        self.forget(&mut events, seconds)
    }

    /// Removes the oldest events beyond the limits.
    fn forget(
        &mut self,
        events: &mut Table<'_, u64, StoredEvent>,
        now: i64,
    ) -> Result<(), redb::Error> {
        while let Some(oldest) = self.kept.front() {
            let too_many = self.kept.len() > MAX_EVENTS
                || (self.kept_bytes > MAX_EVENT_BYTES && self.kept.len() > 1);
            if !too_many && now.saturating_sub(oldest.seconds) <= EVENT_SECONDS {
                break;
            }
            events.remove(oldest.revision)?;
            self.kept_bytes -= oldest.bytes;
            self.kept.pop_front();
        }
        Ok(())
    }
}

/// Creates the file with mode 0600. It gets its name once it is a valid database, so a crash never
/// leaves an invalid file at `path`.
fn create(path: &Path) -> Result<(), Error> {
    let failed = |error: &dyn std::fmt::Display| unavailable(path, error);
    if path.try_exists().map_err(|error| failed(&error))? {
        return Ok(());
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let new = NamedTempFile::new_in(folder).map_err(|error| failed(&error))?;
    builder()
        .create(new.path())
        .map_err(|error| failed(&error))?;
    match new.persist_noclobber(path) {
        Ok(_) => {}
        // Another process has created it meanwhile.
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(failed(&error.error)),
    }
    let folder = File::open(folder).and_then(|folder| folder.sync_all());
    folder.map_err(|error| failed(&error))
}

fn builder() -> redb::Builder {
    let mut builder = redb::Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

fn unavailable(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::Unavailable(format!("{}: {why}", path.display()))
}
