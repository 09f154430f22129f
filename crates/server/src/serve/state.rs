//! What all requests share.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::openapi::Documents;
use crate::auth::{Attributes, Authenticator, Authorizer, User};
use crate::deployments::Deployments;
use crate::groups::Group;
use crate::ops::admission::Admission;
use crate::ops::audit::Audit;
use crate::ops::limits::Limits;
use crate::ops::measured::Measured;
use crate::ops::metrics::Metrics;
use crate::ops::shutdown::Shutdown;
use crate::status::Result;

/// How long a scrape of metrics waits for the store.
const COUNTING: Duration = Duration::from_secs(1);

/// What all requests share.
pub struct State {
    /// Where Templates are kept.
    pub store: Arc<Measured>,
    /// Tells the users that send requests.
    pub authenticator: Authenticator,
    /// Tells what users may do.
    pub authorizer: Authorizer,
    /// The limits of requests and expansions.
    pub limits: Limits,
    /// The places for requests, watches and expansions.
    pub admission: Admission,
    /// What is counted and measured.
    pub metrics: Arc<Metrics>,
    /// Where a line for each request goes.
    pub audit: Audit,
    /// Tells the end of the process.
    pub shutdown: Shutdown,
    /// Whether the server answers reviews of rights itself, because no cluster does.
    pub is_standalone: bool,
    /// Deployments, their manifests and types.
    pub deployments: Arc<Deployments>,
    /// The documents of `OpenAPI`.
    pub documents: Documents,
}

impl State {
    /// Asks whether a user may do something, and measures how long it takes.
    pub(super) async fn authorize(&self, user: &User, wanted: &Attributes<'_>) -> Result<()> {
        let began = Instant::now();
        let decision = self.authorizer.authorize(user, wanted).await;
        self.metrics.observe_authorization(began.elapsed());
        decision
    }

    /// Sets the metric of stored objects; it keeps its value if the store does not answer soon.
    pub(super) async fn count_objects(&self) {
        for group in [Group::Krm, Group::OpenShift] {
            let prefix = format!("/{}/templates/", group.name());
            let first = self.store.list(&prefix, None, 1, None);
            if let Ok(Ok(page)) = tokio::time::timeout(COUNTING, first).await {
                let objects = page.remaining.saturating_add(page.items.len() as u64);
                self.metrics.set_store_objects(group, objects);
            }
        }
    }
}
