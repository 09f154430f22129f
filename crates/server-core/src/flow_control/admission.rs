//! Concurrency limits for requests, watches, connections and expansions.

use std::sync::Arc;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::Limits;
use crate::status::{Details, Result, Status};

/// The maximum number of concurrent requests whose body is read without authentication: logins, and
/// forms whose login has expired.
const MAX_LOGINS: usize = 50;

/// Up to this size, in bytes, a text is processed so quickly that a change of the thread is not
/// worth its cost.
pub const SHORT: usize = 4096;

/// The permits for concurrent requests, watches, connections and expansions.
#[derive(Clone, Debug)]
pub struct Admission {
    reads: Permits,
    writes: Permits,
    watches: Permits,
    logins: Permits,
    /// Only counted: connections have a limit of their own.
    connections: Permits,
    /// The permits for expansions that run or wait.
    admitted: Permits,
    running: Arc<Semaphore>,
    /// The permits for work on large texts besides expansions.
    working: Arc<Semaphore>,
}

/// A class of work that needs a permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A request that changes nothing.
    Read,
    /// A request that writes or processes.
    Write,
    /// An open watch, beside its request.
    Watch,
    /// A request whose body is read without authentication.
    Login,
    /// A connection, with or without a request.
    Connection,
}

/// A taken permit, released on drop.
#[derive(Debug)]
pub struct Permit {
    _permits: Vec<OwnedSemaphorePermit>,
}

#[derive(Clone, Debug)]
struct Permits {
    free: Arc<Semaphore>,
    all: usize,
}

impl Admission {
    /// Creates the permits according to the limits.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let expansions = limits.expansions().get();
        Self {
            reads: Permits::new(limits.max_reads.get()),
            writes: Permits::new(limits.max_writes.get()),
            watches: Permits::new(limits.max_watches.get()),
            logins: Permits::new(MAX_LOGINS),
            connections: Permits::new(usize::MAX),
            admitted: Permits::new(expansions.saturating_add(limits.max_waiting_expansions)),
            running: Permits::new(expansions).free,
            working: Permits::new(expansions).free,
        }
    }

    /// Takes a permit.
    ///
    /// # Errors
    ///
    /// 429 if no permit is free.
    pub fn enter(&self, class: Class) -> Result<Permit> {
        let permit = self.permits(class).take()?;
        Ok(Permit { _permits: vec![permit] })
    }

    /// Returns the number of taken permits of a class.
    pub fn taken(&self, class: Class) -> usize {
        self.permits(class).taken()
    }

    /// Waits until an expansion may run, first come, first served.
    ///
    /// Dropping the future, for example when the client disconnects, gives up its place in the
    /// queue.
    ///
    /// # Errors
    ///
    /// 429 at once if the queue is full.
    pub async fn expansion(&self) -> Result<Permit> {
        let admitted = self.admitted.take()?;
        let running =
            Arc::clone(&self.running).acquire_owned().await.map_err(|_| too_many_requests())?;
        Ok(Permit { _permits: vec![running, admitted] })
    }

    /// Works on a text of `bytes` bytes, such as parsing the body of a request.
    ///
    /// Work on a large text waits for one of as many permits as expansions have, and hands the other
    /// tasks of its thread to another thread.
    pub async fn work<T>(&self, bytes: usize, work: impl FnOnce() -> T) -> T {
        if bytes <= SHORT {
            return work();
        }
        let _permit = self.working.acquire().await;
        match Handle::current().runtime_flavor() {
            // As in tests: there is no other thread.
            RuntimeFlavor::CurrentThread => work(),
            _ => tokio::task::block_in_place(work),
        }
    }

    fn permits(&self, class: Class) -> &Permits {
        match class {
            Class::Read => &self.reads,
            Class::Write => &self.writes,
            Class::Watch => &self.watches,
            Class::Login => &self.logins,
            Class::Connection => &self.connections,
        }
    }
}

impl Permits {
    fn new(wanted: usize) -> Self {
        let all = wanted.min(Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(all)), all }
    }

    fn take(&self) -> Result<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().map_err(|_| too_many_requests())
    }

    fn taken(&self) -> usize {
        self.all.saturating_sub(self.free.available_permits())
    }
}

/// Returns 429, which asks the client to retry after a second.
///
/// Source: `NewTooManyRequests` of `k8s.io/apimachinery`, with the text of `k8s.io/apiserver`.
pub fn too_many_requests() -> Box<Status> {
    Status::new(429, "TooManyRequests", "Too many requests, please try again later.")
        .with(Details { retry_after_seconds: 1, ..Details::default() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::task::yield_now;

    use super::super::limits::tests::limits;
    use super::*;

    fn admission(arguments: &[&str]) -> Admission {
        Admission::new(&limits(arguments).unwrap())
    }

    #[test]
    fn each_class_has_permits_of_its_own() {
        let admission = admission(&["--max-reads=1", "--max-writes=2", "--max-watches=3"]);
        let classes =
            [(Class::Read, 1), (Class::Write, 2), (Class::Watch, 3), (Class::Login, MAX_LOGINS)];
        let mut taken = Vec::new();
        for (class, permits) in classes {
            for _ in 0..permits {
                taken.push(admission.enter(class).unwrap());
            }
            assert_eq!(admission.enter(class).unwrap_err().code, 429, "{class:?}");
            assert_eq!(admission.taken(class), permits);
        }
        taken.clear();
        for (class, _) in classes {
            assert_eq!(admission.taken(class), 0);
            assert!(admission.enter(class).is_ok());
        }
    }

    #[test]
    fn a_refused_client_learns_when_to_come_again() {
        assert_eq!(
            too_many_requests().object(),
            json!({
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Failure",
                "message": "Too many requests, please try again later.",
                "reason": "TooManyRequests",
                "details": {"retryAfterSeconds": 1},
                "code": 429,
            })
        );
    }

    #[tokio::test]
    async fn expansions_wait_in_order_and_the_queue_is_bounded() {
        let admission = admission(&["--max-expansions=1", "--max-waiting-expansions=2"]);
        let running = admission.expansion().await.unwrap();
        let waiting: Vec<_> = (0..2)
            .map(|_| {
                let admission = admission.clone();
                tokio::spawn(async move { admission.expansion().await })
            })
            .collect();
        yield_now().await;
        assert_eq!(admission.expansion().await.unwrap_err().code, 429);
        drop(running);
        for task in waiting {
            drop(task.await.unwrap().unwrap());
        }
        assert!(admission.expansion().await.is_ok());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn work_on_large_texts_leaves_the_thread_to_other_tasks() {
        let admission = admission(&["--max-expansions=1"]);
        let (begun, begins) = std::sync::mpsc::channel();
        let (end, ends) = std::sync::mpsc::channel::<()>();
        let large = tokio::spawn({
            let admission = admission.clone();
            let work = move || {
                begun.send(()).unwrap();
                ends.recv().unwrap();
            };
            async move { admission.work(SHORT + 1, work).await }
        });
        begins.recv().unwrap();
        // The only other permit is taken, and the only thread answers.
        let second = tokio::spawn({
            let admission = admission.clone();
            async move { admission.work(SHORT + 1, || ()).await }
        });
        tokio::spawn({
            let admission = admission.clone();
            async move { admission.work(SHORT, || ()).await }
        })
        .await
        .unwrap();
        assert!(!second.is_finished());
        end.send(()).unwrap();
        large.await.unwrap();
        second.await.unwrap();
    }

    #[tokio::test]
    async fn a_client_that_goes_leaves_the_queue() {
        let admission = admission(&["--max-expansions=1", "--max-waiting-expansions=1"]);
        let running = admission.expansion().await.unwrap();
        let waiting = tokio::spawn({
            let admission = admission.clone();
            async move { admission.expansion().await }
        });
        yield_now().await;
        assert!(admission.expansion().await.is_err());
        waiting.abort();
        assert!(waiting.await.unwrap_err().is_cancelled());
        drop(running);
        assert!(admission.expansion().await.is_ok());
    }
}
