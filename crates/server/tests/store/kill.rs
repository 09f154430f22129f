//! Kills a writing process again and again. Acknowledged writes must be in the store, and refused
//! writes must not.
//!
//! The process is this binary. `KRM_TEMPLATE_STORE_CHILD` names its store. It prints each attempt
//! and each result on a line.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use krm_template_server_core::store::{Error, Event};
use krm_template_server_core::{Revision, Store};
use libtest_mimic::Trial;

use crate::store::{number, runtime, trial};

const CHILD: &str = "KRM_TEMPLATE_STORE_CHILD";
const WRITERS: usize = 8;

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("kill/every_write_that_a_file_acknowledged_is_there", || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.redb");
        let open = || Store::file(&path).unwrap();
        rounds(number("KRM_TEMPLATE_KILL_ROUNDS", 8), path.to_str().unwrap(), |_| {}, open);
    })]
}

/// Runs as the process to be killed, if the environment says so.
pub(crate) fn child() -> Option<ExitCode> {
    let name = std::env::var_os(CHILD)?.into_string().ok()?;
    runtime().block_on(async {
        let store = open(&name).await;
        let tasks: Vec<_> =
            (0..WRITERS).map(|writer| tokio::spawn(write_on(store.clone(), writer))).collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    Some(ExitCode::SUCCESS)
}

#[cfg_attr(not(feature = "etcd"), expect(clippy::unused_async, reason = "only etcd waits"))]
async fn open(name: &str) -> Store {
    #[cfg(feature = "etcd")]
    if name.starts_with("http://") {
        let endpoints: Vec<String> = name.split(',').map(str::to_owned).collect();
        return crate::store::etcd::open(&endpoints, "/kill").await;
    }
    Store::file(Path::new(name)).unwrap()
}

/// Sends a line to the parent process.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // The reader may have exited.
    let _gone = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
}

/// Writes one key in a loop. Sometimes deletes it, or tries a write that must be refused.
async fn write_on(store: Store, writer: usize) {
    let key = format!("/t/{writer}");
    let mut now = found(&store, &key).await;
    // Greater than every earlier count, even if the key was deleted.
    let mut count = u64::try_from(Timestamp::now().as_microsecond()).unwrap();
    loop {
        count += 1;
        let value = Bytes::from(format!("{count} {}", "x".repeat(2_000)));
        say(&format!("try {writer} {count}"));
        let answer = match now {
            None => store.create(&key, value).await.map(|revision| Some((revision, count))),
            Some((revision, _)) if count % 7 == 0 => {
                store.delete(&key, revision).await.map(|_| None)
            }
            Some((revision, _)) => {
                store.update(&key, value, revision).await.map(|revision| Some((revision, count)))
            }
        };
        now = match answer {
            Ok(now) => now,
            // A member of etcd is down: the next read shows the outcome of the write.
            Err(Error::Unavailable(_)) => {
                now = found(&store, &key).await;
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        match now {
            Some((revision, _)) => say(&format!("put {writer} {count} {revision}")),
            None => say(&format!("deleted {writer} {count}")),
        }
        if let Some((revision, _)) = now.filter(|_| count % 3 == 0) {
            let bad = || Bytes::from_static(b"0 refused");
            let created = store.create(&key, bad()).await;
            let updated = store.update(&key, bad(), revision - 1).await;
            let refused =
                |error| matches!(error, Error::Exists | Error::Stale(_) | Error::Unavailable(_));
            assert!(created.is_err_and(refused) && updated.is_err_and(refused));
        }
    }
}

/// Returns the revision and the count of an item, as soon as the store responds.
async fn found(store: &Store, key: &str) -> Option<(Revision, u64)> {
    loop {
        if let Ok(item) = store.get(key).await {
            return item.map(|item| (item.revision, number_in(&item.value)));
        }
    }
}

fn number_in(value: &[u8]) -> u64 {
    let text = std::str::from_utf8(value).unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// The known writes of one key.
#[derive(Debug, Default)]
struct Known {
    /// The count and, unless it was a deletion, the revision of the last acknowledged write.
    acknowledged: Option<(u64, Option<Revision>)>,
    /// The counts of the attempted writes.
    tried: Vec<u64>,
}

/// Starts the child, kills it, and checks the store.
pub(crate) fn rounds(rounds: u64, name: &str, disturb: impl Fn(u64), open: impl Fn() -> Store) {
    let mut known: BTreeMap<usize, Known> = BTreeMap::new();
    let mut acknowledged = 0;
    for round in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .env(CHILD, name)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Different times: some before the store is open, most during writes.
        let wait = Duration::from_millis(20 + round * 37 % 400);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let reader = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>());
        std::thread::sleep(wait);
        disturb(round);
        // `kill` of the standard library sends SIGKILL.
        child.kill().unwrap();
        child.wait().unwrap();
        for line in reader.join().unwrap() {
            acknowledged += u64::from(learn(&mut known, &line));
        }
        let store = open();
        runtime().block_on(async {
            look(&store, &mut known).await;
            store.close().await;
        });
    }
    assert!(acknowledged > 0, "no write was acknowledged");
}

/// Records a line of the child. Returns `true` if it is an acknowledged write.
fn learn(known: &mut BTreeMap<usize, Known>, line: &str) -> bool {
    let mut words = line.split(' ');
    let word = words.next().unwrap();
    let numbers: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
    let (&[writer, count] | &[writer, count, _]) = numbers.as_slice() else {
        return false;
    };
    let entry = known.entry(usize::try_from(writer).unwrap()).or_default();
    match word {
        "try" => entry.tried.push(count),
        "put" | "deleted" => entry.acknowledged = Some((count, numbers.get(2).copied())),
        _ => return false,
    }
    word != "try"
}

/// Checks that each key has its last acknowledged write, or a later unacknowledged one.
async fn look(store: &Store, known: &mut BTreeMap<usize, Known>) {
    for (writer, known) in known {
        let item = store.get(&format!("/t/{writer}")).await.unwrap();
        let tried = &known.tried;
        let (count, revision) = known.acknowledged.unwrap_or((0, None));
        let last = item.as_ref().map(|item| (number_in(&item.value), Some(item.revision)));
        let is_acknowledged = last.map(|(count, _)| count) == revision.map(|_| count)
            && last.and_then(|(_, revision)| revision) == revision;
        let is_tried = |&found: &u64| found > count && tried.contains(&found);
        let is_next = match last {
            Some((found, at)) => is_tried(&found) && at > revision,
            None => tried.iter().any(|found| is_tried(found) && found % 7 == 0),
        };
        assert!(is_acknowledged || is_next, "writer {writer}: {last:?} is there, {known:?}");
        // From now on, the found write is the acknowledged one.
        if is_next {
            let count = last.map_or(count, |(count, _)| count);
            known.acknowledged = Some((count, last.and_then(|(_, revision)| revision)));
        }
    }
    let list = store.list("/t/", None, 0, None).await.unwrap();
    assert!(list.items.iter().all(|item| !item.value.ends_with(b"refused")));
    // A watch returns the last events without gaps.
    let after = list.revision.saturating_sub(50).max(1);
    let mut watch = store.watch("/t/", after).await.unwrap();
    let mut seen = after;
    while seen < list.revision {
        match watch.next().await.unwrap() {
            Event::Put(item, _) | Event::Delete(item) => {
                assert_eq!(item.revision, seen + 1);
                seen = item.revision;
            }
            Event::Progress(_) => {}
        }
    }
}
