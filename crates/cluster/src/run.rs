//! One change to a cluster, and its completed steps.

use std::time::Duration;

use http::Method;
use krm_core::secrets::KnownSecrets;
use serde_json::{Map, Value, json};

use super::api::{Api, Ask, yaml_safe};
use super::caller::Caller;
use super::failure::{Cause, Failure, Refusal, add_values};
use super::plan::{Phase, Planned, defines, key, plan, sort};
use super::resources::{Resource, Resources};
use super::types::{Conflicts, Object, Owner, Progress, Prune, Recorded, Step, What, owner_of};
use super::wait;
use krm_template_server_core::Status;

/// The field manager of applied objects.
const MANAGER: &str = "krm-template";

/// The kind of an application, which also begins the kind of its owner annotation.
const INSTANCE: &str = "TemplateInstance";

/// The maximum number of attempts to delete an object that changes at the same time.
const TRIES: u32 = 5;

/// A request to apply an object, and its result.
pub(super) struct Sent {
    /// The object before.
    pub(super) live: Option<Value>,
    pub(super) applied: Value,
    /// Whether the object is marked with the owner.
    pub(super) is_own: bool,
}

/// One change to a cluster.
pub(super) struct Run<'a, P> {
    pub(super) api: &'a Api,
    pub(super) resources: &'a Resources,
    pub(super) wait: Duration,
    pub(super) caller: Caller,
    pub(super) owner: &'a Owner,
    pub(super) conflicts: Conflicts,
    pub(super) progress: &'a mut P,
    pub(super) done: Vec<Step>,
    /// The values of the Secrets among the objects.
    pub(super) secrets: KnownSecrets,
}

/// An error, and the object that it is about.
pub(super) type Stop = (Refusal, Option<Recorded>);

impl<P: Progress> Run<'_, P> {
    /// Applies objects in order, and stops at the first error.
    pub(super) async fn apply(&mut self, objects: &[Object]) -> Result<(), Failure> {
        let applied = match self.planned(objects) {
            Ok(planned) => self.apply_all(planned).await,
            Err(refusal) => Err((refusal, None)),
        };
        self.ended(applied)
    }

    /// Deletes objects in reverse order, and stops at the first error.
    pub(super) async fn delete(
        &mut self,
        mut objects: Vec<Recorded>,
        prune: Prune,
    ) -> Result<(), Failure> {
        objects.sort_by_key(key);
        let mut deleted = Ok(());
        for object in objects.into_iter().rev() {
            deleted = match self.delete_one(&object, prune).await {
                Ok((what, message)) => self.note(object, what, message).await,
                Err(refusal) => Err((refusal, Some(object))),
            };
            if deleted.is_err() {
                break;
            }
        }
        self.ended(deleted)
    }

    pub(super) fn ended(&mut self, result: Result<(), Stop>) -> Result<(), Failure> {
        result.map_err(|(refusal, mut object)| {
            let mut refusal = refusal.masked(&self.secrets);
            let is_secret =
                |object: &Recorded| (object.group(), object.kind.as_str()) == ("", "Secret");
            if object.as_ref().is_some_and(is_secret) {
                refusal = refusal.without_values();
            }
            // Only for people: the steps have the name.
            if let Some(object) = &mut object {
                object.name = self.secrets.masked(&object.name).into_owned();
            }
            refusal.failure(object, std::mem::take(&mut self.done))
        })
    }

    /// Checks objects, and learns the values that no message about them may show.
    pub(super) fn planned(&mut self, objects: &[Object]) -> Result<Vec<Planned>, Refusal> {
        let planned = plan(objects)?;
        for one in planned.iter().filter(|one| one.identity.kind == "Secret") {
            add_values(&mut self.secrets, &Value::Object(one.value.clone()));
        }
        Ok(planned)
    }

    async fn note(&mut self, object: Recorded, what: What, message: String) -> Result<(), Stop> {
        let step = Step { object, what, message };
        let noted = self.progress.step(&step).await;
        let object = step.object.clone();
        if what != What::Waiting {
            self.done.push(step);
        }
        noted.map_err(|status| (status.into(), Some(object)))
    }

    async fn apply_all(&mut self, planned: Vec<Planned>) -> Result<(), Stop> {
        let planned = self.placed(planned).await?;
        let mut waiting: Vec<Recorded> = Vec::new();
        for one in &planned {
            let phase = Phase::of(&one.identity);
            if waiting.first().is_some_and(|first| Phase::of(first) != phase) {
                self.wait_for(std::mem::take(&mut waiting)).await?;
            }
            let stopped = |refusal| (refusal, Some(one.identity.clone()));
            let resource = self.resource(&planned, &one.identity).await.map_err(stopped)?;
            let applied = self.apply_one(one, &resource).await.map_err(stopped)?;
            let (object, what, message) = applied;
            if phase != Phase::Others {
                waiting.push(object.clone());
            }
            self.note(object, what, message.to_owned()).await?;
        }
        self.wait_for(waiting).await
    }

    /// Sets the namespace of each object, and sorts them. Refuses unknown kinds and duplicates before any change.
    pub(super) async fn placed(&self, mut planned: Vec<Planned>) -> Result<Vec<Planned>, Stop> {
        let mut is_namespaced = Vec::new();
        for one in &planned {
            let Recorded { api_version, kind, .. } = &one.identity;
            let found = self.resources.find(self.api, api_version, kind).await;
            let stopped = |refusal| (refusal, Some(one.identity.clone()));
            let scope = match found.map_err(stopped)? {
                Some(resource) => resource.is_namespaced,
                None if defines(&planned, &one.identity) => {
                    defined_scope(&planned, &one.identity) != Some("Cluster")
                }
                None => return Err(stopped(wait::unknown(&one.identity))),
            };
            is_namespaced.push(scope);
        }
        for (one, is_namespaced) in planned.iter_mut().zip(is_namespaced) {
            one.identity.place(is_namespaced, &self.owner.namespace);
        }
        let mut seen: Vec<&Recorded> = planned.iter().map(|one| &one.identity).collect();
        seen.sort_by_key(|one| (one.group(), &one.kind, &one.namespace, &one.name));
        if let Some([one, _]) = seen.windows(2).find(|pair| matches!(pair, [a, b] if a.is_same(b)))
        {
            let refusal = Status::bad_request("the object occurs twice; remove one").into();
            return Err((refusal, Some((*one).clone())));
        }
        sort(&mut planned).map_err(|stop| *stop)?;
        Ok(planned)
    }

    pub(super) async fn resource(
        &self,
        all: &[Planned],
        object: &Recorded,
    ) -> Result<Resource, Refusal> {
        let limit = if defines(all, object) { self.wait } else { Duration::ZERO };
        wait::served(self.api, self.resources, object, limit).await
    }

    async fn wait_for(&mut self, objects: Vec<Recorded>) -> Result<(), Stop> {
        for object in objects {
            let resource = wait::served(self.api, self.resources, &object, Duration::ZERO).await;
            let stopped = |refusal| (refusal, Some(object.clone()));
            let path = resource.map_err(stopped)?.path("", &object.name);
            self.note(object.clone(), What::Waiting, String::new()).await?;
            wait::ready(self.api, &self.caller, &object, &path, self.wait)
                .await
                .map_err(stopped)?;
        }
        Ok(())
    }

    async fn apply_one(
        &self,
        planned: &Planned,
        resource: &Resource,
    ) -> Result<(Recorded, What, &'static str), Refusal> {
        let identity = &planned.identity;
        let Sent { live, applied, is_own } = self.sent(planned, resource, "").await?;
        let uid = text(&applied, "uid");
        if uid.is_empty() {
            let refusal = Refusal::from(Status::unavailable("the cluster's answer has no uid"));
            return Err(refusal.unclear());
        }
        let before = live.as_ref().map(|live| text(live, "resourceVersion"));
        let what = if before == Some(text(&applied, "resourceVersion")) {
            What::Unchanged
        } else {
            What::Applied
        };
        let object = Recorded { uid: uid.to_owned(), ..identity.clone() };
        let message = if is_own { "" } else { "it existed before, so it will not be deleted" };
        Ok((object, what, message))
    }

    /// Sends an object to the cluster.
    pub(super) async fn sent(
        &self,
        planned: &Planned,
        resource: &Resource,
        query: &str,
    ) -> Result<Sent, Refusal> {
        let identity = &planned.identity;
        let path = resource.path(&identity.namespace, &identity.name);
        let live = self.api.find(Some(&self.caller), &path).await?;
        if let Some(live) = &live {
            self.may_apply(identity, live)?;
        }
        // An object that existed before the deployment is not marked, so it is never deleted.
        let is_own = live.as_ref().is_none_or(|live| self.owner.has(live));
        let body = yaml_safe(&self.body(planned, live.as_ref(), is_own));
        let force = match self.conflicts {
            Conflicts::Fail => "",
            Conflicts::Overwrite => "&force=true",
        };
        let ask = Ask {
            method: &Method::PATCH,
            path: &format!("{path}?fieldManager={MANAGER}&fieldValidation=Strict{force}{query}"),
            content_type: "application/apply-patch+yaml",
            body: &body,
        };
        let applied = self.api.send(Some(&self.caller), ask).await;
        let applied = applied.map_err(|refusal| refusal.masked(&values(live.as_ref())))?;
        Ok(Sent { live, applied, is_own })
    }

    /// Refuses to apply to objects of other deployments, and to objects that are being deleted.
    fn may_apply(&self, identity: &Recorded, live: &Value) -> Result<(), Refusal> {
        if wait::is_deleted(live) {
            return Err(wait::deleted(identity));
        }
        match owner_of(live) {
            Some(other) if !self.owner.has(live) => {
                let kind = &identity.kind;
                let why = format!(
                    "the {kind} belongs to `{other}`; remove it there, or give it another name here"
                );
                let cause = Cause::OwnedByOther;
                Err(Refusal { cause, ..Status::new(409, "Conflict", why).into() })
            }
            // Else two instances could change each other for ever.
            None if identity.kind == INSTANCE && self.owner.kind.starts_with(INSTANCE) => {
                let why = "the TemplateInstance exists, and an instance changes only those that it \
                           has created; give it another name here";
                Err(Status::new(409, "Conflict", why).into())
            }
            _ => Ok(()),
        }
    }

    /// Returns the object to send. With the uid of the live object, the cluster refuses the request
    /// if another object has replaced it.
    pub(super) fn body(&self, planned: &Planned, live: Option<&Value>, is_own: bool) -> Value {
        let mut object = planned.value.clone();
        let metadata = object.entry("metadata").or_insert_with(|| json!({}));
        if let Value::Object(metadata) = metadata {
            self.complete(metadata, &planned.identity, is_own);
            if let Some(live) = live {
                metadata.insert("uid".to_owned(), json!(text(live, "uid")));
            }
        }
        Value::Object(object)
    }

    fn complete(&self, metadata: &mut Map<String, Value>, identity: &Recorded, is_own: bool) {
        if identity.namespace.is_empty() {
            metadata.shift_remove("namespace");
        } else {
            metadata.insert("namespace".to_owned(), json!(identity.namespace));
        }
        if is_own {
            self.owner.mark(metadata);
        } else {
            Owner::unmark(metadata);
        }
    }

    async fn delete_one(&self, object: &Recorded, prune: Prune) -> Result<(What, String), Refusal> {
        if prune == Prune::Default && holds_others(object) {
            return Ok((What::Kept, "prune=all deletes it".to_owned()));
        }
        let Recorded { api_version, kind, .. } = object;
        let resource = self.resources.find_in_group(self.api, api_version, kind);
        let Some(resource) = resource.await? else {
            return Ok((What::Gone, String::new()));
        };
        let path = resource.path(&object.namespace, &object.name);
        let mut tries = 0;
        loop {
            let Some(live) = self.api.find(Some(&self.caller), &path).await? else {
                return Ok((What::Gone, String::new()));
            };
            if let Some(why) = self.is_foreign(object, &live) {
                return Ok((What::Foreign, why.to_owned()));
            }
            if wait::is_deleted(&live) {
                return Ok((What::Deleted, "it is being deleted".to_owned()));
            }
            let body = json!({
                "apiVersion": "v1",
                "kind": "DeleteOptions",
                "propagationPolicy": "Background",
                // The deletion fails if the owner has changed since the read.
                "preconditions": {
                    "uid": object.uid,
                    "resourceVersion": text(&live, "resourceVersion"),
                },
            });
            let ask = Ask {
                method: &Method::DELETE,
                path: &path,
                content_type: "application/json",
                body: &body.to_string(),
            };
            tries += 1;
            match self.api.send(Some(&self.caller), ask).await {
                Ok(_) => return Ok((What::Deleted, String::new())),
                Err(refusal) if refusal.code == 404 => return Ok((What::Gone, String::new())),
                // The object has changed: read it again.
                Err(refusal) if refusal.code == 409 && tries < TRIES => {}
                Err(refusal) => return Err(refusal.masked(&values(Some(&live)))),
            }
        }
    }

    /// Returns why a live object is not the recorded object of this owner, or `None` if it is.
    fn is_foreign(&self, object: &Recorded, live: &Value) -> Option<&'static str> {
        if object.uid.is_empty() || text(live, "uid") != object.uid {
            return Some("another object has its name now");
        }
        let is_other = !self.owner.has(live);
        is_other.then_some("it does not name this deployment as its owner")
    }
}

/// Returns the values of a live Secret.
fn values(live: Option<&Value>) -> KnownSecrets {
    let mut secrets = KnownSecrets::default();
    if let Some(live) = live {
        add_values(&mut secrets, live);
    }
    secrets
}

/// Returns `true` if the deletion of an object deletes other objects or data.
pub fn holds_others(object: &Recorded) -> bool {
    Phase::of(object) != Phase::Others
        || (object.group(), object.kind.as_str()) == ("", "PersistentVolumeClaim")
}

/// Returns the scope that a CustomResourceDefinition in `all` gives to the kind of an object.
fn defined_scope<'p>(all: &'p [Planned], object: &Recorded) -> Option<&'p str> {
    let one = all.iter().find(|one| defines(std::slice::from_ref(one), object))?;
    one.value.get("spec")?.get("scope")?.as_str()
}

/// Returns a string in the metadata of an object, or an empty string if there is none.
pub(super) fn text<'v>(object: &'v Value, field: &str) -> &'v str {
    let metadata = object.get("metadata");
    let value = metadata.and_then(|metadata| metadata.get(field));
    value.and_then(Value::as_str).unwrap_or_default()
}

/// An object before and after an apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// The object.
    pub object: Recorded,
    /// The live object, if there is one.
    pub before: Option<Value>,
    /// The object after the apply. If the set itself creates its Namespace or its kind, the cluster
    /// cannot be asked, and this is the object that would be sent.
    pub after: Value,
}

impl<P: Progress> Run<'_, P> {
    pub(super) async fn preview(
        &mut self,
        objects: &[Object],
        is_strict: bool,
    ) -> (Vec<Preview>, Vec<Failure>) {
        let planned = match self.planned(objects) {
            Ok(planned) => self.placed(planned).await,
            Err(refusal) => Err((refusal, None)),
        };
        let planned = match planned {
            Ok(planned) => planned,
            Err(stop) => {
                let failure = self.ended(Err(stop)).err();
                return (Vec::new(), failure.into_iter().collect());
            }
        };
        let (mut previews, mut failures) = (Vec::new(), Vec::new());
        for one in &planned {
            match self.preview_one(&planned, one, is_strict).await {
                Ok(preview) => previews.push(preview),
                Err(refusal) => {
                    let stop = Err((refusal, Some(one.identity.clone())));
                    failures.extend(self.ended(stop).err());
                }
            }
        }
        (previews, failures)
    }

    async fn preview_one(
        &self,
        all: &[Planned],
        one: &Planned,
        is_strict: bool,
    ) -> Result<Preview, Refusal> {
        let is_new_namespace = all.iter().any(|other| {
            Phase::of(&other.identity) == Phase::Namespaces
                && other.identity.name == one.identity.namespace
        });
        let cannot_ask = is_new_namespace || defines(all, &one.identity);
        let (before, after) = if cannot_ask && !is_strict {
            (None, self.body(one, None, true))
        } else {
            let resource = self.resource(all, &one.identity).await?;
            let sent = self.sent(one, &resource, "&dryRun=All").await?;
            (sent.live, sent.applied)
        };
        Ok(Preview { object: one.identity.clone(), before, after })
    }
}
