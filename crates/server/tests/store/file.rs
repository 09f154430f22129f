//! Tests of the file store only: durability, its lock, its mode, a full disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use bytes::Bytes;
use krm_template_server_core::Store;
use krm_template_server_core::store::{Error, Event};
use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::store::{needs_root, runtime, trial, waiting};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        waiting("file/items_revisions_and_events_last", everything_lasts),
        waiting("file/a_new_file_is_for_its_owner_alone", the_mode),
        waiting("file/a_second_store_is_refused", a_second_store_is_refused),
        waiting("file/one_of_several_stores_makes_the_file", one_of_several),
        trial("file/other_files_are_refused_and_kept", other_files_are_refused),
        waiting("file/events_are_the_last_ten_thousand", the_last_events),
        waiting("file/large_events_are_bounded_by_their_bytes", large_events),
        waiting("file/a_closed_store_takes_no_writes", a_closed_store),
        waiting("file/writes_that_wait_share_a_commit", commits_in_groups),
        trial("file/a_thousand_templates_are_there_after_opening", a_thousand_templates),
        needs_root(waiting("file/a_full_disk_loses_nothing", a_full_disk)),
    ]
}

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

fn new() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::file(&folder.path().join("store.redb")).unwrap();
    (folder, store)
}

async fn reopen(folder: &TempDir, store: Store) -> Store {
    store.close().await;
    Store::file(&folder.path().join("store.redb")).unwrap()
}

async fn everything_lasts() {
    let (folder, store) = new();
    let first = store.create("/t/a", bytes("1")).await.unwrap();
    let second = store.update("/t/a", bytes("2"), first).await.unwrap();
    store.create("/t/b", bytes("1")).await.unwrap();
    let deleted = store.delete("/t/a", second).await.unwrap();
    let mut watch = store.watch("/t/", 0).await.unwrap();
    let mut events = vec![];
    for _ in 0..4 {
        events.push(watch.next().await.unwrap());
    }
    let list = store.list("", None, 0, None).await.unwrap();
    let store = reopen(&folder, store).await;
    assert_eq!(store.list("", None, 0, None).await, Ok(list));
    assert_eq!(store.revision().await, Ok(deleted));
    let mut watch = store.watch("/t/", 0).await.unwrap();
    for event in events {
        assert_eq!(watch.next().await, Ok(event));
    }
    let next = store.create("/t/a", bytes("3")).await.unwrap();
    assert_eq!(next, deleted + 1);
    assert!(matches!(watch.next().await, Ok(Event::Put(item, None)) if item.revision == next));
}

async fn the_mode() {
    let (folder, store) = new();
    let mode = fs::metadata(folder.path().join("store.redb")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    store.close().await;
}

async fn a_second_store_is_refused() {
    let (folder, store) = new();
    let path = folder.path().join("store.redb");
    let refused = Store::file(&path).unwrap_err();
    let why = format!("{}: another process uses the file", path.display());
    assert_eq!(refused, Error::Unavailable(why));
    let store = reopen(&folder, store).await;
    store.create("/t/a", bytes("1")).await.unwrap();
}

async fn one_of_several() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let start = std::sync::Barrier::new(8);
    let made: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    Store::file(&path)
                })
            })
            .collect();
        let made = threads.into_iter().map(|thread| thread.join().unwrap());
        made.collect()
    });
    let refused = format!("{}: another process uses the file", path.display());
    let (stores, errors): (Vec<_>, Vec<_>) = made.into_iter().partition(Result::is_ok);
    assert_eq!(stores.len(), 1);
    for error in errors {
        assert_eq!(error.unwrap_err(), Error::Unavailable(refused.clone()));
    }
    // No temporary file remains.
    let names = fs::read_dir(folder.path()).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["store.redb"]);
}

fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other");
    let texts = ["apiVersion: v1\n".to_owned(), "x".repeat(100_000)];
    for text in texts {
        fs::write(&path, &text).unwrap();
        assert!(matches!(Store::file(&path), Err(Error::Unavailable(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    assert!(matches!(Store::file(&folder.path().join("no/folder")), Err(Error::Unavailable(_))));
    assert!(matches!(Store::file(folder.path()), Err(Error::Unavailable(_))));
    // A store of a later format.
    let path = folder.path().join("later");
    let database = redb::Database::create(&path).unwrap();
    let meta = redb::TableDefinition::<&str, u64>::new("meta");
    let transaction = database.begin_write().unwrap();
    transaction.open_table(meta).unwrap().insert("format", 3).unwrap();
    transaction.commit().unwrap();
    drop(database);
    let why = format!("{}: its format is 3, expected 2; run ", path.display());
    let error = Store::file(&path).unwrap_err();
    assert!(matches!(&error, Error::Unavailable(text) if text.starts_with(&why)), "{error:?}");
}

async fn the_last_events() {
    let (folder, store) = new();
    let mut tasks = vec![];
    for task in 0..101 {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            for index in 0..100 {
                store.create(&format!("/t/{task}/{index}"), bytes("1")).await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    for store in [store.clone(), reopen(&folder, store).await] {
        assert_eq!(store.watch("/t/", 99).await.unwrap_err(), Error::Compacted(10_100));
        let mut watch = store.watch("/t/", 100).await.unwrap();
        for revision in 101..=10_100 {
            let event = watch.next().await.unwrap();
            assert!(matches!(event, Event::Put(item, None) if item.revision == revision));
        }
        let old = store.list("/t/1/", None, 0, Some(0)).await;
        assert_eq!(old, Err(Error::Compacted(10_100)));
    }
}

async fn large_events() {
    let (folder, store) = new();
    let large = |index: u8| Bytes::from(vec![index; 1 << 20]);
    let mut revision = store.create("/t/a", large(0)).await.unwrap();
    let mut slow = store.watch("/t/", revision).await.unwrap();
    for index in 1..100 {
        revision = store.update("/t/a", large(index), revision).await.unwrap();
    }
    assert_eq!(slow.next().await, Err(Error::Compacted(revision)));
    assert_eq!(slow.next().await, Err(Error::Compacted(revision)));
    let size = fs::metadata(folder.path().join("store.redb")).unwrap().len();
    assert!(size < 200 << 20, "{size} bytes for one item of a mebibyte");
    let store = reopen(&folder, store).await;
    let mut watch = store.watch("/t/", revision - 5).await.unwrap();
    for index in 95..100 {
        let event = watch.next().await.unwrap();
        assert!(matches!(event, Event::Put(item, Some(_)) if item.value == large(index)));
    }
}

async fn a_closed_store() {
    let (_folder, store) = new();
    store.create("/t/a", bytes("1")).await.unwrap();
    let other = store.clone();
    store.close().await;
    let closed = Error::Unavailable("the store is closed".to_owned());
    assert_eq!(other.create("/t/b", bytes("1")).await, Err(closed.clone()));
    assert_eq!(other.ready().await, Err(closed));
    other.close().await;
}

/// Checks that concurrent writes share commits: 3,200 writes of 64 clients take far less time than
/// 3,200 single ones.
async fn commits_in_groups() {
    let (_folder, store) = new();
    let alone = Instant::now();
    for index in 0..20 {
        store.create(&format!("/alone/{index}"), bytes("1")).await.unwrap();
    }
    let alone = alone.elapsed() / 20;
    let together = Instant::now();
    let mut tasks = vec![];
    for task in 0..64 {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            for index in 0..50 {
                store.create(&format!("/t/{task}/{index}"), bytes("1")).await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let together = together.elapsed() / 3_200;
    assert!(together * 2 < alone, "{together:?} each together, {alone:?} each alone");
}

fn a_thousand_templates() {
    let (folder, store) = new();
    let value = Bytes::from(vec![b'x'; 6_300]);
    let runtime = runtime();
    runtime.block_on(async {
        let mut tasks = vec![];
        for index in 0..1_000 {
            let (store, value) = (store.clone(), value.clone());
            tasks.push(tokio::spawn(
                async move { store.create(&format!("/t/{index}"), value).await },
            ));
        }
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        store.close().await;
    });
    let store = Store::file(&folder.path().join("store.redb")).unwrap();
    let list = runtime.block_on(store.list("", None, 0, None)).unwrap();
    assert_eq!(list.items.len(), 1_000);
}

/// A file system of a few megabytes. It is unmounted on drop.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = ["-t", "tmpfs", "-o", "size=6m", "none"];
        let mounted = Command::new("mount").args(options).arg(folder.path()).status().unwrap();
        assert!(mounted.success());
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _best_effort = Command::new("umount").arg(self.path()).status();
    }
}

async fn a_full_disk() {
    let disk = SmallDisk::new();
    let path = disk.path().join("store.redb");
    let ballast = disk.path().join("ballast");
    let store = Store::file(&path).unwrap();
    fs::write(&ballast, vec![0; 2 << 20]).unwrap();
    let value = Bytes::from(vec![b'x'; 100_000]);
    let mut stored = vec![];
    let error = loop {
        let key = format!("/t/{:03}", stored.len());
        match store.create(&key, value.clone()).await {
            Ok(_) => stored.push(key),
            Err(error) => break error,
        }
        assert!(stored.len() < 100, "the disk is never full");
    };
    assert!(matches!(&error, Error::Unavailable(why) if why.contains("No space left")), "{error}");
    // Reads still succeed; writes still fail.
    let keys = async |store: &Store| -> Vec<String> {
        let page = store.list("/t/", None, 0, None).await.unwrap();
        page.items.into_iter().map(|item| item.key).collect()
    };
    assert_eq!(keys(&store).await, stored);
    let is_full =
        |ready| matches!(ready, Err(Error::Unavailable(why)) if why.contains("o space left"));
    assert!(is_full(store.ready().await));
    for _ in 0..3 {
        let refused = store.create("/t/more", value.clone()).await;
        assert!(matches!(refused, Err(Error::Unavailable(_))));
    }
    // Writes succeed when there is space again.
    fs::remove_file(&ballast).unwrap();
    assert_eq!(store.ready().await, Ok(()));
    let revision = store.create("/t/zzz", value.clone()).await.unwrap();
    stored.push("/t/zzz".to_owned());
    assert_eq!(keys(&store).await, stored);
    let last = store.watch("/t/", revision - 1).await.unwrap().next().await.unwrap();
    assert!(matches!(last, Event::Put(item, None) if item.key == "/t/zzz"));
    store.close().await;
    let store = Store::file(&path).unwrap();
    assert_eq!(keys(&store).await, stored);
    assert_eq!(store.revision().await, Ok(revision));
    store.close().await;
}
