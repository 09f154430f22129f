//! Leases in the store: of several servers, one at a time does a piece of work.
//!
//! The holder of a lease writes heartbeats. A lease that does not change for some time is stale, and
//! may be taken over. No clocks are compared. A server that was stopped finds its own lease too old
//! when it wakes up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

use crate::store::{Error, Item, Revision};
use crate::telemetry::measured_store::Measured;

/// The intervals of a lease.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// The interval between two heartbeats.
    pub beat: Duration,
    /// How long a lease counts after a heartbeat.
    pub held: Duration,
    /// How long a lease may stay unchanged before it is stale.
    pub stale: Duration,
}

/// The number that a takeover adds to the heartbeats of a lease: more than its holder writes.
const TAKEN: u64 = 1 << 32;

/// A stored lease.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The server or the operation that holds it.
    #[serde(rename = "operation")]
    pub holder: String,
    /// The number of heartbeats: it changes while the holder runs.
    pub beat: u64,
}

impl Record {
    /// Reads a stored lease. A damaged one has no holder.
    pub fn read(value: &[u8]) -> Self {
        serde_json::from_slice(value).unwrap_or_default()
    }

    /// Returns `true` for a record that this holder has written, up to this heartbeat.
    fn has_written(&self, item: &Item) -> bool {
        let stored = Self::read(&item.value);
        stored.holder == self.holder && stored.beat <= self.beat
    }

    fn bytes(&self) -> Bytes {
        serde_json::to_vec(self).unwrap_or_default().into()
    }
}

/// A held lease. If it is dropped without [`release`](Self::release), it becomes stale.
#[derive(Debug)]
pub struct Lease {
    store: Arc<Measured>,
    key: String,
    holder: String,
    epoch: Revision,
    /// Until when it counts.
    until: watch::Receiver<Instant>,
    beating: JoinHandle<()>,
}

impl Lease {
    /// Acquires a lease. Returns `None` if it has a holder.
    ///
    /// # Errors
    ///
    /// If the store refuses the write.
    pub async fn acquire(
        store: &Arc<Measured>,
        key: &str,
        holder: &str,
        timing: Timing,
    ) -> Result<Option<Self>, Error> {
        // It counts from before the write.
        let until = Instant::now() + timing.held;
        let record = Record { holder: holder.to_owned(), beat: 0 };
        let epoch = match store.create(key, record.bytes()).await {
            Ok(revision) => revision,
            // A write whose answer was lost may have created it.
            Err(Error::Exists) => match store.get(key).await? {
                Some(item) if record.has_written(&item) => item.revision,
                _ => return Ok(None),
            },
            Err(error) => return Err(error),
        };
        let (sender, until) = watch::channel(until);
        let beating = beat(Arc::clone(store), key.to_owned(), record, epoch, timing, sender);
        Ok(Some(Self {
            store: Arc::clone(store),
            key: key.to_owned(),
            holder: holder.to_owned(),
            epoch,
            until,
            beating: tokio::spawn(beating),
        }))
    }

    /// Returns the revision with which the lease was acquired, which no other lease has.
    pub const fn epoch(&self) -> Revision {
        self.epoch
    }

    /// Returns `true` while the lease counts.
    pub fn is_held(&self) -> bool {
        Instant::now() < *self.until.borrow()
    }

    /// Waits until the lease does not count.
    pub async fn lost(&self) {
        let mut until = self.until.clone();
        while self.is_held() {
            let end = *until.borrow_and_update();
            tokio::select! {
                () = sleep_until(end) => {}
                Ok(()) = until.changed() => {}
            }
        }
    }

    /// Returns a future that waits until another server has taken the lease.
    pub fn taken(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut until = self.until.clone();
        async move { while until.changed().await.is_ok() {} }
    }

    /// Deletes the lease, so that others need not wait until it is stale.
    pub async fn release(self) {
        self.beating.abort();
        if let Err(error) = self.delete().await {
            tracing::warn!(%error, key = self.key, "a lease cannot be released");
        }
    }

    async fn delete(&self) -> Result<(), Error> {
        /// A heartbeat may be in flight.
        const TRIES: usize = 3;
        for _ in 0..TRIES {
            let Some(item) = self.store.get(&self.key).await? else {
                break;
            };
            if Record::read(&item.value).holder != self.holder
                || self.store.delete(&self.key, item.revision).await.is_ok()
            {
                break;
            }
        }
        Ok(())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.beating.abort();
    }
}

/// Writes heartbeats until another server takes the lease.
async fn beat(
    store: Arc<Measured>,
    key: String,
    mut record: Record,
    mut revision: Revision,
    timing: Timing,
    until: watch::Sender<Instant>,
) {
    loop {
        sleep(timing.beat).await;
        record.beat += 1;
        let now = Instant::now();
        match store.update(&key, record.bytes(), revision).await {
            Ok(next) => {
                revision = next;
                until.send_replace(now + timing.held);
            }
            // A heartbeat whose answer was lost.
            Err(Error::Stale(item)) if record.has_written(&item) => {
                revision = item.revision;
            }
            Err(Error::Stale(_) | Error::Missing) => {
                until.send_replace(now);
                return;
            }
            Err(error) => tracing::debug!(%error, key, "a lease cannot be renewed"),
        }
    }
}

/// The known leases, each with its revision and the time at which this revision was first seen.
#[derive(Debug, Default)]
pub struct Watcher(BTreeMap<String, (Revision, Instant)>);

/// A stale lease that was taken over.
#[derive(Debug)]
pub struct Stale {
    /// The key of the lease.
    pub key: String,
    /// The former holder.
    pub holder: String,
    revision: Revision,
}

impl Stale {
    /// Deletes the lease, so that it can be acquired.
    ///
    /// # Errors
    ///
    /// If the store refuses the deletion.
    pub async fn release(self, store: &Measured) -> Result<(), Error> {
        match store.delete(&self.key, self.revision).await {
            Ok(_) | Err(Error::Missing) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Watcher {
    /// Takes over the leases with a prefix that have not changed for the time `stale`. With zero,
    /// these are all: no other server uses the store.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub async fn take_over(
        &mut self,
        store: &Measured,
        prefix: &str,
        stale: Duration,
    ) -> Result<Vec<Stale>, Error> {
        let now = Instant::now();
        let mut seen = BTreeMap::new();
        let mut taken = Vec::new();
        let all = store.list(prefix, None, 0, None).await?;
        for key in all.damaged {
            if let Err(Error::Damaged { revision, .. }) = store.get(&key).await {
                store.delete(&key, revision).await?;
            }
        }
        for Item { key, value, revision } in all.items {
            let since = match self.0.get(&key) {
                Some((known, since)) if *known == revision => *since,
                _ => now,
            };
            seen.insert(key.clone(), (revision, since));
            if now.duration_since(since) < stale {
                continue;
            }
            let mut record = Record::read(&value);
            record.beat = record.beat.saturating_add(TAKEN);
            // If this fails, the holder is alive or another server took the lease over.
            if let Ok(revision) = store.update(&key, record.bytes(), revision).await {
                taken.push(Stale { key, holder: record.holder, revision });
            }
        }
        self.0 = seen;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_control::admission::Admission;
    use crate::flow_control::limits::tests::limits;
    use crate::store::Store;
    use crate::telemetry::metrics::Metrics;

    const PREFIX: &str = "/dm/locks/";
    const KEY: &str = "/dm/locks/default/web";
    const TIMING: Timing = Timing {
        beat: Duration::from_secs(2),
        held: Duration::from_secs(8),
        stale: Duration::from_secs(12),
    };

    fn store() -> Arc<Measured> {
        let metrics = Metrics::new(Admission::new(&limits(&[]).unwrap()), "", "");
        Arc::new(Measured::new(Store::memory(), Arc::new(metrics)))
    }

    async fn acquired(store: &Arc<Measured>, holder: &str) -> Option<Lease> {
        Lease::acquire(store, KEY, holder, TIMING).await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn one_holder_has_the_lease_until_it_releases_it() {
        let store = store();
        let lease = acquired(&store, "one").await.unwrap();
        assert!(acquired(&store, "two").await.is_none());
        sleep(Duration::from_mins(1)).await;
        assert!(lease.is_held());
        let first = lease.epoch();
        lease.release().await;
        let next = acquired(&store, "two").await.unwrap();
        assert!(next.epoch() > first);
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_whose_holder_lives_is_never_stale() {
        let store = store();
        let mut lease = acquired(&store, "one").await;
        let mut watcher = Watcher::default();
        let mut taken = Vec::new();
        for _ in 0..20 {
            taken.extend(watcher.take_over(&store, PREFIX, TIMING.stale).await.unwrap());
            sleep(TIMING.beat).await;
        }
        assert!(taken.is_empty());
        lease.take();
        for _ in 0..8 {
            taken.extend(watcher.take_over(&store, PREFIX, TIMING.stale).await.unwrap());
            sleep(TIMING.beat).await;
        }
        let stale = taken.pop().unwrap();
        assert_eq!((stale.key.as_str(), stale.holder.as_str()), (KEY, "one"));
        stale.release(&store).await.unwrap();
        assert!(acquired(&store, "two").await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_holder_learns_that_its_lease_was_taken() {
        let store = store();
        let lease = acquired(&store, "one").await.unwrap();
        let taken = Watcher::default().take_over(&store, PREFIX, Duration::ZERO).await.unwrap();
        assert_eq!(taken[0].holder, "one");
        lease.taken().await;
        lease.lost().await;
        assert!(!lease.is_held());
    }

    #[tokio::test(start_paused = true)]
    async fn a_heartbeat_whose_answer_was_lost_is_its_own() {
        let store = store();
        let lease = acquired(&store, "one").await.unwrap();
        let item = store.get(&lease.key).await.unwrap().unwrap();
        let beat = Record { beat: 1, ..Record::read(&item.value) };
        store.update(&lease.key, beat.bytes(), item.revision).await.unwrap();
        sleep(Duration::from_mins(1)).await;
        assert!(lease.is_held());
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_without_heartbeats_does_not_count() {
        let lease = acquired(&store(), "one").await.unwrap();
        lease.beating.abort();
        lease.lost().await;
        assert!(!lease.is_held());
    }
}
