//! The deletion of an instance: its objects go in waves, in the reverse order in which they were
//! applied, and each wave waits until the one before is gone. It needs no Template and no values.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::own::{Silent, objects_of, owner, problem, tell, with_uids};
use super::record::{Context, Instance, Outcome, Planned, Stop};
use super::revisions;
use super::status::Status;
use crate::object::instance::finalizer;
use krm_template_server_core::auth::User;
use krm_template_server_core::groups::Group;
use krm_template_server_deployments::apply::{
    Cluster, Failure, Owner, Prune, Recorded, record, waves,
};

/// The time between two looks at objects that are being deleted.
const POLL: Duration = Duration::from_secs(1);

/// Works on an instance that is being deleted.
pub(super) async fn step(
    context: &Context,
    cluster: &Arc<Cluster>,
    instance: &mut Instance,
) -> Result<Outcome, Stop> {
    let own = finalizer(instance.group());
    if !instance.draft.finalizers().any(|one| one == own) {
        return Ok(Outcome::Done);
    }
    let spec = instance.spec();
    let text = |key: &str| spec.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("deletionPolicy") == "Orphan" {
        return finish(context, instance).await;
    }
    let prune = match (instance.group(), text("prune")) {
        (Group::OpenShift, _) | (_, "All") => Prune::All,
        _ => Prune::Default,
    };
    let planned = Planned::read(context, instance).await?;
    let mut status = Status::of(instance);
    let recorded = recorded(instance, &status, &planned);
    if recorded.is_empty() {
        tell(cluster, instance, "Normal", "Deleted", "all objects are deleted").await;
        return finish(context, instance).await;
    }
    let user = instance.requester().unwrap_or_default();
    let waves = waves(&recorded);
    let wave = waves.first().map_or(&[][..], Vec::as_slice);
    let deleted = delete(context, cluster, (&user, &owner(instance)), wave, prune).await;
    let (gone, blocked) = match deleted {
        Ok(gone) => (gone, None),
        Err(failure) => (Vec::new(), Some(problem(&[failure]))),
    };
    let rest: Vec<Recorded> = recorded
        .into_iter()
        .filter(|one| !gone.iter().any(|other| other.is_same(one)))
        .collect();
    write(instance.group(), &mut status, &rest);
    let outcome = match (&blocked, instance.group()) {
        (Some(problem), Group::Krm) => {
            status.conclude(false, "DeletionBlocked", &problem.message, true);
            Outcome::Failed
        }
        (Some(_), Group::OpenShift) => Outcome::Failed,
        (None, group) => {
            if group == Group::Krm {
                let message = format!("{} objects are left", rest.len());
                status.conclude(false, "Deleting", &message, false);
            }
            // The next wave need not wait.
            Outcome::Again(if gone.len() == wave.len() { Duration::ZERO } else { POLL })
        }
    };
    if let Some(problem) = blocked {
        let before = Status::of(instance);
        let is_new = before.condition("Ready").map(|(_, reason)| reason) != Some("DeletionBlocked");
        if is_new {
            tell(cluster, instance, "Warning", "DeletionBlocked", &problem.message).await;
        }
    }
    let mut planned = planned;
    let mut plan = planned.plan.clone();
    plan.objects = Vec::new();
    if instance.group() == Group::OpenShift {
        plan.objects = rest.iter().map(|one| json!(one)).collect();
        plan.began = plan.began.max(1);
    }
    planned.save(context, plan).await?;
    instance.save(context, &status.value()).await?;
    Ok(outcome)
}

/// Returns the objects that are left.
fn recorded(instance: &Instance, status: &Status, planned: &Planned) -> Vec<Recorded> {
    // Without a plan, another controller has created them.
    if instance.group() == Group::Krm || planned.plan.began == 0 {
        return objects_of(status);
    }
    let plan = planned.plan.objects.iter();
    let plan = plan.filter_map(|one| serde_json::from_value::<Recorded>(one.clone()).ok());
    plan.collect()
}

fn write(group: Group, status: &mut Status, rest: &[Recorded]) {
    if group == Group::OpenShift {
        return;
    }
    let objects = status.fields.get("objects").and_then(Value::as_array);
    let kept: Vec<Value> = objects
        .into_iter()
        .flatten()
        .filter(|shown| {
            let text = |key: &str| shown.get(key).and_then(Value::as_str).unwrap_or_default();
            rest.iter().any(|one| {
                (one.kind.as_str(), one.namespace.as_str(), one.name.as_str())
                    == (text("kind"), text("namespace"), text("name"))
                    && one.api_version == text("apiVersion")
            })
        })
        .cloned()
        .collect();
    status.fields.insert("objects".to_owned(), json!(kept));
}

/// Deletes the objects of a wave. Returns those that are gone, or that are not ours to delete.
async fn delete(
    context: &Context,
    cluster: &Cluster,
    (user, owner): (&User, &Owner),
    wave: &[Recorded],
    prune: Prune,
) -> Result<Vec<Recorded>, Failure> {
    let known = with_uids(cluster, user, owner, wave).await?;
    let steps = cluster
        .delete(user, owner, &known, prune, &mut Silent(context))
        .await?;
    let rest = record(&known, &steps);
    let mut gone = Vec::new();
    for one in &known {
        let is_kept = steps.iter().any(|step| {
            step.object.is_same(one) && step.what == krm_template_server_deployments::apply::What::Kept
        });
        if is_kept {
            gone.push(one.clone());
        } else if !rest.iter().any(|other| other.is_same(one)) {
            // It may still have finalizers.
            let live = cluster.live(user, one).await?;
            let is_it = live.is_some_and(|live| {
                live.pointer("/metadata/uid").and_then(Value::as_str) == Some(&one.uid)
                    && !one.uid.is_empty()
                    && owner.has(&live)
            });
            if !is_it {
                gone.push(one.clone());
            }
        }
    }
    Ok(gone)
}

/// Removes the finalizer, and what is stored beside the instance.
async fn finish(context: &Context, instance: &mut Instance) -> Result<Outcome, Stop> {
    revisions::delete(context, instance, 0).await?;
    Planned::read(context, instance).await?.delete(context).await?;
    instance.release(context).await?;
    Ok(Outcome::Gone)
}
