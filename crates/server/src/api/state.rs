//! The state that all requests share.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::openapi::Documents;
use crate::templates::{self, IsLate};
use krm_template_cluster::Cluster;
use krm_template_server_core::auth::{Authenticator, Authorizer};
use krm_template_server_core::{
    Admission, Attributes, Group, Kind, Limits, Measured, Metrics, Result, Shutdown, User,
    aggregation::Aggregation, panics, reload::Reload, telemetry::audit::Audit,
};
use krm_template_server_deployments::Deployments;

/// The time that a scrape of the metrics waits for the store.
const COUNTING: Duration = Duration::from_secs(1);

/// The state that all requests share.
pub struct State {
    /// The store of Templates and deployments.
    pub store: Arc<Measured>,
    /// Finds the user of a request.
    pub authenticator: Authenticator,
    /// Decides what the user may do.
    pub authorizer: Authorizer,
    /// The files of both, which are reread.
    pub files: Arc<[Arc<dyn Reload>]>,
    /// The limits of requests and expansions.
    pub limits: Limits,
    /// The permits for requests, watches and expansions.
    pub admission: Admission,
    /// The metrics that `/metrics` shows.
    pub metrics: Arc<Metrics>,
    /// The audit log of all requests.
    pub audit: Audit,
    /// The phases of the shutdown.
    pub shutdown: Shutdown,
    /// Whether the server runs without a cluster and therefore handles reviews itself.
    pub is_standalone: bool,
    /// Whether a kube-apiserver is in front of the server.
    pub is_aggregated: bool,
    /// The namespaces and the registrations of that kube-apiserver's cluster.
    pub aggregation: Option<Aggregation>,
    /// The deployments, their manifests and types.
    pub deployments: Arc<Deployments>,
    /// The cluster in which instances are installed, if any.
    pub cluster: Option<Arc<Cluster>>,
    /// The `OpenAPI` documents of the served groups.
    pub documents: Documents,
}

impl State {
    /// Returns `true` if instances are installed in a cluster.
    pub(crate) const fn installs(&self) -> bool {
        self.cluster.is_some()
    }

    /// Authorizes a request and measures the duration.
    pub(crate) async fn authorize(&self, user: &User, wanted: &Attributes<'_>) -> Result<()> {
        let began = Instant::now();
        let decision = self.authorizer.authorize(user, wanted).await;
        self.metrics.observe_authorization(began.elapsed());
        decision
    }

    /// Returns `true` if the user may send a request.
    ///
    /// # Errors
    /// If the authorization check fails.
    pub(crate) async fn allows(&self, user: &User, wanted: &Attributes<'_>) -> Result<bool> {
        match self.authorize(user, wanted).await {
            Ok(()) => Ok(true),
            Err(status) if status.code == 403 => Ok(false),
            Err(status) => Err(status),
        }
    }

    /// Runs a part of a request on a thread for blocking work, with the limits of an expansion.
    pub(crate) async fn limited<T: Send + 'static>(
        &self,
        work: impl FnOnce(&templates::Limits<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let limits = self.expansion_limits();
        let work = move |is_late: IsLate<'_>| work(&limits(is_late));
        panics::limited(&self.metrics, self.limits.expansion_timeout, work).await
    }

    /// Returns the limits of an expansion, without its time.
    pub(crate) fn expansion_limits(
        &self,
    ) -> impl for<'l> Fn(IsLate<'l>) -> templates::Limits<'l> + Send + 'static + use<> {
        let limits = &self.limits;
        let (objects, bytes) = (limits.max_expansion_objects.get(), limits.max_expansion_bytes);
        let parameters = limits.max_parameters.get();
        move |is_late| templates::Limits { objects, bytes, parameters, is_late }
    }

    /// Updates the metrics of files and of stored objects, unless the store takes longer than
    /// [`COUNTING`].
    pub(crate) async fn measure(&self) {
        for (option, has_failed) in self.files.iter().map(|file| file.state()) {
            self.metrics.set_files_failed(option, has_failed);
        }
        let all = Group::ALL.into_iter();
        for (group, kind) in all.flat_map(|group| Kind::ALL.map(|kind| (group, kind))) {
            let prefix = format!("/{}/{}/", group.name(), kind.resource());
            let first = self.store.list(&prefix, None, 1, None);
            if let Ok(Ok(page)) = tokio::time::timeout(COUNTING, first).await {
                let objects = page.remaining.saturating_add(page.items.len() as u64);
                self.metrics.set_store_objects(group, kind, objects);
            }
        }
    }
}
