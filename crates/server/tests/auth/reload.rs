//! Reload of changed files.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context;
use krm_template_server_core::flow_control::shutdown;
use krm_template_server_core::reload::{Content, Reload, Watched, follow, ready};

use crate::auth::support::write;

tests!(
    a_folder_is_its_visible_yaml_and_json_files_in_order,
    what_did_not_change_is_not_parsed_again_whether_good_or_broken,
    a_file_that_is_missing_or_too_large_is_an_error,
    what_cannot_be_used_counts_for_a_while_and_then_not,
    changes_are_seen_after_a_while_and_at_once_after_a_signal
);

const FOREVER: Duration = Duration::MAX;

/// Parses the number in each file, and returns it with the name of the file.
fn numbers(contents: &[Content]) -> anyhow::Result<Vec<(String, u32)>> {
    let number = |content: &Content| {
        let name = content.path.file_name().context("no name")?.display().to_string();
        Ok((name, std::str::from_utf8(&content.bytes)?.trim().parse()?))
    };
    contents.iter().map(number).collect()
}

fn a_folder_is_its_visible_yaml_and_json_files_in_order() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in
        [("b.yaml", "2"), ("a.json", "1"), ("c.yml", "3"), (".d.yaml", "x"), ("e.txt", "x")]
    {
        write(folder.path(), name, text);
    }
    std::fs::create_dir(folder.path().join("f.yaml")).unwrap();
    let watched = Watched::open("--option", vec![folder.path().to_owned()], numbers).unwrap();
    let expected = [("a.json", 1), ("b.yaml", 2), ("c.yml", 3)];
    assert_eq!(*watched.get().unwrap(), expected.map(|(name, number)| (name.to_owned(), number)));

    write(folder.path(), "g.yaml", "7");
    std::fs::remove_file(folder.path().join("a.json")).unwrap();
    watched.reload(FOREVER);
    let names: Vec<String> = watched.get().unwrap().iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, ["b.yaml", "c.yml", "g.yaml"]);

    write(folder.path(), "g.yaml", "seven");
    watched.reload(FOREVER);
    assert_eq!(watched.get().unwrap().len(), 3, "a broken file changes nothing");
}

fn what_did_not_change_is_not_parsed_again_whether_good_or_broken() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "a.yaml", "1");
    let parsed = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&parsed);
    let watched = Watched::open("--option", vec![path], move |contents| {
        count.fetch_add(1, Ordering::SeqCst);
        numbers(contents)
    })
    .unwrap();
    for (text, expected) in [("1", 1), ("2", 2), ("two", 3), ("3", 4)] {
        write(folder.path(), "a.yaml", text);
        watched.reload(FOREVER);
        watched.reload(FOREVER);
        assert_eq!(parsed.load(Ordering::SeqCst), expected, "{text}");
    }
}

fn a_file_that_is_missing_or_too_large_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let links = folder.path().join("links");
    std::fs::create_dir(&links).unwrap();
    std::os::unix::fs::symlink("nothing", links.join("a.yaml")).unwrap();
    assert!(Watched::open("--option", vec![links], numbers).is_err());
    let missing =
        Watched::open("--option", vec![folder.path().join("none")], numbers).err().unwrap();
    assert!(format!("{missing:#}").contains("none"), "{missing:#}");
    let large = folder.path().join("large.yaml");
    std::fs::File::create(&large).unwrap().set_len((16 << 20) + 1).unwrap();
    let large = Watched::open("--option", vec![large], numbers).err().unwrap();
    assert!(format!("{large:#}").contains("more than 16777216 bytes"), "{large}");
}

fn what_cannot_be_used_counts_for_a_while_and_then_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.yaml");
    let clear = || {
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_dir(&path);
    };
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    let large = || {
        let file = std::fs::File::create(&path).unwrap();
        file.set_len((16 << 20) + 1).unwrap();
    };
    let failures: [(&str, &dyn Fn()); 5] = [
        ("removed", &|| {}),
        ("empty", &|| write("")),
        ("unreadable", &|| write("one")),
        ("a folder", &|| std::fs::create_dir(&path).unwrap()),
        ("too large", &large),
    ];
    for (what, fail) in failures {
        clear();
        write("1");
        let watched = Watched::open("--option", vec![path.clone()], |contents: &[Content]| {
            let [content] = contents else { anyhow::bail!("expected one file") };
            numbers(std::slice::from_ref(content))
        })
        .unwrap();
        let sources = [Arc::clone(&watched) as Arc<dyn Reload>];
        let number = || watched.get().map(|found| found[0].1);
        clear();
        fail();
        // It fails at once, and the old content counts for a while, also if it fails again.
        for _ in 0..2 {
            watched.reload(Duration::from_millis(200));
            assert_eq!(ready(&sources).unwrap_err(), "the files of --option cannot be used");
            assert_eq!(number(), Some(1), "{what}");
        }
        std::thread::sleep(Duration::from_millis(250));
        watched.reload(Duration::from_millis(200));
        assert_eq!(number(), None, "{what}");
        // The same content as before is taken again.
        clear();
        write("1");
        watched.reload(Duration::ZERO);
        assert_eq!((number(), ready(&sources)), (Some(1), Ok(())), "{what}");
        clear();
        fail();
        watched.reload(Duration::ZERO);
        assert_eq!(number(), None, "{what}, without a while");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn changes_are_seen_after_a_while_and_at_once_after_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "a.yaml", "1");
    let watched = Watched::open("--option", vec![path], numbers).unwrap();
    let sources: Arc<[_]> = Arc::new([Arc::clone(&watched) as Arc<dyn Reload>]);
    let until = async |number: u32| {
        while watched.get().unwrap()[0].1 != number {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let (_shutdown, requests) = shutdown::listen(shutdown::Args {
        shutdown_delay: Duration::ZERO,
        shutdown_timeout: Duration::ZERO,
    })
    .unwrap();
    let often = Duration::from_millis(10);
    let following = tokio::spawn(follow(sources.clone(), often, FOREVER, requests.clone()));
    write(folder.path(), "a.yaml", "2");
    tokio::time::timeout(Duration::from_secs(10), until(2)).await.unwrap();
    following.abort();

    let following = tokio::spawn(follow(sources, Duration::from_hours(1), FOREVER, requests));
    // The first check is immediate.
    write(folder.path(), "a.yaml", "3");
    tokio::time::timeout(Duration::from_secs(10), until(3)).await.unwrap();
    write(folder.path(), "a.yaml", "4");
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::HUP).unwrap();
    tokio::time::timeout(Duration::from_secs(10), until(4)).await.unwrap();
    following.abort();
}
