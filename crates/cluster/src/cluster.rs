//! The entry point for changes to a cluster.

use std::time::Duration;

use krm_core::secrets::KnownSecrets;
use kube::Client;
use tokio::sync::OnceCell;

use super::api::Api;
use super::caller::Caller;
use super::failure::{Failure, Refusal};
use super::resources::Resources;
use super::run::Run;
use super::types::{Conflicts, Object, Owner, Progress, Prune, Recorded, Step};
use krm_template_server_core::auth::User;

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
}
