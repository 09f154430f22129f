//! Checks of all stores. They use keys under `/t/`, and nothing else writes there.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use krm_template_server_core::store::{Error, Event, MAX_VALUE_BYTES, Watch};
use krm_template_server_core::{Item, Store};
use tokio::time::{sleep, timeout};

type Check = fn(Store) -> Pin<Box<dyn Future<Output = ()> + Send>>;

macro_rules! checks {
    ($($name:ident),* $(,)?) => {
        /// The checks with their names.
        pub(crate) const CHECKS: &[(&str, Check)] =
            &[$((stringify!($name), |store| Box::pin($name(store)))),*];
    };
}

checks![
    an_item_is_read_back_with_its_revision,
    a_key_is_created_once,
    an_update_needs_the_revision_of_the_item,
    a_deletion_needs_the_revision_of_the_item,
    writes_that_are_refused_do_not_count,
    a_key_that_was_deleted_can_be_created,
    a_value_has_a_mebibyte_at_most,
    values_are_any_bytes,
    lists_are_in_the_order_of_keys,
    pages_join_to_the_list_of_the_first_page,
    a_list_of_the_future_is_refused,
    a_watch_sees_each_change_once_and_in_order,
    a_watch_sees_only_its_prefix,
    a_watch_of_the_future_waits,
    a_dropped_wait_loses_no_event,
    a_watch_after_a_list_misses_nothing,
    of_many_updates_of_one_revision_one_wins,
    counters_lose_no_increment,
    a_ready_store_says_so,
];

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

async fn next(watch: &mut Watch) -> Event {
    loop {
        match timeout(Duration::from_secs(20), watch.next()).await.expect("no event").unwrap() {
            Event::Progress(_) => {}
            event => return event,
        }
    }
}

async fn keys(store: &Store, prefix: &str) -> Vec<String> {
    let page = store.list(prefix, None, 0, None).await.unwrap();
    page.items.into_iter().map(|item| item.key).collect()
}

async fn an_item_is_read_back_with_its_revision(store: Store) {
    assert_eq!(store.get("/t/a").await, Ok(None));
    let before = store.revision().await.unwrap();
    let revision = store.create("/t/a", bytes("1")).await.unwrap();
    assert!(revision > before);
    assert_eq!(store.revision().await, Ok(revision));
    let item = Item { key: "/t/a".to_owned(), value: bytes("1"), revision };
    assert_eq!(store.get("/t/a").await, Ok(Some(item.clone())));
    let newer = store.update("/t/a", bytes("2"), revision).await.unwrap();
    assert!(newer > revision);
    let item = Item { value: bytes("2"), revision: newer, ..item };
    assert_eq!(store.get("/t/a").await, Ok(Some(item)));
}

async fn a_key_is_created_once(store: Store) {
    store.create("/t/a", bytes("1")).await.unwrap();
    assert_eq!(store.create("/t/a", bytes("2")).await, Err(Error::Exists));
    assert_eq!(store.get("/t/a").await.unwrap().unwrap().value, bytes("1"));
}

async fn an_update_needs_the_revision_of_the_item(store: Store) {
    assert_eq!(store.update("/t/a", bytes("0"), 1).await, Err(Error::Missing));
    let first = store.create("/t/a", bytes("1")).await.unwrap();
    let second = store.update("/t/a", bytes("2"), first).await.unwrap();
    let now = Item { key: "/t/a".to_owned(), value: bytes("2"), revision: second };
    for wrong in [0, first, second + 1, u64::MAX] {
        let refused = store.update("/t/a", bytes("3"), wrong).await;
        assert_eq!(refused, Err(Error::Stale(now.clone())), "{wrong}");
    }
    assert_eq!(store.get("/t/a").await, Ok(Some(now)));
}

async fn a_deletion_needs_the_revision_of_the_item(store: Store) {
    assert_eq!(store.delete("/t/a", 1).await, Err(Error::Missing));
    let first = store.create("/t/a", bytes("1")).await.unwrap();
    let now = Item { key: "/t/a".to_owned(), value: bytes("1"), revision: first };
    for wrong in [0, first + 1, u64::MAX] {
        assert_eq!(store.delete("/t/a", wrong).await, Err(Error::Stale(now.clone())), "{wrong}");
    }
    let deleted = store.delete("/t/a", first).await.unwrap();
    assert!(deleted > first);
    assert_eq!(store.revision().await, Ok(deleted));
    assert_eq!(store.get("/t/a").await, Ok(None));
    assert_eq!(store.delete("/t/a", first).await, Err(Error::Missing));
}

async fn writes_that_are_refused_do_not_count(store: Store) {
    let revision = store.create("/t/a", bytes("1")).await.unwrap();
    store.create("/t/a", bytes("1")).await.unwrap_err();
    store.update("/t/a", bytes("1"), revision + 7).await.unwrap_err();
    store.delete("/t/b", revision).await.unwrap_err();
    assert_eq!(store.revision().await, Ok(revision));
}

async fn a_key_that_was_deleted_can_be_created(store: Store) {
    let first = store.create("/t/a", bytes("1")).await.unwrap();
    let deleted = store.delete("/t/a", first).await.unwrap();
    let second = store.create("/t/a", bytes("1")).await.unwrap();
    assert!(second > deleted);
    assert!(matches!(store.update("/t/a", bytes("2"), first).await, Err(Error::Stale(_))));
}

async fn a_value_has_a_mebibyte_at_most(store: Store) {
    let most = Bytes::from(vec![b'x'; MAX_VALUE_BYTES]);
    let more = Bytes::from(vec![b'x'; MAX_VALUE_BYTES + 1]);
    assert_eq!(store.create("/t/a", more.clone()).await, Err(Error::TooLarge));
    let revision = store.create("/t/a", most.clone()).await.unwrap();
    assert_eq!(store.update("/t/a", more, revision).await, Err(Error::TooLarge));
    let revision = store.update("/t/a", most.clone(), revision).await.unwrap();
    for key in ["/t/b", "/t/c", "/t/d", "/t/e"] {
        store.create(key, most.clone()).await.unwrap();
    }
    assert_eq!(store.get("/t/a").await.unwrap().unwrap().value, most);
    let list = store.list("/t/", None, 0, None).await.unwrap();
    assert_eq!(list.items.len(), 5);
    assert!(list.items.iter().all(|item| item.value == most));
    let mut watch = store.watch("/t/", revision).await.unwrap();
    for key in ["/t/b", "/t/c", "/t/d", "/t/e"] {
        assert!(matches!(next(&mut watch).await, Event::Put(item, None) if item.key == key));
    }
}

async fn values_are_any_bytes(store: Store) {
    for (index, value) in [&b""[..], &[0], &[0xff, 0xfe, 0], "ä\n".as_bytes()].iter().enumerate() {
        let key = format!("/t/{index}");
        store.create(&key, Bytes::copy_from_slice(value)).await.unwrap();
        assert_eq!(store.get(&key).await.unwrap().unwrap().value, value);
    }
}

async fn lists_are_in_the_order_of_keys(store: Store) {
    for key in ["/t/b/2", "/t/a/1", "/t/ab/1", "/t/b/10", "/t/b", "/u/x", "/t/\u{fc}"] {
        store.create(key, bytes(key)).await.unwrap();
    }
    let all = ["/t/a/1", "/t/ab/1", "/t/b", "/t/b/10", "/t/b/2", "/t/\u{fc}"];
    assert_eq!(keys(&store, "/t/").await, all);
    assert_eq!(keys(&store, "/t/b/").await, ["/t/b/10", "/t/b/2"]);
    assert_eq!(keys(&store, "/t/a").await, ["/t/a/1", "/t/ab/1"]);
    assert_eq!(keys(&store, "/nothing/").await, Vec::<String>::new());
    let page = store.list("/t/", Some("/t/b"), 2, None).await.unwrap();
    assert_eq!(page.remaining, 1);
    assert_eq!(page.items.iter().map(|item| &item.key).collect::<Vec<_>>(), ["/t/b/10", "/t/b/2"]);
    // The key need not exist or have the prefix.
    let page = store.list("/t/b/", Some("/t/b/1"), 0, None).await.unwrap();
    assert_eq!(page.items.len(), 2);
    let page = store.list("/t/b/", Some("/a"), 0, None).await.unwrap();
    assert_eq!(page.items.len(), 2);
    let page = store.list("/t/b/", Some("/z"), 0, None).await.unwrap();
    assert_eq!(page.items.len(), 0);
}

async fn pages_join_to_the_list_of_the_first_page(store: Store) {
    for index in 0..25 {
        store.create(&format!("/t/a/{index:02}"), bytes("1")).await.unwrap();
    }
    let whole = store.list("/t/a/", None, 0, None).await.unwrap();
    let first = store.list("/t/a/", None, 10, None).await.unwrap();
    assert_eq!((first.items.len(), first.remaining), (10, 15));
    assert_eq!(first.revision, whole.revision);
    // A write outside the prefix does not affect the pages.
    store.create("/t/b/1", bytes("1")).await.unwrap();
    let at = Some(first.revision);
    let second = store.list("/t/a/", Some("/t/a/09"), 10, at).await.unwrap();
    assert_eq!((second.items.len(), second.remaining, second.revision), (10, 5, first.revision));
    // After a write under the prefix, the items are the same, or compacted.
    let revision = store.create("/t/a/22a", bytes("1")).await.unwrap();
    let third = match store.list("/t/a/", Some("/t/a/19"), 10, at).await {
        Ok(third) => third,
        Err(error) => return assert_eq!(error, Error::Compacted(revision)),
    };
    assert_eq!((third.items.len(), third.remaining, third.revision), (5, 0, first.revision));
    let joined = [first.items, second.items, third.items].concat();
    assert_eq!(joined, whole.items);
}

async fn a_list_of_the_future_is_refused(store: Store) {
    let revision = store.create("/t/a", bytes("1")).await.unwrap();
    let list = store.list("/t/", None, 0, Some(revision)).await.unwrap();
    assert_eq!(list.revision, revision);
    for later in [revision + 1, revision + 1000] {
        let refused = store.list("/t/", None, 0, Some(later)).await;
        assert_eq!(refused, Err(Error::Future(revision)));
    }
}

async fn a_watch_sees_each_change_once_and_in_order(store: Store) {
    let start = store.revision().await.unwrap();
    let mut live = store.watch("/t/", start).await.unwrap();
    let created = store.create("/t/a", bytes("1")).await.unwrap();
    let updated = store.update("/t/a", bytes("2"), created).await.unwrap();
    let deleted = store.delete("/t/a", updated).await.unwrap();
    let again = store.create("/t/a", bytes("3")).await.unwrap();
    let item =
        |value: &str, revision| Item { key: "/t/a".to_owned(), value: bytes(value), revision };
    let events = [
        Event::Put(item("1", created), None),
        Event::Put(item("2", updated), Some(bytes("1"))),
        Event::Delete(item("2", deleted)),
        Event::Put(item("3", again), None),
    ];
    for event in &events {
        assert_eq!(&next(&mut live).await, event);
    }
    assert_eq!(live.revision(), again);
    // Watches that start later see the same events from their revision on.
    for (skip, after) in [start, created, updated, deleted].into_iter().enumerate() {
        let mut late = store.watch("/t/", after).await.unwrap();
        for event in &events[skip..] {
            assert_eq!(&next(&mut late).await, event);
        }
    }
}

async fn a_watch_sees_only_its_prefix(store: Store) {
    let start = store.revision().await.unwrap();
    let mut one = store.watch("/t/a/", start).await.unwrap();
    let mut all = store.watch("/t/", start).await.unwrap();
    for key in ["/t/a/1", "/t/b/1", "/t/ab", "/u/1", "/t/a/2"] {
        store.create(key, bytes("1")).await.unwrap();
    }
    for key in ["/t/a/1", "/t/a/2"] {
        assert!(matches!(next(&mut one).await, Event::Put(item, None) if item.key == key));
    }
    for key in ["/t/a/1", "/t/b/1", "/t/ab", "/t/a/2"] {
        assert!(matches!(next(&mut all).await, Event::Put(item, None) if item.key == key));
    }
}

async fn a_watch_of_the_future_waits(store: Store) {
    let revision = store.create("/t/a", bytes("1")).await.unwrap();
    let mut watch = store.watch("/t/", revision + 2).await.unwrap();
    for key in ["/t/b", "/t/c", "/t/d"] {
        store.create(key, bytes("1")).await.unwrap();
    }
    assert!(matches!(next(&mut watch).await, Event::Put(item, None) if item.key == "/t/d"));
}

async fn a_dropped_wait_loses_no_event(store: Store) {
    let start = store.revision().await.unwrap();
    let mut watch = store.watch("/t/", start).await.unwrap();
    let writer = tokio::spawn(async move {
        for index in 0..200 {
            store.create(&format!("/t/{index:03}"), bytes("1")).await.unwrap();
        }
    });
    let mut seen = 0;
    while seen < 200 {
        let waited = timeout(Duration::from_micros(200), watch.next()).await;
        if let Ok(event) = waited {
            let Event::Put(item, None) = event.unwrap() else {
                continue;
            };
            assert_eq!(item.key, format!("/t/{seen:03}"));
            seen += 1;
        }
    }
    writer.await.unwrap();
}

async fn a_watch_after_a_list_misses_nothing(store: Store) {
    let writer = {
        let store = store.clone();
        tokio::spawn(async move {
            for index in 0..150 {
                store.create(&format!("/t/{index:03}"), bytes("1")).await.unwrap();
            }
        })
    };
    sleep(Duration::from_millis(2)).await;
    let list = store.list("/t/", None, 0, None).await.unwrap();
    let mut watch = store.watch("/t/", list.revision).await.unwrap();
    for index in list.items.len()..150 {
        let key = format!("/t/{index:03}");
        assert!(matches!(next(&mut watch).await, Event::Put(item, None) if item.key == key));
    }
    writer.await.unwrap();
}

/// Runs on one store only: it takes 10 seconds, and all stores have the same watches.
pub(crate) async fn an_idle_watch_tells_how_far_it_is(store: Store) {
    let start = store.revision().await.unwrap();
    let mut watch = store.watch("/t/", start).await.unwrap();
    // The watch does not show this key.
    let revision = store.create("/u/a", bytes("1")).await.unwrap();
    let event = timeout(Duration::from_secs(20), watch.next()).await.expect("no bookmark");
    assert_eq!(event, Ok(Event::Progress(revision)));
    assert_eq!(watch.revision(), revision);
}

async fn of_many_updates_of_one_revision_one_wins(store: Store) {
    let revision = store.create("/t/a", bytes("0")).await.unwrap();
    let mut tasks = vec![];
    for index in 1..=16 {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            store.update("/t/a", bytes(&index.to_string()), revision).await.map(|_| index)
        }));
    }
    let mut winners = vec![];
    for task in tasks {
        match task.await.unwrap() {
            Ok(index) => winners.push(index.to_string()),
            Err(error) => assert!(matches!(error, Error::Stale(_)), "{error}"),
        }
    }
    let [winner] = winners.as_slice() else { panic!("{} updates won", winners.len()) };
    assert_eq!(store.get("/t/a").await.unwrap().unwrap().value, bytes(winner));
}

async fn counters_lose_no_increment(store: Store) {
    store.create("/t/a", bytes("0")).await.unwrap();
    let mut tasks = vec![];
    for _ in 0..8 {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            let mut done = 0;
            while done < 10 {
                let item = store.get("/t/a").await.unwrap().unwrap();
                let count: u32 = std::str::from_utf8(&item.value).unwrap().parse().unwrap();
                let next = bytes(&(count + 1).to_string());
                match store.update("/t/a", next, item.revision).await {
                    Ok(_) => done += 1,
                    Err(error) => assert!(matches!(error, Error::Stale(_)), "{error}"),
                }
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(store.get("/t/a").await.unwrap().unwrap().value, bytes("80"));
}

async fn a_ready_store_says_so(store: Store) {
    assert_eq!(store.ready().await, Ok(()));
    store.close().await;
}
