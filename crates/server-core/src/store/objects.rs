//! The items of a store that keeps them in memory, and the rules for writes.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;

use super::feed::{Feed, KeyChange};
use super::types::{Error, Item, Page, Revision};

#[derive(Debug)]
pub(super) enum Write {
    Create(String, Bytes),
    Update(String, Bytes, Revision),
    Delete(String, Revision),
}

impl Write {
    pub(super) fn key(&self) -> &str {
        match self {
            Self::Create(key, _) | Self::Update(key, ..) | Self::Delete(key, _) => key,
        }
    }

    /// Returns the value to write.
    pub(super) const fn value(&self) -> Option<&Bytes> {
        match self {
            Self::Create(_, value) | Self::Update(_, value, _) => Some(value),
            Self::Delete(..) => None,
        }
    }

    /// Returns the change that the write makes at `revision`, if `now` is the current entry of the
    /// key.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`], [`Error::Missing`] or [`Error::Stale`].
    pub(super) fn change(
        self,
        now: Option<&Entry>,
        revision: Revision,
    ) -> Result<KeyChange, Error> {
        match (self, now) {
            (Self::Create(..), Some(_)) => Err(Error::Exists),
            (Self::Create(key, value), None) => {
                Ok(KeyChange::Put(Item { key, value, revision }, None))
            }
            (Self::Update(..) | Self::Delete(..), None) => Err(Error::Missing),
            (Self::Update(key, _, expected) | Self::Delete(key, expected), Some(entry))
                if entry.revision != expected =>
            {
                Err(Error::Stale(entry.item(&key)))
            }
            (Self::Update(key, value, _), Some(entry)) => {
                Ok(KeyChange::Put(Item { key, value, revision }, Some(entry.value.clone())))
            }
            (Self::Delete(key, _), Some(entry)) => {
                Ok(KeyChange::Delete(Item { key, value: entry.value.clone(), revision }))
            }
        }
    }
}

/// A value and the revision that wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The value; empty if it is damaged.
    pub(super) value: Bytes,
    pub(super) revision: Revision,
    pub(super) is_damaged: bool,
}

impl Entry {
    pub(super) const fn whole(value: Bytes, revision: Revision) -> Self {
        Self { value, revision, is_damaged: false }
    }

    pub(super) const fn damaged(revision: Revision) -> Self {
        Self { value: Bytes::new(), revision, is_damaged: true }
    }

    /// Returns the item, or [`Error::Damaged`].
    fn read(&self, key: &str) -> Result<Item, Error> {
        if self.is_damaged {
            let (key, revision) = (key.to_owned(), self.revision);
            return Err(Error::Damaged { key, revision });
        }
        Ok(self.item(key))
    }

    fn item(&self, key: &str) -> Item {
        Item { key: key.to_owned(), value: self.value.clone(), revision: self.revision }
    }
}

/// All items, the revision of the last change, and the last changes.
#[derive(Debug)]
pub(super) struct Objects {
    entries: BTreeMap<String, Entry>,
    revision: Revision,
    feed: Arc<Feed>,
}

impl Objects {
    /// Creates the items at a revision. The feed must have the changes up to it.
    pub(super) const fn new(
        entries: BTreeMap<String, Entry>,
        revision: Revision,
        feed: Arc<Feed>,
    ) -> Self {
        Self { entries, revision, feed }
    }

    pub(super) const fn revision(&self) -> Revision {
        self.revision
    }

    pub(super) const fn feed(&self) -> &Arc<Feed> {
        &self.feed
    }

    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.get(key)
    }

    pub(super) fn get(&self, key: &str) -> Result<Option<Item>, Error> {
        let entry = self.entries.get(key);
        entry.map(|entry| entry.read(key)).transpose()
    }

    /// Makes a revision the last one, without a change. Older ones are then unknown.
    pub(super) fn advance(&mut self, revision: Revision) {
        self.revision = revision;
        self.feed = Arc::new(Feed::new(revision));
    }

    /// Applies changes that were checked against these items.
    pub(super) fn apply(&mut self, changes: Vec<KeyChange>) {
        for change in &changes {
            let item = change.item();
            self.revision = item.revision;
            match change {
                KeyChange::Put(Item { key, value, revision }, _) => {
                    let entry = Entry::whole(value.clone(), *revision);
                    self.entries.insert(key.clone(), entry);
                }
                KeyChange::Delete(item) => {
                    self.entries.remove(&item.key);
                }
            }
        }
        self.feed.push(changes, self.revision);
    }

    /// Lists the items with a prefix after a key: at most `limit`, or all if it is zero.
    ///
    /// # Errors
    ///
    /// [`Error::Future`] or, if items with the prefix changed after `at`, [`Error::Compacted`].
    pub(super) fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
        at: Option<Revision>,
    ) -> Result<Page, Error> {
        match at {
            Some(at) if at > self.revision => return Err(Error::Future(self.revision)),
            Some(at) if at < self.revision && self.feed.changed(prefix, at) != Some(false) => {
                return Err(Error::Compacted(self.revision));
            }
            _ => {}
        }
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let mut following = self
            .entries
            .range::<str, _>((start, Bound::Unbounded))
            .take_while(|(key, _)| key.starts_with(prefix));
        let limit = if limit == 0 { usize::MAX } else { limit };
        let (mut items, mut damaged) = (Vec::new(), Vec::new());
        while items.len() < limit
            && let Some((key, entry)) = following.next()
        {
            if entry.is_damaged {
                damaged.push(key.clone());
            } else {
                items.push(entry.item(key));
            }
        }
        let remaining = following.count() as u64;
        Ok(Page { items, damaged, revision: at.unwrap_or(self.revision), remaining })
    }
}
