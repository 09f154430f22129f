//! Every limit: a text within it is read, a text beyond it is an error that names it.

use std::fmt::Write as _;

use crate::diagnostic::Diagnostics;
use crate::limits::{MAX_ALIASED_BYTES, MAX_ALIASED_NODES, MERGE_DEPTH};
use crate::limits::{MAX_DEPTH, MAX_KEY_LENGTH, MAX_LENGTH};
use crate::read::document::{Cursor, Document};
use crate::read::text::check_length;
use crate::scalar::data::Scalar;
use crate::source::Source;
use crate::value::{Data, Value};
use crate::write::edited::Edited;
use crate::write::rewrite::{Placement, Rewrite};
use crate::{DuplicateKeys, ItemKeys, Position, render, render_json, to_string, update};

/// A quarter of the stack of a program's first thread; threads that print have more. The frames of
/// a release build are far smaller.
const STACK: usize = 2 * 1024 * 1024;

fn parse(text: String) -> Result<Document, String> {
    Document::parse(&Source::new("test", text)).map_err(|error| error.message.clone())
}

fn parse_fully(text: String) -> Result<Document, String> {
    Document::parse_fully(&Source::new("test", text)).map_err(|error| error.message.clone())
}

fn read(text: String) -> Result<(), String> {
    let document = parse(text)?;
    let mut diagnostics = Diagnostics::new();
    for root in document.roots() {
        let _ = root.value(DuplicateKeys::Refuse, &mut diagnostics);
    }
    let first = diagnostics.iter().next();
    first.map_or(Ok(()), |error| Err(error.message.clone()))
}

/// Texts of which each nests collections `depth` times.
fn nested(depth: usize) -> Vec<String> {
    let lines: Vec<String> = (0..depth)
        .map(|level| {
            " ".repeat(level)
                + "a:
"
        })
        .collect();
    let block = lines.concat();
    vec![
        format!("{}{}\n", "[".repeat(depth), "]".repeat(depth)),
        format!("{}1{}\n", "{\"a\": ".repeat(depth), "}".repeat(depth)),
        format!("{}1{}\n", "{a: ".repeat(depth), "}".repeat(depth)),
        format!("{}a\n", "- ".repeat(depth)),
        block,
        format!("a:\n{}b\n", "- ".repeat(depth - 1)),
        format!(
            "{}{}{}\n",
            "- ".repeat(depth / 2),
            "[".repeat(depth - depth / 2),
            "]".repeat(depth - depth / 2)
        ),
    ]
}

#[test]
fn nesting() {
    for text in nested(MAX_DEPTH) {
        assert!(parse(text.clone()).is_ok() && parse_fully(text).is_ok());
    }
    for text in nested(MAX_DEPTH + 1) {
        for error in [parse(text.clone()).unwrap_err(), parse_fully(text).unwrap_err()] {
            assert!(error.contains("1000 levels deep"), "{error}");
        }
    }
}

/// Puts `leaf` in place of the innermost value.
fn change(value: &mut Value<'_>) {
    match &mut value.data {
        Data::Mapping(entries) if !entries.is_empty() => change(&mut entries[0].1),
        Data::Sequence(items) if !items.is_empty() => change(&mut items[0]),
        data => *data = Data::Scalar(Scalar::String("leaf".into())),
    }
}

fn walk_everywhere(document: &Document, root: Cursor<'_>) {
    let mut diagnostics = Diagnostics::new();
    let value = root.value(DuplicateKeys::Refuse, &mut diagnostics).unwrap();
    let mut changed = value.clone();
    change(&mut changed);
    assert_ne!(value, changed);
    for (value, has_leaf) in [(&value, false), (&changed, true)] {
        let edits = Rewrite::edits(root, value, Placement::InPlace).unwrap();
        let text = Edited::new(document, edits).unwrap().to_string();
        assert_eq!(text.contains("leaf"), has_leaf);
        let moved = Rewrite::edits(root, value, Placement::Moved).unwrap();
        assert!(moved.len() < 3);
        render(document, value, Position::Document).unwrap();
        render_json(value, None).unwrap();
        render_json(value, Some(1)).unwrap();
        let _ = to_string(value);
    }
    let inner = root.children().next().unwrap();
    let mut new = inner.value(DuplicateKeys::Refuse, &mut diagnostics).unwrap();
    change(&mut new);
    let _ = update(inner, new.without_origin(), &ItemKeys::NONE);
    assert!(root.holds(&value) && !root.holds(&changed));
    drop(changed.into_owned().without_origin());
}

#[test]
fn all_walks_take_the_deepest_nesting_on_a_small_stack() {
    let walk = || {
        for text in nested(MAX_DEPTH) {
            for document in [parse(text.clone()).unwrap(), parse_fully(text).unwrap()] {
                for root in document.roots() {
                    walk_everywhere(&document, root);
                }
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(walk);
    thread.unwrap().join().unwrap();
}

#[test]
fn length() {
    let source = Source::new("test", "a: b\n");
    assert!(check_length(&source, 5).is_ok());
    let error = check_length(&source, 4).unwrap_err().message.clone();
    assert_eq!(error, "`test` is 5 bytes long, more than the 4 that can be read");
    // Offsets fit 32 bits, and one value is left for "no node".
    assert!(u32::try_from(MAX_LENGTH).is_ok_and(|length| length < u32::MAX));
}

#[test]
fn aliased_nodes() {
    // A list of aliases of a list of 1,000 items: 1,001 nodes each.
    let text = |aliases: usize| {
        let items = "- x\n".repeat(1_000);
        format!("a: &a\n{items}b: [{}]\n", vec!["*a"; aliases].join(", "))
    };
    assert_eq!(read(text(MAX_ALIASED_NODES / 1_001)), Ok(()));
    let error = read(text(MAX_ALIASED_NODES / 1_000)).unwrap_err();
    assert_eq!(error, format!("aliases expand to more than {MAX_ALIASED_NODES} nodes"));
}

#[test]
fn aliased_bytes() {
    const SIZE: usize = 1 << 20;
    let text = |aliases: usize| {
        format!("a: &a {}\nb: [{}]\n", "x".repeat(SIZE), vec!["*a"; aliases].join(", "))
    };
    assert_eq!(read(text(MAX_ALIASED_BYTES / SIZE - 1)), Ok(()));
    let error = read(text(MAX_ALIASED_BYTES / SIZE)).unwrap_err();
    assert_eq!(error, format!("aliases expand to more than {MAX_ALIASED_BYTES} bytes"));
}

/// `m0` holds the key, each of the others merges the one before it.
fn merges(depth: usize) -> String {
    let mut text = "m0: &m0 {key: x}\n".to_owned();
    for level in 1..=depth {
        let below = level - 1;
        let _ = writeln!(text, "m{level}: &m{level} {{<<: *m{below}}}");
    }
    text
}

#[test]
fn merge_keys_that_lead_into_one_another() {
    let document = parse(merges(MERGE_DEPTH)).unwrap();
    let root = document.roots().next().unwrap();
    let map = root.get(&format!("m{MERGE_DEPTH}")).unwrap();
    assert_eq!(map.text_at(["key"]).as_deref(), Some("x"));
    let value = map.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
    assert_eq!(value.unwrap().str_at(&["key"]), Some("x"));
    let block = |depth: usize| {
        let lines = (0..depth).map(|level| format!("{:level$}<<:\n", ""));
        format!("{}{:depth$}a: b\n", lines.collect::<String>(), "")
    };
    assert_eq!(read(block(MERGE_DEPTH)), Ok(()));
    for text in [
        merges(MERGE_DEPTH + 1),
        merges(MERGE_DEPTH + 1).replace("{<<: ", "{b: c, <<: "),
        block(MERGE_DEPTH + 1),
    ] {
        assert_eq!(
            parse(text).err().unwrap(),
            format!("merge keys refer to one another more than {MERGE_DEPTH} times")
        );
    }
}

#[test]
fn a_lookup_follows_each_merge_key_once() {
    // Each of 16 levels merges the one before it 100 times.
    let all = vec!["*m"; 100].join(", ");
    let mut text = "a0: &m {key: x}\n".to_owned();
    for level in 1..=MERGE_DEPTH {
        let _ = writeln!(text, "a{level}: &m {{<<: [{all}]}}");
    }
    let document = parse(text).unwrap();
    let root = document.roots().next().unwrap();
    assert!(root.at([&format!("a{MERGE_DEPTH}"), "none"]).is_none());
}

#[test]
fn key_length() {
    let text = |length: usize| format!("{}: a\n", "k".repeat(length));
    let quoted = |length: usize| format!("- \"{}\": a\n", "k".repeat(length));
    assert_eq!(read(text(MAX_KEY_LENGTH - 1)), Ok(()));
    for text in [text(MAX_KEY_LENGTH + 1), quoted(MAX_KEY_LENGTH + 1)] {
        let error = parse(text).err().unwrap();
        assert_eq!(error, "a key is longer than 1024 characters");
    }
    let explicit = "k".repeat(5 * MAX_KEY_LENGTH);
    assert_eq!(read(format!("? {explicit}\n: a\n")), Ok(()));
    assert_eq!(read(format!("{{\"{explicit}\": 1}}")), Ok(()));
    assert_eq!(read(format!("{{a: b, ? {explicit} : 1}}\n")), Ok(()));
    // In braces that are not JSON, too.
    let quoted = format!("\"{explicit}\"");
    for (before, key) in [("{", &quoted), ("{a: b, ", &explicit), ("a: ['b', ", &quoted)] {
        let text = format!("{before}{key} : 1");
        let error = Document::parse(&Source::new("test", text)).err().unwrap();
        assert_eq!(error.message, "a key is longer than 1024 characters");
        let range = error.place.as_ref().unwrap().range.clone();
        assert_eq!(range, before.len()..before.len() + key.len());
    }
    let entries = "\"a\":1,".repeat(MAX_KEY_LENGTH);
    let error = parse(format!("{{{entries}\"b\": 2")).err().unwrap();
    assert!(error.contains("unclosed bracket"), "{error}");
}
