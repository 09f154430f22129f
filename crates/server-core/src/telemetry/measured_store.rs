//! A store whose operations are measured.

use std::sync::Arc;

use bytes::Bytes;
use tokio::time::Instant;

use super::metrics::Metrics;
use crate::store::{Error, Item, Page, Revision, Store, Watch, is_known};

/// A [`Store`] that measures its operations.
#[derive(Debug)]
pub struct Measured {
    store: Store,
    metrics: Arc<Metrics>,
}

impl Measured {
    /// Wraps a store and measures its operations.
    #[must_use]
    pub const fn new(store: Store, metrics: Arc<Metrics>) -> Self {
        Self { store, metrics }
    }

    /// See [`Store::get`].
    ///
    /// # Errors
    ///
    /// The same as [`Store::get`].
    pub async fn get(&self, key: &str) -> Result<Option<Item>, Error> {
        self.timed("get", self.store.get(key)).await
    }

    /// See [`Store::create`].
    ///
    /// # Errors
    ///
    /// The same as [`Store::create`], and if the key has no kind of [`KINDS`](crate::store::KINDS).
    pub async fn create(&self, key: &str, value: Bytes) -> Result<Revision, Error> {
        if !is_known(key) {
            return Err(Error::Unavailable(format!("the kind of {key:?} is not known")));
        }
        self.timed("create", self.store.create(key, value)).await
    }

    /// See [`Store::update`].
    ///
    /// # Errors
    ///
    /// The same as [`Store::update`].
    pub async fn update(
        &self,
        key: &str,
        value: Bytes,
        expected: Revision,
    ) -> Result<Revision, Error> {
        self.timed("update", self.store.update(key, value, expected)).await
    }

    /// See [`Store::delete`].
    ///
    /// # Errors
    ///
    /// The same as [`Store::delete`].
    pub async fn delete(&self, key: &str, expected: Revision) -> Result<Revision, Error> {
        self.timed("delete", self.store.delete(key, expected)).await
    }

    /// See [`Store::list`].
    ///
    /// # Errors
    ///
    /// The same as [`Store::list`].
    pub async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
        at: Option<Revision>,
    ) -> Result<Page, Error> {
        self.timed("list", self.store.list(prefix, after, limit, at)).await
    }

    /// Returns the number of items to read at once for a list of all: zero, which means all, if the
    /// store has them in memory. The others can continue a list at its revision.
    pub fn chunk(&self) -> usize {
        if self.store.name() == "etcd" { 500 } else { 0 }
    }

    /// See [`Store::watch`]. Only the opening of the watch is measured.
    ///
    /// # Errors
    ///
    /// The same as [`Store::watch`].
    pub async fn watch(&self, prefix: &str, after: Revision) -> Result<Watch, Error> {
        self.timed("watch", self.store.watch(prefix, after)).await
    }

    /// See [`Store::revision`]. This is not measured, as it costs nothing in most stores.
    ///
    /// # Errors
    ///
    /// The same as [`Store::revision`].
    pub async fn revision(&self) -> Result<Revision, Error> {
        self.store.revision().await
    }

    /// See [`Store::ready`].
    ///
    /// # Errors
    ///
    /// The same as [`Store::ready`].
    pub async fn ready(&self) -> Result<(), Error> {
        self.store.ready().await
    }

    /// See [`Store::close`]. This is not measured, as it happens once.
    pub async fn close(&self) {
        self.store.close().await;
    }

    async fn timed<T>(
        &self,
        operation: &'static str,
        done: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let began = Instant::now();
        let done = done.await;
        self.metrics.observe_store(self.store.name(), operation, began.elapsed());
        done
    }
}
