//! A store in memory, for tests and for servers without persistent data.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::feed::Feed;
use super::objects::{Objects, Write};
use super::types::{Error, Revision};

/// A store in memory. Clones share the items.
#[derive(Clone, Debug)]
pub(super) struct Memory(Arc<RwLock<Objects>>);

impl Memory {
    pub(super) fn empty() -> Self {
        Self::with(Objects::new(BTreeMap::new(), 0, Arc::new(Feed::new(0))))
    }

    pub(super) fn with(objects: Objects) -> Self {
        Self(Arc::new(RwLock::new(objects)))
    }

    /// Returns the items, for reading.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Objects> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the items, for changes.
    pub(super) fn change(&self) -> RwLockWriteGuard<'_, Objects> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self, write: Write) -> Result<Revision, Error> {
        let mut objects = self.change();
        let revision = objects.revision() + 1;
        let now = objects.entry(write.key());
        let change = write.change(now, revision)?;
        objects.apply(vec![change]);
        Ok(revision)
    }
}
