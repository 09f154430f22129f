//! The contents of a file store: reading its tables, and writing them into a new file.
//!
//! An event keeps the value *before* its change. The value after it is in the next event of the key
//! or, for the last event, in the objects. So each value is in the file once.

use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use redb::{ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};

use super::feed::KeyChange;
use super::objects::Entry;
use super::record::{Kind, Record};
use super::types::{Item, Revision};

/// Key → record of the object. The empty key has the record of the last revision.
pub(super) const RECORDS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("records");

/// Revision → record of the event.
pub(super) const CHANGES: TableDefinition<u64, &[u8]> = TableDefinition::new("changes");

/// The values of [`FORMAT_KEY`].
pub(super) const META: TableDefinition<&str, u64> = TableDefinition::new("meta");

pub(super) const FORMAT_KEY: &str = "format";

/// The version of the table layout.
pub(super) const FORMAT: u64 = 2;

/// The number of revisions that are skipped if the last one is not known for sure.
pub(super) const GAP: Revision = 1_000;

/// The cache size of `redb`. It is small because everything is in memory, too.
const CACHE_BYTES: usize = 4 << 20;

/// The contents of a file.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) entries: BTreeMap<String, Entry>,
    pub(super) revision: Revision,
    /// The last changes, oldest first.
    pub(super) changes: Vec<KeyChange>,
    /// Whether an object is not where the index has its key.
    pub(super) is_misplaced: bool,
}

impl Contents {
    /// Reads the tables. Objects that are damaged are marked.
    pub(super) fn read(database: &impl ReadableDatabase) -> Result<Self, redb::Error> {
        let transaction = database.begin_read()?;
        let records = transaction.open_table(RECORDS)?;
        let mut contents = Self::default();
        let (mut count, mut last) = (0, None);
        for row in records.iter()? {
            let (key, record) = row?;
            count += 1;
            match (key.value(), Record::decode(record.value())) {
                (b"", record) => last = record.map(|record| record.revision),
                (key, record) => contents.take(key, record),
            }
        }
        let expected = records.len()?;
        if count != expected {
            let why = format!("the index has {count} of {expected} objects");
            return Err(redb::Error::Corrupted(why));
        }
        let newest = contents.entries.values().map(|entry| entry.revision).max();
        let newest = newest.unwrap_or_default();
        contents.revision = last.map_or(newest.saturating_add(GAP), |last| last.max(newest));
        let rows = transaction.open_table(CHANGES)?;
        let mut changes = Changes::new(&contents.entries);
        for row in rows.iter()?.rev() {
            let (revision, record) = row?;
            let record = Record::decode(record.value());
            let record = record.filter(|record| record.revision == revision.value());
            // Without this event, the earlier ones are not known either.
            if record.is_none_or(|record| !changes.add(&record)) {
                break;
            }
        }
        contents.changes = changes.oldest_first();
        Ok(contents)
    }

    /// Adds the object of a row. Its record knows its key, unless the record is damaged.
    fn take(&mut self, key: &[u8], record: Option<Record<'_>>) {
        let (key, entry) = match record {
            Some(record) if matches!(record.kind, Kind::Object | Kind::Lost) => {
                self.is_misplaced |= key != record.key.as_bytes();
                (record.key.to_owned(), Entry::of(&record))
            }
            _ => (String::from_utf8_lossy(key).into_owned(), Entry::damaged(0)),
        };
        self.add(key, entry);
    }

    /// Adds an object. Of several with one key, the newest one counts.
    pub(super) fn add(&mut self, key: String, entry: Entry) {
        if let Some(known) = self.entries.get_mut(&key) {
            self.is_misplaced = true;
            if known.revision < entry.revision {
                *known = entry;
            }
        } else {
            self.entries.insert(key, entry);
        }
    }

    /// Returns the keys of the damaged objects.
    pub(super) fn damaged(&self) -> Vec<String> {
        let damaged = self.entries.iter().filter(|(_, entry)| entry.is_damaged);
        damaged.map(|(key, _)| key.clone()).collect()
    }

    /// Writes the objects into a file that is not a database yet. The events are left out.
    pub(super) fn write(&self, path: &Path) -> Result<(), redb::Error> {
        let database = builder().create(path)?;
        let mut transaction = database.begin_write()?;
        transaction.set_quick_repair(true);
        transaction.open_table(META)?.insert(FORMAT_KEY, FORMAT)?;
        transaction.open_table(CHANGES)?;
        self.insert(&mut transaction.open_table(RECORDS)?)?;
        transaction.commit()?;
        Ok(())
    }

    /// Inserts the objects and the last revision.
    pub(super) fn insert(
        &self,
        records: &mut redb::Table<'_, &'static [u8], &'static [u8]>,
    ) -> Result<(), redb::Error> {
        let last = Record::last(self.revision);
        records.insert(last.key.as_bytes(), last.encode().as_slice())?;
        for (key, entry) in &self.entries {
            let record = entry.record(key).encode();
            records.insert(key.as_bytes(), record.as_slice())?;
        }
        Ok(())
    }
}

impl Entry {
    fn of(record: &Record<'_>) -> Self {
        Self {
            value: Bytes::copy_from_slice(record.value),
            revision: record.revision,
            is_damaged: record.kind == Kind::Lost,
        }
    }

    fn record<'r>(&'r self, key: &'r str) -> Record<'r> {
        let kind = if self.is_damaged { Kind::Lost } else { Kind::Object };
        Record { kind, revision: self.revision, seconds: 0, key, value: &self.value }
    }
}

/// Events that are read from the last one back.
struct Changes<'e> {
    entries: &'e BTreeMap<String, Entry>,
    /// The values of keys before the event that was read last.
    earlier: BTreeMap<String, Option<Bytes>>,
    newest_first: Vec<KeyChange>,
}

impl<'e> Changes<'e> {
    const fn new(entries: &'e BTreeMap<String, Entry>) -> Self {
        Self { entries, earlier: BTreeMap::new(), newest_first: Vec::new() }
    }

    /// Adds the event before those that are known. Returns `false` if its value is not known.
    fn add(&mut self, record: &Record<'_>) -> bool {
        let key = record.key.to_owned();
        let value = Bytes::copy_from_slice(record.value);
        let before = (record.kind != Kind::Created).then_some(value);
        let now = self.entries.get(&key).filter(|entry| !entry.is_damaged);
        let now = now.map(|entry| entry.value.clone());
        let after = self.earlier.insert(key.clone(), before.clone());
        let item = |value| Item { key, value, revision: record.revision };
        let change = match (record.kind, before, after.unwrap_or(now)) {
            (Kind::Created | Kind::Updated, before, Some(value)) => {
                KeyChange::Put(item(value), before)
            }
            (Kind::Deleted, Some(value), _) => KeyChange::Delete(item(value)),
            _ => return false,
        };
        self.newest_first.push(change);
        true
    }

    fn oldest_first(mut self) -> Vec<KeyChange> {
        self.newest_first.reverse();
        self.newest_first
    }
}

/// Returns the options of all databases.
pub(super) fn builder() -> redb::Builder {
    let mut builder = redb::Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}
