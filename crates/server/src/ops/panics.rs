//! Panics of requests: each is counted and answered with 500, and the process goes on.
//!
//! What logs them is the hook of [`logging`](super::logging).

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use tracing::Span;

use super::metrics::Metrics;
use crate::status::{Result, Status};

/// Handles a request.
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

/// Does a part of a request on a thread that may be blocked.
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
    Status::internal("the server panicked; its log says where, with the Audit-Id of this answer")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::admission::Admission;
    use super::super::limits::Limits;
    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        limits: Limits,
    }

    fn metrics() -> Metrics {
        let admission = Admission::new(&Program::parse_from(["server"]).limits);
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
