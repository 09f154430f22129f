//! Properties that hold for every text that is accepted, on all real ones at hand.

use crate::yaml::testing::{moved, unchanged};
use crate::yaml::tests::corpus;

#[track_caller]
fn all_hold(holds: fn(&str) -> Result<(), String>) {
    let mut failures = Vec::new();
    for (path, text) in corpus::repository().into_iter().chain(corpus::shared()) {
        if let Err(failure) = holds(&text) {
            failures.push(format!("{}: {failure}", path.display()));
        }
    }
    let count = failures.len();
    assert!(count == 0, "{count} failures:\n{}", failures.join("\n"));
}

#[test]
fn what_is_not_changed_prints_as_it_was_read() {
    all_hold(unchanged);
}

#[test]
fn what_is_moved_reads_back_as_it_was_read() {
    all_hold(moved);
}
