//! Panics of requests: each is counted and answered with 500, and the process continues.
//!
//! The panic hook of [`logging`](crate::telemetry::logging) logs them.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::{Instant, sleep};
use tracing::Span;

use crate::status::{Result, Status};
use crate::telemetry::metrics::Metrics;

/// Handles a request, and catches a panic.
///
/// # Errors
///
/// 500 if the handling panics.
pub async fn caught<T>(metrics: &Metrics, handling: impl Future<Output = Result<T>>) -> Result<T> {
    AssertUnwindSafe(handling).catch_unwind().await.unwrap_or_else(|_| Err(panicked(metrics)))
}

/// Runs a task of the server, and starts it again after each panic.
pub async fn restarted<F: Future<Output = ()>>(
    metrics: &Metrics,
    pause: Duration,
    mut work: impl FnMut() -> F,
) {
    while caught(metrics, work().map(Ok)).await.is_err() {
        sleep(pause).await;
    }
}

/// Runs a part of a request on a thread for blocking work.
///
/// # Errors
///
/// 500 if the work panics.
pub async fn blocking<T: Send + 'static>(
    metrics: &Metrics,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let request = Span::current();
    tokio::task::spawn_blocking(move || request.in_scope(work))
        .await
        .unwrap_or_else(|_| Err(panicked(metrics)))
}

/// Runs a part of a request like [`blocking`], with a time limit.
///
/// `work` gets a function that returns `true` once it is late: after `limit`, or when the returned
/// future is dropped because the client has disconnected.
///
/// # Errors
///
/// 500 if the work panics.
pub async fn limited<T: Send + 'static>(
    metrics: &Metrics,
    limit: Duration,
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> Result<T> + Send + 'static,
) -> Result<T> {
    /// Sets the flag when it is dropped.
    struct Waiting(Arc<AtomicBool>);

    impl Drop for Waiting {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    let deadline = Instant::now() + limit;
    let has_left = Arc::new(AtomicBool::new(false));
    let _waiting = Waiting(Arc::clone(&has_left));
    blocking(metrics, move || {
        work(&|| has_left.load(Ordering::Relaxed) || Instant::now() > deadline)
    })
    .await
}

fn panicked(metrics: &Metrics) -> Box<Status> {
    metrics.count_panic();
    Status::internal(
        "the server panicked; its log has the place, with the Audit-Id of this response",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_control::admission::Admission;
    use crate::flow_control::limits::tests::limits;

    fn metrics() -> Metrics {
        let admission = Admission::new(&limits(&[]).unwrap());
        Metrics::new(admission, "0.1.0", "")
    }

    #[tokio::test]
    async fn a_panic_is_counted_and_answered() {
        let metrics = metrics();
        let answers: [Result<()>; 2] = [
            caught(&metrics, async { panic!("canary") }).await,
            blocking(&metrics, || panic!("canary")).await,
        ];
        for answer in answers {
            let status = answer.unwrap_err();
            assert_eq!(status.code, 500);
            assert!(!status.message.contains("canary"), "{}", status.message);
        }
        let text = metrics.text().unwrap();
        assert!(text.contains("krm_template_panics_total 2\n"), "{text}");
        assert_eq!(caught(&metrics, async { Ok(1) }).await, Ok(1));
        assert_eq!(blocking(&metrics, || Ok(2)).await, Ok(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_starts_again_after_a_panic() {
        let metrics = metrics();
        let mut starts = 0;
        let work = || {
            starts += 1;
            let number = starts;
            async move { assert!(number > 2, "canary") }
        };
        restarted(&metrics, Duration::from_secs(1), work).await;
        assert_eq!(starts, 3);
        assert!(metrics.text().unwrap().contains("krm_template_panics_total 2\n"));
    }

    #[tokio::test]
    async fn work_stops_when_nobody_waits_for_it() {
        let (begun, mut begins) = tokio::sync::mpsc::channel(1);
        let (ended, mut ends) = tokio::sync::mpsc::channel(1);
        let request = tokio::spawn(async move {
            limited(&metrics(), Duration::from_hours(1), move |is_late| {
                begun.blocking_send(()).unwrap();
                while !is_late() {
                    std::thread::yield_now();
                }
                ended.blocking_send(()).unwrap();
                Ok(())
            })
            .await
        });
        begins.recv().await.unwrap();
        request.abort();
        ends.recv().await.unwrap();
        let metrics = metrics();
        let late = limited(&metrics, Duration::ZERO, |is_late| {
            while !is_late() {}
            Ok(())
        });
        assert_eq!(late.await, Ok(()));
    }
}
