//! Panics of requests: each is counted and answered with 500, and the process continues.
//!
//! The panic hook of [`logging`](super::logging) logs them.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use tracing::Span;

use super::metrics::Metrics;
use crate::status::{Result, Status};

/// Handles a request, and catches a panic.
///
/// # Errors
///
/// 500 if the handling panics.
pub async fn caught<T>(metrics: &Metrics, handling: impl Future<Output = Result<T>>) -> Result<T> {
    AssertUnwindSafe(handling)
        .catch_unwind()
        .await
        .unwrap_or_else(|_| Err(panicked(metrics)))
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

fn panicked(metrics: &Metrics) -> Box<Status> {
    metrics.count_panic();
    Status::internal(
        "the server panicked; its log has the place, with the Audit-Id of this response",
    )
}

#[cfg(test)]
mod tests {
    use super::super::admission::Admission;
    use super::super::limits::tests::limits;
    use super::*;

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
}
