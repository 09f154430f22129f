//! Quoted text of several lines means the same to Go, in whatever column they begin.

use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys};
use serde_json::Value;

use crate::go::{Oracle, Random};

/// Lines that begin, continue or end quoted text, or only seem to.
#[rustfmt::skip]
const LINES: &[&str] = &[
    "a: 'one", "two'", "b: \"one", "two\"", "- 'one", "- two'", "c:", "- d: 'x", "e: f'", "g: |",
    "h 'i", "j: k", "- l", "'m'", "\"n\"", "o: 'p", "' # q", "", "r: [s, 't", "u']", "# it's",
    "? 'v", "'", "w: >2", "x: y \"z", "...x", "'aa': \"bb", "cc\\", "\tdd", "ee'", "ff\"", "gg: 'hh'",
];

/// What a text of one document holds.
fn read(text: &str) -> Option<Value> {
    let document = Document::parse(&Source::new("test", text)).ok()?;
    let mut roots = document.roots();
    let root = roots.next()?;
    let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new())?;
    let json = serde_json::from_str(&value.to_json()).ok()?;
    roots.next().is_none().then_some(json)
}

pub(super) fn go_reads_lines_of_quoted_text_the_same() {
    let mut oracle = Oracle::start();
    let mut random = Random::new(0x7175_6f74_6564_0000);
    let mut count = 0;
    for _ in 0..300_000 {
        let mut text = String::new();
        for _ in 0..=random.below(9) {
            text.extend(std::iter::repeat_n(' ', random.below(5)));
            text.push_str(random.pick(LINES));
            text.push_str(random.pick(&["\n", "\n", "\n", "\r\n"]));
        }
        if let Some(value) = read(&text) {
            oracle.ask(&text, &value);
            count += 1;
        }
    }
    assert!(count > 10_000, "{count}");
    oracle.finish("documents with quoted text");
}
