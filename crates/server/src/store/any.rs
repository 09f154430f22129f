//! One store, whichever it is.

#![cfg_attr(
    not(feature = "etcd"),
    expect(clippy::unused_async, reason = "only etcd waits")
)]

use std::path::Path;

use bytes::Bytes;

#[cfg(feature = "etcd")]
use super::etcd::{Etcd, EtcdOptions};
use super::feed::Watch;
use super::file::FileStore;
use super::memory::Memory;
use super::objects::Write;
use super::types::{Error, Item, MAX_VALUE_BYTES, Page, Revision};

/// Where objects are kept. The clones share them.
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
    /// An empty store in memory.
    #[must_use]
    pub fn memory() -> Self {
        Self(Kind::Memory(Memory::empty()))
    }

    /// A store in a file, which is made with mode 0600 if there is none. No second process can open
    /// it meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] says why the file cannot be used.
    pub fn file(path: &Path) -> Result<Self, Error> {
        FileStore::open(path).map(Kind::File).map(Self)
    }

    /// A store in etcd v3.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] if the options are wrong. A cluster that does not answer is not an error:
    /// it may come later.
    #[cfg(feature = "etcd")]
    pub async fn etcd(options: EtcdOptions) -> Result<Self, Error> {
        Etcd::new(options).await.map(Kind::Etcd).map(Self)
    }

    /// The word for the kind of store: `memory`, `file` or `etcd`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match &self.0 {
            Kind::Memory(_) => "memory",
            Kind::File(_) => "file",
            #[cfg(feature = "etcd")]
            Kind::Etcd(_) => "etcd",
        }
    }

    /// The item with a key, as it is after every write that was answered before.
    ///
    /// # Errors
    ///
    /// Only [`Error::Unavailable`].
    pub async fn get(&self, key: &str) -> Result<Option<Item>, Error> {
        match &self.0 {
            Kind::Memory(memory) => Ok(memory.read().get(key)),
            Kind::File(file) => Ok(file.memory().read().get(key)),
            #[cfg(feature = "etcd")]
            Kind::Etcd(etcd) => Box::pin(etcd.get(key)).await,
        }
    }

    /// Writes a new item.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] or [`Error::TooLarge`].
    pub async fn create(&self, key: &str, value: Bytes) -> Result<Revision, Error> {
        self.write(Write::Create(key.to_owned(), value)).await
    }

    /// Writes an item that has the expected revision.
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
        self.write(Write::Update(key.to_owned(), value, expected))
            .await
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
        if write
            .value()
            .is_some_and(|value| value.len() > MAX_VALUE_BYTES)
        {
            return Err(Error::TooLarge);
        }
        match &self.0 {
            Kind::Memory(memory) => memory.write(write),
            Kind::File(file) => file.write(write).await,
            #[cfg(feature = "etcd")]
            Kind::Etcd(etcd) => Box::pin(etcd.write(write)).await,
        }
    }

    /// The items whose keys begin with a prefix and come after another key, in the order of their
    /// keys: at most `limit`, or all if it is zero; as they were at a revision, or are now.
    ///
    /// # Errors
    ///
    /// [`Error::Future`], or [`Error::Compacted`] if the items of that revision are not known any
    /// more. Stores in memory and in a file know them as long as nothing under the prefix changes.
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

    /// The revision of the last write.
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

    /// The changes of keys with a prefix after a revision, which may lie in the future.
    ///
    /// # Errors
    ///
    /// [`Error::Compacted`] if not all changes after the revision are known any more.
    pub async fn watch(&self, prefix: &str, after: Revision) -> Result<Watch, Error> {
        match &self.0 {
            Kind::Memory(memory) => memory.read().feed().watch(prefix, after),
            Kind::File(file) => file.memory().read().feed().watch(prefix, after),
            #[cfg(feature = "etcd")]
            Kind::Etcd(etcd) => Box::pin(etcd.watch(prefix, after)).await,
        }
    }

    /// Whether the store can be read.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] says why not.
    pub async fn ready(&self) -> Result<(), Error> {
        match &self.0 {
            Kind::Memory(_) => Ok(()),
            Kind::File(file) => file.ready(),
            #[cfg(feature = "etcd")]
            Kind::Etcd(etcd) => Box::pin(etcd.ready()).await,
        }
    }

    /// Ends the writes that wait, and lets go of the file or the connections.
    pub async fn close(&self) {
        match &self.0 {
            Kind::Memory(_) => {}
            Kind::File(file) => file.close().await,
            #[cfg(feature = "etcd")]
            Kind::Etcd(etcd) => etcd.close(),
        }
    }
}
