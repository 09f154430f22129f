//! One step of an instance of our group: its objects become what its `spec` wants.

use std::sync::Arc;
use std::time::Duration;

use base64::engine::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::expansion::{self, Problem};
use super::record::{Cause, Context, Instance, Outcome, Planned, Stop};
use super::revisions;
use super::status::Status;
use krm_template_server_core::auth::User;
use krm_template_server_core::groups::Kind;
use krm_template_server_core::ops::units;
use krm_template_server_core::status::Result as Answered;
use krm_template_server_deployments::apply::readiness::{self, State};
use krm_template_server_deployments::apply::{
    Cluster, Conflicts, Failure, Object, Owner, Progress, Prune, Recorded, Step, What, record,
};

/// The time between two looks at objects that are not ready.
const POLL: Duration = Duration::from_secs(2);

/// How long objects may take to become ready, unless `spec.timeout` says something else.
const TIMEOUT: Duration = Duration::from_hours(1);

/// The maximum number of objects that a message names.
const NAMED: usize = 10;

/// The maximum number of writes of the status while objects are applied.
const MAX_NOTES: usize = 200;

/// Returns the owner of the objects of an instance.
pub(super) fn owner(instance: &Instance) -> Owner {
    Owner {
        kind: format!("{}.{}", Kind::Instance.name(), instance.group().name()),
        namespace: instance.namespace().to_owned(),
        name: instance.name().to_owned(),
    }
}

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
    let Some(user) = instance.requester() else {
        let problem = Problem::new("Forbidden", "the instance has no requester");
        return fail(context, cluster, instance, status, &problem).await;
    };
    let planned = Planned::read(context, instance).await?;
    let work = Work {
        context,
        cluster,
        owner: owner(instance),
        user,
        spec,
    };
    if cause == Cause::Poll && planned.plan.applied == instance.generation() {
        return work.conclude(instance, planned, status, None).await;
    }
    work.install(instance, planned, status).await
}

struct Work<'w> {
    context: &'w Context,
    cluster: &'w Arc<Cluster>,
    owner: Owner,
    user: User,
    spec: Value,
}

impl Work<'_> {
    fn text(&self, key: &str) -> &str {
        self.spec.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn conflicts(&self) -> Conflicts {
        match self.text("conflicts") {
            "Overwrite" => Conflicts::Overwrite,
            _ => Conflicts::Fail,
        }
    }

    /// Expands the instance and applies its objects.
    async fn install(
        &self,
        instance: &mut Instance,
        mut planned: Planned,
        mut status: Status,
    ) -> Result<Outcome, Stop> {
        let context = self.context;
        let expanded =
            expansion::of(context, instance, &self.user, &planned.plan, Vec::new()).await;
        let expansion = match expanded {
            Ok(expansion) => expansion,
            Err(problem) => {
                return fail(context, self.cluster, instance, status, &problem).await;
            }
        };
        let secret = self.secret(instance, &expansion.generated);
        let objects: Vec<Object> = expansion.objects.into_iter().map(Object).collect();
        let hash = hash(&objects);
        let is_fresh = planned.plan.applied != instance.generation()
            || status.fields.get("templateHash").and_then(Value::as_str) != Some(&hash);
        let wanted = self.placed(identities(secret.iter().chain(&objects))).await;
        let mut plan = planned.plan.clone();
        plan.generated = expansion.generated;
        if is_fresh {
            if plan.generation != instance.generation() || plan.applied != 0 {
                plan.generation = instance.generation();
                plan.began = Timestamp::now().as_second();
                plan.revision += 1;
            }
            plan.applied = 0;
            self.announce(&mut status, &wanted, &hash);
            planned.save(context, plan.clone()).await?;
            instance.save(context, &status.value()).await?;
            let secret = secret.as_slice();
            let failures = self.preflight(secret, &objects).await;
            if !failures.is_empty() {
                let problem = problem(&failures);
                return fail(context, self.cluster, instance, status, &problem).await;
            }
            status
                .fields
                .insert("revision".to_owned(), json!(plan.revision));
            revisions::begin(context, instance, &plan, &hash).await?;
        } else {
            planned.save(context, plan.clone()).await?;
        }
        for some in [secret.as_slice(), &objects] {
            if some.is_empty() {
                continue;
            }
            if let Err(failure) = self.apply(instance, &mut status, some).await? {
                let problem = problem(std::slice::from_ref(&failure));
                return fail(context, self.cluster, instance, status, &problem).await;
            }
        }
        plan.applied = instance.generation();
        planned.save(context, plan).await?;
        self.conclude(instance, planned, status, Some(wanted)).await
    }

    /// Returns the Secret with generated values, if there are any.
    fn secret(
        &self,
        instance: &Instance,
        generated: &std::collections::BTreeMap<String, String>,
    ) -> Option<Object> {
        if generated.is_empty() {
            return None;
        }
        let data: Map<String, Value> = generated
            .iter()
            .map(|(key, value)| (key.clone(), json!(STANDARD.encode(value))))
            .collect();
        Some(Object(json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": format!("{}-generated", instance.name()),
                "namespace": instance.namespace(),
            },
            "type": "Opaque",
            "data": data,
        })))
    }

    /// Writes what will be done into the status, before the first request.
    #[expect(clippy::unused_self, reason = "it belongs to the steps")]
    fn announce(&self, status: &mut Status, wanted: &[Recorded], hash: &str) {
        let mut recorded = objects_of(status);
        for one in wanted {
            if !recorded.iter().any(|other| other.is_same(one)) {
                recorded.push(one.clone());
            }
        }
        write(status, &recorded);
        status.fields.insert("templateHash".to_owned(), json!(hash));
        status.conclude(false, "Progressing", "the objects are being applied", false);
    }

    /// Sets the namespaces that objects will have.
    async fn placed(&self, mut all: Vec<Recorded>) -> Vec<Recorded> {
        for one in &mut all {
            let kind = self.cluster.kind(one).await;
            let is_namespaced = kind.ok().flatten().is_none_or(|kind| kind.is_namespaced);
            if !is_namespaced {
                one.namespace.clear();
            } else if one.namespace.is_empty() {
                one.namespace.clone_from(&self.owner.namespace);
            }
        }
        all
    }

    async fn preflight(&self, secret: &[Object], objects: &[Object]) -> Vec<Failure> {
        let all = [secret, objects].concat();
        let conflicts = self.conflicts();
        let tried = self.cluster.preflight(&self.user, &self.owner, &all, conflicts);
        tried.await
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
        let conflicts = self.conflicts();
        let applied = self
            .cluster
            .install(user, owner, objects, conflicts, &mut journal)
            .await;
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

    /// Looks at the objects, deletes dropped ones if all are ready, and writes the conditions.
    /// `wanted` are the objects that were just applied.
    async fn conclude(
        &self,
        instance: &mut Instance,
        planned: Planned,
        mut status: Status,
        wanted: Option<Vec<Recorded>>,
    ) -> Result<Outcome, Stop> {
        let context = self.context;
        let wanted = match wanted {
            Some(wanted) => wanted,
            None => wanted_of(&status),
        };
        let mut waiting = Vec::new();
        let mut failed = Vec::new();
        let recorded = objects_of(&status);
        let mut shown = Vec::new();
        for one in &recorded {
            let is_wanted = wanted.iter().any(|other| other.is_same(one));
            let (state, is_awaited) = match self.look(one).await {
                Ok(found) => found,
                Err(failure) => {
                    let problem = problem(std::slice::from_ref(&failure));
                    return fail(context, self.cluster, instance, status, &problem).await;
                }
            };
            match state {
                _ if !is_wanted || !is_awaited => {}
                Some(State::Current) => {}
                Some(State::Failed) => failed.push(named(one)),
                Some(State::InProgress | State::Terminating) | None => waiting.push(named(one)),
            }
            shown.push(shown_object(one, is_wanted, state));
        }
        status.fields.insert("objects".to_owned(), json!(shown));
        let timeout = units::duration(self.text("timeout")).unwrap_or(TIMEOUT);
        let elapsed = Timestamp::now().as_second() - planned.plan.began;
        let is_late = u64::try_from(elapsed).unwrap_or(0) > timeout.as_secs();
        if !failed.is_empty() {
            let problem = Problem::new("ObjectFailed", format!("failed: {}", list(&failed)));
            return fail(context, self.cluster, instance, status, &problem).await;
        }
        if !waiting.is_empty() && is_late {
            let message = format!("not ready after {timeout:?}: {}", list(&waiting));
            let problem = Problem::new("Timeout", message);
            return fail(context, self.cluster, instance, status, &problem).await;
        }
        if !waiting.is_empty() {
            let message = format!("waiting for {}", list(&waiting));
            status.conclude(false, "Progressing", &message, false);
            instance.save(context, &status.value()).await?;
            return Ok(Outcome::Again(POLL));
        }
        let dropped: Vec<Recorded> = recorded
            .iter()
            .filter(|one| !wanted.iter().any(|other| other.is_same(one)))
            .cloned()
            .collect();
        if !dropped.is_empty() && self.text("prune") != "None" {
            if let Err(problem) = self.prune(instance, &mut status, &recorded, &dropped).await? {
                return fail(context, self.cluster, instance, status, &problem).await;
            }
        }
        let was_ready = status.is_ready();
        let count = wanted.len();
        status.conclude(true, "Applied", &format!("{count} objects are ready"), false);
        status.set("Reconciling", false, "Applied", "");
        instance.save(context, &status.value()).await?;
        revisions::end(context, instance, planned.plan.revision, "Applied").await?;
        if !was_ready {
            tell(self.cluster, instance, "Normal", "Ready", "all objects are ready").await;
        }
        Ok(Outcome::Done)
    }

    /// Returns the state of an object, and whether it must be ready. `None` means that it is gone.
    async fn look(&self, one: &Recorded) -> Result<(Option<State>, bool), Failure> {
        let live = self.cluster.live(&self.user, one).await?;
        let is_awaited = match self.text("wait") {
            "None" => false,
            "Annotated" => live.as_ref().is_some_and(readiness::is_awaited),
            _ => true,
        };
        Ok((live.as_ref().map(readiness::of), is_awaited))
    }

    /// Deletes objects that the Template no longer creates.
    async fn prune(
        &self,
        instance: &mut Instance,
        status: &mut Status,
        recorded: &[Recorded],
        dropped: &[Recorded],
    ) -> Result<Result<(), Problem>, Stop> {
        let prune = match self.text("prune") {
            "All" => Prune::All,
            _ => Prune::Default,
        };
        let mut silent = Silent(self.context);
        let (user, owner) = (&self.user, &self.owner);
        let known = match with_uids(self.cluster, user, owner, dropped).await {
            Ok(known) => known,
            Err(failure) => return Ok(Err(problem(&[failure]))),
        };
        let dropped = known.as_slice();
        let deleted = self.cluster.delete(user, owner, dropped, prune, &mut silent).await;
        let (steps, result) = match deleted {
            Ok(steps) => (steps, Ok(())),
            Err(failure) => {
                let problem = problem(std::slice::from_ref(&failure));
                (failure.done, Err(problem))
            }
        };
        let rest = record(recorded, &steps);
        let objects = status.fields.get("objects").and_then(Value::as_array);
        let kept: Vec<Value> = objects
            .into_iter()
            .flatten()
            .filter(|shown| rest.iter().any(|one| one.is_same(&recorded_of(shown))))
            .cloned()
            .collect();
        status.fields.insert("objects".to_owned(), json!(kept));
        let gone = steps.iter().filter(|step| step.what == What::Deleted).count();
        if gone > 0 {
            let message = format!("{gone} objects were deleted");
            tell(self.cluster, instance, "Normal", "Pruned", &message).await;
        }
        Ok(result)
    }
}

/// An observer that only stops a change when the server loses the lease.
pub(super) struct Silent<'s>(pub(super) &'s Context);

impl Progress for Silent<'_> {
    async fn step(&mut self, _: &Step) -> Answered<()> {
        may_work(self.0)
    }
}

fn may_work(context: &Context) -> Answered<()> {
    if context.may_work() {
        return Ok(());
    }
    let message = "another server works on the instance now";
    Err(krm_template_server_core::status::Status::unavailable(message))
}

/// An observer that records each object in the status.
struct Journal<'j> {
    context: &'j Context,
    instance: &'j mut Instance,
    status: &'j mut Status,
    before: Vec<Recorded>,
    done: Vec<Step>,
    /// The number of steps between two writes.
    every: usize,
    stopped: Option<Stop>,
}

impl Progress for Journal<'_> {
    async fn step(&mut self, step: &Step) -> Answered<()> {
        may_work(self.context)?;
        self.done.push(step.clone());
        if !self.done.len().is_multiple_of(self.every) {
            return Ok(());
        }
        write(self.status, &record(&self.before, &self.done));
        let saved = self.instance.save(self.context, &self.status.value()).await;
        saved.map_err(|stop| {
            self.stopped = Some(stop);
            krm_template_server_core::status::Status::unavailable("the instance has changed")
        })
    }
}

/// Writes a failed step into the conditions.
async fn fail(
    context: &Context,
    cluster: &Cluster,
    instance: &mut Instance,
    mut status: Status,
    problem: &Problem,
) -> Result<Outcome, Stop> {
    let before = status.condition("Ready").map(|(_, reason)| reason.to_owned());
    let is_stalled = matches!(
        problem.reason,
        "TemplateNotFound" | "ParametersMissing" | "ExpansionFailed" | "Invalid" | "Timeout"
    );
    status.conclude(false, problem.reason, &problem.message, is_stalled);
    instance.save(context, &status.value()).await?;
    context
        .app
        .state()
        .metrics
        .count_instance_error(problem.reason);
    if before.as_deref() != Some(problem.reason) {
        let reason = match problem.reason {
            known @ ("Conflict" | "Forbidden" | "DeletionBlocked") => known,
            _ => "Failed",
        };
        tell(cluster, instance, "Warning", reason, &problem.message).await;
    }
    if let Some(number) = status.fields.get("revision").and_then(Value::as_u64) {
        revisions::end(context, instance, number, problem.reason).await?;
    }
    Ok(Outcome::Failed)
}

/// Returns the reason and message for failed requests.
pub(super) fn problem(failures: &[Failure]) -> Problem {
    let first = failures.first();
    let code = first.map_or(500, |failure| failure.code);
    let message = first.map_or("", Failure::message);
    let reason = match code {
        401 | 403 => "Forbidden",
        404 if message.starts_with("the cluster has no kind") => "UnknownKind",
        409 if message.contains("belongs to `") => "OwnedByOther",
        409 => "Conflict",
        400 | 413 | 422 => "Invalid",
        _ => "ObjectFailed",
    };
    let mut texts: Vec<String> = failures.iter().take(NAMED).map(ToString::to_string).collect();
    if failures.len() > NAMED {
        texts.push(format!("and {} more", failures.len() - NAMED));
    }
    Problem::new(reason, texts.join("; "))
}

/// Creates an event about an instance.
pub(super) async fn tell(
    cluster: &Cluster,
    instance: &Instance,
    kind: &str,
    reason: &str,
    message: &str,
) {
    let now = Timestamp::now();
    let cut = message.floor_char_boundary(message.len().min(1_024));
    let name = format!("{}.{:x}", instance.name(), now.as_nanosecond());
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
        "firstTimestamp": crate::object::meta::rfc3339(now),
        "lastTimestamp": crate::object::meta::rfc3339(now),
        "count": 1,
    });
    cluster.tell(instance.namespace(), &event).await;
}

/// Returns the recorded objects in a status.
pub(super) fn objects_of(status: &Status) -> Vec<Recorded> {
    let objects = status.fields.get("objects").and_then(Value::as_array);
    objects.into_iter().flatten().map(recorded_of).collect()
}

/// Returns the objects in a status that the Template creates.
fn wanted_of(status: &Status) -> Vec<Recorded> {
    let objects = status.fields.get("objects").and_then(Value::as_array);
    let objects = objects.into_iter().flatten();
    objects
        .filter(|object| object.get("phase").and_then(Value::as_str) != Some("Dropped"))
        .map(recorded_of)
        .collect()
}

fn recorded_of(object: &Value) -> Recorded {
    // OpenShift's status has a reference.
    let object = object.get("ref").unwrap_or(object);
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    Recorded {
        api_version: text("apiVersion").to_owned(),
        kind: text("kind").to_owned(),
        namespace: text("namespace").to_owned(),
        name: text("name").to_owned(),
        uid: text("uid").to_owned(),
    }
}

/// Writes objects into a status. What is known of each is kept.
fn write(status: &mut Status, recorded: &[Recorded]) {
    let before = status.fields.get("objects").and_then(Value::as_array);
    let before = before.cloned().unwrap_or_default();
    let objects: Vec<Value> = recorded
        .iter()
        .map(|one| {
            let known = before
                .iter()
                .find(|known| recorded_of(known) == *one);
            let phase = if one.uid.is_empty() { "Pending" } else { "Applied" };
            known.cloned().unwrap_or_else(|| object(one, phase, None))
        })
        .collect();
    status.fields.insert("objects".to_owned(), json!(objects));
}

fn shown_object(one: &Recorded, is_wanted: bool, state: Option<State>) -> Value {
    let phase = match (is_wanted, one.uid.is_empty()) {
        (false, _) => "Dropped",
        (true, true) => "Pending",
        (true, false) => "Applied",
    };
    object(one, phase, Some(state.map_or("Missing", State::name)))
}

fn object(one: &Recorded, phase: &str, readiness: Option<&str>) -> Value {
    let mut object = json!({"apiVersion": one.api_version, "kind": one.kind});
    if let Some(fields) = object.as_object_mut() {
        let texts = [
            ("namespace", one.namespace.as_str()),
            ("name", &one.name),
            ("uid", &one.uid),
            ("phase", phase),
            ("readiness", readiness.unwrap_or_default()),
        ];
        for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            fields.insert(key.to_owned(), json!(text));
        }
    }
    object
}

/// Returns the identities of objects, also of those in `v1` Lists.
fn identities<'o>(objects: impl Iterator<Item = &'o Object>) -> Vec<Recorded> {
    let mut all = Vec::new();
    for Object(value) in objects {
        let is_list = value.get("kind").and_then(Value::as_str) == Some("List");
        match value.get("items").and_then(Value::as_array).filter(|_| is_list) {
            Some(items) => {
                let items: Vec<Object> = items.iter().cloned().map(Object).collect();
                all.extend(identities(items.iter()));
            }
            None => {
                let mut one = recorded_of(value);
                let metadata = value.get("metadata").unwrap_or(&Value::Null);
                let text = |key: &str| metadata.get(key).and_then(Value::as_str);
                text("namespace").unwrap_or_default().clone_into(&mut one.namespace);
                text("name").unwrap_or_default().clone_into(&mut one.name);
                one.uid.clear();
                all.push(one);
            }
        }
    }
    all
}

/// Finds the uids of recorded objects that have none, because the server stopped before it learnt
/// them. An object of another owner keeps none, and is never deleted.
pub(super) async fn with_uids(
    cluster: &Cluster,
    user: &User,
    owner: &Owner,
    recorded: &[Recorded],
) -> Result<Vec<Recorded>, Failure> {
    let mut known = recorded.to_vec();
    for one in known.iter_mut().filter(|one| one.uid.is_empty()) {
        let live = cluster.live(user, one).await?;
        let uid = live
            .filter(|live| owner.has(live))
            .and_then(|live| Some(live.pointer("/metadata/uid")?.as_str()?.to_owned()));
        one.uid = uid.unwrap_or_default();
    }
    Ok(known)
}

fn named(one: &Recorded) -> String {
    let Recorded {
        kind,
        namespace,
        name,
        ..
    } = one;
    if namespace.is_empty() {
        return format!("{kind} {name}");
    }
    format!("{kind} {namespace}/{name}")
}

fn list(names: &[String]) -> String {
    let mut all: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    let more = format!("and {} more", names.len().saturating_sub(NAMED));
    if names.len() > NAMED {
        all.push(&more);
    }
    all.join(", ")
}

/// Returns a hash of the objects of an instance.
fn hash(objects: &[Object]) -> String {
    let mut hash = Sha256::new();
    for Object(value) in objects {
        hash.update(value.to_string().as_bytes());
        hash.update(b"\n");
    }
    let hash = hash.finalize();
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
