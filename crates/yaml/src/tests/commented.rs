//! Comments in every possible place: a change around them reads back as the intended value, in its
//! place and elsewhere.

use proptest::prelude::*;
use proptest::sample::select;

use crate::testing::{changed_and_moved, edited, updated};

const LINES: &[&str] = &[
    " # one",
    "# two",
    "  # three",
    "    # four",
    "",
    " ",
    "z: 1",
    "z: # z",
    "apiVersion: v1",
    "b: x # b",
    "b:",
    "  # between",
    "  scalar # right",
    "  c: 1",
    "  d: |",
    "    # text",
    "    text",
    "  e: [x, y] # e",
    "  - f: 1",
    "  - # g",
    "    g: 1",
    "    h: 'x",
    "      y' # h",
    "- i: 1",
    "- # k",
    "  k:",
    "  - - l",
    "- {m: 1, n: 2} # m",
    "? o",
    ": p # p",
    "--- # q",
    "items:",
    "- x # x",
    "- y",
];

fn check(lines: &[&str], choices: &[u8]) -> Result<(), String> {
    let text: String = lines.iter().flat_map(|line| [*line, "\n"]).collect();
    edited(&text, choices)
        .and_then(|()| updated(&text, choices))
        .and_then(|()| changed_and_moved(&text, choices))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) })]

    #[test]
    fn changes_read_back_as_meant(
        lines in prop::collection::vec(select(LINES), 1..12),
        choices in prop::collection::vec(any::<u8>(), 0..24),
    ) {
        check(&lines, &choices).map_err(TestCaseError::fail)?;
    }
}

#[test]
fn the_last_line_may_be_removed_where_it_has_no_line_break() {
    let text = "? |+\nmatchLabels: ";
    for first in 0..=255 {
        for second in [0, 1, 2, 3, 64, 128, 200, 255] {
            changed_and_moved(text, &[first, second, first, second, second, first]).unwrap();
        }
    }
}
