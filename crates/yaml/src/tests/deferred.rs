//! Compares the items of long lists, each read with a table of its own, with the same text read as
//! a whole.

use std::path::PathBuf;
use std::sync::Arc;

use crate::LongLists;
use crate::diagnostic::{Diagnostics, Result};
use crate::read::document::{Cursor, Document};
use crate::read::values::DuplicateKeys;
use crate::source::Source;
use crate::table::Kind;
use crate::tests::{corpus, variants};
use crate::value::Value;
use crate::write::comments::{end_with_comments, head_comments};

const LONG_LISTS: LongLists = &[&["items"], &["objects"], &["functionConfig", "objects"]];

const DOCUMENTS: LongLists = &[&[], &["items"]];

/// Each item of the lists that may be deferred: its value, and where its text ends.
type Items = Vec<(Option<Value<'static>>, usize)>;

fn items(document: &Document) -> Items {
    let lists = |root: Cursor<'_>| {
        [root.get("items"), root.get("objects"), root.at(["functionConfig", "objects"])]
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

/// The items, and how many of them are deferred.
fn read(source: &Arc<Source>) -> Result<(Items, usize)> {
    let document = Document::open(source, LONG_LISTS)?;
    let read = items(&document);
    if let Some(whole) = document.upgrade()? {
        assert!(matches!(whole.upgrade(), Ok(None)));
        return Ok((items(&whole), 0));
    }
    let is_deferred = |node: &&crate::table::Node| node.kind == Kind::Deferred;
    Ok((read, document.nodes.iter().filter(is_deferred).count()))
}

/// Compares both ways to read a text. Returns how many items were deferred and stayed so.
fn check(text: &str) -> std::result::Result<usize, String> {
    let source = Source::new("test", text);
    let Ok((read, deferred)) = read(&source) else {
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
        Ok(deferred)
    } else {
        Err(format!("{read:?}\n{:?}\n{text:?}", items(&whole)))
    }
}

/// The values of the documents, or of their `items`, with the comments directly above.
fn objects(document: &Document) -> Vec<(Option<Value<'static>>, Vec<String>)> {
    let read = |node: Cursor<'_>| {
        let value = node.value(DuplicateKeys::LastWins, &mut Diagnostics::new());
        let comments = head_comments(node).into_iter().map(str::to_owned);
        (value.map(Value::into_owned), comments.collect())
    };
    let mut objects = Vec::new();
    for root in document.roots() {
        let opened = root.open();
        let root = opened.cursor();
        match root.get("items").filter(|items| items.is_sequence()) {
            Some(items) => {
                let items = items.children();
                objects.extend(items.map(|item| read(item.open().cursor())));
            }
            None => objects.push(read(root)),
        }
    }
    objects
}

/// Compares the documents of a text, each read with a table of its own, with the text read as a
/// whole. Returns how many documents and items were deferred.
fn check_documents(text: &str) -> std::result::Result<usize, String> {
    let source = Source::new("test", text);
    let whole = Document::parse(&source);
    let opened = Document::open(&source, DOCUMENTS).and_then(|document| {
        let read = objects(&document);
        let is_deferred = |node: &&crate::table::Node| node.kind == Kind::Deferred;
        let deferred = document.nodes.iter().filter(is_deferred).count();
        Ok(match document.upgrade()? {
            Some(whole) => (objects(&whole), 0),
            None => (read, deferred),
        })
    });
    match (whole, opened) {
        (Ok(whole), Ok((read, deferred))) if objects(&whole) == read => Ok(deferred),
        (Err(_), Err(_)) => Ok(0),
        (whole, opened) => {
            let whole = whole.map(|whole| objects(&whole));
            Err(format!("{opened:?}\n{whole:?}\n{text:?}"))
        }
    }
}

#[test]
fn every_file_has_the_same_documents_either_way() {
    let mut deferred = 0;
    for (path, text) in corpus::repository() {
        let mut texts = vec![text.clone(), format!("a: b\n---\n{text}")];
        if text.len() < 20_000 {
            texts.extend(variants(&text));
        }
        for text in texts {
            match check_documents(&text) {
                Ok(count) => deferred += count,
                Err(difference) => panic!("{}: {difference}", path.display()),
            }
        }
    }
    assert!(deferred > 500, "only {deferred} were deferred");
}

#[test]
fn documents_and_items_of_json_are_deferred() {
    for (text, deferred) in [
        ("a: b\n---\nc: d\n---\n# e\n\nf:\n- g\n", 2),
        ("---\na: b\n---\n  c: d\n", 1),
        ("a: b\n---\nd: |\n  ---\n  e\n---\nf: g\n", 2),
        ("a: b\n---\n- c\n- d\n", 1),
        ("- a\n- b\n", 0),
        ("a: b\n---\n# c\n---\nd: e\n", 0),
        ("a: b\n---\nc: &x d\ne: *x\n", 0),
        ("a: b\n---\nc: d: e\n", 0),
        ("a: b\n---\nc: 'd\n---\ne'\n", 0),
        ("a: b\n---\nc: d\n...\n", 0),
        ("a: b\r\n---\r\n\r\nc: d\r\n", 1),
        (r#"{"items":[{"a":"}"},{"b":[{"c":"\"{"}]}, 1, [{}]]}"#, 2),
        (r#"{"kind":"List","items":[],"a":{"items":[{"b":1}]}}"#, 0),
        ("{\"items\": [\n  {\"a\": 1},\n  {}\n]}\n", 2),
        (r#"{"items":[{"a":[}]}]}"#, 0),
        (r#"{"items":[{"a":1,}]}"#, 0),
        (r#"{"items":[{"a":1}{"b":2}]}"#, 0),
        (r#"{"items":[{"a":'}'}]}"#, 0),
        (r#"[{"a":1}]"#, 0),
    ] {
        assert_eq!(check_documents(text), Ok(deferred), "{text}");
    }
}

#[test]
fn every_file_has_the_same_items_either_way() {
    all_have_the_same_items(corpus::repository());
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
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
        ("items:\n  -   a: x\n      b: y\n\n  # c\n\n  - d\nkind: X\n", 2),
        ("items:\n-\n  a: x\n- # c\n  b: y\n-\n", 3),
        ("objects:\r\n- a: x\r\n\r\n- b: y\r\n", 2),
        ("functionConfig:\n  objects:\n  - a: x\n  - b\n  # c\n# d\nitems:\n- c: z\n", 3),
    ] {
        assert_eq!(check(text), Ok(deferred), "{text}");
    }
}

#[test]
fn only_a_document_with_an_item_that_needs_the_full_path_is_upgraded() {
    for (text, needs_it) in [
        ("objects:\n- a: b\n", false),
        ("objects:\n- a: &x b\n  c: *x\n", true),
        ("objects:\n- a: b\n- c: !!str d\n", true),
        ("objects: [{a: &x b, c: *x}]\n", false),
    ] {
        let document = Document::open(&Source::new("test", text), LONG_LISTS).unwrap();
        assert_eq!(document.upgrade().unwrap().is_some(), needs_it, "{text}");
    }
}

#[test]
fn an_error_in_an_item_that_nothing_opens_is_found() {
    let text = "objects:\n- a: b\n- a: b: c\n";
    let source = Source::new("test", text);
    let document = Document::open(&source, LONG_LISTS).unwrap();
    let error = document.upgrade().unwrap_err();
    let expected = Document::parse(&source).unwrap_err();
    assert_eq!(error.to_string(), expected.to_string());
}
