//! Waits for Namespaces and CustomResourceDefinitions that other objects need.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::api::Api;
use super::caller::Caller;
use super::failure::{Cause, Refusal};
use super::readiness::{self, State};
use super::resources::{Resource, Resources};
use super::types::Recorded;
use krm_template_server_core::{Status, conditions::find};

/// The initial and the maximum delay between two polls.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Polls with a growing delay, until a timeout.
struct Poller {
    end: Instant,
    pause: Duration,
}

impl Poller {
    fn new(limit: Duration) -> Self {
        Self { end: Instant::now() + limit, pause: PAUSES.0 }
    }

    /// Sleeps until the next poll. Returns `false` after the timeout.
    async fn next(&mut self) -> bool {
        if Instant::now() >= self.end {
            return false;
        }
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(PAUSES.1);
        true
    }
}

/// Waits until an object is ready for use by other objects.
pub(super) async fn ready(
    api: &Api,
    caller: &Caller,
    object: &Recorded,
    path: &str,
    limit: Duration,
) -> Result<(), Refusal> {
    let mut poller = Poller::new(limit);
    loop {
        let Some(live) = api.find(Some(caller), path).await? else {
            return Err(gone(object));
        };
        if is_deleted(&live) {
            return Err(deleted(object));
        }
        match readiness::of(&live, Timestamp::now()) {
            State::Current => return Ok(()),
            State::Failed => return Err(refused(&live)),
            State::InProgress | State::Terminating => {}
        }
        if !poller.next().await {
            let kind = &object.kind;
            let why = format!("the {kind} is not ready after {limit:?}; try again");
            return Err(Status::new(504, "Timeout", why).into());
        }
    }
}

/// Waits until discovery lists the kind of an object, and returns its resource.
pub(super) async fn served(
    api: &Api,
    resources: &Resources,
    object: &Recorded,
    limit: Duration,
) -> Result<Resource, Refusal> {
    let mut poller = Poller::new(limit);
    loop {
        let found = resources.find(api, &object.api_version, &object.kind);
        if let Some(resource) = found.await? {
            return Ok(resource);
        }
        if !poller.next().await {
            return Err(unknown(object));
        }
    }
}

/// Returns a 404: the cluster does not serve the kind of an object.
pub(super) fn unknown(object: &Recorded) -> Refusal {
    let Recorded { api_version, kind, .. } = object;
    let why = format!(
        "the cluster has no kind `{kind}` in `{api_version}` that can be applied; install its \
         CustomResourceDefinition first"
    );
    Refusal { cause: Cause::UnknownKind, ..Status::new(404, "NotFound", why).into() }
}

/// Returns `true` if a live object is being deleted.
pub(super) fn is_deleted(live: &Value) -> bool {
    let at = live.get("metadata").and_then(|metadata| metadata.get("deletionTimestamp"));
    at.is_some_and(|at| !at.is_null())
}

/// Returns a 409: an object is being deleted.
pub(super) fn deleted(object: &Recorded) -> Refusal {
    let kind = &object.kind;
    let why = format!("the {kind} is being deleted; try again when it is gone");
    Status::new(409, "Conflict", why).into()
}

fn gone(object: &Recorded) -> Refusal {
    let kind = &object.kind;
    let why = format!("the {kind} was deleted during the change; try again");
    Status::new(409, "Conflict", why).into()
}

/// Returns a 409: the cluster does not accept a CustomResourceDefinition.
fn refused(live: &Value) -> Refusal {
    let conditions = live.pointer("/status/conditions");
    let messages = ["NamesAccepted", "Established"].map(|kind| find(conditions, kind).message);
    let why = messages.iter().find(|message| !message.is_empty());
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    let why = format!("the cluster does not accept the definition{why}");
    Status::new(409, "Conflict", why).into()
}
