//! The tables of format 1, which had no checksums. Opening a file replaces them.

use bytes::Bytes;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

use super::contents::{CHANGES, Contents, FORMAT, FORMAT_KEY, META, RECORDS};
use super::objects::Entry;

/// The version of these tables.
pub(super) const FORMER: u64 = 1;

/// Key → the revision that wrote the value, and the value.
const OBJECTS: TableDefinition<&str, (u64, &[u8])> = TableDefinition::new("objects");

type Event = (i64, &'static str, bool, Option<&'static [u8]>);

const EVENTS: TableDefinition<u64, Event> = TableDefinition::new("events");

const REVISION_KEY: &str = "revision";

/// Replaces the tables by those of the current format, without the events: watches start again.
pub(super) fn upgrade(database: &Database) -> Result<(), redb::Error> {
    let contents = read(database)?;
    let mut transaction = database.begin_write()?;
    transaction.set_quick_repair(true);
    transaction.delete_table(OBJECTS)?;
    transaction.delete_table(EVENTS)?;
    transaction.open_table(CHANGES)?;
    contents.insert(&mut transaction.open_table(RECORDS)?)?;
    {
        let mut meta = transaction.open_table(META)?;
        meta.remove(REVISION_KEY)?;
        meta.insert(FORMAT_KEY, FORMAT)?;
    }
    transaction.commit()?;
    Ok(())
}

fn read(database: &Database) -> Result<Contents, redb::Error> {
    let transaction = database.begin_read()?;
    let mut contents = Contents::default();
    let meta = transaction.open_table(META)?;
    let revision = meta.get(REVISION_KEY)?;
    contents.revision = revision.map_or(0, |revision| revision.value());
    for row in transaction.open_table(OBJECTS)?.iter()? {
        let (key, object) = row?;
        let (revision, value) = object.value();
        let entry = Entry::whole(Bytes::copy_from_slice(value), revision);
        contents.entries.insert(key.value().to_owned(), entry);
    }
    Ok(contents)
}
