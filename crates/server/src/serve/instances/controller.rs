//! The queue of instances: which one is worked on next, and when it is worked on again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::authors;
use super::lease::Lease;
use super::record::{Cause, Context, Instance, Outcome, Stop, prefix};
use super::{orphans, validated};
use crate::object::Stored;
use crate::object::instance::templates;
use crate::serve::state::State;
use krm_template_server_core::groups::{Group, Kind};
use krm_template_server_core::ops::measured::Measured;
use krm_template_server_core::ops::panics;
use krm_template_server_core::ops::shutdown::Phase;
use krm_template_server_core::ops::units::duration;
use krm_template_server_core::store::{Error, Event, Item};

/// The maximum number of instances that are worked on at the same time.
const WORKERS: usize = 5;

/// The first and the last delay before a failed step is tried again. It doubles each time.
const DELAYS: (Duration, Duration) = (Duration::from_secs(5), Duration::from_mins(10));

/// The pause before a watch of the store is opened again.
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

/// An instance in the queue.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// Its uid, generation and whether it is being deleted, when it was last worked on.
    seen: String,
    /// The stored Templates that it names.
    templates: Vec<String>,
    /// When it is worked on next, and why.
    due: Option<(Instant, Cause)>,
    /// The number of failed steps in a row.
    failures: u32,
    is_ready: bool,
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
}

/// The parts of a written instance that an [`Entry`] has.
struct Seen {
    version: String,
    templates: Vec<String>,
    is_ready: bool,
}

struct Controller {
    state: Arc<State>,
    options: Options,
    lease: Lease,
    entries: BTreeMap<String, Entry>,
    active: BTreeSet<String>,
    running: JoinSet<(String, Duration, Result<Outcome, Stop>)>,
}

/// Works on instances until the server ends. `is_alone` means that no other server uses the store.
pub async fn run(state: Arc<State>, options: Options, is_alone: bool) {
    if options.no_instances {
        return;
    }
    let store = Arc::clone(&state.store);
    let lease = if is_alone {
        Lease::alone()
    } else {
        let lease = Lease::shared();
        tokio::spawn(lease.clone().keep(Arc::clone(&store)));
        lease
    };
    let (sender, mut changes) = mpsc::channel(100);
    for group in Group::ALL {
        for kind in [Kind::Instance, Kind::Template] {
            let prefix = format!("/{}/{}/", group.name(), kind.resource());
            let kind = (group, kind);
            tokio::spawn(follow(Arc::clone(&store), kind, prefix, sender.clone()));
        }
        // It is written after the Template.
        let prefix = format!("/{}/{}/", group.name(), authors::KEYS);
        let kind = (group, Kind::Template);
        tokio::spawn(follow(Arc::clone(&store), kind, prefix, sender.clone()));
    }
    let shutdown = state.shutdown.clone();
    let mut controller = Controller {
        state,
        options,
        lease,
        entries: BTreeMap::new(),
        active: BTreeSet::new(),
        running: JoinSet::new(),
    };
    loop {
        let next = controller.start();
        tokio::select! {
            () = shutdown.reached(Phase::Closing) => return,
            change = changes.recv() => match change {
                Some(change) => controller.note(change),
                None => return,
            },
            Some(ended) = controller.running.join_next() => {
                if let Ok((key, elapsed, outcome)) = ended {
                    controller.end(&key, elapsed, outcome);
                }
            }
            () = sleep_until(next) => {}
        }
    }
}

impl Controller {
    /// Starts the steps that are due. Returns when to look again.
    fn start(&mut self) -> Instant {
        let now = Instant::now();
        let later = now + PAUSE;
        let Some(epoch) = self.lease.epoch() else {
            return later;
        };
        let mut next = now + Duration::from_mins(1);
        let mut queued = 0;
        let mut ready = Vec::new();
        for (key, entry) in &self.entries {
            let Some((due, cause)) = entry.due else {
                continue;
            };
            if self.active.contains(key) {
                continue;
            }
            if due > now {
                next = next.min(due);
            } else {
                queued += 1;
                ready.push((due, key.clone(), cause));
            }
        }
        ready.sort_by_key(|(due, ..)| *due);
        for (_, key, cause) in ready {
            if self.running.len() >= WORKERS {
                break;
            }
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.due = None;
            }
            let context = self.context(epoch);
            self.active.insert(key.clone());
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
        metrics.set_instances_queued(queued);
        for group in Group::ALL {
            let prefix = prefix(group);
            for is_ready in [true, false] {
                let all = self.entries.iter();
                let all = all
                    .filter(|(key, entry)| key.starts_with(&prefix) && entry.is_ready == is_ready);
                metrics.set_instances(group, is_ready, all.count());
            }
        }
        next
    }

    fn context(&self, epoch: u64) -> Context {
        Context {
            state: Arc::clone(&self.state),
            lease: self.lease.clone(),
            epoch,
            max_age: self.options.requester_max_age,
        }
    }

    /// Takes a change into the queue. The status does not count.
    fn note(&mut self, change: Change) {
        let (key, written) = match change {
            Change::Written(key, written) => (key, written),
            Change::Deleted(item) => {
                self.entries.remove(&item.key);
                // Without the lease, another server deletes what is in the cluster.
                let epoch = self.lease.epoch();
                let context = self.context(epoch.unwrap_or_default());
                tokio::spawn(gone(context, item, epoch.is_some()));
                return;
            }
            Change::Listed(group, known) => {
                let prefix = prefix(group);
                let is_there = |key: &String| !key.starts_with(&prefix) || known.contains_key(key);
                self.entries.retain(|key, _| is_there(key));
                let state = Arc::clone(&self.state);
                tokio::spawn(async move {
                    if let Err(error) = orphans::sweep(&state.store, group, &known).await {
                        tracing::warn!(%error, "cannot delete what belongs to deleted instances");
                    }
                });
                return;
            }
            Change::Template(namespace, name) => {
                let prefix = format!("{}{namespace}/", prefix(Group::Krm));
                let all = self.entries.range_mut(prefix.clone()..);
                for (_, entry) in all.take_while(|(key, _)| key.starts_with(&prefix)) {
                    if entry.templates.contains(&name) {
                        entry.failures = 0;
                        entry.due = Some((Instant::now(), Cause::Change));
                    }
                }
                return;
            }
        };
        let entry = self.entries.entry(key).or_default();
        let Seen { version, templates, is_ready } = written;
        entry.is_ready = is_ready;
        entry.templates = templates;
        if entry.seen != version {
            entry.seen = version;
            entry.failures = 0;
            entry.due = Some((Instant::now(), Cause::Change));
        }
    }

    fn end(&mut self, key: &str, elapsed: Duration, outcome: Result<Outcome, Stop>) {
        self.active.remove(key);
        let Some(entry) = self.entries.get_mut(key) else {
            return;
        };
        // It has changed meanwhile.
        if entry.due.is_some() {
            return;
        }
        let now = Instant::now();
        let (result, due) = match outcome {
            Ok(Outcome::Done) => {
                entry.failures = 0;
                let resync = jittered(self.options.resync);
                let due = (!resync.is_zero()).then(|| (now + resync, Cause::Change));
                ("done", due)
            }
            Ok(Outcome::Gone) => {
                self.entries.remove(key);
                self.state.metrics.observe_reconcile("done", elapsed);
                return;
            }
            Ok(Outcome::Again(delay)) => ("waiting", Some((now + delay, Cause::Poll))),
            Ok(Outcome::Failed) => ("failed", Some(back_off(entry, now))),
            Err(Stop::Changed) => ("changed", Some((now + PAUSE, Cause::Change))),
            Err(Stop::Store(status)) => {
                tracing::warn!(key, why = status.message, "an instance cannot be worked on");
                ("failed", Some(back_off(entry, now)))
            }
        };
        entry.due = due;
        self.state.metrics.observe_reconcile(result, elapsed);
    }
}

fn back_off(entry: &mut Entry, now: Instant) -> (Instant, Cause) {
    let delay = DELAYS.0.saturating_mul(2_u32.saturating_pow(entry.failures));
    entry.failures = entry.failures.saturating_add(1);
    (now + jittered(delay.min(DELAYS.1)), Cause::Change)
}

/// Returns a duration that differs from the given one by at most a tenth.
fn jittered(duration: Duration) -> Duration {
    let random = getrandom::u32().unwrap_or(u32::MAX / 2);
    let share = f64::from(random) / f64::from(u32::MAX);
    duration.mul_f64(0.2f64.mul_add(share, 0.9))
}

/// Works on an instance once.
async fn step(context: &Context, key: &str, cause: Cause) -> Result<Outcome, Stop> {
    let Some(mut instance) = Instance::read(context, key).await? else {
        return Ok(Outcome::Gone);
    };
    if let Some(cluster) = context.state.cluster.clone() {
        if instance.draft.is_being_deleted() {
            return super::removal::step(context, &cluster, &mut instance).await;
        }
        return match instance.group() {
            Group::Krm => super::own::step(context, &cluster, &mut instance, cause).await,
            Group::OpenShift => super::openshift::step(context, &cluster, &mut instance).await,
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
        && let Err(stop) = super::removal::abandoned(&context, &cluster, &instance).await
    {
        tracing::warn!(?stop, "cannot delete the Secret of a deleted instance");
    }
    let place = (instance.group(), instance.namespace(), instance.name());
    if let Err(error) = orphans::forget(&context.state.store, place, &instance.uid).await {
        tracing::warn!(%error, "cannot delete what belongs to a deleted instance");
    }
}

/// Reports all instances of a group, and then their changes.
async fn follow(
    store: Arc<Measured>,
    kind: (Group, Kind),
    prefix: String,
    changes: mpsc::Sender<Change>,
) {
    loop {
        if let Err(error) = followed(&store, kind, &prefix, &changes).await {
            tracing::debug!(%error, "the watch of instances ends");
        }
        if changes.is_closed() {
            return;
        }
        sleep(PAUSE).await;
    }
}

async fn followed(
    store: &Measured,
    (group, kind): (Group, Kind),
    prefix: &str,
    changes: &mpsc::Sender<Change>,
) -> Result<(), Error> {
    let is_of_templates = kind == Kind::Template;
    let mut known = BTreeMap::new();
    let mut after = None;
    let mut at = None;
    let revision = loop {
        let page = store.list(prefix, after.as_deref(), PAGE, at).await?;
        at = Some(page.revision);
        for item in page.items.iter().filter(|_| !is_of_templates) {
            let stored = Stored::decode(&item.value);
            let uid = stored.map(|stored| stored.uid().to_owned());
            known.insert(item.key.clone(), uid.unwrap_or_default());
            send(changes, item).await;
        }
        match page.items.last() {
            Some(last) if page.remaining > 0 && !is_of_templates => after = Some(last.key.clone()),
            _ => break page.revision,
        }
    };
    if !is_of_templates {
        // The receiver has ended with the server.
        let _ = changes.send(Change::Listed(group, known)).await;
    }
    let mut watch = store.watch(prefix, revision).await?;
    loop {
        match watch.next().await? {
            Event::Put(item, _) | Event::Delete(item) if is_of_templates => {
                let key = item.key.strip_prefix(prefix);
                if let Some((namespace, name)) = key.and_then(|key| key.split_once('/')) {
                    let change = Change::Template(namespace.to_owned(), name.to_owned());
                    let _ = changes.send(change).await;
                }
            }
            Event::Put(item, _) => send(changes, &item).await,
            Event::Delete(item) => {
                let _ = changes.send(Change::Deleted(item)).await;
            }
            Event::Progress(_) if changes.is_closed() => return Ok(()),
            Event::Progress(_) => {}
        }
    }
}

async fn send(changes: &mpsc::Sender<Change>, item: &Item) {
    let Ok(stored) = Stored::decode(&item.value) else {
        return;
    };
    let seen = {
        let draft = stored.draft(item.revision);
        let spec = draft.field("spec").unwrap_or_default();
        // OpenShift's group has no generation, and its spec never changes.
        let generation = draft.metadata.get("generation").map(ToString::to_string);
        let generation = generation.unwrap_or_else(|| spec.len().to_string());
        let status = draft.value("status");
        let conditions = status.get("conditions").and_then(Value::as_array);
        let is_ready = conditions.into_iter().flatten().any(|one| {
            let text = |key: &str| one.get(key).and_then(Value::as_str);
            (text("type"), text("status")) == (Some("Ready"), Some("True"))
        });
        let version = format!("{} {generation} {}", stored.uid(), stored.is_being_deleted());
        Seen { version, templates: templates(&draft.value("spec")), is_ready }
    };
    let change = Change::Written(item.key.clone(), seen);
    // The receiver has ended with the server.
    let _ = changes.send(change).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_bound() {
        let mut entry = Entry::default();
        let now = Instant::now();
        let mut last = Duration::ZERO;
        for expected in [5, 10, 20, 40, 80, 160, 320, 600, 600] {
            let (due, _) = back_off(&mut entry, now);
            last = due - now;
            let expected = Duration::from_secs(expected);
            assert!(last >= expected.mul_f64(0.9) && last <= expected.mul_f64(1.1), "{last:?}");
        }
        assert!(last <= Duration::from_mins(11));
    }
}
