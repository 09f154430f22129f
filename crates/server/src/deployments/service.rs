//! Deployments as a service: what requests read, and the changes that they start.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use krm_template::deployment_manager::model::{Limits as Bounds, Request};
use krm_template::deployment_manager::python::Interpreters;
use krm_yaml::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::books::{Books, Stored};
use super::change::{self, Ended, Problem, Wanted, Work};
use super::expansion::{self, Made, Texts};
use super::input::{check_name, check_namespace};
use super::lock::{BEAT, Held, Watchman};
use super::record::{Change, Deployment, Lock, Operation, State, Target};
use super::recovery;
use super::types::Collected;
use crate::apply::Cluster;
use crate::auth::User;
use crate::ops::admission::Admission;
use crate::ops::limits::Limits;
use crate::ops::measured::Measured;
use crate::ops::metrics::{Dialect, Metrics, Outcome};
use crate::ops::panics;
use crate::status::{Details, Result, Status};

/// After so many looks at locks, operations without a lock are looked for.
const LOOKS: u32 = 12;

/// Deployments in a store.
pub struct Deployments {
    pub(super) books: Books,
    pub(super) limits: Limits,
    pub(super) cluster: Option<Cluster>,
    admission: Admission,
    metrics: Arc<Metrics>,
    python: Arc<dyn Interpreters>,
    /// How many changes are being made.
    running: watch::Sender<usize>,
}

/// What deployments need.
pub struct Needs {
    /// Where they are kept.
    pub store: Arc<Measured>,
    /// The limits of expansions.
    pub limits: Limits,
    /// The places for expansions.
    pub admission: Admission,
    /// Where expansions are counted.
    pub metrics: Arc<Metrics>,
    /// Runs Python templates, or refuses them.
    pub python: Arc<dyn Interpreters>,
    /// The cluster, if objects are applied.
    pub cluster: Option<Cluster>,
}

/// A deployment as clients see it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The deployment; its state is `Interrupted` if nothing is at work any more.
    pub deployment: Deployment,
    /// What to know about it.
    pub message: String,
    /// Its newest manifest, as JSON.
    pub manifest: Bytes,
}

/// A change that was started.
#[derive(Debug)]
pub struct Started {
    /// The name of its operation.
    pub operation: String,
    /// How it ends.
    pub done: JoinHandle<Result<Ended, Problem>>,
}

impl Deployments {
    /// Deployments in a store.
    #[must_use]
    pub fn new(needs: Needs) -> Self {
        let limit = needs.limits.max_object_bytes;
        Self {
            books: Books::new(needs.store, limit),
            limits: needs.limits,
            cluster: needs.cluster,
            admission: needs.admission,
            metrics: needs.metrics,
            python: needs.python,
            running: watch::Sender::new(0),
        }
    }

    /// Whether objects are applied to a cluster.
    #[must_use]
    pub const fn applies(&self) -> bool {
        self.cluster.is_some()
    }

    /// Marks operations of earlier servers as interrupted, and goes on to look for such. If the
    /// store is this server's `own`, no other server has operations at work.
    ///
    /// # Errors
    ///
    /// If the store cannot be read. Then nothing is looked for.
    pub async fn recover(self: &Arc<Self>, own: bool) -> Result<()> {
        let mut watchman = Watchman::default();
        if own {
            recovery::locks(&self.books, &mut watchman, true).await?;
            for operation in self.books.open_operations().await? {
                recovery::settle(&self.books, &operation.value.name).await?;
            }
        }
        tokio::spawn(watch_locks(Arc::downgrade(self), watchman));
        Ok(())
    }

    /// Returns when no change is being made.
    pub async fn ended(&self) {
        // The sender lives as long as this.
        let _ = self.running.subscribe().wait_for(|&count| count == 0).await;
    }

    /// Expands a configuration, and stores nothing.
    ///
    /// # Errors
    ///
    /// As [`expansion::texts`]; 429 if too many expansions wait.
    pub async fn texts(&self, request: Request) -> Result<Texts> {
        let python = Arc::clone(&self.python);
        self.expanded(
            move |bounds| expansion::texts(&request, python.as_ref(), bounds),
            |texts| texts.resources,
        )
        .await
    }

    /// Makes a manifest.
    pub(super) async fn made(
        &self,
        name: String,
        request: Request,
        wants_objects: bool,
    ) -> Result<Made> {
        let python = Arc::clone(&self.python);
        self.expanded(
            move |bounds| expansion::made(&name, &request, python.as_ref(), bounds, wants_objects),
            |made| made.resources,
        )
        .await
    }

    /// Expands on a thread of its own, once it is its turn.
    async fn expanded<T: Send + 'static>(
        &self,
        expand: impl FnOnce(Bounds<'_>) -> Result<T> + Send + 'static,
        count: impl FnOnce(&T) -> usize,
    ) -> Result<T> {
        let place = self.admission.expansion().await?;
        let began = Instant::now();
        let deadline = began + self.limits.expansion_timeout;
        let resources = self.limits.max_expansion_objects.get();
        let bytes = self.limits.max_expansion_bytes;
        let done = panics::blocking(&self.metrics, move || {
            let _place = place;
            let is_late = || Instant::now() > deadline;
            expand(Bounds {
                resources,
                bytes,
                is_late: &is_late,
            })
        });
        let done = done.await;
        let (outcome, created) = match &done {
            Ok(made) => (Outcome::Ok, count(made)),
            Err(status) => match status.code {
                504 => (Outcome::Timeout, 0),
                500 => (Outcome::Error, 0),
                422 => (Outcome::Limit, 0),
                _ => (Outcome::Invalid, 0),
            },
        };
        let dialect = Dialect::DeploymentManager;
        self.metrics
            .observe_expansion(dialect, outcome, created, began.elapsed());
        done
    }

    /// The deployments of a namespace.
    ///
    /// # Errors
    ///
    /// 400 for a name that no namespace has.
    pub async fn list(&self, namespace: &str) -> Result<Vec<Deployment>> {
        check_namespace(namespace)?;
        let mut all = self.books.deployments(namespace).await?;
        for deployment in &mut all {
            self.look(deployment).await?;
        }
        Ok(all)
    }

    /// A deployment with its newest manifest.
    ///
    /// # Errors
    ///
    /// 404 if there is none.
    pub async fn get(&self, target: &Target) -> Result<Shown> {
        let mut deployment = self.found(target).await?.value;
        self.look(&mut deployment).await?;
        let manifest = self.manifest(target, &deployment.latest_manifest).await?;
        Ok(Shown {
            message: change::message(&deployment),
            deployment,
            manifest,
        })
    }

    /// The names of the manifests of a deployment that are kept, the oldest first.
    ///
    /// # Errors
    ///
    /// 404 if there is no such deployment.
    pub async fn manifests(&self, target: &Target) -> Result<Vec<String>> {
        Ok(self.found(target).await?.value.manifests)
    }

    /// A manifest, as JSON.
    ///
    /// # Errors
    ///
    /// 404 if there is no such manifest.
    pub async fn manifest(&self, target: &Target, name: &str) -> Result<Bytes> {
        let missing = || Status::not_found("", "manifests", name);
        let known = self.found(target).await?;
        if !known.value.manifests.iter().any(|known| known == name) {
            return Err(missing());
        }
        let bytes = self.books.bytes(&target.manifest(name)).await?;
        bytes.ok_or_else(missing)
    }

    /// The names of all types in the newest manifests of a namespace, as JSON.
    ///
    /// # Errors
    ///
    /// 413 if the list is too long.
    pub async fn types(&self, namespace: &str) -> Result<String> {
        self.collect(namespace, Collected::Types(BTreeSet::new()))
            .await
    }

    /// The instances of a type in the newest manifests of a namespace, as JSON; of all types if
    /// none is named.
    ///
    /// # Errors
    ///
    /// 413 if the list is too long.
    pub async fn instances(&self, namespace: &str, kind: Option<&str>) -> Result<String> {
        let kind = kind.map(str::to_owned);
        self.collect(namespace, Collected::Instances(kind, Vec::new()))
            .await
    }

    async fn collect(&self, namespace: &str, mut collected: Collected) -> Result<String> {
        check_namespace(namespace)?;
        for deployment in self.books.deployments(namespace).await? {
            let target = deployment.target();
            let manifest = deployment.latest_manifest;
            let Some(json) = self.books.bytes(&target.manifest(&manifest)).await? else {
                continue;
            };
            let limit = self.limits.max_expansion_bytes;
            collected = panics::blocking(&self.metrics, move || {
                collected.add(&target.name, &manifest, &json)?;
                if collected.size() > limit {
                    let message = format!("the list is larger than {limit} bytes");
                    return Err(Status::new(413, "RequestEntityTooLarge", message));
                }
                Ok(collected)
            })
            .await?;
        }
        Ok(collected.json())
    }

    /// An operation.
    ///
    /// # Errors
    ///
    /// 404 if there is none, or none any more.
    pub async fn operation(&self, name: &str) -> Result<Operation> {
        let operation = self.books.get::<Operation>(&Operation::key(name)).await?;
        let operation = operation.ok_or_else(|| Status::not_found("", "operations", name))?;
        Ok(operation.value)
    }

    /// Starts a change, which goes on if nobody waits for its end.
    ///
    /// # Errors
    ///
    /// 400 for wrong names, 404 or 409 if the deployment is not as the change needs it, 409 if
    /// another operation changes it.
    pub async fn start(
        self: &Arc<Self>,
        user: &User,
        target: &Target,
        mut wanted: Wanted,
    ) -> Result<Started> {
        check_name(&target.name)?;
        check_namespace(&target.namespace)?;
        if let Some(request) = &mut wanted.request {
            request.name.clone_from(&target.name);
            let name = Value::string(target.name.clone());
            request.env.insert("deployment".to_owned(), name);
        }
        let known = self.books.deployment(target).await?;
        self.check(target, &wanted, known.as_ref())?;
        let operation = Operation::new(wanted.change, target, &user.name);
        let (name, key) = (operation.name.clone(), Operation::key(&operation.name));
        self.books.forget_operations().await?;
        let revision = self.books.put(&key, &operation, None).await?;
        let held = match Held::take(&self.books, target, &name).await {
            Ok(held) => held,
            Err(busy) => {
                self.books.delete(&key, revision).await?;
                return Err(busy);
            }
        };
        // It may have changed before the lock was taken.
        let known = self.books.deployment(target).await;
        let known = known.and_then(|known| {
            self.check(target, &wanted, known.as_ref())?;
            Ok(known)
        });
        let known = match known {
            Ok(known) => known,
            Err(error) => {
                self.books.delete(&key, revision).await?;
                held.release().await;
                return Err(error);
            }
        };
        let work = Work {
            service: Arc::clone(self),
            user: user.clone(),
            target: target.clone(),
            wanted,
            operation: Stored {
                value: operation,
                revision,
            },
            known,
        };
        self.running.send_modify(|count| *count += 1);
        let done = tokio::spawn(run(work, held));
        Ok(Started {
            operation: name,
            done,
        })
    }

    /// Checks that the deployment is as a change needs it.
    fn check(
        &self,
        target: &Target,
        wanted: &Wanted,
        known: Option<&Stored<Deployment>>,
    ) -> Result<()> {
        let name = &target.name;
        match (wanted.change, known) {
            (Change::Create, Some(known)) if !known.value.is_unfinished() => {
                Err(Status::already_exists("", "deployments", name))
            }
            (Change::Update | Change::Delete, None) => {
                Err(Status::not_found("", "deployments", name))
            }
            (Change::Delete, Some(known))
                if !self.applies() && !wanted.abandon && !known.value.resources.is_empty() =>
            {
                let count = known.value.resources.len();
                let message = format!(
                    "deployment {name:?} has {count} objects in a cluster, and this server changes \
                     no cluster: start it with --apply, or leave them there with ?abandon=true"
                );
                Err(Status::new(409, "Conflict", message).with(Details::of(
                    "",
                    "deployments",
                    name,
                )))
            }
            _ => Ok(()),
        }
    }

    async fn found(&self, target: &Target) -> Result<Stored<Deployment>> {
        let missing = || Status::not_found("", "deployments", &target.name);
        check_namespace(&target.namespace)?;
        check_name(&target.name).map_err(|_| missing())?;
        self.books.deployment(target).await?.ok_or_else(missing)
    }

    /// Says of a deployment whether its change is still at work.
    async fn look(&self, deployment: &mut Deployment) -> Result<()> {
        if deployment.state.is_busy() {
            let lock = self.books.get::<Lock>(&deployment.target().lock()).await?;
            if lock.is_none_or(|lock| lock.value.operation != deployment.operation) {
                deployment.state = State::Interrupted;
            }
        }
        Ok(())
    }
}

/// Makes a change, ends its operation, and gives the lock back.
async fn run(mut work: Work, held: Held) -> Result<Ended, Problem> {
    let service = Arc::clone(&work.service);
    let _counted = Counted(Arc::clone(&service));
    let outcome = tokio::select! {
        outcome = panics::caught(&service.metrics, async { Ok(work.perform().await) }) => {
            outcome.unwrap_or_else(|panicked| Err(panicked.into()))
        }
        () = held.lost() => {
            let message = "the server could not reach the store in time, and gave the operation up";
            return Err(Status::unavailable(message).into());
        }
    };
    work.end(&outcome).await;
    held.release().await;
    outcome
}

/// A change that is counted until this is dropped.
struct Counted(Arc<Deployments>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0
            .running
            .send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// Looks for locks whose holders have ended, and for operations without a lock.
async fn watch_locks(deployments: Weak<Deployments>, mut watchman: Watchman) {
    let mut orphans = recovery::Orphans::default();
    let mut looks: u32 = 0;
    loop {
        sleep(BEAT).await;
        let Some(deployments) = deployments.upgrade() else {
            return;
        };
        looks = looks.wrapping_add(1);
        let looked = recovery::locks(&deployments.books, &mut watchman, false).await;
        let looked = match looked {
            Ok(()) if looks.is_multiple_of(LOOKS) => orphans.look(&deployments.books).await,
            looked => looked,
        };
        if let Err(error) = looked {
            tracing::warn!(%error, "operations that have ended cannot be looked for");
        }
    }
}
