//! Damaged files: what is served is never wrong, and what is whole can be brought out.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use krm_template_server_core::store::{Error, check, compact, salvage};
use krm_template_server_core::{Item, Store};
use libtest_mimic::Trial;
use redb::{Database, TableDefinition};
use tempfile::TempDir;

use crate::store::{number, runtime, trial, waiting};

/// The size of a page of `redb`.
const PAGE: usize = 4096;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("damage/nothing_wrong_is_served_after_a_clean_end", || {
            let sample = runtime().block_on(Sample::new());
            corpus(&sample.clean, &sample.objects);
        }),
        trial("damage/nothing_wrong_is_served_after_a_crash", || {
            let sample = runtime().block_on(Sample::new());
            corpus(&sample.unclean, &sample.objects);
        }),
        waiting("damage/a_damaged_object_is_named_left_out_and_deleted", a_damaged_object),
        waiting("damage/salvage_brings_out_what_is_whole", salvage_of_damaged_pages),
        trial("damage/a_file_of_a_former_format_is_refused", a_former_format),
        trial("damage/an_empty_file_is_no_empty_store", an_empty_file),
        waiting("damage/a_removed_or_replaced_file_is_noticed", a_removed_file),
        waiting("damage/a_compacted_file_is_smaller", a_compacted_file),
    ]
}

type Objects = BTreeMap<String, (u64, Bytes)>;

/// A file, and what it holds.
struct Sample {
    objects: Objects,
    /// The file after it was closed.
    clean: Vec<u8>,
    /// The file while it was open.
    unclean: Vec<u8>,
}

impl Sample {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.redb");
        let store = Store::file(&path).unwrap();
        let objects = fill(&store).await;
        let unclean = fs::read(&path).unwrap();
        store.close().await;
        Self { objects, clean: fs::read(&path).unwrap(), unclean }
    }
}

/// Creates, updates and deletes objects of several sizes.
async fn fill(store: &Store) -> Objects {
    let mut objects = Objects::new();
    for index in 0..60_usize {
        let key = format!("/template.krm.dev/templates/shop/web-{index:03}");
        let text = |version: usize| {
            let line = format!("{index} {version} value\n");
            Bytes::from(line.repeat(1 + index * index / 8))
        };
        let mut revision = store.create(&key, text(0)).await.unwrap();
        if index % 3 == 0 {
            revision = store.update(&key, text(1), revision).await.unwrap();
        }
        if index % 7 == 0 {
            store.delete(&key, revision).await.unwrap();
        } else {
            objects.insert(key, (revision, text(usize::from(index % 3 == 0))));
        }
    }
    objects
}

/// A sequence of numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit).unwrap()).unwrap()
    }
}

#[derive(Debug, Default)]
struct Counts {
    opened: usize,
    refused: usize,
    damaged: usize,
    salvaged: usize,
}

/// Opens 500 files with a flipped bit, 50 that are truncated, and 50 with a page of zeros.
fn corpus(file: &[u8], objects: &Objects) {
    let used: Vec<usize> = file
        .chunks(PAGE)
        .enumerate()
        .filter(|(_, page)| page.iter().any(|byte| *byte != 0))
        .map(|(index, _)| index * PAGE)
        .collect();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let rounds = usize::try_from(number("KRM_TEMPLATE_DAMAGE_ROUNDS", 50)).unwrap();
    let mut counts = Counts::default();
    for round in 0..rounds * 12 {
        let page = used[random.below(used.len())];
        let mut damaged = file.to_vec();
        let what = match round % 12 {
            0 => {
                let end = random.below(file.len());
                damaged.truncate(end);
                format!("cut to {end} bytes")
            }
            1 => {
                let end = file.len().min(page + PAGE);
                damaged[page..end].fill(0);
                format!("zeros at {page}")
            }
            _ => {
                // The header is the smallest part with the most meaning.
                let at = if round % 12 == 2 { 0 } else { page };
                let length = if round % 12 == 2 { 320 } else { PAGE };
                let (at, bit) = (at + random.below(length), random.below(8));
                if at >= damaged.len() {
                    continue;
                }
                damaged[at] ^= 1 << bit;
                format!("bit {bit} of {at}")
            }
        };
        let is_checked = round % 2 == 0;
        try_one(&damaged, objects, is_checked, &what, &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.opened > 0 && counts.refused > 0 && counts.damaged > 0, "{counts:?}");
    assert!(counts.salvaged > 0, "{counts:?}");
}

fn try_one(file: &[u8], objects: &Objects, is_checked: bool, what: &str, counts: &mut Counts) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    fs::write(&path, file).unwrap();
    let open = if is_checked { Store::file } else { Store::unchecked_file };
    match open(&path) {
        Ok(store) => {
            counts.opened += 1;
            let damaged = runtime().block_on(served(&store, objects, what));
            counts.damaged += usize::from(damaged > 0);
        }
        Err(Error::Unavailable(why)) => {
            counts.refused += 1;
            assert!(why.contains(path.to_str().unwrap()), "{what}: {why}");
            assert_eq!(fs::read(&path).unwrap(), file, "{what}: the file has changed");
            counts.salvaged += usize::from(rescued(&path, objects, what));
        }
        Err(error) => panic!("{what}: {error}"),
    }
}

/// Checks all that a store serves. Returns the number of damaged objects, which it deletes.
async fn served(store: &Store, objects: &Objects, what: &str) -> usize {
    let page = store.list("", None, 0, None).await.unwrap();
    right(&page.items, objects, what);
    let mut keys: Vec<&String> = page.items.iter().map(|item| &item.key).collect();
    keys.extend(&page.damaged);
    keys.sort();
    assert!(keys.iter().copied().eq(objects.keys()), "{what}: {:?}", page.damaged);
    for key in &page.damaged {
        let Err(Error::Damaged { key: named, revision }) = store.get(key).await else {
            panic!("{what}: {key} is served");
        };
        assert_eq!(&named, key);
        // A file without a sound index cannot be written, if it was not checked.
        if let Err(error) = store.delete(key, revision).await {
            assert!(matches!(error, Error::Unavailable(_)), "{what}: {error}");
            continue;
        }
        assert_eq!(store.get(key).await, Ok(None), "{what}");
    }
    store.close().await;
    page.damaged.len()
}

fn right(items: &[Item], objects: &Objects, what: &str) {
    for item in items {
        let expected = objects.get(&item.key);
        let found = (item.revision, item.value.clone());
        assert_eq!(expected, Some(&found), "{what}: {} is wrong", item.key);
    }
}

/// Salvages a file. Returns `true` if objects come out, all of which must be right.
fn rescued(path: &Path, objects: &Objects, what: &str) -> bool {
    let to = path.with_extension("new");
    let Ok(report) = salvage(path, &to) else {
        assert!(!to.exists());
        return false;
    };
    let list = runtime().block_on(async {
        let store = Store::file(&to).unwrap();
        let page = store.list("", None, 0, None).await.unwrap();
        store.close().await;
        page
    });
    assert_eq!(list.items.len(), report.objects);
    assert_eq!(list.damaged, report.damaged);
    right(&list.items, objects, what);
    true
}

/// Writes a file whose object of a key is damaged.
async fn with_damaged(folder: &TempDir, key: &str) -> (PathBuf, Objects) {
    let sample = Sample::new().await;
    let path = folder.path().join("store.redb");
    let (_, value) = &sample.objects[key];
    let mut file = sample.clean;
    let mut at = 0;
    while let Some(found) = file[at..].windows(value.len()).position(|part| part == value) {
        at += found + value.len();
        file[at - 1] ^= 1;
    }
    assert!(at > 0);
    fs::write(&path, file).unwrap();
    (path, sample.objects)
}

async fn a_damaged_object() {
    let key = "/template.krm.dev/templates/shop/web-033";
    let folder = tempfile::tempdir().unwrap();
    let (path, objects) = with_damaged(&folder, key).await;
    let damaged = fs::read(&path).unwrap();
    let report = check(&path).unwrap();
    assert_eq!((report.objects, report.damaged), (objects.len() - 1, vec![key.to_owned()]));
    assert_eq!(fs::read(&path).unwrap(), damaged, "the check changes the file");
    let store = Store::file(&path).unwrap();
    // The damaged file is kept.
    assert_eq!(fs::read(path.with_extension("redb.damaged")).unwrap(), damaged);
    let page = store.list("", None, 0, None).await.unwrap();
    assert_eq!((page.items.len(), page.damaged), (objects.len() - 1, vec![key.to_owned()]));
    // Pages count what they leave out, each once.
    let first = store.list("", None, 30, None).await.unwrap();
    let after = first.items.last().map(|item| item.key.as_str());
    let second = store.list("", after, 0, None).await.unwrap();
    assert_eq!(first.items.len() + second.items.len(), objects.len() - 1);
    assert_eq!(first.damaged.len() + second.damaged.len(), 1);
    let Err(Error::Damaged { revision, .. }) = store.get(key).await else {
        panic!("{key} is served");
    };
    assert_eq!(store.create(key, Bytes::from("1")).await, Err(Error::Exists));
    // The mark lasts.
    store.close().await;
    let store = Store::file(&path).unwrap();
    assert!(matches!(store.get(key).await, Err(Error::Damaged { .. })));
    store.delete(key, revision).await.unwrap();
    assert_eq!(store.get(key).await, Ok(None));
    store.create(key, Bytes::from("1")).await.unwrap();
    store.close().await;
    assert!(check(&path).unwrap().is_whole());
}

async fn salvage_of_damaged_pages() {
    let sample = Sample::new().await;
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    // Without its header, `redb` does not know the file.
    let mut file = sample.clean;
    file[..PAGE].fill(0);
    fs::write(&from, &file).unwrap();
    assert!(Store::file(&from).is_err());
    let report = salvage(&from, &to).unwrap();
    assert_eq!((report.objects, report.damaged), (sample.objects.len(), vec![]));
    assert!(report.index.is_some());
    let store = Store::file(&to).unwrap();
    let page = store.list("", None, 0, None).await.unwrap();
    right(&page.items, &sample.objects, "salvaged");
    assert_eq!(page.items.len(), sample.objects.len());
    let newest = page.items.iter().map(|item| item.revision).max();
    assert!(store.create("/t/new", Bytes::from("1")).await.unwrap() > newest.unwrap() + 100);
    store.close().await;
    // An existing file is not overwritten, and a file without objects makes none.
    assert!(matches!(salvage(&from, &to), Err(Error::Unavailable(_))));
    fs::write(&from, vec![7; 10_000]).unwrap();
    assert!(salvage(&from, &folder.path().join("none")).is_err());
    assert!(!folder.path().join("none").exists());
}

fn a_former_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let meta = TableDefinition::<&str, u64>::new("meta");
    let database = Database::create(&path).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction.open_table(meta).unwrap().insert("format", 1).unwrap();
    transaction.commit().unwrap();
    drop(database);
    for open in [Store::file, Store::unchecked_file] {
        let error = open(&path).unwrap_err().to_string();
        assert!(
            error.contains("its format is 1, expected 2; run `krm-template-server store dump`")
        );
    }
}

fn an_empty_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    fs::write(&path, "").unwrap();
    for open in [Store::file, Store::unchecked_file] {
        let error = open(&path).unwrap_err().to_string();
        assert!(error.contains("store.redb: the file is empty"), "{error}");
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}

async fn a_removed_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let away = folder.path().join("away");
    let store = Store::file(&path).unwrap();
    let one = Bytes::from("1");
    store.create("/t/a", one.clone()).await.unwrap();
    let why = |error| match error {
        Err(Error::Unavailable(why)) => why,
        other => panic!("{other:?}"),
    };
    fs::rename(&path, &away).unwrap();
    assert!(why(store.ready().await).contains("was removed"));
    assert!(why(store.create("/t/b", one.clone()).await.map(drop)).contains("was removed"));
    fs::copy(&away, &path).unwrap();
    assert!(why(store.ready().await).contains("was replaced"));
    assert!(why(store.create("/t/b", one.clone()).await.map(drop)).contains("was replaced"));
    fs::rename(&away, &path).unwrap();
    assert_eq!(store.ready().await, Ok(()));
    store.create("/t/b", one).await.unwrap();
    store.close().await;
    let store = Store::file(&path).unwrap();
    let page = store.list("", None, 0, None).await.unwrap();
    assert_eq!(page.items.len(), 2);
    store.close().await;
}

async fn a_compacted_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let store = Store::file(&path).unwrap();
    let mut revision = store.create("/t/a", Bytes::from("1")).await.unwrap();
    for index in 0..80_u8 {
        let value = Bytes::from(vec![index; 900_000]);
        revision = store.update("/t/a", value, revision).await.unwrap();
    }
    store.update("/t/a", Bytes::from("2"), revision).await.unwrap();
    for index in 0..40 {
        store.create(&format!("/t/{index}"), Bytes::from("1")).await.unwrap();
    }
    assert!(compact(&path).is_err(), "a server uses the file");
    store.close().await;
    let (before, after) = compact(&path).unwrap();
    // The events keep up to 32 MiB.
    assert!(after < before && after < 40 << 20, "{before} bytes, then {after}");
    let store = Store::file(&path).unwrap();
    let item = store.get("/t/a").await.unwrap().unwrap();
    assert_eq!(item.value, "2");
    store.close().await;
}
