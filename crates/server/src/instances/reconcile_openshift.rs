//! One step of an instance of OpenShift's group: its objects are created once, then it waits for
//! them, and never looks at them again.
//!
//! Source: `pkg/template/controller` of openshift-controller-manager, with its messages. Unlike
//! there, objects are created as the requester, and are planned before the first request, so that
//! a server that stops half-way creates none twice and generates no value anew.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::events::{READY, learn, record_event};
use super::objects::{flat, owner};
use super::status::Status;
use super::store::{Context, Instance, Outcome, Plan, Planned, Stop};
use super::{chain, expansion, standing};
use krm_template_cluster::readiness::{self, State, is_awaited};
use krm_template_cluster::{Cluster, Failure, Object, Owner, Recorded, add_values};
use krm_template_server_core::{Group, Kind, User};

/// The label with the uid of the instance.
const OWNER: &str = "template.openshift.io/template-instance-owner";

/// The polling interval for objects that are not ready.
const POLL: Duration = Duration::from_secs(5);

/// How long objects may take to become ready, since the instance was created.
const TIMEOUT: i64 = 3_600;

/// Works on an instance once.
pub(super) async fn step(
    context: &Context,
    cluster: &Arc<Cluster>,
    instance: &mut Instance,
) -> Result<Outcome, Stop> {
    let mut status = Status::of(instance);
    let is_final = status.is_ready() || status.condition("InstantiateFailure").status == "True";
    if is_final {
        return Ok(Outcome::Done);
    }
    let mut planned = Planned::read(&context.state, instance).await?;
    let work = Reconcile {
        context,
        cluster,
        owner: owner(instance),
        user: instance.requester().unwrap_or_default(),
    };
    if !work.user.name.is_empty()
        && let Err(why) = standing::requester(context, instance, &mut planned).await?
    {
        return work.fail(instance, &mut planned, status, &why).await;
    }
    status.user = Some(work.user.clone());
    if planned.plan.applied == 0 {
        let spec = instance.spec();
        let objects = spec.pointer("/template/objects").and_then(Value::as_array);
        let made = if objects.is_none_or(Vec::is_empty) {
            // Nothing needs a permission or a value.
            Ok(())
        } else if work.user.name.is_empty() {
            Err(Failed::Text("spec.requester.username not set".to_owned()))
        } else {
            work.instantiate(instance, &mut planned).await
        };
        match made {
            Err(Failed::Stop(stop)) => return Err(stop),
            Err(Failed::Later) => return Ok(Outcome::Failed),
            Err(Failed::Text(message)) => {
                return work.fail(instance, &mut planned, status, &message).await;
            }
            Ok(()) => {}
        }
        let mut plan = planned.plan.clone();
        plan.applied = 1;
        planned.save(context, plan).await?;
    }
    write(&mut status, &planned.plan);
    match work.ready(instance, &planned.plan).await {
        Ok(true) => {
            status.set("Ready", true, "Created", "");
            instance.save(context, &status.value()).await?;
            record_event(cluster, instance, "Normal", "Ready", READY).await;
            Ok(Outcome::Done)
        }
        Ok(false) => {
            let message = "Waiting for instantiated objects to report ready";
            status.set("Ready", false, "Waiting", message);
            instance.save(context, &status.value()).await?;
            Ok(Outcome::Again(POLL))
        }
        Err(message) => work.fail(instance, &mut planned, status, &message).await,
    }
}

/// Why objects are not created.
enum Failed {
    /// A permanent failure, with its message.
    Text(String),
    /// The cluster does not answer, so that the step is tried again.
    Later,
    Stop(Stop),
}

impl From<Stop> for Failed {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// Returns `true` if a request may succeed later.
const fn is_passing(failure: &Failure) -> bool {
    failure.code >= 500 || failure.code == 429
}

struct Reconcile<'w> {
    context: &'w Context,
    cluster: &'w Arc<Cluster>,
    owner: Owner,
    user: User,
}

impl Reconcile<'_> {
    /// Plans the objects, unless that is done, and creates those that do not exist.
    async fn instantiate(&self, instance: &Instance, planned: &mut Planned) -> Result<(), Failed> {
        self.secret(instance).await?;
        self.may_process(instance).await?;
        let objects = self.objects(instance, planned).await?;
        let mut errors = Vec::new();
        let mut recorded = Vec::new();
        for object in &objects {
            match self.admitted(object).await {
                Ok(one) => recorded.push(one),
                Err(Failed::Text(message)) => errors.push(message),
                Err(other) => return Err(other),
            }
        }
        if !errors.is_empty() {
            return Err(Failed::Text(errors.join("\n")));
        }
        let mut plan = planned.plan.clone();
        if plan.objects.is_empty() {
            plan.began = Timestamp::now().as_second();
            let all = recorded.iter().zip(&objects);
            plan.objects = all.map(|(one, object)| entry(one, is_awaited(object))).collect();
            planned.save(self.context, plan.clone()).await?;
        }
        for (index, (object, one)) in objects.iter().zip(&recorded).enumerate() {
            if !self.context.may_work() {
                return Err(Failed::Stop(Stop::Changed));
            }
            match self.create(instance, object, one).await {
                Ok(created) => {
                    if let Some(place) = plan.objects.get_mut(index) {
                        *place = entry(&created, is_awaited(object));
                    }
                    planned.save(self.context, plan.clone()).await?;
                }
                Err(Failed::Text(message)) => errors.push(message),
                Err(other) => return Err(other),
            }
        }
        if errors.is_empty() {
            return Ok(());
        }
        Err(Failed::Text(errors.join("\n")))
    }

    /// Checks that the requester may read the Secret that the instance names.
    async fn secret(&self, instance: &Instance) -> Result<(), Failed> {
        let spec = instance.spec();
        let Some(name) = spec.pointer("/secret/name").and_then(Value::as_str) else {
            return Ok(());
        };
        let secret = Recorded::new("v1", "Secret", instance.namespace(), name);
        if !self.may("get", "secrets", &secret).await? {
            return Err(Failed::Text(format!(
                "unable to authorize user to retrive TemplateInstance Secret: secrets {name:?} is \
                 forbidden: "
            )));
        }
        let refused =
            |why: &str| Failed::Text(format!("unable to retrieve TemplateInstance Secret: {why}"));
        match self.cluster.live(&self.user, &secret).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(refused(&format!("secrets {name:?} not found"))),
            Err(failure) if is_passing(&failure) => Err(Failed::Later),
            Err(failure) => Err(refused(failure.message())),
        }
    }

    /// Checks that the requester may process Templates.
    async fn may_process(&self, instance: &Instance) -> Result<(), Failed> {
        let spec = instance.spec();
        let name = spec.pointer("/template/metadata/name").and_then(Value::as_str);
        let (version, kind) = (Group::OpenShift.api_version(), Kind::Template.name());
        let name = name.unwrap_or_default();
        let review = Recorded::new(version, kind, instance.namespace(), name);
        for resource in ["templateconfigs", "processedtemplates"] {
            if self.may("create", resource, &review).await? {
                return Ok(());
            }
        }
        Err(Failed::Text(format!(
            "unable to authorize user to create TemplateConfig : \
             templateconfigs.template.openshift.io {name:?} is forbidden: "
        )))
    }

    async fn may(&self, verb: &str, resource: &str, one: &Recorded) -> Result<bool, Failed> {
        match self.cluster.may(&self.user, verb, resource, one).await {
            Ok(allowed) => Ok(allowed),
            Err(failure) if is_passing(&failure) => Err(Failed::Later),
            // Whoever cannot be impersonated may do nothing.
            Err(_) => Ok(false),
        }
    }

    /// Expands the Template, with the generated values of an earlier try.
    async fn objects(
        &self,
        instance: &Instance,
        planned: &mut Planned,
    ) -> Result<Vec<Value>, Failed> {
        let mut plan = planned.plan.clone();
        let labels = vec![(OWNER.to_owned(), instance.uid.clone())];
        let state = &self.context.state;
        // Its Template is inline, so that nothing of it changes.
        let stored = &BTreeMap::new();
        let expanded = expansion::of(state, instance, &self.user, &plan, stored, labels).await;
        let expansion = expanded.map_err(|problem| {
            Failed::Text(format!("unable to process Template objects: {}", problem.message))
        })?;
        let all: Vec<Object> = expansion.objects.iter().cloned().map(Object).collect();
        let all = flat(all.iter());
        planned.secrets = expansion.secrets;
        for object in &all {
            add_values(&mut planned.secrets, object);
        }
        let checked = chain::check(self.context, instance, &all).await?;
        checked.map_err(|problem| Failed::Text(problem.message))?;
        plan.generated = expansion.generated;
        plan.values = Some(expansion.values).filter(|values| !values.is_empty());
        planned.save(self.context, plan).await?;
        Ok(expansion.objects)
    }

    /// Returns the identity of an object that the requester may create.
    async fn admitted(&self, object: &Value) -> Result<Recorded, Failed> {
        let mut one = Recorded::of(object);
        let kind = match self.cluster.kind(&one).await {
            Ok(kind) => kind,
            Err(failure) if is_passing(&failure) => return Err(Failed::Later),
            Err(_) => None,
        };
        let Some(kind) = kind else {
            return Err(Failed::Text(format!(
                "unable to identify the resource mapping for {version}, Kind={kind}: no matches \
                 for kind {kind:?} in version {version:?}",
                version = one.api_version,
                kind = one.kind,
            )));
        };
        one.place(kind.is_namespaced, &self.owner.namespace);
        if self.may("create", &kind.resource, &one).await? {
            return Ok(one);
        }
        let Recorded { name, .. } = &one;
        let quoted = if name.is_empty() { String::new() } else { format!(" {name:?}") };
        let dotted = dotted(&kind.resource, &one);
        Err(Failed::Text(format!(
            "unable to authorize user to create {}, Resource={}, Name={name}: {dotted}{quoted} is \
             forbidden: ",
            full(&one.api_version),
            kind.resource
        )))
    }

    /// Creates an object. One that has the label of this instance already is left as it is.
    async fn create(
        &self,
        instance: &Instance,
        object: &Value,
        one: &Recorded,
    ) -> Result<Recorded, Failed> {
        let mut body = object.clone();
        if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
            self.owner.mark(metadata);
            if one.namespace.is_empty() {
                metadata.shift_remove("namespace");
            } else {
                metadata.insert("namespace".to_owned(), json!(one.namespace));
            }
        }
        let resource = self.cluster.kind(one).await.ok().flatten();
        let resource = resource.map(|kind| kind.resource).unwrap_or_default();
        let named = format!("{}, Resource={resource}, Name={}", full(&one.api_version), one.name);
        match self.cluster.create(&self.user, one, &body).await {
            Ok(created) => Ok(created),
            Err(failure) if failure.code == 409 && !one.name.is_empty() => {
                let live = match self.cluster.live(&self.user, one).await {
                    Ok(live) => live,
                    Err(failure) if is_passing(&failure) => return Err(Failed::Later),
                    Err(failure) => {
                        let why = failure.message();
                        let message = format!("unable to retrive existing {named}: {why}");
                        return Err(Failed::Text(message));
                    }
                };
                let label = |live: &Value| {
                    let labels = live.pointer("/metadata/labels")?;
                    Some(labels.get(OWNER)?.as_str()? == instance.uid)
                };
                match live {
                    Some(live) if label(&live) == Some(true) => Ok(Recorded {
                        uid: live
                            .pointer("/metadata/uid")
                            .and_then(Value::as_str)
                            .unwrap_or_default()
                            .to_owned(),
                        ..one.clone()
                    }),
                    _ => {
                        let why = failure.message();
                        Err(Failed::Text(format!("unable to create {named}: {why}")))
                    }
                }
            }
            Err(failure) if is_passing(&failure) => Err(Failed::Later),
            Err(failure) => {
                let why = failure.message();
                Err(Failed::Text(format!("unable to create {named}: {why}")))
            }
        }
    }

    /// Returns `true` if all objects are ready, or the message of a failure.
    async fn ready(&self, instance: &Instance, plan: &Plan) -> Result<bool, String> {
        let created = instance.draft.text("creationTimestamp");
        let created = created.parse::<Timestamp>().map_or(0, Timestamp::as_second);
        let is_late = Timestamp::now().as_second() - created > TIMEOUT;
        let mut is_ready = true;
        for planned in &plan.objects {
            let Some(one) = recorded(planned) else {
                continue;
            };
            let kind = self.cluster.kind(&one).await.ok().flatten();
            let dotted = dotted(&kind.map(|kind| kind.resource).unwrap_or_default(), &one);
            let live = match self.cluster.live(&self.user, &one).await {
                Ok(live) => live,
                Err(failure) if is_passing(&failure) => return Ok(false),
                Err(_) => return Err(format!("{dotted} {:?} is forbidden: ", one.name)),
            };
            let uid = live.as_ref().and_then(|live| live.pointer("/metadata/uid")?.as_str());
            let is_it = uid == Some(one.uid.as_str());
            let Some(live) = live.filter(|_| is_it) else {
                // Only objects that are awaited fail an instance, and of others nothing is known.
                if planned.get(AWAITED) == Some(&Value::Bool(true)) {
                    return Err(format!("{dotted} {:?} not found", one.name));
                }
                continue;
            };
            if !is_awaited(&live) {
                continue;
            }
            let build = self.build(&live, &one).await;
            match readiness::openshift(&live, build.as_ref()) {
                State::Current => {}
                State::Failed => {
                    let Recorded { kind, namespace, name, .. } = &one;
                    return Err(format!("readiness failed on {kind} {namespace}/{name}"));
                }
                State::InProgress | State::Terminating => is_ready = false,
            }
        }
        if !is_ready && is_late {
            return Err("timeout while waiting for template instance to be ready".to_owned());
        }
        Ok(is_ready)
    }

    /// Returns the last `Build` of a `BuildConfig`.
    async fn build(&self, live: &Value, one: &Recorded) -> Option<Value> {
        if one.kind != "BuildConfig" {
            return None;
        }
        let number = live.pointer("/status/lastVersion").and_then(Value::as_i64)?;
        let build = Recorded {
            kind: "Build".to_owned(),
            name: format!("{}-{number}", one.name),
            ..one.clone()
        };
        self.cluster.live(&self.user, &build).await.ok().flatten()
    }

    /// Writes a failure, which is final, into the conditions.
    async fn fail(
        &self,
        instance: &mut Instance,
        planned: &mut Planned,
        mut status: Status,
        message: &str,
    ) -> Result<Outcome, Stop> {
        write(&mut status, &planned.plan);
        status.secrets = planned.secrets.clone();
        learn(self.cluster, &mut status).await;
        status.set("InstantiateFailure", true, "Failed", message);
        let see = "See InstantiateFailure condition for error message";
        status.set("Ready", false, "Failed", see);
        instance.save(self.context, &status.value()).await?;
        let metrics = &self.context.state.metrics;
        metrics.count_instance_error("InstantiateFailure");
        let message = status.secrets.masked(message);
        record_event(self.cluster, instance, "Warning", "Failed", &message).await;
        Ok(Outcome::Done)
    }
}

/// The field of a planned object that must become ready.
const AWAITED: &str = "awaited";

/// Returns the entry of an object in a plan.
fn entry(one: &Recorded, is_awaited: bool) -> Value {
    let mut entry = json!(one);
    if let Some(fields) = entry.as_object_mut().filter(|_| is_awaited) {
        fields.insert(AWAITED.to_owned(), json!(true));
    }
    entry
}

fn recorded(one: &Value) -> Option<Recorded> {
    let one = serde_json::from_value::<Recorded>(one.clone()).ok()?;
    (!one.uid.is_empty()).then_some(one)
}

/// Writes the created objects into the status.
fn write(status: &mut Status, plan: &Plan) {
    let objects: Vec<Value> = plan
        .objects
        .iter()
        .filter_map(recorded)
        .map(|one| {
            let mut reference = serde_json::Map::new();
            let fields = [
                ("kind", one.kind),
                ("namespace", one.namespace),
                ("name", one.name),
                ("uid", one.uid),
                ("apiVersion", one.api_version),
            ];
            for (key, text) in fields.into_iter().filter(|(_, text)| !text.is_empty()) {
                reference.insert(key.to_owned(), json!(text));
            }
            json!({ "ref": reference })
        })
        .collect();
    if !objects.is_empty() {
        status.fields.insert("objects".to_owned(), json!(objects));
    }
}

/// Returns the name of a resource with its group, as in messages.
fn dotted(resource: &str, one: &Recorded) -> String {
    format!("{resource}.{}", one.group()).trim_end_matches('.').to_owned()
}

/// Returns a group and version as Go prints them: the core group has an empty name.
fn full(api_version: &str) -> String {
    if api_version.contains('/') {
        return api_version.to_owned();
    }
    format!("/{api_version}")
}
