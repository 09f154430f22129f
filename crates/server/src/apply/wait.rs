//! Namespaces and CustomResourceDefinitions that other objects need.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::api::Api;
use super::caller::Caller;
use super::failure::Refusal;
use super::plan::Phase;
use super::resources::{Resource, Resources};
use super::types::Recorded;
use crate::status::Status;

/// How long to wait between two looks, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Looks that are taken until something is there, or the time is over.
struct Looks {
    end: Instant,
    pause: Duration,
}

impl Looks {
    fn new(limit: Duration) -> Self {
        Self {
            end: Instant::now() + limit,
            pause: PAUSES.0,
        }
    }

    /// Waits for the next look. `false` if the time is over.
    async fn next(&mut self) -> bool {
        if Instant::now() >= self.end {
            return false;
        }
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(PAUSES.1);
        true
    }
}

/// Waits until other objects can use this one.
pub(super) async fn ready(
    api: &Api,
    caller: &Caller,
    object: &Recorded,
    path: &str,
    limit: Duration,
) -> Result<(), Refusal> {
    let mut looks = Looks::new(limit);
    loop {
        let Some(live) = api.find(Some(caller), path).await? else {
            return Err(gone(object));
        };
        if is_deleted(&live) {
            return Err(deleted(object));
        }
        if is_ready(object, &live)? {
            return Ok(());
        }
        if !looks.next().await {
            let kind = &object.kind;
            let why = format!("the {kind} is not ready after {limit:?}; try again");
            return Err(Status::new(504, "Timeout", why).into());
        }
    }
}

/// Waits until the cluster lists a kind whose definition is established.
pub(super) async fn served(
    api: &Api,
    resources: &Resources,
    object: &Recorded,
    limit: Duration,
) -> Result<Resource, Refusal> {
    let mut looks = Looks::new(limit);
    loop {
        let found = resources.find(api, &object.api_version, &object.kind);
        if let Some(resource) = found.await? {
            return Ok(resource);
        }
        if !looks.next().await {
            return Err(unknown(object));
        }
    }
}

/// 404: the cluster does not have the kind of an object.
pub(super) fn unknown(object: &Recorded) -> Refusal {
    let Recorded {
        api_version, kind, ..
    } = object;
    let why = format!(
        "the cluster has no kind `{kind}` in `{api_version}` that can be applied; install its \
         CustomResourceDefinition first"
    );
    Status::new(404, "NotFound", why).into()
}

/// Whether an object of the cluster is being deleted.
pub(super) fn is_deleted(live: &Value) -> bool {
    let at = live
        .get("metadata")
        .and_then(|metadata| metadata.get("deletionTimestamp"));
    at.is_some_and(|at| !at.is_null())
}

/// 409: an object is being deleted.
pub(super) fn deleted(object: &Recorded) -> Refusal {
    let kind = &object.kind;
    let why = format!("the {kind} is being deleted; try again when it is gone");
    Status::new(409, "Conflict", why).into()
}

fn gone(object: &Recorded) -> Refusal {
    let kind = &object.kind;
    let why = format!("somebody deleted the {kind} at the same time; try again");
    Status::new(409, "Conflict", why).into()
}

fn is_ready(object: &Recorded, live: &Value) -> Result<bool, Refusal> {
    let status = live.get("status").unwrap_or(&Value::Null);
    match Phase::of(object) {
        Phase::Others => Ok(true),
        Phase::Namespaces => Ok(status.get("phase").and_then(Value::as_str) == Some("Active")),
        Phase::Definitions => {
            if let Some("False") = condition(status, "NamesAccepted").map(|(status, _)| status) {
                let why = condition(status, "NamesAccepted").map_or("", |(_, message)| message);
                let why = format!("the cluster does not accept the names: {why}");
                return Err(Status::new(409, "Conflict", why).into());
            }
            let established = condition(status, "Established");
            Ok(established.is_some_and(|(status, _)| status == "True"))
        }
    }
}

/// The status and message of a condition.
fn condition<'v>(status: &'v Value, kind: &str) -> Option<(&'v str, &'v str)> {
    let conditions = status.get("conditions")?.as_array()?;
    let text = |condition: &'v Value, field| condition.get(field).and_then(Value::as_str);
    let condition = conditions
        .iter()
        .find(|condition| text(condition, "type") == Some(kind))?;
    Some((
        text(condition, "status").unwrap_or_default(),
        text(condition, "message").unwrap_or_default(),
    ))
}
