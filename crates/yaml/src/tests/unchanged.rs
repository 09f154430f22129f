//! Properties of every accepted text, tested with all available files.

use std::path::PathBuf;

use crate::testing::{moved, unchanged};
use crate::tests::corpus;

#[track_caller]
fn all_hold(files: Vec<(PathBuf, String)>, holds: fn(&str) -> Result<(), String>) {
    let mut failures = Vec::new();
    for (path, text) in files {
        if let Err(failure) = holds(&text) {
            failures.push(format!("{}: {failure}", path.display()));
        }
    }
    let count = failures.len();
    assert!(count == 0, "{count} failures:\n{}", failures.join("\n"));
}

#[test]
fn what_is_not_changed_prints_as_it_was_read() {
    all_hold(corpus::repository(), unchanged);
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn shared_texts_print_as_they_were_read() {
    all_hold(corpus::shared(), unchanged);
}

#[test]
fn what_is_moved_reads_back_as_it_was_read() {
    all_hold(corpus::repository(), moved);
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn shared_texts_that_are_moved_read_back() {
    all_hold(corpus::shared(), moved);
}
