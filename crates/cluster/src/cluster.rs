//! The entry point: changes of a cluster, and requests about single objects.

use std::time::Duration;

use http::Method;
use krm_core::secrets::KnownSecrets;
use kube::Client;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::api::{Api, Ask};
use super::caller::Caller;
use super::failure::{Failure, Refusal, add_values};
use super::resources::Resources;
use super::run::{Preview, Run, text};
use super::types::{Conflicts, Object, Owner, Progress, Prune, Recorded, Step};
use super::wait;
use krm_template_server_core::User;

/// The timeouts of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The timeout of one response.
    pub answer: Duration,
    /// How long to wait until a Namespace or CustomResourceDefinition is ready.
    pub wait: Duration,
    /// The delay before the first retry of a read without a response. It doubles with each retry.
    pub pause: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(30),
            wait: Duration::from_secs(30),
            pause: Duration::from_millis(200),
        }
    }
}

/// An observer that ignores all steps.
pub(super) struct Silent;

impl Progress for Silent {
    async fn step(&mut self, _: &Step) -> krm_template_server_core::status::Result<()> {
        Ok(())
    }
}

/// A kind of objects in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The plural name of the resource.
    pub resource: String,
    /// Whether its objects are in namespaces.
    pub is_namespaced: bool,
}

/// A client that changes a cluster on behalf of callers.
pub struct Cluster {
    pub(super) api: Api,
    pub(super) resources: Resources,
    /// The name of the server's own account, once it is known.
    own: OnceCell<Option<String>>,
    wait: Duration,
}

impl Cluster {
    /// Creates a cluster from a `client` that sends each request once. Its account needs permission
    /// to impersonate.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self::with(client, Limits::default())
    }

    /// Creates a cluster with other timeouts.
    #[must_use]
    pub fn with(client: Client, limits: Limits) -> Self {
        let api = Api { client, timeout: limits.answer, pause: limits.pause };
        Self { api, resources: Resources::default(), own: OnceCell::new(), wait: limits.wait }
    }

    /// Applies objects on behalf of the caller: server-side. Namespaces come
    /// first, then CustomResourceDefinitions, then other objects by kind.
    ///
    /// # Errors
    /// If the cluster refuses an object. The objects before it stay applied; applying again
    /// completes the change.
    pub async fn apply(
        &self,
        caller: &User,
        owner: &Owner,
        objects: &[Object],
        conflicts: Conflicts,
        progress: &mut impl Progress,
    ) -> Result<Vec<Step>, Failure> {
        let mut run = self.run(caller, owner, progress).await?;
        run.conflicts = conflicts;
        run.apply(objects).await?;
        Ok(run.done)
    }

    /// Applies objects, then deletes the recorded objects that are no longer among them.
    ///
    /// # Errors
    /// The same as [`apply`](Self::apply) and [`delete`](Self::delete). Nothing is deleted unless
    /// all objects were applied.
    pub async fn update(
        &self,
        caller: &User,
        owner: &Owner,
        before: &[Recorded],
        objects: &[Object],
        prune: Prune,
        progress: &mut impl Progress,
    ) -> Result<Vec<Step>, Failure> {
        let mut run = self.run(caller, owner, progress).await?;
        run.apply(objects).await?;
        let is_wanted = |old: &Recorded| run.done.iter().any(|step| step.object.is_same(old));
        let dropped = before.iter().filter(|old| !is_wanted(old)).cloned().collect();
        run.delete(dropped, prune).await?;
        Ok(run.done)
    }

    /// Deletes recorded objects on behalf of the caller, in reverse order. An object is deleted
    /// only if it still has the recorded uid and owner.
    ///
    /// # Errors
    /// If the cluster refuses to delete an object. The deletion stops at this object.
    pub async fn delete(
        &self,
        caller: &User,
        owner: &Owner,
        recorded: &[Recorded],
        prune: Prune,
        progress: &mut impl Progress,
    ) -> Result<Vec<Step>, Failure> {
        let mut run = self.run(caller, owner, progress).await?;
        run.delete(recorded.to_vec(), prune).await?;
        Ok(run.done)
    }

    /// Returns what an apply on behalf of the caller would change, and the error of each object that
    /// the cluster refuses. Changes nothing. With `is_strict`, the cluster is also asked about objects
    /// whose Namespace or kind the set itself creates.
    pub async fn preview(
        &self,
        caller: &User,
        owner: &Owner,
        objects: &[Object],
        conflicts: Conflicts,
        is_strict: bool,
    ) -> (Vec<Preview>, Vec<Failure>) {
        match self.run(caller, owner, &mut Silent).await {
            Ok(mut run) => {
                run.conflicts = conflicts;
                run.preview(objects, is_strict).await
            }
            Err(failure) => (Vec::new(), vec![failure]),
        }
    }

    pub(super) async fn run<'a, P>(
        &'a self,
        caller: &User,
        owner: &'a Owner,
        progress: &'a mut P,
    ) -> Result<Run<'a, P>, Failure> {
        let caller = self.caller(caller).await;
        let caller = caller.map_err(|refusal| refusal.failure(None, Vec::new()))?;
        Ok(Run {
            api: &self.api,
            resources: &self.resources,
            wait: self.wait,
            caller,
            owner,
            conflicts: Conflicts::Fail,
            progress,
            done: Vec::new(),
            secrets: KnownSecrets::default(),
        })
    }

    /// Returns the headers that impersonate a user.
    pub(super) async fn caller(&self, user: &User) -> Result<Caller, Refusal> {
        let own = self.own.get_or_try_init(|| self.api.own_name()).await?;
        Caller::of(user, own.as_deref())
    }

    /// Returns the kind of an object, or `None` if the cluster does not serve it.
    ///
    /// # Errors
    /// If the cluster does not answer.
    pub async fn kind(&self, object: &Recorded) -> Result<Option<Kind>, Failure> {
        let found = self.resources.find(&self.api, &object.api_version, &object.kind);
        let found = found.await.map_err(|refusal| of(refusal, object))?;
        Ok(found.map(|resource| Kind {
            resource: resource.plural,
            is_namespaced: resource.is_namespaced,
        }))
    }

    /// Reads an object on behalf of a user. Returns `None` if it, or its kind, does not exist.
    ///
    /// # Errors
    /// If the cluster refuses it.
    pub async fn live(&self, user: &User, object: &Recorded) -> Result<Option<Value>, Failure> {
        let found = async {
            let caller = self.caller(user).await?;
            let Recorded { api_version, kind, .. } = object;
            let resource = self.resources.find_in_group(&self.api, api_version, kind);
            let Some(resource) = resource.await? else {
                return Ok(None);
            };
            let path = resource.path(&object.namespace, &object.name);
            self.api.find(Some(&caller), &path).await
        };
        found.await.map_err(|refusal| of(refusal, object))
    }

    /// Creates an object on behalf of a user. Returns it as recorded.
    ///
    /// # Errors
    /// If the cluster refuses it.
    pub async fn create(
        &self,
        user: &User,
        object: &Recorded,
        value: &Value,
    ) -> Result<Recorded, Failure> {
        let created = async {
            let caller = self.caller(user).await?;
            let found = self.resources.find(&self.api, &object.api_version, &object.kind);
            let Some(resource) = found.await? else {
                return Err(wait::unknown(object));
            };
            let ask = Ask {
                method: &Method::POST,
                path: &resource.collection(&object.namespace),
                content_type: "application/json",
                body: &value.to_string(),
            };
            self.api.send(Some(&caller), ask).await
        };
        let mut secrets = KnownSecrets::default();
        add_values(&mut secrets, value);
        let created = created.await;
        let created = created.map_err(|refusal| of(refusal.masked(&secrets), object))?;
        Ok(Recorded {
            uid: text(&created, "uid").to_owned(),
            name: text(&created, "name").to_owned(),
            ..object.clone()
        })
    }

    /// Returns `true` if a user may do something with an object. `resource` is its plural name.
    ///
    /// # Errors
    /// If the cluster does not answer.
    pub async fn may(
        &self,
        user: &User,
        verb: &str,
        resource: &str,
        object: &Recorded,
    ) -> Result<bool, Failure> {
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {
                "verb": verb,
                "group": object.group(),
                "version": object.api_version.rsplit('/').next().unwrap_or_default(),
                "resource": resource,
                "namespace": object.namespace,
                "name": object.name,
            }},
        });
        let asked = async {
            let caller = self.caller(user).await?;
            let ask = Ask {
                method: &Method::POST,
                path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                content_type: "application/json",
                body: &review.to_string(),
            };
            self.api.send(Some(&caller), ask).await
        };
        let answer = asked.await.map_err(|refusal| of(refusal, object))?;
        let allowed = answer.pointer("/status/allowed").and_then(Value::as_bool);
        Ok(allowed == Some(true))
    }

    /// Creates an event with the server's own account. It is lost if the cluster refuses it.
    pub async fn tell(&self, namespace: &str, event: &Value) {
        let ask = Ask {
            method: &Method::POST,
            path: &format!("/api/v1/namespaces/{namespace}/events"),
            content_type: "application/json",
            body: &event.to_string(),
        };
        if let Err(refusal) = self.api.send(None, ask).await {
            tracing::debug!(code = refusal.code, "the cluster does not take an event");
        }
    }
}

fn of(mut refusal: Refusal, object: &Recorded) -> Failure {
    if (object.group(), object.kind.as_str()) == ("", "Secret") {
        refusal = refusal.without_values();
    }
    refusal.failure(Some(object.clone()), Vec::new())
}
