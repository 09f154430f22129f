//! Properties that hold for every text that is accepted, on all real ones at hand.

use crate::diagnostic::Diagnostics;
use crate::source::Source;
use crate::yaml::tests::corpus;
use crate::yaml::write::{Edited, Purpose, Rewrite};
use crate::yaml::{Document, DuplicateKeys, Position, render};

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
    for (path, text) in corpus::repository().into_iter().chain(corpus::shared()) {
        let source = Source::new("test", text);
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
    for (path, text) in corpus::repository().into_iter().chain(corpus::shared()) {
        let source = Source::new("test", text);
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
