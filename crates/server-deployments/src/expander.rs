//! Runs expansions, with admission, limits and metrics.

use std::sync::Arc;

use krm_template_deployment_manager::model::{Limits as Bounds, Request};
use krm_template_deployment_manager::python::Interpreters;
use tokio::time::Instant;

use super::expansion::{self, ExpandedManifest, Texts};
use super::fetch::Fetcher;
use krm_template_server_core::flow_control::admission::Admission;
use krm_template_server_core::flow_control::limits::Limits;
use krm_template_server_core::panics;
use krm_template_server_core::status::{Result, Status};
use krm_template_server_core::telemetry::metrics::Metrics;

/// The maximum nesting depth of fetched templates.
const MAX_FETCHED_DEPTH: usize = 10;

/// Expands configurations within the limits of the server.
pub(super) struct Expander {
    pub(super) limits: Limits,
    pub(super) admission: Admission,
    pub(super) metrics: Arc<Metrics>,
    pub(super) python: Arc<dyn Interpreters>,
    /// Fetches templates by URL, if that is allowed.
    pub(super) fetcher: Option<Fetcher>,
}

impl Expander {
    /// Expands a configuration without storing it.
    ///
    /// # Errors
    ///
    /// The same as [`expansion::texts`], and 429 if too many expansions wait.
    pub(super) async fn texts(&self, request: Request) -> Result<Texts> {
        let request = self.complete(request).await?;
        let python = Arc::clone(&self.python);
        self.expanded(
            move |bounds| expansion::texts(&request, python.as_ref(), bounds),
            |texts| texts.resources,
        )
        .await
    }

    /// Expands a configuration into a manifest.
    pub(super) async fn made(
        &self,
        name: String,
        request: Request,
        wants_objects: bool,
    ) -> Result<ExpandedManifest> {
        let request = self.complete(request).await?;
        let python = Arc::clone(&self.python);
        self.expanded(
            move |bounds| expansion::made(&name, &request, python.as_ref(), bounds, wants_objects),
            |made| made.resources,
        )
        .await
    }

    /// Fetches the templates of types that are URLs, if that is allowed. They may create more
    /// resources with such a type, so this repeats until no template is missing.
    async fn complete(&self, mut request: Request) -> Result<Request> {
        let Some(fetcher) = &self.fetcher else {
            return Ok(request);
        };
        let mut files = 0;
        for _ in 0..=MAX_FETCHED_DEPTH {
            let python = Arc::clone(&self.python);
            let expand = move |bounds: Bounds<'_>| {
                let types = expansion::unexpanded(&request, python.as_ref(), bounds)?;
                Ok((request, types))
            };
            let types;
            (request, types) = self.expanded(expand, |_| 0).await?;
            let mut wanted = types.into_iter().filter(|kind| fetcher.is_wanted(kind));
            let Some(first) = wanted.next() else {
                return Ok(request);
            };
            let wanted = std::iter::once(first).chain(wanted);
            fetcher.add(&mut request, wanted, &mut files).await?;
        }
        Err(Status::bad_request(format!(
            "fetched templates nest more than {MAX_FETCHED_DEPTH} deep"
        )))
    }

    /// Runs an expansion on a blocking thread, after admission.
    async fn expanded<T: Send + 'static>(
        &self,
        expand: impl FnOnce(Bounds<'_>) -> Result<T> + Send + 'static,
        count: impl FnOnce(&T) -> usize,
    ) -> Result<T> {
        let permit = self.admission.expansion().await?;
        let began = Instant::now();
        let limit = self.limits.expansion_timeout;
        let resources = self.limits.max_expansion_objects.get();
        let bytes = self.limits.max_expansion_bytes;
        let done = panics::limited(&self.metrics, limit, move |is_late| {
            let _permit = permit;
            expand(Bounds { resources, bytes, is_late })
        });
        let done = done.await;
        let created = done.as_ref().map(count).map_err(|status| match status.code {
            504 => "timeout",
            500 => "error",
            422 => "limit",
            _ => "invalid",
        });
        self.metrics.observe_expansion("deployment-manager", created, began.elapsed());
        done
    }
}
