//! Replays the inputs of bugs that fuzzing found: the files in `fuzz/seeds`.

use std::path::Path;

use crate::testing::{changed_and_moved, compare, edited, moved, unchanged, updated};

#[expect(clippy::disallowed_methods, reason = "tests have no `files::Files`")]
fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// Runs a target's property on all of its seeds.
fn replay(target: &str, check: impl Fn(&[u8]) -> Result<(), String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    let files = std::fs::read_dir(folder.join(target)).unwrap();
    let mut count = 0;
    for file in files.map(Result::unwrap) {
        let bytes = read(&file.path());
        if let Err(difference) = check(&bytes) {
            panic!("{}: {difference}", file.path().display());
        }
        count += 1;
    }
    assert!(count > 0, "{target} has no seeds");
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn paths() {
    replay("paths", |bytes| compare(text(bytes)).map(drop));
}

#[test]
fn print() {
    replay("print", |bytes| {
        unchanged(text(bytes)).and_then(|()| moved(text(bytes)))
    });
}

#[test]
fn edit() {
    // The bytes after the last NUL select the changes.
    replay("edit", |bytes| {
        let nul = bytes.iter().rposition(|&byte| byte == 0);
        let (first, choices) = bytes.split_at(nul.unwrap_or(bytes.len()));
        let choices = choices.get(1..).unwrap_or_default();
        edited(text(first), choices)
            .and_then(|()| updated(text(first), choices))
            .and_then(|()| changed_and_moved(text(first), choices))
    });
}
