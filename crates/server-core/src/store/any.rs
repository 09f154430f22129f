//! A store of any kind.

#![cfg_attr(not(feature = "etcd"), expect(clippy::unused_async, reason = "only etcd waits"))]

use std::path::Path;

use bytes::Bytes;

use super::disk::Check;
#[cfg(feature = "etcd")]
use super::etcd::{Etcd, EtcdOptions};
use super::feed::Watch;
use super::file::FileStore;
use super::memory::Memory;
use super::objects::Write;
use super::types::{Error, Item, MAX_VALUE_BYTES, Page, Revision};

/// A store of objects. Clones share the objects.
///
/// Every method can fail with [`Error::Unavailable`].
#[derive(Clone, Debug)]
pub struct Store(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Memory(Memory),
    File(FileStore),
    #[cfg(feature = "etcd")]
    Etcd(Etcd),
}

impl Store {
    /// Creates an empty store in memory.
    #[must_use]
    pub fn memory() -> Self {
        Self(Kind::Memory(Memory::empty()))
    }

    /// Opens a store in a file, which is created with mode 0600 if it does not exist. No other
    /// process can open it at the same time.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] says why the file cannot be used.
    pub fn file(path: &Path) -> Result<Self, Error> {
        FileStore::open(path, Check::Pages).map(Kind::File).map(Self)
    }

    /// Opens a store in a file like [`Store::file`], but verifies only the objects.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] says why the file cannot be used.
    pub fn unchecked_file(path: &Path) -> Result<Self, Error> {
        FileStore::open(path, Check::Objects).map(Kind::File).map(Self)
    }

    /// Opens a store in etcd v3.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] if the options are invalid. A cluster that does not answer is not an
    /// error: it may become available later.
    #[cfg(feature = "etcd")]
    pub async fn etcd(options: EtcdOptions) -> Result<Self, Error> {
        Etcd::new(options).await.map(Kind::Etcd).map(Self)
    }

    /// Returns the kind of store: `memory`, `file` or `etcd`.
    pub const fn name(&self) -> &'static str {
        match &self.0 {
            Kind::Memory(_) => "memory",
            Kind::File(_) => "file",
            #[cfg(feature = "etcd")]
            Kind::Etcd(_) => "etcd",
        }
    }

    /// Returns the item with a key, after all writes that have already completed.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`].
    pub async fn get(&self, key: &str) -> Result<Option<Item>, Error> {
        match &self.0 {
            Kind::Memory(memory) => memory.read().get(key),
            Kind::File(file) => file.memory().read().get(key),
            #[cfg(feature = "etcd")]
            Kind::Etcd(etcd) => Box::pin(etcd.get(key)).await,
        }
    }

    /// Creates an item, and returns its revision.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] or [`Error::TooLarge`].
    pub async fn create(&self, key: &str, value: Bytes) -> Result<Revision, Error> {
        self.write(Write::Create(key.to_owned(), value)).await
    }

    /// Updates an item that has the expected revision, and returns its new revision.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::Stale`] or [`Error::TooLarge`].
    pub async fn update(
        &self,
        key: &str,
        value: Bytes,
        expected: Revision,
    ) -> Result<Revision, Error> {
        self.write(Write::Update(key.to_owned(), value, expected)).await
    }

    /// Deletes an item that has the expected revision, and returns the revision of the deletion.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] or [`Error::Stale`].
    pub async fn delete(&self, key: &str, expected: Revision) -> Result<Revision, Error> {
        self.write(Write::Delete(key.to_owned(), expected)).await
    }

    async fn write(&self, write: Write) -> Result<Revision, Error> {
        if write.value().is_some_and(|value| value.len() > MAX_VALUE_BYTES) {
            return Err(Error::TooLarge);
        }
        match &self.0 {
            Kind::Memory(memory) => memory.write(write),
            Kind::File(file) => file.write(write).await,
            #[cfg(feature = "etcd")]
            Kind::Etcd(etcd) => Box::pin(etcd.write(write)).await,
        }
    }

    /// Lists the items whose keys begin with `prefix` and come after `after`, in the order of their
    /// keys.
    ///
    /// Returns at most `limit` items, or all if `limit` is zero, at the revision `at` or the newest
    /// one. etcd returns fewer items if they are large.
    ///
    /// # Errors
    ///
    /// [`Error::Future`], or [`Error::Compacted`] if the store no longer has the items of that
    /// revision. Stores in memory and in a file have them until something under the prefix changes.
    pub async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
        at: Option<Revision>,
    ) -> Result<Page, Error> {
        match &self.0 {
            Kind::Memory(memory) => memory.read().list(prefix, after, limit, at),
            Kind::File(file) => file.memory().read().list(prefix, after, limit, at),
            #[cfg(feature = "etcd")]
            Kind::Etcd(etcd) => Box::pin(etcd.list(prefix, after, limit, at)).await,
        }
    }

    /// Returns the revision of the last write.
    ///
    /// # Errors
    ///
    /// Only [`Error::Unavailable`].
    pub async fn revision(&self) -> Result<Revision, Error> {
        match &self.0 {
            Kind::Memory(memory) => Ok(memory.read().revision()),
            Kind::File(file) => Ok(file.memory().read().revision()),
            #[cfg(feature = "etcd")]
            Kind::Etcd(etcd) => Box::pin(etcd.revision()).await,
        }
    }

    /// Watches the changes of keys with a prefix after a revision, which may be in the future.
    ///
    /// # Errors
    ///
    /// [`Error::Compacted`] if the store no longer has all changes after the revision.
    pub async fn watch(&self, prefix: &str, after: Revision) -> Result<Watch, Error> {
        match &self.0 {
            Kind::Memory(memory) => memory.read().feed().watch(prefix, after),
            Kind::File(file) => file.memory().read().feed().watch(prefix, after),
            #[cfg(feature = "etcd")]
            Kind::Etcd(etcd) => Box::pin(etcd.watch(prefix, after)).await,
        }
    }

    /// Makes the next revision greater than the given one, as after a restored backup. Watches and
    /// lists from older revisions are then expired. etcd has an option of its own for that.
    ///
    /// # Errors
    ///
    /// Only [`Error::Unavailable`].
    pub async fn advance(&self, revision: Revision) -> Result<(), Error> {
        match &self.0 {
            Kind::Memory(memory) => {
                memory.change().advance(revision);
                Ok(())
            }
            Kind::File(file) => file.advance(revision).await,
            #[cfg(feature = "etcd")]
            Kind::Etcd(_) => Ok(()),
        }
    }

    /// Checks that the store can be read and written.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] with the reason.
    pub async fn ready(&self) -> Result<(), Error> {
        match &self.0 {
            Kind::Memory(_) => Ok(()),
            Kind::File(file) => file.ready().await,
            #[cfg(feature = "etcd")]
            Kind::Etcd(etcd) => Box::pin(etcd.ready()).await,
        }
    }

    /// Finishes the queued writes and closes the file, or ends the watches of etcd.
    pub async fn close(&self) {
        match &self.0 {
            Kind::Memory(_) => {}
            Kind::File(file) => file.close().await,
            #[cfg(feature = "etcd")]
            Kind::Etcd(etcd) => etcd.close(),
        }
    }
}
