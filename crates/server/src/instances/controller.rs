//! The controllers: they follow the store, and work on the instances that are due.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};

use super::leader::Leader;
use super::store::{Cause, Context, Instance, Outcome, Stop};
use super::work_queue::{Queue, Seen};
use super::{authors, orphans, validated};
use crate::api::State;
use crate::codec::Stored;
use crate::validation::instance::templates;
use krm_template_server_core::store::{Error, Event};
use krm_template_server_core::{
    Group, Item, Kind, Measured, Phase, Revision, conditions::find, panics, units::duration,
};

/// The maximum number of instances that are worked on at the same time.
const WORKERS: usize = 5;

/// The pause before a watch of the store, or the controller, starts again.
const PAUSE: Duration = Duration::from_secs(1);

/// The number of items that are read at once.
const PAGE: usize = 500;

/// The options of the controllers.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "TemplateInstances")]
pub struct Options {
    /// Only store TemplateInstances, where another controller works on them
    #[arg(long)]
    pub no_instances: bool,

    /// How often the objects of installed TemplateInstances are compared again; 0 for never
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration)]
    pub resync: Duration,

    /// How long the groups and permissions of a requester count after a change of the spec; 0 for
    /// always [default: 720h; always for users of --auth tokens, while the file has them]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub requester_max_age: Option<Duration>,
}

/// A change in the store.
enum Change {
    /// An instance with this key was written.
    Written(String, Seen),
    /// An instance was deleted. Has its last state.
    Deleted(Item),
    /// All instances of a group are reported. Has their keys and uids.
    Listed(Group, BTreeMap<String, String>),
    /// A stored Template was written or deleted: its namespace and its name.
    Template(String, String),
    /// Changes of Templates were missed.
    AnyTemplate,
}

/// A step that has ended: the key of its instance, its duration and its outcome.
type Ended = (String, Duration, Result<Outcome, Stop>);

struct Controller {
    state: Arc<State>,
    options: Options,
    leader: Leader,
    queue: Queue,
    running: JoinSet<Ended>,
}

/// Works on instances until the server ends. `is_alone` means that no other server uses the store.
/// After a panic, the controller starts again.
pub async fn run(state: Arc<State>, options: Options, is_alone: bool) {
    if options.no_instances {
        return;
    }
    let leader = if is_alone { Leader::Alone } else { Leader::Shared(Arc::default()) };
    let work = || async {
        let (sender, changes) = mpsc::channel(100);
        let mut controller = Controller {
            state: Arc::clone(&state),
            options,
            leader: leader.clone(),
            queue: Queue::default(),
            running: JoinSet::new(),
        };
        let working = async {
            tokio::select! {
                () = follow_all(&state.store, &sender) => {}
                () = controller.run(changes) => {}
            }
        };
        tokio::join!(leader.keep(&state.store, state.shutdown.reached(Phase::Closing)), working);
    };
    panics::restarted(&state.metrics, PAUSE, work).await;
    leader.release().await;
}

impl Controller {
    /// Works until the server ends, and then waits for the steps that have begun.
    async fn run(&mut self, mut changes: mpsc::Receiver<Change>) {
        let shutdown = self.state.shutdown.clone();
        loop {
            let next = self.start();
            tokio::select! {
                biased;
                () = shutdown.reached(Phase::Closing) => break,
                Some(ended) = self.running.join_next() => self.ended(ended),
                Some(change) = changes.recv() => self.note(change),
                () = sleep_until(next) => {}
            }
        }
        while let Some(ended) = self.running.join_next().await {
            self.ended(ended);
        }
    }

    /// Starts the steps that are due. Returns when to look again.
    fn start(&mut self) -> Instant {
        let now = Instant::now();
        let Some(epoch) = self.leader.epoch() else {
            return now + PAUSE;
        };
        while self.running.len() < WORKERS
            && let Some((key, cause)) = self.queue.next(now)
        {
            let context = self.context(epoch);
            self.running.spawn(async move {
                let began = Instant::now();
                let state = Arc::clone(&context.state);
                let stepped = async { Ok(Box::pin(step(&context, &key, cause)).await) };
                let outcome = panics::caught(&state.metrics, stepped).await;
                let outcome = outcome.unwrap_or_else(|status| Err(Stop::Store(status)));
                (key, began.elapsed(), outcome)
            });
        }
        let metrics = &self.state.metrics;
        metrics.set_instances_queued(self.queue.queued(now));
        for group in Group::ALL {
            for is_ready in [true, false] {
                metrics.set_instances(group, is_ready, self.queue.count(group, is_ready));
            }
        }
        let last = now + Duration::from_mins(1);
        self.queue.later().map_or(last, |later| later.min(last))
    }

    fn context(&self, epoch: u64) -> Context {
        Context {
            state: Arc::clone(&self.state),
            leader: self.leader.clone(),
            epoch,
            max_age: self.options.requester_max_age,
        }
    }

    /// Takes a change into the queue.
    fn note(&mut self, change: Change) {
        let now = Instant::now();
        match change {
            Change::Written(key, seen) => self.queue.write(&key, seen, now),
            Change::Deleted(item) => {
                self.queue.remove(&item.key);
                // Without the lease, another server deletes what is in the cluster.
                let epoch = self.leader.epoch();
                let context = self.context(epoch.unwrap_or_default());
                tokio::spawn(gone(context, item, epoch.is_some()));
            }
            Change::Listed(group, known) => {
                self.queue.retain(group, &known);
                let state = Arc::clone(&self.state);
                tokio::spawn(async move {
                    if let Err(error) = orphans::sweep(&state.store, group, &known).await {
                        tracing::warn!(%error, "cannot delete what belongs to deleted instances");
                    }
                });
            }
            Change::Template(namespace, name) => self.queue.touch(Some((&namespace, &name)), now),
            Change::AnyTemplate => self.queue.touch(None, now),
        }
    }

    fn ended(&mut self, step: Result<Ended, JoinError>) {
        let Ok((key, elapsed, outcome)) = step else {
            return;
        };
        if let Err(Stop::Store(status)) = &outcome {
            tracing::warn!(key, why = status.message, "an instance cannot be worked on");
        }
        let result = self.queue.end(&key, &outcome, self.options.resync, Instant::now());
        self.state.metrics.observe_reconcile(result, elapsed);
    }
}

/// Works on an instance once.
async fn step(context: &Context, key: &str, cause: Cause) -> Result<Outcome, Stop> {
    let Some(mut instance) = Instance::read(context, key).await? else {
        return Ok(Outcome::Gone);
    };
    if let Some(cluster) = context.state.cluster.clone() {
        if instance.draft.is_being_deleted() {
            return super::finalize::step(context, &cluster, &mut instance).await;
        }
        return match instance.group() {
            Group::Krm => super::reconcile::step(context, &cluster, &mut instance, cause).await,
            Group::OpenShift => {
                super::reconcile_openshift::step(context, &cluster, &mut instance).await
            }
        };
    }
    if instance.draft.is_being_deleted() {
        return Ok(Outcome::Done);
    }
    validated::step(context, &mut instance).await
}

/// Deletes what belongs to an instance that is gone.
async fn gone(context: Context, item: Item, is_leader: bool) {
    let Ok(instance) = Instance::of(item) else {
        return;
    };
    if let Some(cluster) = context.state.cluster.clone().filter(|_| is_leader)
        && let Err(stop) = super::finalize::abandoned(&context, &cluster, &instance).await
    {
        tracing::warn!(?stop, "cannot delete the Secret of a deleted instance");
    }
    let place = (instance.group(), instance.namespace(), instance.name());
    if let Err(error) = orphans::forget(&context.state.store, place, &instance.uid).await {
        tracing::warn!(%error, "cannot delete what belongs to a deleted instance");
    }
}

/// Reports all instances, and then their changes and those of Templates. Never returns.
async fn follow_all(store: &Measured, changes: &mpsc::Sender<Change>) {
    let all = Group::ALL.into_iter().flat_map(|group| {
        // The authors are written after the Template.
        let templates = [Kind::Template.resource(), authors::KEYS].map(|keys| (None, keys));
        let instances = (Some(group), Kind::Instance.resource());
        [instances].into_iter().chain(templates).map(move |(of, keys)| {
            let prefix = format!("/{}/{keys}/", group.name());
            follow(store, of, prefix, changes)
        })
    });
    join_all(all).await;
}

/// Follows the instances of a group, or Templates. Never returns.
async fn follow(
    store: &Measured,
    instances: Option<Group>,
    prefix: String,
    changes: &mpsc::Sender<Change>,
) {
    let mut is_again = false;
    loop {
        if let Err(error) = followed(store, instances, &prefix, changes, is_again).await {
            tracing::debug!(%error, "the watch of instances ends");
        }
        is_again = true;
        sleep(PAUSE).await;
    }
}

async fn followed(
    store: &Measured,
    instances: Option<Group>,
    prefix: &str,
    changes: &mpsc::Sender<Change>,
    is_again: bool,
) -> Result<(), Error> {
    let revision = match instances {
        Some(group) => list(store, group, prefix, changes).await?,
        None => store.list(prefix, None, 1, None).await?.revision,
    };
    if instances.is_none() && is_again {
        let _ = changes.send(Change::AnyTemplate).await;
    }
    let mut watch = store.watch(prefix, revision).await?;
    loop {
        let change = match watch.next().await? {
            Event::Put(item, _) | Event::Delete(item) if instances.is_none() => {
                let place = item.key.strip_prefix(prefix).and_then(|rest| rest.split_once('/'));
                place.map(|(namespace, name)| {
                    Change::Template(namespace.to_owned(), name.to_owned())
                })
            }
            Event::Put(item, _) => written(&item),
            Event::Delete(item) => Some(Change::Deleted(item)),
            Event::Progress(_) => None,
        };
        if let Some(change) = change {
            // The receiver has ended with the server.
            let _ = changes.send(change).await;
        }
    }
}

/// Reports all instances of a group. Returns the revision of the list.
async fn list(
    store: &Measured,
    group: Group,
    prefix: &str,
    changes: &mpsc::Sender<Change>,
) -> Result<Revision, Error> {
    let mut known = BTreeMap::new();
    let mut after = None;
    let mut at = None;
    loop {
        let page = store.list(prefix, after.as_deref(), PAGE, at).await?;
        at = Some(page.revision);
        for item in &page.items {
            let stored = Stored::decode(&item.value);
            let uid = stored.map(|stored| stored.uid().to_owned());
            known.insert(item.key.clone(), uid.unwrap_or_default());
            if let Some(change) = written(item) {
                let _ = changes.send(change).await;
            }
        }
        match page.items.last() {
            Some(last) if page.remaining > 0 => after = Some(last.key.clone()),
            _ => {
                let _ = changes.send(Change::Listed(group, known)).await;
                return Ok(page.revision);
            }
        }
    }
}

/// Returns what a written instance changes.
fn written(item: &Item) -> Option<Change> {
    let stored = Stored::decode(&item.value).ok()?;
    let draft = stored.draft(item.revision);
    let spec = draft.field("spec").unwrap_or_default();
    // OpenShift's group has no generation, and its spec never changes.
    let generation = draft.metadata.get("generation").map(ToString::to_string);
    let generation = generation.unwrap_or_else(|| spec.len().to_string());
    let status = draft.value("status");
    let seen = Seen {
        group: draft.group,
        version: format!("{} {generation} {}", stored.uid(), stored.is_being_deleted()),
        templates: templates(&draft.value("spec")),
        is_ready: find(status.get("conditions"), "Ready").status == "True",
    };
    Some(Change::Written(item.key.clone(), seen))
}

#[cfg(test)]
mod tests {
    use super::super::leader::tests::store;
    use super::*;

    #[tokio::test]
    async fn templates_that_have_changed_unseen_are_reported() {
        let store = store();
        let prefix = "/template.krm.dev/templates/";
        for is_again in [false, true] {
            let (sender, mut changes) = mpsc::channel(1);
            let create = async {
                tokio::task::yield_now().await;
                let key = format!("{prefix}shop/web-{is_again}");
                store.create(&key, bytes::Bytes::new()).await.unwrap();
                std::future::pending::<()>().await;
            };
            let first = tokio::select! {
                _ = followed(&store, None, prefix, &sender, is_again) => None,
                change = changes.recv() => change,
                () = create => None,
            };
            assert_eq!(matches!(first, Some(Change::AnyTemplate)), is_again);
            assert_eq!(matches!(first, Some(Change::Template(..))), !is_again);
        }
    }
}
