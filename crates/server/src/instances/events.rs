//! Failed steps and events of an instance.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::expansion::Problem;
use super::objects::{NAMED, objects_of, suffixed};
use super::revisions;
use super::status::Status;
use super::store::{Context, Instance, Outcome, Stop};
use krm_template_cluster::{Cause, Cluster, Failure, add_values};
use krm_template_server_core::{Kind, rfc3339};

/// Writes a failed step into the conditions.
pub(super) async fn set_failed(
    context: &Context,
    cluster: &Cluster,
    instance: &mut Instance,
    mut status: Status,
    problem: &Problem,
) -> Result<Outcome, Stop> {
    let is_known = status.condition("Ready").reason == problem.reason;
    let is_stalled = matches!(
        problem.reason,
        "TemplateNotFound"
            | "TemplateChanged"
            | "ValuesChanged"
            | "ParametersMissing"
            | "ExpansionFailed"
            | "Invalid"
            | "Timeout"
    );
    learn(cluster, &mut status).await;
    status.conclude(false, problem.reason, &problem.message, is_stalled);
    instance.save(context, &status.value()).await?;
    context.state.metrics.count_instance_error(problem.reason);
    if !is_known {
        let reason = match problem.reason {
            known @ ("Conflict" | "Forbidden" | "DeletionBlocked") => known,
            _ => "Failed",
        };
        let message = status.secrets.masked(&problem.message);
        record_event(cluster, instance, "Warning", reason, &message).await;
    }
    if let Some(number) = status.fields.get("revision").and_then(Value::as_u64) {
        revisions::end(context, instance, number, problem.reason).await?;
    }
    Ok(Outcome::Failed)
}

/// Adds the values of the live Secrets of an instance to those that no message may show: a cluster may
/// quote them, too.
pub(super) async fn learn(cluster: &Cluster, status: &mut Status) {
    let Some(user) = status.user.clone() else {
        return;
    };
    let recorded = objects_of(status);
    for one in recorded.iter().filter(|one| one.kind == "Secret") {
        if let Ok(Some(live)) = cluster.live(&user, one).await {
            add_values(&mut status.secrets, &live);
        }
    }
}

/// Returns the reason and message for failed requests.
pub(super) fn problem_of(failures: &[Failure]) -> Problem {
    let first = failures.first();
    let code = first.map_or(500, |failure| failure.code);
    let reason = match (first.map(|failure| failure.cause), code) {
        (Some(Cause::UnknownKind), _) => "UnknownKind",
        (Some(Cause::OwnedByOther), _) => "OwnedByOther",
        (_, 401 | 403) => "Forbidden",
        (_, 409) => "Conflict",
        (_, 400 | 413 | 422) => "Invalid",
        _ => "ObjectFailed",
    };
    let mut texts: Vec<String> = failures.iter().take(NAMED).map(ToString::to_string).collect();
    if failures.len() > NAMED {
        texts.push(format!("and {} more", failures.len() - NAMED));
    }
    Problem::new(reason, texts.join("; "))
}

/// The message of the event `Ready`.
pub(super) const READY: &str = "all objects are ready";

/// Creates an event about an instance.
pub(super) async fn record_event(
    cluster: &Cluster,
    instance: &Instance,
    kind: &str,
    reason: &str,
    message: &str,
) {
    let now = Timestamp::now();
    let cut = message.floor_char_boundary(message.len().min(1_024));
    let name = suffixed(instance.name(), &format!(".{:x}", now.as_nanosecond()));
    let event = json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": instance.namespace()},
        "involvedObject": {
            "apiVersion": instance.group().api_version(),
            "kind": Kind::Instance.name(),
            "namespace": instance.namespace(),
            "name": instance.name(),
            "uid": instance.uid,
        },
        "type": kind,
        "reason": reason,
        "message": message.get(..cut).unwrap_or_default(),
        "source": {"component": "krm-template-server"},
        "firstTimestamp": rfc3339(now),
        "lastTimestamp": rfc3339(now),
        "count": 1,
    });
    cluster.tell(instance.namespace(), &event).await;
}
