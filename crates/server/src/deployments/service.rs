//! Deployments as a service: reads, and the start of changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use krm_template::deployment_manager::model::Request;
use krm_template::deployment_manager::python::Interpreters;
use krm_yaml::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::books::{Books, Stored};
use super::change::{Ended, Problem, Tools, Wanted, Work};
use super::expander::Expander;
use super::expansion::Texts;
use super::fetch::Fetcher;
use super::input::{check_name, check_namespace};
use super::lock::{Held, Watchman};
use super::record::{Change, Deployment, Lock, Operation, State, Target};
use super::recovery;
use super::types::Collected;
use crate::apply::Cluster;
use crate::auth::User;
use crate::ops::admission::Admission;
use crate::ops::limits::Limits;
use crate::ops::measured::Measured;
use crate::ops::metrics::Metrics;
use crate::ops::panics;
use crate::status::{Details, Result, Status};

/// Deployments in a store.
pub struct Deployments {
    pub(super) tools: Arc<Tools>,
    /// How many changes are being made.
    running: Arc<watch::Sender<usize>>,
}

/// Everything that [`Deployments`] use.
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
    /// Fetches templates by their addresses, if that is allowed.
    pub fetcher: Option<Fetcher>,
    /// The cluster, if objects are applied.
    pub cluster: Option<Cluster>,
}

/// A deployment as clients see it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The deployment; its state is `Interrupted` if nothing is at work any more.
    pub deployment: Deployment,
    /// A sentence about its state, for people.
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
        let expander = Expander {
            limits: needs.limits,
            admission: needs.admission,
            metrics: needs.metrics,
            python: needs.python,
            fetcher: needs.fetcher,
        };
        Self {
            tools: Arc::new(Tools {
                books: Books::new(needs.store, limit),
                expander,
                cluster: needs.cluster,
                max_object_bytes: limit,
            }),
            running: Arc::new(watch::Sender::new(0)),
        }
    }

    /// Whether objects are applied to a cluster.
    #[must_use]
    pub fn applies(&self) -> bool {
        self.tools.cluster.is_some()
    }

    /// Marks operations of earlier servers as interrupted, and goes on to look for such. If the
    /// store is this server's `own`, no other server has operations at work.
    ///
    /// # Errors
    ///
    /// If the store cannot be read. Then nothing is looked for.
    pub async fn recover(&self, own: bool) -> Result<()> {
        let mut watchman = Watchman::default();
        if own {
            recovery::all(&self.tools.books, &mut watchman).await?;
        }
        tokio::spawn(recovery::watch(Arc::downgrade(&self.tools), watchman));
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
    /// 400 in the words of the original service, 422 and 504 beyond the limits of an expansion, 429
    /// if too many expansions wait.
    pub async fn texts(&self, request: Request) -> Result<Texts> {
        self.tools.expander.texts(request).await
    }

    /// The deployments of a namespace.
    ///
    /// # Errors
    ///
    /// 400 for a name that no namespace has.
    pub async fn list(&self, namespace: &str) -> Result<Vec<Deployment>> {
        check_namespace(namespace)?;
        let mut all = self.tools.books.deployments(namespace).await?;
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
            message: deployment.message(),
            deployment,
            manifest,
        })
    }

    /// The names of the manifests of a deployment that are kept, the oldest first.
    ///
    /// # Errors
    ///
    /// 404 if the deployment does not exist.
    pub async fn manifests(&self, target: &Target) -> Result<Vec<String>> {
        Ok(self.found(target).await?.value.manifests)
    }

    /// A manifest, as JSON.
    ///
    /// # Errors
    ///
    /// 404 if the manifest does not exist.
    pub async fn manifest(&self, target: &Target, name: &str) -> Result<Bytes> {
        let missing = || Status::not_found("", "manifests", name);
        let known = self.found(target).await?;
        if !known.value.manifests.iter().any(|known| known == name) {
            return Err(missing());
        }
        let bytes = self.tools.books.bytes(&target.manifest(name)).await?;
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
        for deployment in self.tools.books.deployments(namespace).await? {
            let target = deployment.target();
            let manifest = deployment.latest_manifest;
            let Some(json) = self.tools.books.bytes(&target.manifest(&manifest)).await? else {
                continue;
            };
            let limit = self.tools.expander.limits.max_expansion_bytes;
            collected = panics::blocking(&self.tools.expander.metrics, move || {
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
        let key = Operation::key(name);
        let operation = self.tools.books.get::<Operation>(&key).await?;
        let operation = operation.ok_or_else(|| Status::not_found("", "operations", name))?;
        Ok(operation.value)
    }

    /// Starts a change, which goes on if nobody waits for its end.
    ///
    /// # Errors
    ///
    /// 400 for wrong names, 404 or 409 if the deployment is not as the change needs it, 409 if
    /// another operation changes it.
    pub async fn start(&self, user: &User, target: &Target, mut wanted: Wanted) -> Result<Started> {
        check_name(&target.name)?;
        check_namespace(&target.namespace)?;
        if let Some(request) = &mut wanted.request {
            request.name.clone_from(&target.name);
            let name = Value::string(target.name.clone());
            request.env.insert("deployment".to_owned(), name);
        }
        let books = &self.tools.books;
        let known = books.deployment(target).await?;
        self.check(target, &wanted, known.as_ref())?;
        let operation = Operation::new(wanted.change, target, &user.name);
        let (name, key) = (operation.name.clone(), Operation::key(&operation.name));
        books.forget_operations().await?;
        let revision = books.put(&key, &operation, None).await?;
        let held = match Held::take(books, target, &name).await {
            Ok(held) => held,
            Err(busy) => {
                books.delete(&key, revision).await?;
                return Err(busy);
            }
        };
        // It may have changed before the lock was taken.
        let known = books.deployment(target).await;
        let known = known.and_then(|known| {
            self.check(target, &wanted, known.as_ref())?;
            Ok(known)
        });
        let known = match known {
            Ok(known) => known,
            Err(error) => {
                books.delete(&key, revision).await?;
                held.release().await;
                return Err(error);
            }
        };
        let work = Work {
            tools: Arc::clone(&self.tools),
            user: user.clone(),
            target: target.clone(),
            wanted,
            operation: Stored {
                value: operation,
                revision,
            },
            known,
        };
        let counted = Counted::new(&self.running);
        let metrics = Arc::clone(&self.tools.expander.metrics);
        let done = tokio::spawn(run(work, held, metrics, counted));
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
        self.tools
            .books
            .deployment(target)
            .await?
            .ok_or_else(missing)
    }

    /// Says of a deployment whether its change is still at work.
    pub(super) async fn look(&self, deployment: &mut Deployment) -> Result<()> {
        if deployment.state.is_busy() {
            let lock = self
                .tools
                .books
                .get::<Lock>(&deployment.target().lock())
                .await?;
            if lock.is_none_or(|lock| lock.value.operation != deployment.operation) {
                deployment.state = State::Interrupted;
            }
        }
        Ok(())
    }
}

/// Makes a change, ends its operation, and releases the lock.
async fn run(
    mut work: Work,
    held: Held,
    metrics: Arc<Metrics>,
    _counted: Counted,
) -> Result<Ended, Problem> {
    let outcome = tokio::select! {
        outcome = panics::caught(&metrics, async { Ok(work.perform().await) }) => {
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
struct Counted(Arc<watch::Sender<usize>>);

impl Counted {
    fn new(running: &Arc<watch::Sender<usize>>) -> Self {
        running.send_modify(|count| *count += 1);
        Self(Arc::clone(running))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}
