//! A lease: of several servers on one store, one at a time works on instances.
//!
//! The holder renews it. A lease that does not change for [`STALE`] belongs to whoever takes it over
//! with the next epoch. No clocks are compared. A server that was stopped finds its own lease too old
//! when it wakes up, and writes nothing before it has taken it again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use krm_template_server_core::ops::measured::Measured;
use krm_template_server_core::store::{Error, Revision};

/// The key of the lease in the store.
const KEY: &str = "/template.krm.dev/leases/instances";

/// The interval between two renewals, and between two looks at the lease of another server.
const BEAT: Duration = Duration::from_secs(2);

/// How long a lease counts after it was renewed.
const HELD: Duration = Duration::from_secs(8);

/// How long a lease may stay unchanged before another server takes it over.
const STALE: Duration = Duration::from_secs(12);

/// The stored lease.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    holder: String,
    /// The number of holders until now.
    epoch: u64,
    beat: u64,
}

/// The lease of this server. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Lease(Arc<Mutex<Option<Held>>>);

#[derive(Clone, Copy, Debug)]
struct Held {
    /// `None` if no other server uses the store.
    until: Option<Instant>,
    epoch: u64,
}

impl Lease {
    /// Returns the lease of a server that is alone, which it always holds.
    pub(super) fn alone() -> Self {
        let held = Held { until: None, epoch: 0 };
        Self(Arc::new(Mutex::new(Some(held))))
    }

    /// Returns a lease that [`keep`](Self::keep) has to acquire.
    pub(super) fn shared() -> Self {
        Self(Arc::new(Mutex::new(None)))
    }

    /// Returns the epoch of the lease, or `None` if this server does not hold it.
    pub(super) fn epoch(&self) -> Option<u64> {
        let held = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let held = held?;
        let counts = held.until.is_none_or(|until| Instant::now() < until);
        counts.then_some(held.epoch)
    }

    fn set(&self, held: Option<Held>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = held;
    }

    /// Acquires the lease whenever it is free, and renews it. Never returns.
    pub(super) async fn keep(self, store: Arc<Measured>) {
        let name = uuid::Uuid::new_v4().to_string();
        let mut seen: Option<(Revision, Instant)> = None;
        loop {
            if let Err(error) = self.beat(&store, &name, &mut seen).await {
                tracing::debug!(%error, "the lease of instances cannot be renewed");
            }
            sleep(BEAT).await;
        }
    }

    async fn beat(
        &self,
        store: &Measured,
        name: &str,
        seen: &mut Option<(Revision, Instant)>,
    ) -> Result<(), Error> {
        // The lease counts from before the write.
        let now = Instant::now();
        let Some(item) = store.get(KEY).await? else {
            let record = Record { holder: name.to_owned(), epoch: 1, beat: 0 };
            store.create(KEY, encoded(&record).into()).await?;
            self.hold(now, 1);
            return Ok(());
        };
        let since = match *seen {
            Some((revision, since)) if revision == item.revision => since,
            _ => now,
        };
        *seen = Some((item.revision, since));
        let record = serde_json::from_slice::<Record>(&item.value).ok();
        let next = match record {
            Some(record) if record.holder == name => {
                Record { beat: record.beat.wrapping_add(1), ..record }
            }
            Some(_) if now.duration_since(since) < STALE => {
                self.set(None);
                return Ok(());
            }
            other => Record {
                holder: name.to_owned(),
                epoch: other.map_or(1, |other| other.epoch.saturating_add(1)),
                beat: 0,
            },
        };
        match store.update(KEY, encoded(&next).into(), item.revision).await {
            Ok(revision) => {
                *seen = Some((revision, now));
                self.hold(now, next.epoch);
                Ok(())
            }
            Err(error) => {
                if matches!(error, Error::Stale(_) | Error::Missing) {
                    self.set(None);
                }
                Err(error)
            }
        }
    }

    fn hold(&self, now: Instant, epoch: u64) {
        self.set(Some(Held { until: Some(now + HELD), epoch }));
    }
}

fn encoded(record: &Record) -> Vec<u8> {
    serde_json::to_vec(record).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use krm_template_server_core::ops::admission::Admission;
    use krm_template_server_core::ops::limits::Limits;
    use krm_template_server_core::ops::metrics::Metrics;
    use krm_template_server_core::store::Store;

    use super::*;

    fn store() -> Arc<Measured> {
        #[derive(clap::Parser)]
        struct Program {
            #[command(flatten)]
            limits: Limits,
        }
        let program = <Program as clap::Parser>::parse_from(["server"]);
        let metrics = Metrics::new(Admission::new(&program.limits), "", "");
        Arc::new(Measured::new(Store::memory(), Arc::new(metrics)))
    }

    #[tokio::test(start_paused = true)]
    async fn one_server_holds_it_and_the_next_one_has_another_epoch() {
        let store = store();
        let (first, second) = (Lease::shared(), Lease::shared());
        let holder = tokio::spawn(first.clone().keep(Arc::clone(&store)));
        sleep(Duration::from_secs(1)).await;
        tokio::spawn(second.clone().keep(Arc::clone(&store)));
        sleep(Duration::from_mins(1)).await;
        assert_eq!((first.epoch(), second.epoch()), (Some(1), None));
        // As if the process were stopped: its lease does not count for ever.
        holder.abort();
        sleep(HELD + BEAT).await;
        assert_eq!(first.epoch(), None);
        sleep(Duration::from_secs(20).saturating_sub(HELD + BEAT)).await;
        assert_eq!((first.epoch(), second.epoch()), (None, Some(2)));
        tokio::spawn(first.clone().keep(store));
        sleep(Duration::from_mins(1)).await;
        assert_eq!((first.epoch(), second.epoch()), (None, Some(2)));
    }
}
