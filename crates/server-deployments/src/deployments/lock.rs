//! Locks: one operation at a time changes a deployment, even with several servers.
//!
//! The holder of a lock writes heartbeats. A lock is stale if it does not change for some time. No
//! clocks are compared.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::record::{LOCKS, Lock, Target};
use super::repository::{Repository, Stored, decoded};
use krm_template_server_core::status::{Details, Result, Status};
use krm_template_server_core::store::Revision;

/// The interval between two heartbeats of a holder, and between two checks of all locks.
pub(super) const BEAT: Duration = Duration::from_secs(5);

/// How long heartbeats may fail before the holder gives up.
const LOST: Duration = Duration::from_secs(15);

/// How long a lock may stay unchanged before it is stale.
const STALE: Duration = Duration::from_secs(25);

/// A held lock. If it is dropped without [`release`](Self::release), it becomes stale.
pub(super) struct Held {
    key: String,
    operation: String,
    records: Repository,
    beating: JoinHandle<()>,
    lost: watch::Receiver<bool>,
}

impl Held {
    /// Acquires the lock of a deployment for an operation.
    ///
    /// # Errors
    ///
    /// 409 if another operation holds it.
    pub(super) async fn take(
        records: &Repository,
        target: &Target,
        operation: &str,
    ) -> Result<Self> {
        let key = target.lock();
        let lock = Lock { operation: operation.to_owned(), beat: 0 };
        let Some(revision) = records.create(&key, &lock).await? else {
            let other = records.get::<Lock>(&key).await?;
            let other = other.map(|other| other.value.operation);
            return Err(busy(target, other.as_deref().unwrap_or("another one")));
        };
        let (sender, lost) = watch::channel(false);
        let beating = tokio::spawn(beat(records.clone(), key.clone(), lock, revision, sender));
        Ok(Self { key, operation: operation.to_owned(), records: records.clone(), beating, lost })
    }

    /// Waits until the lock is lost. Never returns while it is held.
    pub(super) async fn lost(&self) {
        let mut lost = self.lost.clone();
        if lost.wait_for(|&lost| lost).await.is_err() {
            // The heartbeats have ended, so no loss can be reported.
            std::future::pending::<()>().await;
        }
    }

    pub(super) async fn release(self) {
        self.beating.abort();
        if let Err(error) = self.give_back().await {
            // It becomes stale.
            tracing::warn!(%error, "a lock cannot be released");
        }
    }

    async fn give_back(&self) -> Result<()> {
        /// A heartbeat may be in flight.
        const TRIES: usize = 3;
        for _ in 0..TRIES {
            let Some(lock) = self.records.get::<Lock>(&self.key).await? else {
                return Ok(());
            };
            if lock.value.operation != self.operation
                || self.records.delete(&self.key, lock.revision).await.is_ok()
            {
                return Ok(());
            }
        }
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.beating.abort();
    }
}

/// Writes heartbeats until the lock is lost.
async fn beat(
    records: Repository,
    key: String,
    mut lock: Lock,
    mut revision: Revision,
    lost: watch::Sender<bool>,
) {
    let mut written = Instant::now();
    loop {
        sleep(BEAT).await;
        lock.beat += 1;
        match records.update(&key, &lock, revision).await {
            Ok(next) => {
                revision = next;
                written = Instant::now();
            }
            Err(error) if error.code == 409 || written.elapsed() >= LOST => {
                lost.send_replace(true);
                return;
            }
            Err(_) => {}
        }
    }
}

/// Returns a 409: another operation changes the deployment.
fn busy(target: &Target, operation: &str) -> Box<Status> {
    let name = &target.name;
    let message = format!(
        "deployment {name:?} is being changed by the operation {operation:?}; try again when it is \
         done"
    );
    Status::new(409, "Conflict", message).with(Details::of("", "deployments", name))
}

/// The known locks, each with its revision and the time at which this revision was first seen.
#[derive(Debug, Default)]
pub(super) struct LockWatcher(BTreeMap<String, (Revision, Instant)>);

/// A stale lock that was taken over.
#[derive(Debug)]
pub(super) struct StaleLock {
    /// The operation that held it.
    pub(super) operation: String,
    /// The deployment.
    pub(super) target: Target,
    key: String,
    revision: Revision,
}

impl StaleLock {
    pub(super) async fn release(self, records: &Repository) -> Result<()> {
        records.delete(&self.key, self.revision).await
    }
}

impl LockWatcher {
    /// Takes over stale locks. With `all`, every lock is stale: the server has just started, and no
    /// other server uses the store.
    pub(super) async fn take_over(
        &mut self,
        records: &Repository,
        all: bool,
    ) -> Result<Vec<StaleLock>> {
        let now = Instant::now();
        let mut seen = BTreeMap::new();
        let mut stale = Vec::new();
        let mut after = None;
        loop {
            let page = records.page(LOCKS, after.as_deref()).await?;
            records.delete_damaged(&page.damaged).await?;
            for item in &page.items {
                let since = match self.0.get(&item.key) {
                    Some((revision, since)) if *revision == item.revision => *since,
                    _ => now,
                };
                seen.insert(item.key.clone(), (item.revision, since));
                if all || now.duration_since(since) >= STALE {
                    let Stored { mut value, revision } = decoded::<Lock>(item)?;
                    value.beat += 1;
                    // If this fails, the holder is alive or another server took the lock over.
                    if let Ok(revision) = records.update(&item.key, &value, revision).await {
                        stale.push(StaleLock {
                            operation: value.operation,
                            target: Target::of_lock(&item.key),
                            key: item.key.clone(),
                            revision,
                        });
                    }
                }
            }
            match page.items.last() {
                Some(last) if page.remaining > 0 => after = Some(last.key.clone()),
                _ => break,
            }
        }
        self.0 = seen;
        Ok(stale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn web() -> Target {
        Target { namespace: "default".to_owned(), name: "web".to_owned() }
    }

    #[tokio::test(start_paused = true)]
    async fn one_operation_has_the_lock_until_it_gives_it_back() {
        let records = Repository::memory();
        let held = Held::take(&records, &web(), "one").await.unwrap();
        let error = Held::take(&records, &web(), "two").await.map(drop).unwrap_err();
        assert_eq!(error.code, 409);
        assert!(error.message.contains("\"one\""), "{}", error.message);
        held.release().await;
        assert!(Held::take(&records, &web(), "two").await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_lock_whose_holder_lives_is_never_stale() {
        let records = Repository::memory();
        let held = Held::take(&records, &web(), "one").await.unwrap();
        let mut watcher = LockWatcher::default();
        for _ in 0..20 {
            assert!(watcher.take_over(&records, false).await.unwrap().is_empty());
            sleep(BEAT).await;
        }
        drop(held);
        let mut ended = Vec::new();
        for _ in 0..7 {
            for stale in watcher.take_over(&records, false).await.unwrap() {
                ended.push(stale.operation.clone());
                stale.release(&records).await.unwrap();
            }
            sleep(BEAT).await;
        }
        assert_eq!(ended, ["one"]);
        assert!(Held::take(&records, &web(), "two").await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_holder_learns_that_its_lock_was_taken() {
        let records = Repository::memory();
        let held = Held::take(&records, &web(), "one").await.unwrap();
        let mut watcher = LockWatcher::default();
        let stale = watcher.take_over(&records, true).await.unwrap();
        assert_eq!(stale[0].operation, "one");
        held.lost().await;
    }
}
