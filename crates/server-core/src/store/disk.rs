//! The file of a file store.
//!
//! `redb` has a checksum for each page and commits in two phases, so damage never looks like a
//! commit that was cut off, which `redb` would roll back. Its pages are verified when a file is
//! opened. Each object has a checksum of its own, which says what is damaged.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use redb::backends::InMemoryBackend;
use redb::{
    Database, ReadableDatabase, ReadableTable, StorageBackend as _, Table, WriteTransaction,
};
use tempfile::NamedTempFile;

use super::contents::{CHANGES, Contents, FORMAT, FORMAT_KEY, META, RECORDS, builder};
use super::feed::KeyChange;
use super::guard;
use super::record::{Kind, Record};
use super::types::{Error, Item, Revision};

/// How long events are kept: one day.
const EVENT_SECONDS: i64 = 24 * 60 * 60;

/// The size of a file whose check can take long, in bytes.
const LARGE: u64 = 64 << 20;

/// Whether a file is verified when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// All pages are verified.
    Pages,
    /// Only the objects are verified.
    Objects,
}

#[derive(Debug)]
pub(super) struct Disk {
    path: PathBuf,
    database: Database,
    identity: Identity,
}

/// The device and the number of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity(u64, u64);

impl Identity {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self(metadata.dev(), metadata.ino()))
    }

    /// Checks that the file is still at its path.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] if it was removed or replaced.
    pub(super) fn check(self, path: &Path) -> Result<(), Error> {
        match Self::of(path) {
            Ok(now) if now == self => Ok(()),
            Ok(_) => Err(unavailable(
                path,
                &"the file was replaced while the server runs; restart the server",
            )),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(unavailable(
                path,
                &"the file was removed while the server runs; put it back, or restart the server",
            )),
            Err(error) => Err(unavailable(path, &error)),
        }
    }
}

impl Disk {
    /// Opens a file for this process alone, or creates it with mode 0600.
    ///
    /// A file whose index is damaged but readable is replaced by a sound one. The damaged file is
    /// kept beside it.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] says why the file cannot be used.
    pub(super) fn open(path: &Path, check: Check) -> Result<(Self, Contents), Error> {
        create(path)?;
        let bytes = fs::metadata(path).map_or(0, |metadata| metadata.len());
        if check == Check::Pages && bytes > LARGE {
            let path = path.display();
            tracing::info!(%path, bytes, "checking the store; --skip-store-check skips this");
        }
        let why = match Self::open_existing(path, check) {
            Ok((disk, contents)) if !contents.is_misplaced => return Ok((disk, contents)),
            Ok(_) => "objects are not where the index has them".to_owned(),
            Err(redb::Error::Corrupted(why)) => why,
            Err(error) => return Err(refused(path, &error)),
        };
        let bytes = read_file(path).map_err(|error| unavailable(path, &error))?;
        let contents = read_copy(bytes, Check::Objects);
        let contents = contents.map_err(|_| damaged(path, &why))?;
        replace(path, &contents).map_err(|error| damaged(path, &format!("{why}; {error}")))?;
        tracing::error!(
            path = %path.display(),
            damaged = contents.damaged().len(),
            why,
            "the store was damaged and is replaced by what is whole; the damaged file is kept"
        );
        Self::open_existing(path, check).map_err(|error| refused(path, &error))
    }

    /// Opens the file again after an error.
    pub(super) fn reopen(path: &Path) -> Result<Self, Error> {
        let opened = Self::open_existing(path, Check::Objects);
        opened.map(|(disk, _)| disk).map_err(|error| refused(path, &error))
    }

    fn open_existing(path: &Path, check: Check) -> Result<(Self, Contents), redb::Error> {
        guard::quietly(|| {
            let mut builder = builder();
            builder.set_check_integrity_on_open(check == Check::Pages);
            let database = builder.open(path)?;
            supported(&database)?;
            let contents = Contents::read(&database)?;
            let identity = Identity::of(path)?;
            Ok((Self { path: path.to_owned(), database, identity }, contents))
        })
    }

    pub(super) const fn identity(&self) -> Identity {
        self.identity
    }

    /// Returns the revision of the last durable change.
    pub(super) fn revision(&self) -> Result<Revision, Error> {
        let last = || {
            let records = self.database.begin_read()?.open_table(RECORDS)?;
            let last = records.get([].as_slice())?;
            let last = last.and_then(|last| Record::decode(last.value()).map(|last| last.revision));
            last.ok_or_else(|| redb::Error::Corrupted("the last revision is damaged".to_owned()))
        };
        guard::caught(last).map_err(|error| unavailable(&self.path, &error))
    }

    /// Commits all changes or none, and removes the events up to a revision. After an error, the
    /// outcome is unknown and the file must be reopened.
    pub(super) fn append(&self, changes: &[KeyChange], forgotten: Revision) -> Result<(), Error> {
        let commit = || {
            let transaction = self.begin()?;
            self.write(&transaction, changes, forgotten)?;
            transaction.commit()?;
            Ok(())
        };
        guard::caught(commit).map_err(|error| unavailable(&self.path, &error))
    }

    /// Commits a revision without a change: the next change gets a greater one.
    pub(super) fn advance(&self, revision: Revision) -> Result<(), Error> {
        let advance = || {
            let transaction = self.begin()?;
            last(&mut transaction.open_table(RECORDS)?, revision)?;
            transaction.commit()?;
            Ok(())
        };
        guard::caught(advance).map_err(|error| unavailable(&self.path, &error))
    }

    /// Gives unused space back to the file system.
    pub(super) fn compact(mut self) -> Result<(), Error> {
        let compacted = guard::caught(|| {
            while self.database.compact()? {}
            Ok(())
        });
        compacted.map_err(|error| unavailable(&self.path, &error))
    }

    /// Begins a transaction that commits in two phases, with all that opening the file needs.
    fn begin(&self) -> Result<WriteTransaction, redb::Error> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_quick_repair(true);
        Ok(transaction)
    }

    fn write(
        &self,
        transaction: &WriteTransaction,
        changes: &[KeyChange],
        forgotten: Revision,
    ) -> Result<(), redb::Error> {
        let seconds = Timestamp::now().as_second();
        let mut records = transaction.open_table(RECORDS)?;
        let mut events = transaction.open_table(CHANGES)?;
        for change in changes {
            self.write_object(&mut records, change)?;
            let event = event(change, seconds);
            events.insert(event.revision, event.encode().as_slice())?;
        }
        if let Some(change) = changes.last() {
            last(&mut records, change.item().revision)?;
        }
        // Those that no watch can begin from, and those of more than a day ago.
        loop {
            let oldest = events.first()?.map(|(revision, record)| {
                let at = Record::decode(record.value()).map_or(0, |record| record.seconds);
                (revision.value(), seconds.saturating_sub(at) > EVENT_SECONDS)
            });
            match oldest {
                Some((revision, is_old)) if is_old || revision <= forgotten => {
                    events.remove(revision)?;
                }
                _ => return Ok(()),
            }
        }
    }

    /// Writes or removes an object, which the index must have if it existed before.
    fn write_object(
        &self,
        records: &mut Table<'_, &'static [u8], &'static [u8]>,
        change: &KeyChange,
    ) -> Result<(), redb::Error> {
        let Item { key, value, revision } = change.item();
        let (found, expected) = match change {
            KeyChange::Put(_, before) => {
                let record =
                    Record { kind: Kind::Object, revision: *revision, seconds: 0, key, value };
                let found = records.insert(key.as_bytes(), record.encode().as_slice())?;
                (found.is_some(), before.is_some())
            }
            KeyChange::Delete(_) => (records.remove(key.as_bytes())?.is_some(), true),
        };
        if found == expected {
            return Ok(());
        }
        Err(redb::Error::Corrupted(format!(
            "the index does not have `{key}` at its place; stop the server and run \
             `krm-template-server store salvage {} NEW`",
            self.path.display()
        )))
    }
}

/// Returns the record of an event.
fn event(change: &KeyChange, seconds: i64) -> Record<'_> {
    let item = change.item();
    let (kind, value) = match change {
        KeyChange::Put(_, None) => (Kind::Created, &[][..]),
        KeyChange::Put(_, Some(before)) => (Kind::Updated, before.as_ref()),
        KeyChange::Delete(item) => (Kind::Deleted, item.value.as_ref()),
    };
    Record { kind, revision: item.revision, seconds, key: &item.key, value }
}

/// Writes the last revision.
fn last(
    records: &mut Table<'_, &'static [u8], &'static [u8]>,
    revision: Revision,
) -> Result<(), redb::Error> {
    let last = Record::last(revision);
    records.insert(last.key.as_bytes(), last.encode().as_slice())?;
    Ok(())
}

/// Reads a file that no other process uses.
pub(super) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => io::Error::other("another process uses the file"),
        TryLockError::Error(error) => error,
    })?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the bytes of a file, which may be damaged: `redb` writes to each file that it opens.
pub(super) fn read_copy(bytes: Vec<u8>, check: Check) -> Result<Contents, redb::Error> {
    let copy = InMemoryBackend::new();
    copy.set_len(bytes.len() as u64)?;
    copy.write(0, &bytes)?;
    drop(bytes);
    guard::quietly(|| {
        let mut builder = builder();
        builder.set_check_integrity_on_open(check == Check::Pages);
        let database = builder.create_with_backend(copy)?;
        supported(&database)?;
        Contents::read(&database)
    })
}

fn supported(database: &Database) -> Result<(), redb::Error> {
    let meta = database.begin_read()?.open_table(META)?;
    let format = meta.get(FORMAT_KEY)?.map_or(0, |format| format.value());
    if format == FORMAT {
        return Ok(());
    }
    let why = format!(
        "its format is {format}, expected {FORMAT}; run `krm-template-server store dump` of the \
         version that wrote it, and `store load` of this one"
    );
    Err(io::Error::new(ErrorKind::InvalidData, why).into())
}

/// Creates the file with mode 0600, unless it exists.
///
/// # Errors
///
/// An empty file is not one of ours: it lost its content.
fn create(path: &Path) -> Result<(), Error> {
    let failed = |error: &dyn std::fmt::Display| unavailable(path, error);
    if path.try_exists().map_err(|error| failed(&error))? {
        let length = fs::metadata(path).map_err(|error| failed(&error))?.len();
        return if length == 0 {
            Err(failed(
                &"the file is empty; restore it from a backup, or remove it to start without objects",
            ))
        } else {
            Ok(())
        };
    }
    let new = new(path, &Contents::default()).map_err(|error| failed(&error))?;
    match new.persist_noclobber(path) {
        Ok(_) => {}
        // Another process has created it meanwhile.
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(failed(&error.error)),
    }
    sync_folder(path).map_err(|error| failed(&error))
}

/// Writes a new file beside a path. It gets its name once it is a valid database, so a crash never
/// leaves an invalid file at the path.
fn new(path: &Path, contents: &Contents) -> Result<NamedTempFile, redb::Error> {
    let new = NamedTempFile::new_in(folder(path))?;
    contents.write(new.path())?;
    Ok(new)
}

/// Creates a file with contents, at a path where none is.
pub(super) fn create_with(path: &Path, contents: &Contents) -> Result<(), redb::Error> {
    let new = new(path, contents)?;
    new.persist_noclobber(path).map_err(|error| error.error)?;
    sync_folder(path)?;
    Ok(())
}

/// Replaces a damaged file, and keeps it with the suffix `.damaged`.
fn replace(path: &Path, contents: &Contents) -> Result<(), redb::Error> {
    let new = new(path, contents)?;
    let mut kept = path.as_os_str().to_owned();
    kept.push(".damaged");
    let kept = PathBuf::from(kept);
    fs::hard_link(path, &kept).map_err(|error| {
        let kept = kept.display();
        io::Error::new(error.kind(), format!("cannot keep it as {kept}: {error}"))
    })?;
    new.persist(path).map_err(|error| error.error)?;
    sync_folder(path)?;
    Ok(())
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder(path))?.sync_all()
}

fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or_else(|| Path::new("."))
}

fn refused(path: &Path, error: &redb::Error) -> Error {
    match error {
        redb::Error::DatabaseAlreadyOpen => unavailable(path, &"another process uses the file"),
        redb::Error::Corrupted(why) => damaged(path, why),
        redb::Error::Io(error) => unavailable(path, error),
        error => unavailable(path, error),
    }
}

/// Returns the error for a file whose objects cannot be read.
fn damaged(path: &Path, why: &str) -> Error {
    let path = path.display();
    Error::Unavailable(format!(
        "{path}: the file is damaged: {why}; restore it from a backup, or bring out what is whole \
         with `krm-template-server store salvage {path} NEW`"
    ))
}

pub(super) fn unavailable(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::Unavailable(format!("{}: {why}", path.display()))
}
