//! One step of an instance of our group: its objects become what its `spec` wants.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use krm_core::secrets::KnownSecrets;
use serde_json::{Value, json};

use super::events::{READY, problem_of, record_event, set_failed};
use super::expansion::{self, Problem, VALUES_CHANGED};
use super::journal::{Journal, Silent};
use super::kept_values::{self, secret};
use super::objects::{
    flat, hash, list, named, objects_of, order_of, ordered, owner, retain, shown_object, wanted_of,
    with_uids, write,
};
use super::status::{Status, UPGRADE};
use super::store::{Cause, Context, Instance, Outcome, Plan, Planned, Stop, Taken};
use super::used_templates::Templates;
use super::{chain, revisions, standing};
use crate::templates::instance::Generated;
use krm_template_cluster::readiness::{self, State};
use krm_template_cluster::types::Key;
use krm_template_cluster::{
    Cluster, Conflicts, Failure, Object, Owner, Prune, Recorded, What, add_values, record,
};
use krm_template_server_core::{User, units};

/// The polling interval for objects that are not ready.
const POLL: Duration = Duration::from_secs(2);

/// How long objects may take to become ready, unless `spec.timeout` says something else.
const TIMEOUT: Duration = Duration::from_hours(1);

/// The maximum number of writes of the status while objects are applied.
const MAX_NOTES: usize = 200;

/// The maximum length of the recorded objects in bytes: stores take objects of little more.
const MAX_OBJECTS: usize = 1 << 20;

/// The part that each object adds later: its uid and its readiness.
const LATER: usize = 80;

/// Works on an instance once.
pub(super) async fn step(
    context: &Context,
    cluster: &Arc<Cluster>,
    instance: &mut Instance,
    cause: Cause,
) -> Result<Outcome, Stop> {
    let spec = instance.spec();
    let mut status = Status::of(instance);
    if spec.get("suspend") == Some(&Value::Bool(true)) {
        status.conclude(false, "Suspended", "`spec.suspend` is true", true);
        instance.save(context, &status.value()).await?;
        return Ok(Outcome::Done);
    }
    let mut planned = Planned::read(&context.state, instance).await?;
    status.secrets = planned.secrets.clone();
    let user = match standing::requester(context, instance, &mut planned).await? {
        Ok(user) => status.user.insert(user).clone(),
        Err(why) => {
            let problem = Problem::new("Forbidden", why);
            return set_failed(context, cluster, instance, status, &problem).await;
        }
    };
    let mut work = Reconcile {
        context,
        cluster,
        owner: owner(instance),
        user,
        spec,
        templates: BTreeMap::new(),
    };
    if cause == Cause::Poll && planned.plan.applied == instance.generation() {
        return work.conclude(instance, planned, status, None).await;
    }
    match work.take(instance, &planned.plan, &mut status).await {
        Ok(templates) if templates.is_empty() => {}
        Ok(templates) => {
            let mut plan = planned.plan.clone();
            plan.templates.clone_from(&templates);
            plan.templates_of = instance.generation();
            planned.save(context, plan).await?;
            work.templates = templates;
        }
        Err(problem) => return set_failed(context, cluster, instance, status, &problem).await,
    }
    work.install(instance, planned, status).await
}

/// Takes back that values have changed.
fn note_same_values(status: &mut Status) {
    if status.condition(UPGRADE).reason == VALUES_CHANGED {
        status.set(UPGRADE, false, "UpToDate", "");
    }
}

struct Reconcile<'w> {
    context: &'w Context,
    cluster: &'w Arc<Cluster>,
    owner: Owner,
    user: User,
    spec: Value,
    /// The stored Templates that the instance names, as it uses them.
    templates: BTreeMap<String, Taken>,
}

impl Reconcile<'_> {
    /// Returns the Templates of the generation: those that are recorded, or changed ones if the
    /// upgrade is automatic.
    async fn take(
        &self,
        instance: &Instance,
        plan: &Plan,
        status: &mut Status,
    ) -> Result<BTreeMap<String, Taken>, Problem> {
        let state = &self.context.state;
        let mut templates = Templates::read(state, instance, &self.user, plan).await?;
        let mut refused = None;
        if self.text("upgrades") == "Automatic" && templates.is_changed() {
            match self.may_upgrade(instance, plan, &templates).await {
                Ok(()) => templates.take(),
                Err(problem) => refused = Some(problem),
            }
        }
        templates.note(instance, status, refused);
        templates.taken(instance)
    }

    /// Checks that the authors of changed Templates, and the requester, may do all that they do now.
    async fn may_upgrade(
        &self,
        instance: &Instance,
        plan: &Plan,
        templates: &Templates,
    ) -> Result<(), Problem> {
        let stored = templates.stored()?;
        let mut users = templates.authors(self.context, instance).await?;
        users.push(self.user.clone());
        users.dedup();
        for user in users {
            let name = user.name.clone();
            let work = Reconcile {
                user,
                owner: self.owner.clone(),
                spec: self.spec.clone(),
                templates: stored.clone(),
                ..*self
            };
            work.may_do(instance, plan).await.map_err(|problem| {
                let message = format!("{name:?} may not do all of it: {}", problem.message);
                Problem::new(problem.reason, message)
            })?;
        }
        Ok(())
    }

    /// Checks that the user may do all of it: read the values, apply the objects, delete the others.
    async fn may_do(&self, instance: &Instance, plan: &Plan) -> Result<(), Problem> {
        let stopped = |_| Problem::new("TemplateChanged", "the instance has changed meanwhile");
        let expanded = self.expand(instance, plan, false).await;
        let expanded = expanded.map_err(stopped)??;
        let tried = self.preflight(expanded.secret.as_slice(), &expanded.objects, true);
        let failures = tried.await;
        if !failures.is_empty() {
            let Problem { reason, message } = problem_of(&failures);
            return Err(Problem::new(reason, expanded.secrets.masked(&message)));
        }
        let generated = secret(instance, &plan.generated);
        let read: Vec<Recorded> = generated.iter().map(|Object(one)| Recorded::of(one)).collect();
        let wanted: BTreeSet<Key<'_>> = expanded.wanted.iter().map(Recorded::key).collect();
        let recorded = objects_of(&Status::of(instance));
        let dropped = recorded.iter().filter(|one| !wanted.contains(&one.key()));
        let asked = dropped.map(|one| ("delete", one));
        for (verb, one) in asked.chain(read.iter().map(|one| ("get", one))) {
            let failed = |failure| problem_of(&[failure]);
            // Nothing is left of a kind that is gone.
            let Some(kind) = self.cluster.kind(one).await.map_err(failed)? else {
                continue;
            };
            let may = self.cluster.may(&self.user, verb, &kind.resource, one);
            if !may.await.map_err(failed)? {
                let message = format!("no permission to {verb} {}", named(one));
                return Err(Problem::new("Forbidden", message));
            }
        }
        Ok(())
    }

    fn text(&self, key: &str) -> &str {
        self.spec.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Expands the instance and applies its objects.
    async fn install(
        &self,
        instance: &mut Instance,
        mut planned: Planned,
        mut status: Status,
    ) -> Result<Outcome, Stop> {
        let context = self.context;
        let expanded = match self.expand(instance, &planned.plan, true).await? {
            Ok(expanded) => expanded,
            Err(problem) => return self.without(instance, planned, status, problem).await,
        };
        let Expanded { secret, objects, generated, values, wanted, waves, secrets } = expanded;
        status.secrets = secrets;
        note_same_values(&mut status);
        let mut plan = planned.plan.clone();
        plan.generated = generated;
        plan.values = (!values.is_empty()).then_some(values);
        plan.asked = instance.asked();
        plan.generate_key();
        let hash = hash(&objects, &plan.key, &self.user.name);
        let is_fresh = planned.plan.applied != instance.generation()
            || status.fields.get("templateHash").and_then(Value::as_str) != Some(&hash);
        if is_fresh {
            plan.begin(instance.generation());
            announce(&mut status, &wanted, &waves, &hash);
            if let Some(problem) = too_long(&status) {
                status.fields = Status::of(instance).fields;
                return set_failed(context, self.cluster, instance, status, &problem).await;
            }
            planned.save(context, plan.clone()).await?;
            instance.save(context, &status.value()).await?;
            let failures = self.preflight(secret.as_slice(), &objects, false).await;
            if !failures.is_empty() {
                let problem = problem_of(&failures);
                return set_failed(context, self.cluster, instance, status, &problem).await;
            }
            status.fields.insert("revision".to_owned(), json!(plan.revision));
            revisions::begin(context, instance, &plan, &hash).await?;
        } else {
            planned.save(context, plan.clone()).await?;
        }
        for some in [secret.as_slice(), &objects] {
            if some.is_empty() {
                continue;
            }
            if let Err(failure) = self.apply(instance, &mut status, some).await? {
                let problem = problem_of(std::slice::from_ref(&failure));
                return set_failed(context, self.cluster, instance, status, &problem).await;
            }
        }
        plan.applied = instance.generation();
        planned.save(context, plan).await?;
        self.conclude(instance, planned, status, Some(wanted)).await
    }

    /// Goes on without an expansion. Changed values do not count, so what is applied stays as it is.
    async fn without(
        &self,
        instance: &mut Instance,
        planned: Planned,
        mut status: Status,
        problem: Problem,
    ) -> Result<Outcome, Stop> {
        let is_applied = planned.plan.applied == instance.generation();
        if problem.reason == VALUES_CHANGED && is_applied {
            status.set(UPGRADE, true, problem.reason, &problem.message);
            return self.conclude(instance, planned, status, None).await;
        }
        set_failed(self.context, self.cluster, instance, status, &problem).await
    }

    /// Expands the instance. `may_plan` tells that the values of the plan count, too.
    async fn expand(
        &self,
        instance: &Instance,
        plan: &Plan,
        may_plan: bool,
    ) -> Result<Result<Expanded, Problem>, Stop> {
        let (state, user) = (&self.context.state, &self.user);
        let kept = kept_values::of(self.cluster, instance, user, plan, may_plan).await;
        let with_kept = Plan { generated: kept.values.clone(), ..plan.clone() };
        let stored = &self.templates;
        let expanded = expansion::of(state, instance, user, &with_kept, stored, Vec::new()).await;
        let checked = expanded.and_then(|expansion| {
            kept.check(instance, user, plan, &expansion)?;
            Ok(expansion)
        });
        let expansion = match checked {
            Ok(expansion) => expansion,
            Err(problem) => return Ok(Err(problem)),
        };
        let secret = secret(instance, &expansion.generated);
        let objects: Vec<Object> = expansion.objects.into_iter().map(Object).collect();
        let all = flat(secret.iter().chain(&objects));
        let mut secrets = expansion.secrets;
        for object in &all {
            add_values(&mut secrets, object);
        }
        let masked = |one: &Problem| Problem::new(one.reason, secrets.masked(&one.message));
        if let Err(problem) = chain::check(self.context, instance, &all).await? {
            return Ok(Err(masked(&problem)));
        }
        let wanted = self.placed(all.iter().copied().map(Recorded::of).collect()).await;
        let metadata = all.iter().map(|object| object.get("metadata"));
        let parts: Vec<_> = wanted.iter().zip(metadata).collect();
        let waves = match krm_template_cluster::apply_waves(&parts) {
            Ok(waves) => waves,
            Err(failure) => return Ok(Err(masked(&problem_of(&[failure])))),
        };
        Ok(Ok(Expanded {
            secret,
            objects,
            generated: expansion.generated,
            values: expansion.values,
            wanted,
            waves,
            secrets,
        }))
    }

    /// Sets the namespaces that objects will have.
    async fn placed(&self, mut all: Vec<Recorded>) -> Vec<Recorded> {
        for one in &mut all {
            let kind = self.cluster.kind(one).await;
            let is_namespaced = kind.ok().flatten().is_none_or(|kind| kind.is_namespaced);
            one.place(is_namespaced, &self.owner.namespace);
        }
        all
    }

    async fn preflight(
        &self,
        secret: &[Object],
        objects: &[Object],
        is_strict: bool,
    ) -> Vec<Failure> {
        let all = [secret, objects].concat();
        let (user, owner, conflicts) = (&self.user, &self.owner, conflicts(&self.spec));
        self.cluster.preview(user, owner, &all, conflicts, is_strict).await.1
    }

    /// Applies some objects, and records each.
    async fn apply(
        &self,
        instance: &mut Instance,
        status: &mut Status,
        objects: &[Object],
    ) -> Result<Result<(), Failure>, Stop> {
        let before = objects_of(status);
        let mut journal = Journal {
            context: self.context,
            instance,
            status,
            before: before.clone(),
            done: Vec::new(),
            every: objects.len().div_ceil(MAX_NOTES).max(1),
            stopped: None,
        };
        let (user, owner) = (&self.user, &self.owner);
        let conflicts = conflicts(&self.spec);
        let applied = self.cluster.apply(user, owner, objects, conflicts, &mut journal).await;
        if let Some(stop) = journal.stopped {
            return Err(stop);
        }
        let (done, result) = match applied {
            Ok(done) => (done, Ok(())),
            Err(failure) => (failure.done.clone(), Err(failure)),
        };
        write(status, &record(&before, &done));
        instance.save(self.context, &status.value()).await?;
        Ok(result)
    }

    /// Checks readiness, prunes dropped objects once all are ready, and sets the conditions.
    /// `wanted` are the objects that were just applied.
    async fn conclude(
        &self,
        instance: &mut Instance,
        planned: Planned,
        mut status: Status,
        wanted: Option<Vec<Recorded>>,
    ) -> Result<Outcome, Stop> {
        let (context, cluster) = (self.context, self.cluster);
        let wanted = wanted.unwrap_or_else(|| wanted_of(&status));
        let recorded = objects_of(&status);
        let found = match self.look_at(&recorded, &wanted).await {
            Ok(found) => found,
            Err(failure) => {
                return set_failed(context, cluster, instance, status, &problem_of(&[failure]))
                    .await;
            }
        };
        let before = status.fields.get("objects").and_then(Value::as_array);
        let orders: Vec<_> = before.into_iter().flatten().map(order_of).collect();
        let shown = found.shown.iter().cloned().zip(orders);
        let shown: Vec<Value> = shown.map(|(shown, order)| ordered(shown, order)).collect();
        status.fields.insert("objects".to_owned(), json!(shown));
        if let Some(problem) = self.late_or_failed(&found, planned.plan.began) {
            return set_failed(context, cluster, instance, status, &problem).await;
        }
        if !found.waiting.is_empty() {
            let message = format!("waiting for {}", list(&found.waiting));
            status.conclude(false, "Progressing", &message, false);
            instance.save(context, &status.value()).await?;
            return Ok(Outcome::Again(POLL));
        }
        let keys: BTreeSet<Key<'_>> = wanted.iter().map(Recorded::key).collect();
        let is_dropped = |one: &&Recorded| !keys.contains(&one.key());
        let dropped: Vec<Recorded> = recorded.iter().filter(is_dropped).cloned().collect();
        if !dropped.is_empty()
            && self.text("prune") != "None"
            && let Err(problem) = self.prune(instance, &mut status, &recorded, &dropped).await
        {
            return set_failed(context, cluster, instance, status, &problem).await;
        }
        let was_ready = status.is_ready();
        let message = format!("{} objects are ready", wanted.len());
        status.conclude(true, "Applied", &message, false);
        // Before the status, which says that it has ended.
        revisions::end(context, instance, planned.plan.revision, "Applied").await?;
        instance.save(context, &status.value()).await?;
        if !was_ready {
            record_event(cluster, instance, "Normal", "Ready", READY).await;
        }
        Ok(Outcome::Done)
    }

    /// Looks at all objects of an instance. `wanted` are those that the Template creates.
    async fn look_at(
        &self,
        recorded: &[Recorded],
        wanted: &[Recorded],
    ) -> Result<Readiness, Failure> {
        let mut seen = Readiness::default();
        let wanted: BTreeSet<Key<'_>> = wanted.iter().map(Recorded::key).collect();
        for one in recorded {
            let is_wanted = wanted.contains(&one.key());
            let (state, is_awaited) = self.look(one).await?;
            match state {
                _ if !is_wanted || !is_awaited => {}
                Some(State::Current) => {}
                Some(State::Failed) => seen.failed.push(named(one)),
                Some(State::InProgress | State::Terminating) | None => {
                    seen.waiting.push(named(one));
                }
            }
            seen.shown.push(shown_object(one, is_wanted, state));
        }
        Ok(seen)
    }

    /// Returns the problem of objects that failed, or that take too long.
    fn late_or_failed(&self, seen: &Readiness, began: i64) -> Option<Problem> {
        if !seen.failed.is_empty() {
            let message = format!("failed: {}", list(&seen.failed));
            return Some(Problem::new("ObjectFailed", message));
        }
        let timeout = units::duration(self.text("timeout")).unwrap_or(TIMEOUT);
        let elapsed = Timestamp::now().as_second() - began;
        let is_late = u64::try_from(elapsed).unwrap_or(0) > timeout.as_secs();
        (is_late && !seen.waiting.is_empty()).then(|| {
            let message = format!("not ready after {timeout:?}: {}", list(&seen.waiting));
            Problem::new("Timeout", message)
        })
    }

    /// Returns the state of an object, and whether it must be ready. `None` means that it is gone.
    async fn look(&self, one: &Recorded) -> Result<(Option<State>, bool), Failure> {
        let live = self.cluster.live(&self.user, one).await?;
        let is_awaited = match self.text("wait") {
            "None" => false,
            "Annotated" => live.as_ref().is_some_and(readiness::is_awaited),
            _ => true,
        };
        Ok((live.as_ref().map(|live| readiness::of(live, Timestamp::now())), is_awaited))
    }

    /// Deletes objects that the Template does not create any more.
    async fn prune(
        &self,
        instance: &mut Instance,
        status: &mut Status,
        recorded: &[Recorded],
        dropped: &[Recorded],
    ) -> Result<(), Problem> {
        let prune = match self.text("prune") {
            "All" => Prune::All,
            _ => Prune::Default,
        };
        let mut silent = Silent(self.context);
        let (user, owner) = (&self.user, &self.owner);
        let known = match with_uids(self.cluster, user, owner, dropped).await {
            Ok(known) => known,
            Err(failure) => return Err(problem_of(&[failure])),
        };
        let dropped = known.as_slice();
        let deleted = self.cluster.delete(user, owner, dropped, prune, &mut silent).await;
        let (steps, result) = match deleted {
            Ok(steps) => (steps, Ok(())),
            Err(failure) => {
                let problem = problem_of(std::slice::from_ref(&failure));
                (failure.done, Err(problem))
            }
        };
        let rest = record(recorded, &steps);
        retain(status, &rest);
        let gone = steps.iter().filter(|step| step.what == What::Deleted).count();
        if gone > 0 {
            let message = format!("{gone} objects were deleted");
            record_event(self.cluster, instance, "Normal", "Pruned", &message).await;
        }
        result
    }
}

/// An expanded instance.
struct Expanded {
    /// The Secret with generated values.
    secret: Option<Object>,
    objects: Vec<Object>,
    generated: BTreeMap<String, Generated>,
    /// The versions of the objects with values.
    values: BTreeMap<String, String>,
    /// All objects, and the number of the wave of each.
    wanted: Vec<Recorded>,
    waves: Vec<usize>,
    /// The values that no message may show.
    secrets: KnownSecrets,
}

/// Returns the conflict policy of the `spec`.
pub(super) fn conflicts(spec: &Value) -> Conflicts {
    match spec.get("conflicts").and_then(Value::as_str) {
        Some("Overwrite") => Conflicts::Overwrite,
        _ => Conflicts::Fail,
    }
}

/// The states of the objects of an instance.
#[derive(Default)]
struct Readiness {
    /// The objects for the status.
    shown: Vec<Value>,
    /// Those that are not ready yet.
    waiting: Vec<String>,
    /// Those that will not become ready.
    failed: Vec<String>,
}

/// Returns the problem of objects that are too many for a status.
fn too_long(status: &Status) -> Option<Problem> {
    let objects = status.fields.get("objects").and_then(Value::as_array)?;
    let lengths = objects.iter().map(|one| one.to_string().len() + LATER);
    let length: usize = lengths.sum();
    (length > MAX_OBJECTS).then(|| {
        let message = format!(
            "the record of {} objects has {length} bytes, more than {MAX_OBJECTS}; split the \
             Template into several instances",
            objects.len()
        );
        Problem::new("Invalid", message)
    })
}

/// Writes what will be done into the status, before the first request.
fn announce(status: &mut Status, wanted: &[Recorded], waves: &[usize], hash: &str) {
    let mut recorded = objects_of(status);
    let known: BTreeSet<Key<'_>> = recorded.iter().map(Recorded::key).collect();
    let new = wanted.iter().filter(|one| !known.contains(&one.key()));
    let new: Vec<Recorded> = new.cloned().collect();
    recorded.extend(new);
    write(status, &recorded);
    let orders: BTreeMap<Key<'_>, &usize> = wanted.iter().map(Recorded::key).zip(waves).collect();
    let objects = status.fields.get_mut("objects").and_then(Value::as_array_mut);
    for (shown, one) in objects.into_iter().flatten().zip(&recorded) {
        if let (Some(fields), Some(order)) = (shown.as_object_mut(), orders.get(&one.key())) {
            fields.insert("order".to_owned(), json!(order));
        }
    }
    status.fields.insert("templateHash".to_owned(), json!(hash));
    status.conclude(false, "Progressing", "the objects are being applied", false);
}
