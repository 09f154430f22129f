//! Random histories, run against a store and a model.
//!
//! The model keeps every state, so it can predict a list or a watch at any revision.

use std::collections::BTreeMap;

use bytes::Bytes;
use krm_template_server_core::store::{Error, Event};
use krm_template_server_core::{Item, Revision, Store};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::store::runtime;

const KEYS: [&str; 6] = ["/t/a/1", "/t/a/2", "/t/ab", "/t/b/1", "/t/b/2", "/t/c"];
const PREFIXES: [&str; 4] = ["/t/", "/t/a/", "/t/a", "/t/b/"];

#[derive(Clone, Debug)]
enum Step {
    Get(usize),
    Create(usize, u16),
    /// The key, the value, and the offset of the expected revision from the item's revision.
    Update(usize, u16, u64),
    Delete(usize, u64),
    /// The prefix, the key after which to start, the limit, and the age in revisions.
    List(usize, Option<usize>, usize, Option<u64>),
    /// The prefix, and the age in revisions.
    Watch(usize, u64),
    /// Closes and reopens the store, if it can.
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = 0..KEYS.len();
    let prefix = 0..PREFIXES.len();
    let wrong = prop_oneof![4 => Just(0_u64), 1 => 1..4_u64];
    let ago = prop_oneof![2 => Just(None), 3 => (0..12_u64).prop_map(Some)];
    let step = prop_oneof![
        2 => key.clone().prop_map(Step::Get),
        6 => (key.clone(), any::<u16>()).prop_map(|(key, value)| Step::Create(key, value)),
        6 => (key.clone(), any::<u16>(), wrong.clone())
            .prop_map(|(key, value, wrong)| Step::Update(key, value, wrong)),
        3 => (key.clone(), wrong).prop_map(|(key, wrong)| Step::Delete(key, wrong)),
        4 => (prefix.clone(), proptest::option::of(key), 0..4_usize, ago)
            .prop_map(|(prefix, after, limit, ago)| Step::List(prefix, after, limit, ago)),
        3 => (prefix, 0..12_u64).prop_map(|(prefix, ago)| Step::Watch(prefix, ago)),
        1 => Just(Step::Restart),
    ];
    proptest::collection::vec(step, 1..40)
}

/// All states, by the number of earlier writes, and the event of each write.
struct Model {
    base: Revision,
    states: Vec<BTreeMap<String, Item>>,
    events: Vec<Event>,
}

impl Model {
    fn new(base: Revision) -> Self {
        Self { base, states: vec![BTreeMap::new()], events: vec![] }
    }

    fn revision(&self) -> Revision {
        self.base + self.events.len() as u64
    }

    fn now(&self) -> &BTreeMap<String, Item> {
        self.states.last().unwrap()
    }

    fn put(&mut self, key: &str, value: Bytes) -> Revision {
        let item = Item { key: key.to_owned(), value, revision: self.revision() + 1 };
        let mut state = self.now().clone();
        let before = state.insert(key.to_owned(), item.clone()).map(|item| item.value);
        self.states.push(state);
        self.events.push(Event::Put(item, before));
        self.revision()
    }

    fn delete(&mut self, key: &str) -> Revision {
        let mut state = self.now().clone();
        let item = Item { revision: self.revision() + 1, ..state.remove(key).unwrap() };
        self.states.push(state);
        self.events.push(Event::Delete(item));
        self.revision()
    }

    fn expect(&self, key: &str, wrong: u64) -> (Revision, Result<(), Error>) {
        match self.now().get(key) {
            None => (wrong, Err(Error::Missing)),
            Some(item) if wrong == 0 => (item.revision, Ok(())),
            Some(item) => (item.revision + wrong, Err(Error::Stale(item.clone()))),
        }
    }

    fn events_after(&self, prefix: &str, after: Revision) -> Vec<Event> {
        let writes = usize::try_from(after - self.base).unwrap();
        let events = self.events[writes..].iter();
        events.filter(|event| item_of(event).key.starts_with(prefix)).cloned().collect()
    }
}

fn item_of(event: &Event) -> &Item {
    match event {
        Event::Put(item, _) | Event::Delete(item) => item,
        Event::Progress(_) => panic!("the model makes none"),
    }
}

fn value(number: u16) -> Bytes {
    number.to_string().into()
}

/// How long a store serves lists of old revisions.
#[derive(Clone, Copy)]
pub(crate) enum Past {
    WhileUnchanged,
    #[cfg_attr(not(feature = "etcd"), expect(dead_code, reason = "etcd's"))]
    Kept,
}

async fn step(store: &Store, model: &mut Model, step: Step, past: Past) {
    match step {
        Step::Restart => {}
        Step::Get(key) => {
            assert_eq!(store.get(KEYS[key]).await, Ok(model.now().get(KEYS[key]).cloned()));
        }
        Step::Create(key, number) => {
            let answer = store.create(KEYS[key], value(number)).await;
            if model.now().contains_key(KEYS[key]) {
                assert_eq!(answer, Err(Error::Exists));
            } else {
                assert_eq!(answer, Ok(model.put(KEYS[key], value(number))));
            }
        }
        Step::Update(key, number, wrong) => {
            let (expected, verdict) = model.expect(KEYS[key], wrong);
            let answer = store.update(KEYS[key], value(number), expected).await;
            assert_eq!(answer, verdict.map(|()| model.put(KEYS[key], value(number))));
        }
        Step::Delete(key, wrong) => {
            let (expected, verdict) = model.expect(KEYS[key], wrong);
            let answer = store.delete(KEYS[key], expected).await;
            assert_eq!(answer, verdict.map(|()| model.delete(KEYS[key])));
        }
        Step::List(prefix, after, limit, ago) => {
            let at = ago.map(|ago| model.revision().saturating_sub(ago).max(model.base));
            let at = at.filter(|&at| at > 0);
            list(store, model, PREFIXES[prefix], after.map(|key| KEYS[key]), limit, at, past).await;
        }
        Step::Watch(prefix, ago) => {
            let after = model.revision().saturating_sub(ago).max(model.base);
            let mut watch = store.watch(PREFIXES[prefix], after).await.unwrap();
            for event in model.events_after(PREFIXES[prefix], after) {
                assert_eq!(watch.next().await, Ok(event));
            }
        }
    }
    assert_eq!(store.revision().await, Ok(model.revision()));
}

async fn list(
    store: &Store,
    model: &Model,
    prefix: &str,
    after: Option<&str>,
    limit: usize,
    at: Option<Revision>,
    past: Past,
) {
    let answer = store.list(prefix, after, limit, at).await;
    let revision = at.unwrap_or(model.revision());
    let changed = !model.events_after(prefix, revision).is_empty();
    if changed && matches!(past, Past::WhileUnchanged) {
        assert_eq!(answer, Err(Error::Compacted(model.revision())));
        return;
    }
    let state = &model.states[usize::try_from(revision - model.base).unwrap()];
    let following: Vec<Item> = state
        .values()
        .filter(|item| item.key.starts_with(prefix) && after.is_none_or(|key| *item.key > *key))
        .cloned()
        .collect();
    let shown = if limit == 0 { following.len() } else { limit.min(following.len()) };
    let page = answer.unwrap();
    assert_eq!(page.items, following[..shown]);
    assert_eq!(page.remaining, (following.len() - shown) as u64);
    assert_eq!(page.revision, revision);
}

/// Runs histories, each on a new store. `again` reopens a store for a restart.
pub(crate) fn check(
    cases: u32,
    past: Past,
    make: impl Fn() -> Store,
    again: impl Fn(Store) -> Store,
) {
    let runtime = runtime();
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let result = TestRunner::new(config).run(&steps(), |steps| {
        let mut store = make();
        let base = runtime.block_on(store.revision()).unwrap();
        let mut model = Model::new(base);
        for next in steps {
            if matches!(next, Step::Restart) {
                store = again(store);
            }
            runtime.block_on(step(&store, &mut model, next, past));
        }
        runtime.block_on(store.close());
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

pub(crate) fn memory() {
    check(512, Past::WhileUnchanged, Store::memory, |store| store);
}

pub(crate) fn file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let make = || {
        let _none_before = std::fs::remove_file(&path);
        Store::file(&path).unwrap()
    };
    check(32, Past::WhileUnchanged, make, |store| {
        runtime().block_on(store.close());
        Store::file(&path).unwrap()
    });
}
