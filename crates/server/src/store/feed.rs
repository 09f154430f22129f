//! The last events of a store, and the watches on them.
//!
//! A store pushes each event once. A watch reads from the shared ring at its own speed, so a slow
//! client costs no memory: when the ring has dropped what the client has not read, its watch ends
//! with [`Error::Compacted`].

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::types::{Error, Event, Item, Revision};

/// The most events that are kept.
pub(super) const MAX_EVENTS: usize = 10_000;

/// The most bytes of keys and values in the events that are kept. It bounds the memory where values
/// are large.
pub(super) const MAX_EVENT_BYTES: usize = 32 << 20;

/// After this time without an event a watch tells how far the store is.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// A change as the ring keeps it.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// The item is new, or has another value than before.
    Put(Item, Option<Bytes>),
    /// The item with its last value is gone; its revision is that of the deletion.
    Delete(Item),
}

impl Change {
    pub(super) const fn item(&self) -> &Item {
        match self {
            Self::Put(item, _) | Self::Delete(item) => item,
        }
    }

    /// How much the change counts towards [`MAX_EVENT_BYTES`].
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
    /// Counts the pushes, to wake the watches.
    pushes: watch::Sender<u64>,
}

#[derive(Debug)]
struct Ring {
    changes: VecDeque<Change>,
    /// The place of the first change of the ring among all changes ever pushed.
    first: u64,
    bytes: usize,
    /// All changes after this revision are in the ring, or were read from it.
    start: Revision,
    /// No change up to this revision is missing.
    revision: Revision,
    /// Why no event will follow.
    end: Option<Error>,
}

impl Feed {
    /// A feed of the changes after a revision.
    pub(super) fn new(start: Revision) -> Self {
        let ring = Ring {
            changes: VecDeque::new(),
            first: 0,
            bytes: 0,
            start,
            revision: start,
            end: None,
        };
        Self {
            ring: Mutex::new(ring),
            pushes: watch::Sender::new(0),
        }
    }

    /// Adds the changes of one or more revisions, in their order, and the revision up to which
    /// nothing is missing then.
    pub(super) fn push(&self, changes: impl IntoIterator<Item = Change>, revision: Revision) {
        let mut ring = self.ring();
        for change in changes {
            ring.push(change);
        }
        ring.revision = ring.revision.max(revision);
        drop(ring);
        self.pushes
            .send_modify(|pushes| *pushes = pushes.wrapping_add(1));
    }

    /// Ends all watches with an error once they have read what is in the ring.
    #[cfg(feature = "etcd")]
    pub(super) fn end(&self, error: Error) {
        self.ring().end.get_or_insert(error);
        self.pushes
            .send_modify(|pushes| *pushes = pushes.wrapping_add(1));
    }

    /// Whether no event will follow.
    #[cfg(feature = "etcd")]
    pub(super) fn has_ended(&self) -> bool {
        self.ring().end.is_some()
    }

    /// Up to which revision nothing is missing.
    #[cfg(feature = "etcd")]
    pub(super) fn revision(&self) -> Revision {
        self.ring().revision
    }

    /// Whether a key under the prefix changed after a revision. Nobody knows if the ring does not
    /// reach back to it.
    pub(super) fn changed(&self, prefix: &str, after: Revision) -> Option<bool> {
        let ring = self.ring();
        let newer = ring
            .changes
            .iter()
            .rev()
            .take_while(|change| change.item().revision > after);
        (after >= ring.start).then(|| {
            newer
                .into_iter()
                .any(|change| change.item().key.starts_with(prefix))
        })
    }

    /// A watch on the keys with a prefix, from the first change after a revision.
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
        let known = ring
            .changes
            .partition_point(|change| change.item().revision <= after);
        let next = ring.first + known as u64;
        drop(ring);
        let reported = Instant::now();
        let prefix = prefix.to_owned();
        Ok(Watch {
            feed: Arc::clone(self),
            pushes,
            prefix,
            after,
            next,
            revision: after,
            reported,
        })
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn push(&mut self, change: Change) {
        self.revision = self.revision.max(change.item().revision);
        self.bytes += change.bytes();
        self.changes.push_back(change);
        // A single change may be larger than the bound, and stays.
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

/// The changes under a prefix, one after the other.
#[derive(Debug)]
pub struct Watch {
    feed: Arc<Feed>,
    pushes: watch::Receiver<u64>,
    prefix: String,
    /// Changes up to this revision are skipped.
    after: Revision,
    /// The place of the next change to look at.
    next: u64,
    revision: Revision,
    /// When the last event was handed out.
    reported: Instant,
}

impl Watch {
    /// The next change under the prefix, or after 10 seconds without one, the revision up to
    /// which there is none. Nothing is lost if the future is dropped before it is ready.
    ///
    /// # Errors
    ///
    /// [`Error::Compacted`] if the caller is slower than the ring of the last 10,000 events, or if
    /// the store lost its place. Every later call fails, too.
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

    /// The revision up to which this watch has handed out every change.
    #[must_use]
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// Looks for the next event in the ring.
    fn advance(&mut self) -> Result<Option<Event>, Error> {
        let ring = self.feed.ring();
        let Some(mut place) = self.next.checked_sub(ring.first) else {
            return Err(Error::Compacted(ring.revision));
        };
        while let Some(change) = usize::try_from(place)
            .ok()
            .and_then(|at| ring.changes.get(at))
        {
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
