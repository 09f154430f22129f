//! Compares the items of long lists, each read with a table of its own, with the same text read as
//! a whole.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::LongLists;
use crate::diagnostic::Diagnostics;
use crate::read::document::{Cursor, Document};
use crate::read::values::DuplicateKeys;
use crate::source::Source;
use crate::table::Kind;
use crate::tests::{corpus, variants};
use crate::value::Value;
use crate::write::comments::end_with_comments;

const LONG_LISTS: LongLists = &[&["items"], &["objects"], &["functionConfig", "objects"]];

/// Each item of the lists that may be deferred: its value, and where its text ends.
type Items = Vec<(Option<Value<'static>>, usize)>;

fn items(document: &Document) -> Items {
    let lists = |root: Cursor<'_>| {
        [
            root.get("items"),
            root.get("objects"),
            root.at(["functionConfig", "objects"]),
        ]
        .into_iter()
        .flatten()
        .flat_map(Cursor::children)
        .map(|item| {
            let opened = item.open();
            let item = opened.cursor();
            let value = item.value(DuplicateKeys::LastWins, &mut Diagnostics::new());
            (value.map(Value::into_owned), end_with_comments(item))
        })
        .collect::<Items>()
    };
    document.roots().flat_map(lists).collect()
}

/// Compares both ways to read a text. Returns how many items were deferred and stayed so.
fn check(text: &str) -> Result<usize, String> {
    let source = Source::new("test", text);
    let deferred = AtomicUsize::new(0);
    let Ok(read) = Document::read_with(&source, LONG_LISTS, |document| {
        let is_deferred = |node: &&crate::table::Node| node.kind == Kind::Deferred;
        deferred.store(document.nodes.iter().filter(is_deferred).count(), Relaxed);
        items(document)
    }) else {
        return match Document::parse_fully(&source) {
            Ok(_) => Err(format!("refused: {text:?}")),
            Err(_) => Ok(0),
        };
    };
    if Document::parse(&source).is_ok_and(|document| document.is_json) {
        // The full path reads only YAML; no part of JSON is deferred.
        return Ok(0);
    }
    let whole =
        Document::parse_fully(&source).map_err(|error| format!("{}: {text:?}", error.message))?;
    if items(&whole) == read {
        Ok(deferred.load(Relaxed))
    } else {
        Err(format!("{read:?}\n{:?}\n{text:?}", items(&whole)))
    }
}

#[test]
fn every_file_has_the_same_items_either_way() {
    all_have_the_same_items(corpus::repository());
}

#[test]
#[cfg_attr(
    not(shared_data),
    ignore = "needs the shared data: set KRM_TEMPLATE_SHARED"
)]
fn shared_texts_have_the_same_items_either_way() {
    all_have_the_same_items(corpus::shared());
}

#[track_caller]
fn all_have_the_same_items(files: Vec<(PathBuf, String)>) {
    let mut failures = Vec::new();
    let mut deferred = 0;
    for (path, text) in files {
        let mut texts = vec![text.clone()];
        if text.len() < 20_000 {
            texts.extend(variants(&text));
        }
        for text in texts {
            match check(&text) {
                Ok(count) => deferred += count,
                Err(difference) => failures.push(format!("{}: {difference}", path.display())),
            }
        }
    }
    failures.truncate(5);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(deferred > 500, "only {deferred} items were deferred");
}

#[test]
fn what_is_left_of_its_dash_is_read_as_a_whole() {
    for text in [
        "items:\n- a: \"x\n- b: y\"\n- c: z\n",
        "items:\n- a: 'x\nfunctionConfig: y'\n- c: z\n",
        "items:\n- a: {x: 1,\n- b: 2}\n",
        "items:\n- a: [x,\n  y,\nz]\nb: 1\n",
        "items:\n- &a x: 1\n- b: *a\n",
        "items:\n- a: x\n-\tb: y\n",
        "items:\n- a: |\n    x\n   y\n- b: z\n",
        "items:\n- a: x: y\n",
    ] {
        assert_eq!(check(text), Ok(0), "{text}");
    }
}

#[test]
fn an_item_ends_where_its_text_does() {
    for (text, deferred) in [
        ("items:\n- a: |+\n    x\n\n\n- b: y\n", 2),
        ("items:\n- a: |\n    # x\n\n  # y\n# z\n- b: y\n", 2),
        ("items:\n- a: |\n    # x\n", 1),
        ("items:\n- a: |\n    x", 1),
        (
            "items:\n  -   a: x\n      b: y\n\n  # c\n\n  - d\nkind: X\n",
            2,
        ),
        ("items:\n-\n  a: x\n- # c\n  b: y\n-\n", 3),
        ("objects:\r\n- a: x\r\n\r\n- b: y\r\n", 2),
        (
            "functionConfig:\n  objects:\n  - a: x\n  - b\n  # c\n# d\nitems:\n- c: z\n",
            3,
        ),
    ] {
        assert_eq!(check(text), Ok(deferred), "{text}");
    }
}

#[test]
fn several_texts_are_read_at_most_twice() {
    let plain = "objects:\n- a: b\n";
    let anchored = "objects:\n- a: &x b\n  c: *x\n";
    for (text, expected) in [(plain, 1), (anchored, 2)] {
        for count in [0, 1, 20] {
            let sources: Vec<_> = (0..count).map(|_| Source::new("test", text)).collect();
            let calls = AtomicUsize::new(0);
            let read = Document::read_all_with(&sources, LONG_LISTS, |documents| {
                calls.fetch_add(1, Relaxed);
                documents.iter().map(items).collect::<Vec<_>>()
            });
            let whole = Document::parse_fully(&Source::new("test", text)).unwrap();
            assert_eq!(read.unwrap(), vec![items(&whole); count]);
            assert_eq!(calls.load(Relaxed), if count == 0 { 1 } else { expected });
        }
    }
}

#[test]
fn the_errors_of_all_texts_are_reported() {
    let texts = ["objects:\n- a: b: c\n", "a: b\n", "a: [\n"];
    let sources = texts.map(|text| Source::new("test", text));
    let errors = Document::read_all_with(&sources, LONG_LISTS, |_| ()).unwrap_err();
    assert_eq!(errors.iter().count(), 2);
}
