//! A text that was edited, read again where it changed and as a whole: both give the same nodes, and
//! what cannot be read as a whole is not read in parts either.

use proptest::prelude::*;

use crate::read::document::Document;
use crate::read::rescan::{Rescanned, rescan};
use crate::source::Source;
use crate::testing::changed_and_moved;
use crate::write::comments::end_with_comments;
use crate::write::edited::Edit;
use crate::write::shifted::Shifted;

const TEXTS: &[&str] = &[
    "a: 1\nb:\n  c: x # one\n  d: \"y\"\n  e: [1, {f: g}]\nh:\n- i: 1\n  j: 2\n\n- k\n# end\nl: m\n",
    "a:\n  b:\n    c:\n      d: 1\n      e: 2\n    f: 3\n  g:\n  h: 4\ni:\n  - - j\n    - k: l\n      m: n\n  - o\np: q\n",
    "a: |\n  x\n   y\n\nb: >-\n  z\nc: p\n  q\n  r # s\nd: 'one\n  two'\ne:\n  f\ng:\n  - h: |+\n      i\n\n    j: k\n",
    "# head\na: 1 # é\r\nb:\r\n  c: d\r\n  e:\r\n  - f\r\n  - g: h\r\ni: j\r\n",
    "a:\n  # one\n  b: {c: d}\n\n  # two\n  e: f\n  # three\ng:\n    h: i\n    j:\n    - k\n    -\n    - l: m",
];

const NEW: &[&str] = &[
    "",
    "",
    "x",
    "new value",
    ": ",
    ":",
    "\n",
    "\n  ",
    "\n    ",
    "- ",
    "\n- ",
    "#",
    " #",
    " ",
    "  ",
    "'",
    "\"",
    "|\n",
    ">\n  x\n",
    "y: z\n",
    "  y: z\n",
    "    y: z\n",
    "y:\n",
    "  - y\n",
    "[",
    "]",
    "{}",
    "é",
    "\t",
    "\n---\n",
    "...",
    "%",
    "\r",
    "\r\n",
    "&x ",
    "*x",
    "? ",
    "!t ",
    "\u{85}",
    "\0",
];

/// The nodes of the root of `text` after edits, moved to a column: from the parts that changed, and
/// whether those of the whole text are the same.
fn both_ways(text: &str, edits: &[(usize, usize, &str)], column: Option<usize>) -> Option<bool> {
    let document = Document::parse(&Source::new("test", text)).unwrap();
    let root = document.roots().next().unwrap();
    let (start, end) = (root.start(), end_with_comments(root));
    let mut at = start;
    let mut sorted = Vec::new();
    let mut given: Vec<_> = edits.to_vec();
    given.sort_unstable();
    for (from, length, new) in given {
        let (from, to) = (from.max(at), (from.max(at) + length).min(end));
        if from <= to && text.is_char_boundary(from) && text.is_char_boundary(to) {
            sorted.push(Edit { start: from, end: to, text: new.to_owned() });
            at = to;
        }
    }
    let prefix = column.map_or(String::new(), |column| " ".repeat(column) + "- ");
    let column = prefix.len();
    let mut lines = Shifted::new(prefix, 0, column);
    let changes = lines.edited(text, start..end, &sorted);
    let source = Source::new("edited", lines.finish().0);
    let read: Rescanned<'_> = rescan(root, &source, &changes)?;
    let whole = Document::parse(&source);
    Some(whole.is_ok_and(|whole| read.is_table_of(&whole)))
}

#[test]
fn only_changed_lines_are_read() {
    let [nested, deep, lines, _, open] = TEXTS else {
        panic!("other texts");
    };
    for (text, edits) in [
        (nested, vec![]),
        (nested, vec![("x #", 1, "new")]),
        (nested, vec![("  d:", 9, ""), ("- k", 0, "- new\n")]),
        (nested, vec![("b:\n", 1, "'b b'"), ("m\n", 1, "new")]),
        (deep, vec![("d: 1", 4, "d: 2\n      new: 3"), ("q\n", 1, "r")]),
        (deep, vec![("      e: 2\n    f: 3\n", 20, "")]),
        (deep, vec![("g:\n", 2, "g:\n    new: 1")]),
        (deep, vec![("k: l", 4, "k: x"), ("  - o", 0, "  - new\n")]),
        (open, vec![("e: f", 4, "e: x")]),
    ] {
        let place = |&(old, length, new): &(&str, usize, &'static str)| {
            (text.find(old).unwrap(), length, new)
        };
        let edits: Vec<_> = edits.iter().map(place).collect();
        for column in [None, Some(0), Some(3)] {
            let read = both_ways(text, &edits, column);
            assert_eq!(read, Some(true), "{text} {edits:?} {column:?}");
        }
    }
    assert_eq!(both_ways(lines, &[(4, 0, "x")], Some(0)), None);
}

#[test]
fn what_breaks_the_lines_around_it_is_read_as_a_whole() {
    for (text, edit) in [
        ("a: 1\nb: 2\nc: 3\n", (8, 1, "'2")),
        ("a: 1\nb: 2\nc: 3\n", (8, 1, "|\n  x\n y")),
        ("a: 1\nb: 2\nc: 3\n", (8, 1, "x: y")),
        ("a:\n  b: 1\n  c: 2\n", (0, 2, "a: 1")),
        ("a:\n  b: 1\n  c: 2\n", (2, 1, "\n ")),
        ("a: 1\nb: 2\nc: 3\n", (5, 0, "---\n")),
        ("a: 1\nb: 2\nc: 3\n", (8, 1, "\u{85}")),
        ("a: 1\nb: 2\nc: 3\n", (8, 1, "\0")),
    ] {
        assert_eq!(both_ways(text, &[edit], None), None, "{text} {edit:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn any_edits_read_the_same_both_ways(
        text in prop::sample::select(TEXTS),
        edits in prop::collection::vec(
            (0usize..160, prop_oneof![Just(0usize), 0usize..12], prop::sample::select(NEW)),
            0..4,
        ),
        column in prop::option::of(0usize..4),
    ) {
        prop_assert_ne!(both_ways(text, &edits, column), Some(false));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    // Writing an object compares both ways in debug builds.
    #[test]
    fn changed_values_are_written_the_same_both_ways(
        text in prop::sample::select(TEXTS),
        choices in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        prop_assert_eq!(changed_and_moved(text, &choices), Ok(()));
    }
}
