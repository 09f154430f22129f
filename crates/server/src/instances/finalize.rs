//! The deletion of an instance: its objects are deleted in waves, in the reverse order in which they
//! were applied, each after the previous one is gone. It needs no Template and no values.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::events::{learn, problem_of, record_event};
use super::expansion::Problem;
use super::journal::Silent;
use super::objects::{objects_of, order_of, owner, retain, with_uids};
use super::status::Status;
use super::store::{Context, Instance, Outcome, Planned, Stop};
use super::{deleter, kept_values, standing};
use crate::validation::instance::finalizer;
use krm_template_cluster::{
    Cluster, Failure, Owner, Prune, Recorded, What, deletion_waves, record,
};
use krm_template_server_core::{Group, User};

/// The reason of a condition, and of an event: the cluster refuses a deletion.
const BLOCKED: &str = "DeletionBlocked";

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
    let mut planned = Planned::read(&context.state, instance).await?;
    let mut status = Status::of(instance);
    status.secrets = planned.secrets.clone();
    let recorded = recorded(instance, &status, &planned);
    if recorded.is_empty() {
        record_event(cluster, instance, "Normal", "Deleted", "all objects are deleted").await;
        return finish(context, instance).await;
    }
    let wave = &next_wave(&status, &recorded);
    let wave_and_prune = (wave.as_slice(), prune);
    let tried = by_someone(context, cluster, instance, &mut planned, wave_and_prune).await?;
    let (user, deleted) = tried;
    status.user = user;
    let (gone, blocked) = match deleted {
        Ok(gone) => (gone, None),
        Err(problem) => (Vec::new(), Some(problem)),
    };
    let is_left = |one: &Recorded| !gone.iter().any(|other| other.is_same(one));
    let rest: Vec<Recorded> = recorded.into_iter().filter(is_left).collect();
    let mut plan = planned.plan.clone();
    if instance.group() == Group::OpenShift {
        plan.objects = rest.iter().map(|one| json!(one)).collect();
        plan.began = plan.began.max(1);
    }
    planned.save(context, plan).await?;
    if let Some(problem) = blocked {
        block(cluster, instance, &mut status, &problem).await;
        instance.save(context, &status.value()).await?;
        return Ok(Outcome::Failed);
    }
    if instance.group() == Group::Krm {
        retain(&mut status, &rest);
        let message = format!("{} objects are left", rest.len());
        status.conclude(false, "Deleting", &message, false);
        instance.save(context, &status.value()).await?;
    }
    // The next wave need not wait.
    let is_gone = gone.len() == wave.len();
    Ok(Outcome::Again(if is_gone { Duration::ZERO } else { POLL }))
}

/// Deletes the objects of a wave as the requester and, if the cluster refuses it, as the user who
/// deletes the instance.
async fn by_someone(
    context: &Context,
    cluster: &Cluster,
    instance: &Instance,
    planned: &mut Planned,
    (wave, prune): (&[Recorded], Prune),
) -> Result<(Option<User>, Result<Vec<Recorded>, Problem>), Stop> {
    let owner = owner(instance);
    let requester = standing::requester(context, instance, planned).await?;
    let second = deleter::of(context, instance).await?;
    let first = match (&requester, &second) {
        (Ok(user), _) | (Err(_), Some(user)) => user,
        (Err(why), None) => {
            let message = format!("{why}; or delete the instance again");
            return Ok((None, Err(Problem::new("Forbidden", message))));
        }
    };
    let mut outcome = delete(context, cluster, (first, &owner), wave, prune).await;
    let is_refused = |failure: &Failure| [401, 403].contains(&failure.code);
    if let (Ok(_), Some(user)) = (&requester, &second)
        && outcome.as_ref().is_err_and(is_refused)
    {
        let again = delete(context, cluster, (user, &owner), wave, prune).await;
        // The first refusal is about whom the instance names.
        if again.is_ok() {
            outcome = again;
        }
    }
    let outcome = outcome.map_err(|failure| problem_of(&[failure]));
    Ok((Some(first.clone()), outcome))
}

/// Writes into the conditions that an object cannot be deleted.
async fn block(cluster: &Cluster, instance: &Instance, status: &mut Status, problem: &Problem) {
    let is_known = status.condition("Ready").reason == BLOCKED;
    learn(cluster, status).await;
    if !is_known {
        let message = status.secrets.masked(&problem.message);
        record_event(cluster, instance, "Warning", BLOCKED, &message).await;
    }
    if instance.group() == Group::Krm {
        status.conclude(false, BLOCKED, &problem.message, true);
    }
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

/// Returns the objects that are deleted next: those that were applied last.
fn next_wave(status: &Status, recorded: &[Recorded]) -> Vec<Recorded> {
    let objects = status.fields.get("objects").and_then(Value::as_array);
    let objects = objects.into_iter().flatten();
    let orders: Option<Vec<u64>> = objects.map(order_of).collect();
    let Some(orders) = orders.filter(|orders| orders.len() == recorded.len()) else {
        return deletion_waves(recorded).into_iter().next().unwrap_or_default();
    };
    let last = orders.iter().max();
    let all = recorded.iter().zip(&orders);
    all.filter(|(_, order)| Some(*order) == last).map(|(one, _)| one.clone()).collect()
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
    let steps = cluster.delete(user, owner, &known, prune, &mut Silent(context)).await?;
    let rest = record(&known, &steps);
    let mut gone = Vec::new();
    for one in &known {
        let is_kept = steps.iter().any(|step| step.object.is_same(one) && step.what == What::Kept);
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

/// Deletes the Secret with generated values of an instance that is gone without its objects, because
/// somebody has removed its finalizer. The last state of the instance names it.
pub(super) async fn abandoned(
    context: &Context,
    cluster: &Cluster,
    instance: &Instance,
) -> Result<(), Stop> {
    let spec = instance.spec();
    let policy = spec.get("deletionPolicy").and_then(Value::as_str);
    let is_it = |one: &Recorded| one.is_same(&kept_values::recorded(instance));
    let mut secrets = objects_of(&Status::of(instance));
    secrets.retain(is_it);
    // One that was created meanwhile has the same Secret.
    let is_there = Instance::read(context, &instance.key).await?.is_some();
    if secrets.is_empty() || policy == Some("Orphan") || is_there {
        return Ok(());
    }
    let mut planned = Planned::read(&context.state, instance).await?;
    if let Ok(user) = standing::requester(context, instance, &mut planned).await? {
        let owner = owner(instance);
        let mut silent = Silent(context);
        let deleted = cluster.delete(&user, &owner, &secrets, Prune::Default, &mut silent);
        // Whoever removes a finalizer takes care of the rest.
        let _ = deleted.await;
    }
    Ok(())
}

/// Removes the finalizer. What is stored beside the instance goes when the instance is gone.
async fn finish(context: &Context, instance: &mut Instance) -> Result<Outcome, Stop> {
    instance.release(context).await?;
    Ok(Outcome::Gone)
}
