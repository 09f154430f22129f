//! Properties that hold for every text that is accepted, on all real ones at hand.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diagnostic::Diagnostics;
use crate::source::Source;
use crate::yaml::write::{Edited, Purpose, Rewrite};
use crate::yaml::{Document, DuplicateKeys, Position, render};

/// The project's own files and, where `KRM_TEMPLATE_SHARED` says where they are, thousands of
/// others.
#[expect(
    clippy::disallowed_methods,
    reason = "test data is found by the environment"
)]
fn texts() -> Vec<(PathBuf, Arc<Source>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![
        root.join("examples"),
        root.join("functionconfig"),
        root.join("tests"),
    ];
    if let Ok(shared) = std::env::var("KRM_TEMPLATE_SHARED") {
        folders.push(Path::new(&shared).join("corpus"));
        folders.push(Path::new(&shared).join("yaml"));
    }
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    assert!(!files.is_empty());
    files.sort();
    let read = |path: PathBuf| {
        let text = String::from_utf8(std::fs::read(&path).unwrap()).ok()?;
        let name = path.display().to_string();
        Some((path, Source::new(name, text)))
    };
    files.into_iter().filter_map(read).collect()
}

/// A line of the report that is printed where something does not hold.
fn complain(failures: &[String]) {
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn what_is_not_changed_prints_as_it_was_read() {
    let mut failures = Vec::new();
    for (path, source) in texts() {
        let Ok(document) = Document::parse(&source) else {
            continue;
        };
        for root in document.roots() {
            let Some(value) = root.value(DuplicateKeys::LastWins, &mut Diagnostics::new()) else {
                continue;
            };
            let Ok(edits) = Rewrite::edits(root, &value, Purpose::Stay) else {
                failures.push(format!("{}: unreadable", path.display()));
                continue;
            };
            // Duplicate keys are all that may go, and the line break that a last block scalar lacks.
            let duplicates = root
                .value(DuplicateKeys::Refuse, &mut Diagnostics::new())
                .is_none();
            let edited = Edited::new(&document, edits).unwrap().to_string();
            if edited != source.text() && !duplicates && source.text().ends_with('\n') {
                failures.push(path.display().to_string());
            }
        }
    }
    complain(&failures);
}

#[test]
fn what_is_moved_reads_back_as_it_was_read() {
    let mut failures = Vec::new();
    for (path, source) in texts() {
        let Ok(document) = Document::parse(&source) else {
            continue;
        };
        for root in document.roots() {
            let Some(value) = root.value(DuplicateKeys::LastWins, &mut Diagnostics::new()) else {
                continue;
            };
            for position in [
                Position::Document,
                Position::Item { column: 0 },
                Position::Item { column: 3 },
            ] {
                if let Err(error) = render(&document, &value, position) {
                    failures.push(format!(
                        "{}, {position:?}: {}",
                        path.display(),
                        error.message
                    ));
                }
            }
        }
    }
    complain(&failures);
}
