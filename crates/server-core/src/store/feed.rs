//! The last events of a store, and the watches on them.
//!
//! A store pushes each event once. A watch reads from the shared ring buffer at its own speed, so a
//! slow client costs no memory: if the ring drops events before the watch reads them, the watch
//! ends with [`Error::Compacted`].

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::types::{Error, Event, Item, Revision};

/// The maximum number of kept events.
const MAX_EVENTS: usize = 10_000;

/// The maximum size of the keys and values in the kept events, in bytes. It bounds the memory if
/// values are large.
const MAX_EVENT_BYTES: usize = 32 << 20;

/// The time without an event after which a watch reports its progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// A change of the value of a key.
#[derive(Clone, Debug)]
pub(super) enum KeyChange {
    /// The item was created or updated. Holds the previous value, if any.
    Put(Item, Option<Bytes>),
    /// The item was deleted. Holds its last value, and the revision of the deletion.
    Delete(Item),
}

impl KeyChange {
    pub(super) const fn item(&self) -> &Item {
        match self {
            Self::Put(item, _) | Self::Delete(item) => item,
        }
    }

    /// Returns the size that counts towards [`MAX_EVENT_BYTES`].
    pub(super) fn bytes(&self) -> usize {
        let before = match self {
            Self::Put(_, before) => before.as_ref().map_or(0, Bytes::len),
            Self::Delete(_) => 0,
        };
        self.item().key.len() + self.item().value.len() + before
    }

    fn event(&self) -> Event {
        match self.clone() {
            Self::Put(item, before) => Event::Put(item, before),
            Self::Delete(item) => Event::Delete(item),
        }
    }
}

/// The last events of a store.
#[derive(Debug)]
pub(super) struct Feed {
    ring: Mutex<Ring>,
    /// A counter of the pushes, which wakes the watches.
    pushes: watch::Sender<u64>,
}

#[derive(Debug)]
struct Ring {
    changes: VecDeque<KeyChange>,
    /// The index of the first change of the ring among all changes ever pushed.
    first: u64,
    bytes: usize,
    /// All changes after this revision are in the ring, or were read from it.
    start: Revision,
    /// No change up to this revision is missing.
    revision: Revision,
    /// The error that ends the feed.
    end: Option<Error>,
}

impl Feed {
    /// Creates a feed of the changes after a revision.
    pub(super) fn new(start: Revision) -> Self {
        let ring = Ring {
            changes: VecDeque::new(),
            first: 0,
            bytes: 0,
            start,
            revision: start,
            end: None,
        };
        Self { ring: Mutex::new(ring), pushes: watch::Sender::new(0) }
    }

    /// Adds the changes of one or more revisions, in order. No change up to `revision` is then
    /// missing.
    pub(super) fn push(&self, changes: impl IntoIterator<Item = KeyChange>, revision: Revision) {
        let mut ring = self.ring();
        for change in changes {
            ring.push(change);
        }
        ring.revision = ring.revision.max(revision);
        drop(ring);
        self.pushes.send_modify(|pushes| *pushes = pushes.wrapping_add(1));
    }

    /// Ends all watches with an error once they have read the ring.
    #[cfg(feature = "etcd")]
    pub(super) fn end(&self, error: Error) {
        self.ring().end.get_or_insert(error);
        self.pushes.send_modify(|pushes| *pushes = pushes.wrapping_add(1));
    }

    /// Returns `true` if the feed has ended.
    #[cfg(feature = "etcd")]
    pub(super) fn has_ended(&self) -> bool {
        self.ring().end.is_some()
    }

    /// Returns the revision up to which no change is missing.
    #[cfg(feature = "etcd")]
    pub(super) fn revision(&self) -> Revision {
        self.ring().revision
    }

    /// Returns the revision after which all changes are in the ring.
    pub(super) fn start(&self) -> Revision {
        self.ring().start
    }

    /// Returns whether a key under the prefix changed after a revision, or `None` if the ring does
    /// not reach back to it.
    pub(super) fn changed(&self, prefix: &str, after: Revision) -> Option<bool> {
        let ring = self.ring();
        let newer = ring.changes.iter().rev().take_while(|change| change.item().revision > after);
        (after >= ring.start)
            .then(|| newer.into_iter().any(|change| change.item().key.starts_with(prefix)))
    }

    /// Starts a watch on the keys with a prefix, from the first change after a revision.
    ///
    /// # Errors
    ///
    /// [`Error::Compacted`] if the ring does not reach back to the revision.
    pub(super) fn watch(self: &Arc<Self>, prefix: &str, after: Revision) -> Result<Watch, Error> {
        let pushes = self.pushes.subscribe();
        let ring = self.ring();
        if after < ring.start || ring.end.is_some() {
            return Err(ring.end.clone().unwrap_or(Error::Compacted(ring.revision)));
        }
        let known = ring.changes.partition_point(|change| change.item().revision <= after);
        let next = ring.first + known as u64;
        drop(ring);
        let reported = Instant::now();
        let prefix = prefix.to_owned();
        Ok(Watch { feed: Arc::clone(self), pushes, prefix, after, next, revision: after, reported })
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn push(&mut self, change: KeyChange) {
        self.revision = self.revision.max(change.item().revision);
        self.bytes += change.bytes();
        self.changes.push_back(change);
        // A single change may exceed the limit, and stays.
        while self.changes.len() > MAX_EVENTS
            || (self.bytes > MAX_EVENT_BYTES && self.changes.len() > 1)
        {
            let Some(dropped) = self.changes.pop_front() else {
                return;
            };
            self.bytes -= dropped.bytes();
            self.first += 1;
            self.start = dropped.item().revision;
        }
    }
}

/// A stream of the changes under a prefix.
#[derive(Debug)]
pub struct Watch {
    feed: Arc<Feed>,
    pushes: watch::Receiver<u64>,
    prefix: String,
    /// Changes up to this revision are skipped.
    after: Revision,
    /// The index of the next change to examine.
    next: u64,
    revision: Revision,
    /// The time of the last returned event.
    reported: Instant,
}

impl Watch {
    /// Returns the next change under the prefix, or [`Event::Progress`] after 10 seconds without
    /// one. This method is cancel safe.
    ///
    /// # Errors
    ///
    /// [`Error::Compacted`] if the ring of the last 10,000 events dropped a change before it was
    /// read, or if the store lost its place. Every later call fails, too.
    pub async fn next(&mut self) -> Result<Event, Error> {
        loop {
            self.pushes.borrow_and_update();
            if let Some(event) = self.advance()? {
                self.reported = Instant::now();
                return Ok(event);
            }
            let idle = self.reported + PROGRESS_INTERVAL;
            tokio::select! {
                // The sender lives as long as the feed that this watch holds.
                _ = self.pushes.changed() => {}
                () = sleep_until(idle) => {
                    self.reported = Instant::now();
                    return Ok(Event::Progress(self.revision));
                }
            }
        }
    }

    /// Returns the revision up to which this watch has returned every change.
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the next event in the ring, if there is one.
    fn advance(&mut self) -> Result<Option<Event>, Error> {
        let ring = self.feed.ring();
        let Some(mut place) = self.next.checked_sub(ring.first) else {
            return Err(Error::Compacted(ring.revision));
        };
        while let Some(change) = usize::try_from(place).ok().and_then(|at| ring.changes.get(at)) {
            place += 1;
            self.next += 1;
            let item = change.item();
            if item.revision > self.after && item.key.starts_with(&self.prefix) {
                self.revision = item.revision;
                return Ok(Some(change.event()));
            }
        }
        self.revision = self.revision.max(ring.revision);
        ring.end.clone().map_or(Ok(None), Err)
    }
}
