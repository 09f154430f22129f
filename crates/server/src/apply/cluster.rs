//! A cluster, and the changes that are made to it.

use std::time::Duration;

use kube::Client;

use super::api::Api;
use super::caller::Caller;
use super::failure::Failure;
use super::resources::Resources;
use super::run::Run;
use super::types::{Object, Owner, Progress, Prune, Recorded, Step};
use crate::auth::User;

/// How long a cluster may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For one answer.
    pub answer: Duration,
    /// Until a Namespace or CustomResourceDefinition is ready.
    pub wait: Duration,
    /// Before a read without an answer is sent again; it doubles each time.
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

/// A cluster that is changed in the name of callers.
pub struct Cluster {
    api: Api,
    resources: Resources,
    wait: Duration,
}

impl Cluster {
    /// A cluster that `client` reaches, which sends each request once. Its account needs the right to
    /// impersonate.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self::with(client, Limits::default())
    }

    /// The same with other limits.
    #[must_use]
    pub fn with(client: Client, limits: Limits) -> Self {
        let api = Api {
            client,
            timeout: limits.answer,
            pause: limits.pause,
        };
        Self {
            api,
            resources: Resources::default(),
            wait: limits.wait,
        }
    }

    /// Applies objects in the name of the caller: server-side, without force. Namespaces come
    /// first, then CustomResourceDefinitions, then the others by kind.
    ///
    /// # Errors
    /// At the first object that the cluster refuses. What was done before stays; to apply again
    /// completes it.
    pub async fn apply(
        &self,
        caller: &User,
        owner: &Owner,
        objects: &[Object],
        progress: &mut impl Progress,
    ) -> Result<Vec<Step>, Failure> {
        let mut run = self.run(caller, owner, progress)?;
        run.apply(objects).await?;
        Ok(run.done)
    }

    /// Applies objects, then deletes the recorded ones that the manifest no longer has.
    ///
    /// # Errors
    /// As [`apply`](Self::apply) and [`delete`](Self::delete). Nothing is deleted unless all
    /// objects were applied.
    pub async fn update(
        &self,
        caller: &User,
        owner: &Owner,
        before: &[Recorded],
        objects: &[Object],
        prune: Prune,
        progress: &mut impl Progress,
    ) -> Result<Vec<Step>, Failure> {
        let mut run = self.run(caller, owner, progress)?;
        run.apply(objects).await?;
        let is_wanted = |old: &Recorded| run.done.iter().any(|step| step.object.is_same(old));
        let dropped = before
            .iter()
            .filter(|old| !is_wanted(old))
            .cloned()
            .collect();
        run.delete(dropped, prune).await?;
        Ok(run.done)
    }

    /// Deletes recorded objects in the name of the caller, in reverse order: those that still have
    /// the recorded uid and name the owner.
    ///
    /// # Errors
    /// At the first object that the cluster refuses to delete.
    pub async fn delete(
        &self,
        caller: &User,
        owner: &Owner,
        recorded: &[Recorded],
        prune: Prune,
        progress: &mut impl Progress,
    ) -> Result<Vec<Step>, Failure> {
        let mut run = self.run(caller, owner, progress)?;
        run.delete(recorded.to_vec(), prune).await?;
        Ok(run.done)
    }

    fn run<'a, P>(
        &'a self,
        caller: &User,
        owner: &'a Owner,
        progress: &'a mut P,
    ) -> Result<Run<'a, P>, Failure> {
        let caller = Caller::of(caller).map_err(|refusal| refusal.failure(None, Vec::new()))?;
        Ok(Run {
            api: &self.api,
            resources: &self.resources,
            wait: self.wait,
            caller,
            owner,
            progress,
            done: Vec::new(),
        })
    }
}
