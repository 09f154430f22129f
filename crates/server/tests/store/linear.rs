//! Checks histories of 8 clients on three replicas for linearizability, during failures of the
//! cluster.
//!
//! Every write has a unique value. A write without a response counts as done if its value was
//! observed; it then ends at the end of the history. If its value was never observed, the write is
//! ignored: a later write must name the revision of the previous value.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use krm_template_server_core::store::{Error, Event};
use krm_template_server_core::{Item, Revision, Store};
use todc_utils::linearizability::WGLChecker;
use todc_utils::linearizability::history::{Action, History};
use todc_utils::specifications::Specification;
use tokio::time::sleep;

use crate::store::{etcd, runtime};

const KEYS: [&str; 4] = ["/t/a", "/t/b", "/t/c", "/t/d"];
const CLIENTS: usize = 8;

/// A revision and a value.
type Seen = (Revision, usize);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operation {
    Get(Option<Seen>),
    Created(Seen),
    Exists,
    Updated(Revision, Seen),
    Deleted(Revision),
    Missing,
    /// The expected revision, and the found revision and value.
    Stale(Revision, Seen),
    /// A deletion without a response.
    MaybeDeleted(Revision),
}

/// One key.
struct Key;

impl Specification for Key {
    type State = Option<Seen>;
    type Operation = Operation;

    fn init() -> Self::State {
        None
    }

    fn apply(operation: &Operation, state: &Self::State) -> (bool, Self::State) {
        let revision = state.map(|(revision, _)| revision);
        match *operation {
            Operation::Get(seen) => (seen == *state, *state),
            Operation::Created(new) => (state.is_none(), Some(new)),
            Operation::Exists => (state.is_some(), *state),
            Operation::Updated(expected, new) => {
                (revision == Some(expected) && new.0 > expected, Some(new))
            }
            Operation::Deleted(expected) => (revision == Some(expected), None),
            Operation::Missing => (state.is_none(), *state),
            Operation::Stale(expected, seen) => {
                (*state == Some(seen) && seen.0 != expected, *state)
            }
            Operation::MaybeDeleted(expected) if revision == Some(expected) => (true, None),
            Operation::MaybeDeleted(_) => (true, *state),
        }
    }
}

/// An operation of a client: its key, start, end and outcome.
struct Record {
    key: usize,
    begin: usize,
    end: usize,
    what: What,
}

enum What {
    Known(Operation),
    /// A write without a response: the expected revision, or `None` for a create, and the value.
    Unknown(Option<Revision>, usize),
}

fn seen(item: &Item) -> Seen {
    (item.revision, std::str::from_utf8(&item.value).unwrap().parse().unwrap())
}

/// Runs clients on three replicas while `disturb` runs, and checks their histories.
pub(crate) fn check(endpoints: &[String], disturb: impl FnOnce()) {
    let runtime = runtime();
    let mut replicas = vec![];
    let mut endpoints = endpoints.to_vec();
    for _ in 0..3 {
        replicas.push(runtime.block_on(etcd::open(&endpoints, "/linear")));
        endpoints.rotate_left(1);
    }
    let clock = Arc::new(AtomicUsize::new(1));
    let stop = Arc::new(AtomicBool::new(false));
    let start = runtime.block_on(replicas[0].revision()).unwrap();
    let watches: Vec<_> =
        replicas.iter().map(|store| runtime.spawn(watch(store.clone(), start))).collect();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|index| {
            let store = replicas[index % replicas.len()].clone();
            runtime.spawn(client(store, index, Arc::clone(&clock), Arc::clone(&stop)))
        })
        .collect();
    disturb();
    stop.store(true, Ordering::SeqCst);
    let mut records = vec![];
    for client in clients {
        records.extend(runtime.block_on(client).unwrap());
    }
    let end = runtime.block_on(replicas[0].create("/t/end", Bytes::from_static(b"0"))).unwrap();
    let events: Vec<Vec<Event>> =
        watches.into_iter().map(|watch| runtime.block_on(watch).unwrap()).collect();
    // Every replica sees every change once and in order.
    let revisions: Vec<Revision> = events[0].iter().map(|event| item(event).revision).collect();
    assert_eq!(revisions, (start + 1..=end).collect::<Vec<_>>());
    assert!(events.iter().all(|others| *others == events[0]));
    let known = records.iter().filter(|record| matches!(record.what, What::Known(_))).count();
    assert!(known > 200, "only {known} answers");
    for (index, key) in KEYS.iter().enumerate() {
        let of_key = records.iter().filter(|record| record.key == index);
        let history = history(of_key, &events[0], key);
        assert!(WGLChecker::<Key>::is_linearizable(history), "{key} is not linearizable");
    }
}

fn item(event: &Event) -> &Item {
    match event {
        Event::Put(item, _) | Event::Delete(item) => item,
        Event::Progress(_) => panic!("not kept"),
    }
}

/// Returns all changes until the last one.
async fn watch(store: Store, start: Revision) -> Vec<Event> {
    let mut watch = store.watch("/t/", start).await.unwrap();
    let mut events = vec![];
    loop {
        let event = watch.next().await.unwrap();
        if !matches!(event, Event::Progress(_)) {
            let is_last = item(&event).key == "/t/end";
            events.push(event);
            if is_last {
                return events;
            }
        }
    }
}

async fn client(
    store: Store,
    index: usize,
    clock: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
) -> Vec<Record> {
    let mut records = vec![];
    // The last value of each key that the client has seen.
    let mut last: BTreeMap<usize, Option<Seen>> = BTreeMap::new();
    let mut turn = index;
    while !stop.load(Ordering::SeqCst) {
        turn += 1;
        let key = (turn / 3) % KEYS.len();
        let begin = clock.fetch_add(1, Ordering::SeqCst);
        let what = match (last.get(&key).copied().flatten(), turn % 5) {
            (_, 0 | 1) => get(&store, key).await,
            (Some((revision, _)), 2) if turn.is_multiple_of(4) => {
                delete(&store, key, revision).await
            }
            (seen, _) => write(&store, key, seen.map(|seen| seen.0), begin).await,
        };
        let end = clock.fetch_add(1, Ordering::SeqCst);
        if let Some(what) = what {
            let now = match &what {
                What::Known(Operation::Get(seen)) => *seen,
                What::Known(
                    Operation::Created(seen)
                    | Operation::Updated(_, seen)
                    | Operation::Stale(_, seen),
                ) => Some(*seen),
                What::Known(Operation::Exists) | What::Unknown(..) => {
                    last.get(&key).copied().flatten()
                }
                What::Known(_) => None,
            };
            last.insert(key, now);
            records.push(Record { key, begin, end, what });
        }
        sleep(Duration::from_millis(15)).await;
    }
    records
}

async fn get(store: &Store, key: usize) -> Option<What> {
    // A read without a response proves nothing.
    let found = store.get(KEYS[key]).await.ok()?;
    Some(What::Known(Operation::Get(found.as_ref().map(seen))))
}

async fn delete(store: &Store, key: usize, expected: Revision) -> Option<What> {
    Some(What::Known(match store.delete(KEYS[key], expected).await {
        Ok(_) => Operation::Deleted(expected),
        Err(Error::Missing) => Operation::Missing,
        Err(Error::Stale(item)) => Operation::Stale(expected, seen(&item)),
        Err(Error::Unavailable(_)) => Operation::MaybeDeleted(expected),
        Err(error) => panic!("{error}"),
    }))
}

async fn write(
    store: &Store,
    key: usize,
    expected: Option<Revision>,
    number: usize,
) -> Option<What> {
    let value = Bytes::from(number.to_string());
    let written = match expected {
        None => store.create(KEYS[key], value).await,
        Some(expected) => store.update(KEYS[key], value, expected).await,
    };
    Some(What::Known(match (written, expected) {
        (Ok(revision), None) => Operation::Created((revision, number)),
        (Ok(revision), Some(expected)) => Operation::Updated(expected, (revision, number)),
        (Err(Error::Exists), None) => Operation::Exists,
        (Err(Error::Missing), Some(_)) => Operation::Missing,
        (Err(Error::Stale(item)), Some(expected)) => Operation::Stale(expected, seen(&item)),
        (Err(Error::Unavailable(_)), _) => return Some(What::Unknown(expected, number)),
        (Err(error), _) => panic!("{error}"),
    }))
}

/// Returns the history of a key for the checker. The events show which writes without a response
/// were done.
fn history<'a>(
    records: impl Iterator<Item = &'a Record>,
    events: &[Event],
    key: &str,
) -> History<Operation> {
    let written: BTreeMap<usize, Revision> = events
        .iter()
        .filter(|event| matches!(event, Event::Put(..)) && item(event).key == key)
        .map(|event| seen(item(event)))
        .map(|(revision, value)| (value, revision))
        .collect();
    let mut actions = vec![];
    for (process, record) in records.enumerate() {
        let (operation, end) = match &record.what {
            What::Known(maybe @ Operation::MaybeDeleted(_)) => (maybe.clone(), usize::MAX),
            What::Known(operation) => (operation.clone(), record.end),
            What::Unknown(expected, value) => {
                let Some(&revision) = written.get(value) else {
                    continue;
                };
                let new = (revision, *value);
                let operation = match expected {
                    None => Operation::Created(new),
                    Some(expected) => Operation::Updated(*expected, new),
                };
                (operation, usize::MAX)
            }
        };
        actions.push((record.begin, process, Action::Call(operation.clone())));
        actions.push((end, process, Action::Response(operation)));
    }
    actions.sort_by_key(|(time, process, _)| (*time, *process));
    History::from_actions(
        actions.into_iter().map(|(_, process, action)| (process, action)).collect(),
    )
}
