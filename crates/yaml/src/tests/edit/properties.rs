//! Any operations on any small document: the result equals that of a plain model, and only lines of
//! edited entries change.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::diagnostic::{Diagnostics, Severity};
use crate::path::FieldPath;
use crate::read::document::Document;
use crate::read::values::DuplicateKeys;
use crate::source::Source;
use crate::table::{Flags, NodeId};
use crate::value::{Data, Value};
use crate::write::comments::{extent, head};

use super::editor::{Editor, Spot};

/// A document without a layout.
#[derive(Clone, Debug)]
enum Tree {
    /// A scalar, as it is spelled after its key.
    Leaf(&'static str),
    /// Lines of a block, after its header.
    Block(&'static str, &'static [&'static str]),
    Mapping(Vec<(Decor, Self)>),
    Sequence(Vec<(Decor, Self)>),
}

/// The surroundings of an entry.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is drawn on its own")]
struct Decor {
    blank: bool,
    head: bool,
    line: bool,
    foot: bool,
    explicit: bool,
}

fn decor() -> impl Strategy<Value = Decor> {
    let odd = || prop::bool::weighted(0.2);
    (odd(), odd(), odd(), odd(), prop::bool::weighted(0.05))
        .prop_map(|(blank, head, line, foot, explicit)| Decor { blank, head, line, foot, explicit })
}

const LINES: &[&[&str]] = &[&["x"], &["x", "y"], &["x", "", "# y"], &["x", ""], &["x", "  y"]];

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        4 => select(&[
            "x", "'x'", "\"x\"", "1", "", "null", "{}", "[]", "{a: 1, b: [x, 'y']}", "[a, {b: 1}]",
            "{\"a\": 1, \"b\": \"c\"}", "true", "'it''s'", "a b", "'x\n\n   y'", "'x\ny'",
            "\"x\n# y\n - z\"",
        ][..])
        .prop_map(Tree::Leaf),
        1 => select(&["|", "|-", "|+", ">", ">-"][..]).prop_flat_map(|header| {
            select(LINES)
                .prop_map(move |lines| Tree::Block(header, lines))
        }),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        let list = prop::collection::vec((decor(), inner), 1..4).boxed();
        prop_oneof![list.clone().prop_map(Tree::Mapping), list.prop_map(Tree::Sequence)]
    })
}

const KEYS: [&str; 4] = ["a", "b", "c", "d"];

/// The layout of generated documents.
#[derive(Clone, Copy, Debug)]
struct Spelling {
    unit: usize,
    sequence: usize,
    compact: bool,
}

impl Spelling {
    /// Writes the text after `key:` or `-` at `column`, with its line break.
    fn value(self, out: &mut String, tree: &Tree, column: usize, item: bool, line: bool) {
        let comment = if line { " # line" } else { "" };
        match tree {
            Tree::Leaf("") => writeln!(out, "{comment}").unwrap(),
            Tree::Leaf(text) => writeln!(out, " {text}{comment}").unwrap(),
            Tree::Block(header, lines) => {
                writeln!(out, " {header}{comment}").unwrap();
                for line in *lines {
                    if line.is_empty() {
                        out.push('\n');
                    } else {
                        writeln!(out, "{:width$}{line}", "", width = column + 2).unwrap();
                    }
                }
            }
            Tree::Mapping(children) | Tree::Sequence(children) => {
                let is_mapping = matches!(tree, Tree::Mapping(_));
                let first = children.first().unwrap().0;
                let compact = item && self.compact && !line && !first.head && !first.blank;
                let below = if compact {
                    out.push(' ');
                    2
                } else {
                    writeln!(out, "{comment}").unwrap();
                    if is_mapping || item { self.unit } else { self.sequence }
                };
                self.children(out, children, is_mapping, column + below, compact);
            }
        }
    }

    fn children(
        self,
        out: &mut String,
        children: &[(Decor, Tree)],
        is_mapping: bool,
        column: usize,
        compact: bool,
    ) {
        for (index, (decor, child)) in children.iter().enumerate() {
            let indentation = " ".repeat(column);
            if !(compact && index == 0) {
                if decor.blank {
                    out.push('\n');
                }
                if decor.head {
                    writeln!(out, "{indentation}# head").unwrap();
                }
                out.push_str(&indentation);
            }
            let key = KEYS[index];
            match (is_mapping, decor.explicit) {
                (true, true) => write!(out, "? {key}\n{indentation}:").unwrap(),
                (true, false) => write!(out, "{key}:").unwrap(),
                (false, _) => out.push('-'),
            }
            self.value(out, child, column, !is_mapping, decor.line);
            if decor.foot {
                writeln!(out, "{indentation}# foot\n").unwrap();
            }
        }
    }
}

fn document() -> impl Strategy<Value = String> {
    let spelling = (2..5usize, any::<bool>(), any::<bool>()).prop_map(|(unit, wide, compact)| {
        let sequence = if wide { unit } else { 0 };
        Spelling { unit, sequence, compact }
    });
    let children = prop::collection::vec((decor(), tree()), 1..4);
    (children, any::<bool>(), spelling, 0..10u8).prop_map(|(children, mapping, spelling, end)| {
        let mut text = String::new();
        spelling.children(&mut text, &children, mapping, 0, false);
        if end < 2 {
            text.truncate(text.trim_end().len());
        }
        if end == 5 {
            text = text.replace('\n', "\r\n");
        }
        text
    })
}

/// JSON on one line or several.
fn json_document() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        select(&["x", "1", "true", "a b"][..]).prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from),
        (0..9u8).prop_map(serde_json::Value::from)
    ];
    let tree = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::vec(inner, 0..4).prop_map(|values| {
                let entries = KEYS.iter().map(|key| (*key).to_owned()).zip(values);
                entries.collect::<serde_json::Map<_, _>>().into()
            }),
        ]
    });
    (tree, any::<bool>()).prop_map(|(tree, pretty)| {
        if pretty { serde_json::to_string_pretty(&tree).unwrap() } else { tree.to_string() }
    })
}

#[derive(Clone, Debug)]
enum Operation {
    Set,
    Replace,
    Remove,
    Rename(&'static str),
    Insert(&'static str, Index),
    Push,
    InsertItem,
    Put(&'static str),
}

fn operation() -> impl Strategy<Value = Operation> {
    let key = || select(&["new", "a", "true", "x y"][..]);
    prop_oneof![
        1 => Just(Operation::Set),
        1 => Just(Operation::Replace),
        3 => Just(Operation::Remove),
        1 => key().prop_map(Operation::Rename),
        2 => (key(), any::<Index>()).prop_map(|(key, at)| Operation::Insert(key, at)),
        1 => Just(Operation::Push),
        1 => Just(Operation::InsertItem),
        1 => key().prop_map(Operation::Put),
    ]
}

fn new_value() -> impl Strategy<Value = Value<'static>> {
    select(
        &[
            r#""new""#,
            "5",
            "null",
            r#""p\nq\n""#,
            r#""p\n\n""#,
            r#""p\nq""#,
            "{}",
            "[]",
            r#"{"k": 1, "l": {"m": "z"}}"#,
            r#"[1, [2, "z"]]"#,
            r#"{"a": "x", "b": 2}"#,
            r#"[{"k": "p\n"}]"#,
            r#""true""#,
        ][..],
    )
    .prop_map(|json| Value::from(serde_json::from_str::<serde_json::Value>(json).unwrap()))
}

/// All paths in a value.
fn paths(value: &Value<'_>, path: &FieldPath, out: &mut Vec<FieldPath>) {
    out.push(path.clone());
    for (key, value) in value.entries().unwrap_or_default() {
        paths(value, &path.clone().key(key.as_ref()), out);
    }
    for (index, value) in value.items().unwrap_or_default().iter().enumerate() {
        paths(value, &path.clone().index(index), out);
    }
}

/// Does an operation with the editor and on JSON data.
#[expect(clippy::too_many_lines, reason = "one match over the operations")]
fn perform(
    editor: &mut Editor<'_>,
    model: &mut serde_json::Value,
    operation: &Operation,
    at: Index,
    value: &Value<'static>,
) {
    let mut all = Vec::new();
    paths(&editor.value, &FieldPath::root(), &mut all);
    let path = at.get(&all).clone();
    let json = to_json(value);
    let node = lookup(model, &path);
    match operation {
        Operation::Set => {
            editor.set(&path, value.clone()).unwrap();
            *node = json;
        }
        Operation::Replace => {
            editor.replace(&path, value.clone()).unwrap();
            *node = json;
        }
        Operation::Remove => {
            let Some((parent, step)) = path.split_last() else {
                editor.remove(&path).unwrap_err();
                return;
            };
            editor.remove(&path).unwrap();
            match (lookup(model, &parent), step) {
                (serde_json::Value::Object(map), crate::path::Step::Key(key)) => {
                    map.remove(key);
                }
                (serde_json::Value::Array(items), crate::path::Step::Index(index)) => {
                    items.remove(*index);
                }
                _ => unreachable!(),
            }
        }
        Operation::Rename(key) => {
            let result = editor.rename(&path, key);
            let Some((parent, crate::path::Step::Key(old))) = path.split_last() else {
                result.unwrap_err();
                return;
            };
            let map = lookup(model, &parent).as_object_mut().unwrap();
            if map.contains_key(*key) && old != key {
                result.unwrap_err();
            } else {
                result.unwrap();
                let value = map.remove(old).unwrap();
                map.insert((*key).to_owned(), value);
            }
        }
        Operation::Insert(key, spot) => {
            let keys: Vec<String> = match &*node {
                serde_json::Value::Object(map) => map.keys().cloned().collect(),
                _ => Vec::new(),
            };
            let spot = match keys.get(spot.index(keys.len() + 1)) {
                Some(neighbour) if at.index(2) == 0 => Spot::Before(neighbour),
                Some(neighbour) => Spot::After(neighbour),
                None => Spot::End,
            };
            let result = editor.insert(&path.key(*key), value.clone(), spot);
            insert(node, key, json, result.is_ok(), false);
        }
        Operation::Put(key) => {
            let result = editor.put(&path.key(*key), value.clone());
            insert(node, key, json, result.is_ok(), true);
        }
        Operation::Push | Operation::InsertItem => {
            if node.is_null() && matches!(operation, Operation::Push) {
                *node = serde_json::json!([]);
            }
            let result = match operation {
                Operation::Push => editor.push(&path, value.clone()),
                _ => editor.insert_item(&path.index(0), value.clone()),
            };
            if node.is_null() {
                *node = serde_json::json!([]);
            }
            match node.as_array_mut() {
                Some(items) if matches!(operation, Operation::Push) => items.push(json),
                Some(items) => items.insert(0, json),
                None => {
                    result.unwrap_err();
                    return;
                }
            }
            result.unwrap();
        }
    }
}

fn insert(
    node: &mut serde_json::Value,
    key: &str,
    json: serde_json::Value,
    done: bool,
    replaces: bool,
) {
    if node.is_null() {
        *node = serde_json::json!({});
    }
    match node.as_object_mut() {
        Some(map) if replaces || !map.contains_key(key) => {
            assert!(done);
            map.insert(key.to_owned(), json);
        }
        _ => assert!(!done),
    }
}

fn lookup<'m>(model: &'m mut serde_json::Value, path: &FieldPath) -> &'m mut serde_json::Value {
    path.steps().iter().fold(model, |value, step| match step {
        crate::path::Step::Key(key) => &mut value[key.as_str()],
        crate::path::Step::Index(index) => &mut value[*index],
    })
}

fn to_json(value: &Value<'_>) -> serde_json::Value {
    let mut text = String::new();
    crate::write::emit::json(&mut text, value, None, 0);
    serde_json::from_str(&text).unwrap()
}

fn read(text: &str) -> serde_json::Value {
    let document = Document::parse(&Source::new("test", text)).unwrap();
    let root = document.roots().next().unwrap();
    let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
    to_json(&value.unwrap())
}

/// The lines of entries that are found in `value` as they were read, with nothing in them changed.
fn untouched_lines(document: &Document, value: &Value<'_>, out: &mut Vec<String>) {
    let Some(origin) = value.origin else { return };
    let node = document.cursor(origin);
    let original = node.value(DuplicateKeys::Refuse, &mut Diagnostics::new()).unwrap();
    match &value.data {
        _ if same_origins(&original, value) => {
            let (start, end) = if node.node().has(Flags::IN_FLOW) {
                (node.start(), node.end())
            } else {
                let line = document.slice(document.line_start(node.start())..node.start());
                let is_first = line.trim().is_empty();
                let start = if is_first { head(document, origin) } else { node.start() };
                (start, extent(node))
            };
            let text = document.slice(start..end);
            out.extend(text.lines().map(|line| line.trim().to_owned()));
        }
        Data::Mapping(entries) => {
            let keeps_key = |id, key: &str| document.cursor(id).key().unwrap() == key;
            for (key, value) in entries {
                if value.origin.is_some_and(|origin| keeps_key(origin, key)) {
                    untouched_lines(document, value, out);
                }
            }
        }
        Data::Sequence(items) => {
            for value in items {
                untouched_lines(document, value, out);
            }
        }
        Data::Scalar(_) => {}
    }
}

/// Whether a value is unchanged.
fn same_origins(a: &Value<'_>, b: &Value<'_>) -> bool {
    fn origins(value: &Value<'_>, out: &mut Vec<Option<NodeId>>) {
        out.push(value.origin);
        for (_, value) in value.entries().unwrap_or_default() {
            origins(value, out);
        }
        for value in value.items().unwrap_or_default() {
            origins(value, out);
        }
    }
    let (mut left, mut right) = (Vec::new(), Vec::new());
    origins(a, &mut left);
    origins(b, &mut right);
    a == b && left == right
}

/// The first of `fragments` that is not in `text`, after those before it.
fn first_lost(fragments: &[String], text: &str) -> Option<String> {
    let mut rest = text;
    for fragment in fragments {
        match rest.split_once(fragment.as_str()) {
            Some((_, after)) => rest = after,
            None => return Some(fragment.clone()),
        }
    }
    None
}

fn check(
    text: &str,
    operations: &[(Operation, Index, Value<'static>)],
) -> Result<(), TestCaseError> {
    let document = Document::parse(&Source::new("test", text));
    let Ok(document) = document else {
        return Err(TestCaseError::reject("not YAML"));
    };
    let root = document.roots().next().unwrap();
    let mut editor = Editor::new(root);
    let mut model = to_json(&editor.value);
    for (operation, at, value) in operations {
        perform(&mut editor, &mut model, operation, *at, value);
    }
    let mut lines = Vec::new();
    untouched_lines(&document, &editor.value, &mut lines);
    let is_unchanged = same_origins(&Editor::new(root).value, &editor.value);
    let edited = match editor.finish() {
        Ok(edited) => edited.to_string(),
        Err(error) => {
            prop_assert_eq!(error.severity, Severity::Error);
            return Err(TestCaseError::fail(error.to_string()));
        }
    };
    prop_assert_eq!(read(&edited), model, "\n{}\nbecame\n{}", text, edited);
    if is_unchanged {
        prop_assert_eq!(&edited, text);
    }
    if let Some(lost) = first_lost(&lines, &edited) {
        return Err(TestCaseError::fail(format!("`{lost}` is lost\n{text}\nbecame\n{edited}")));
    }
    if text.starts_with(['{', '['])
        && serde_json::from_str::<serde_json::Value>(text).is_ok()
        && edited.starts_with(['{', '['])
    {
        prop_assert!(
            serde_json::from_str::<serde_json::Value>(&edited).is_ok(),
            "{}\nbecame\n{}",
            text,
            edited
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(1_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edits_do_what_the_model_says(
        text in document(),
        operations in prop::collection::vec((operation(), any::<Index>(), new_value()), 1..5),
    ) {
        check(&text, &operations)?;
    }

    #[test]
    fn json_stays_json(
        text in json_document(),
        operations in prop::collection::vec((operation(), any::<Index>(), new_value()), 1..5),
    ) {
        check(&text, &operations)?;
    }
}
