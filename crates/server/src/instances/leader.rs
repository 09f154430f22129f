//! Leader election: of several servers on one store, one at a time works on instances.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::sleep;
use uuid::Uuid;

use krm_template_server_core::lease::{Lease, Timing, Watcher};
use krm_template_server_core::{Measured, Revision, store::Error};

/// The prefix of the key of the lease, and the key.
const PREFIX: &str = "/template.krm.dev/leases/";
const KEY: &str = "/template.krm.dev/leases/instances";

const TIMING: Timing = Timing {
    beat: Duration::from_secs(2),
    held: Duration::from_secs(8),
    stale: Duration::from_secs(12),
};

/// Whether this server works on instances. Clones share it.
#[derive(Clone, Debug)]
pub(super) enum Leader {
    /// No other server uses the store.
    Alone,
    /// The server with the lease works. [`keep`](Self::keep) acquires it.
    Shared(Arc<Mutex<Option<Lease>>>),
}

impl Leader {
    /// Returns the epoch of the lease, or `None` if this server does not hold it.
    pub(super) fn epoch(&self) -> Option<Revision> {
        let Self::Shared(lease) = self else {
            return Some(0);
        };
        let lease = lease.lock().unwrap_or_else(PoisonError::into_inner);
        lease.as_ref().filter(|lease| lease.is_held()).map(Lease::epoch)
    }

    fn replace(&self, new: Option<Lease>) -> Option<Lease> {
        let Self::Shared(lease) = self else {
            return None;
        };
        std::mem::replace(&mut *lease.lock().unwrap_or_else(PoisonError::into_inner), new)
    }

    /// Acquires the lease whenever it is free or stale, until `closing` ends.
    pub(super) async fn keep(&self, store: &Arc<Measured>, closing: impl Future<Output = ()>) {
        if matches!(self, Self::Alone) {
            return;
        }
        let mut closing = pin!(closing);
        let holder = Uuid::new_v4().to_string();
        let mut watcher = Watcher::default();
        loop {
            // Not interrupted: a lease that was just created would be left behind.
            match acquire(store, &holder, &mut watcher).await {
                Ok(Some(lease)) => {
                    let taken = lease.taken();
                    self.replace(Some(lease));
                    tokio::select! {
                        () = taken => self.replace(None),
                        () = &mut closing => return,
                    };
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(%error, "the lease of instances cannot be acquired");
                }
            }
            tokio::select! {
                () = sleep(TIMING.beat) => {}
                () = &mut closing => return,
            }
        }
    }

    /// Releases the lease, so that another server goes on at once.
    pub(super) async fn release(&self) {
        if let Some(lease) = self.replace(None) {
            lease.release().await;
        }
    }
}

/// Tries to acquire the lease.
async fn acquire(
    store: &Arc<Measured>,
    holder: &str,
    watcher: &mut Watcher,
) -> Result<Option<Lease>, Error> {
    for stale in watcher.take_over(store, PREFIX, TIMING.stale).await? {
        stale.release(store).await?;
    }
    Lease::acquire(store, KEY, holder, TIMING).await
}

#[cfg(test)]
pub(super) mod tests {
    use std::future::pending;

    use krm_template_server_core::flow_control::admission::Admission;
    use krm_template_server_core::flow_control::limits::Limits;
    use krm_template_server_core::store::Store;
    use krm_template_server_core::telemetry::metrics::Metrics;

    use super::*;

    pub(in super::super) fn store() -> Arc<Measured> {
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
    async fn one_server_works_until_it_releases_the_lease() {
        let store = store();
        let [first, second] = [(); 2].map(|()| Leader::Shared(Arc::default()));
        let keep = |leader: &Leader| {
            let (leader, store) = (leader.clone(), Arc::clone(&store));
            tokio::spawn(async move { leader.keep(&store, pending()).await })
        };
        let holder = keep(&first);
        sleep(Duration::from_secs(1)).await;
        keep(&second);
        sleep(Duration::from_mins(1)).await;
        let epoch = first.epoch().unwrap();
        assert_eq!(second.epoch(), None);
        holder.abort();
        first.release().await;
        sleep(TIMING.beat).await;
        assert_eq!(first.epoch(), None);
        assert!(second.epoch().unwrap() > epoch);
    }
}
