//! Parts of a node that have other values, written without a look at the others.

use std::borrow::Cow;
use std::sync::Arc;

use proptest::prelude::*;

use crate::diagnostic::Diagnostics;
use crate::read::document::{Cursor, Document};
use crate::read::ordinary::Ordinary;
use crate::read::parts::EntryLine;
use crate::read::patched::Patched;
use crate::read::values::DuplicateKeys;
use crate::scalar::data::Scalar;
use crate::source::Source;
use crate::testing::changed_and_moved;
use crate::value::{Data, Value};
use crate::write::render::{Position, render, render_patched};
use crate::write::rewrite::Rewrite;

const TEXT: &str = "\
name: web # public
labels:
  app: web
  tier: 'x'
spec:
- image: a:1 # pinned
  count: \"2\"
- plain
";

fn document(text: &str) -> Document {
    Document::parse(&Source::new("test", text)).unwrap()
}

fn root(document: &Document) -> Cursor<'_> {
    document.roots().next().unwrap()
}

/// Sets the scalar that is written as `raw`. Returns the text, and whether each edit was read back
/// on its line.
fn with(raw: &str, scalar: Scalar<'_>) -> (String, bool) {
    let document = document(TEXT);
    let root = root(&document);
    let mut nodes = (0..root.node().next).map(|id| document.cursor(crate::NodeId(id)));
    let part = nodes.find(|node| node.raw() == raw).unwrap();
    let mut object = Patched::new(Ordinary::of(root).unwrap());
    object.value_mut(part).set(Data::Scalar(scalar));
    written(&object)
}

fn written(object: &Patched<'_>) -> (String, bool) {
    let (_, is_read_back) = Rewrite::patches(object.root(), object.parts()).unwrap();
    let text = render_patched(object, Position::Document);
    assert_eq!(text.is_some(), is_read_back);
    let document = object.root().cursor().document();
    let whole = || render(document, &object.clone().into_value(), Position::Document).unwrap();
    (text.unwrap_or_else(whole), is_read_back)
}

#[test]
fn scalars_are_written_in_place_and_read_back_on_their_lines() {
    let text = |text: &'static str| Scalar::String(Cow::Borrowed(text));
    let number = |digits: &'static str| Scalar::Number(Cow::Borrowed(digits));
    for (raw, scalar, line) in [
        ("web", text("shop"), "name: shop # public\n"),
        ("web", text("a: b"), "name: 'a: b' # public\n"),
        ("web", text("a #b"), "name: 'a #b' # public\n"),
        ("web", text("true"), "name: \"true\" # public\n"),
        ("web", number("5"), "name: 5 # public\n"),
        ("web", Scalar::Bool(true), "name: true # public\n"),
        ("web", Scalar::Null, "name: null # public\n"),
        ("'x'", text("y"), "  tier: 'y'\n"),
        ("a:1", text("b:2"), "- image: b:2 # pinned\n"),
        ("\"2\"", number("3"), "  count: 3\n"),
        ("plain", text("other"), "- other\n"),
    ] {
        let (written, is_read_back) = with(raw, scalar.clone());
        let old = TEXT.lines().find(|line| line.contains(raw)).unwrap();
        let expected = TEXT.replacen(&format!("{old}\n"), line, 1);
        assert_eq!(written, expected, "{scalar:?}");
        assert!(is_read_back, "{scalar:?}");
    }
}

/// A scalar of several lines may go on with the lines after it.
#[test]
fn lines_are_read_back_with_those_of_a_scalar_before_them() {
    const TEXT: &str = "a: 1\nb: |+\n  x\nc: 2\n\nd:\n  e: 3\ng: 4\n";
    let document = document(TEXT);
    let root = root(&document);
    let read_back = |change: &dyn Fn(&mut Value<'_>)| {
        let mut value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new()).unwrap();
        change(&mut value);
        let text = render(&document, &value, Position::Document).unwrap();
        (
            text,
            Rewrite::moves(root, &value, 0).unwrap().1,
            Rewrite::moves(root, &value, 2).unwrap().1,
        )
    };
    let set = |key: &'static str| {
        read_back(&move |value| value.get_mut(key).unwrap().set(Value::string("new").data))
    };
    assert_eq!(set("a"), (TEXT.replace("a: 1", "a: new"), true, false));
    assert_eq!(set("c"), (TEXT.replace("c: 2", "c: new"), true, false));
    let added =
        read_back(&|value| value.get_mut("d").unwrap().insert("more".into(), "text".into()));
    assert_eq!(added, (TEXT.replace("e: 3\n", "e: 3\n  more: text\n"), true, false));
    let (text, is_read_back, _) = read_back(&|value| drop(value.remove("c")));
    assert!(text.contains("b: |+\n  x\n") && !is_read_back, "{text}");
}

#[test]
fn what_takes_several_lines_is_read_back_with_those_around_it() {
    let (text, is_read_back) = with("web", Scalar::String(Cow::Borrowed("a\nb\n")));
    assert!(text.starts_with("name: | # public\n  a\n  b\nlabels:\n"), "{text}");
    assert!(!is_read_back);
}

#[test]
fn entries_are_added_and_removed() {
    let document = document(TEXT);
    let root = root(&document);
    let labels = root.get("labels").unwrap();
    let mut object = Patched::new(Ordinary::of(root).unwrap());
    let value = object.value_mut(labels);
    value.insert(Cow::Borrowed("unit"), Value::string("one"));
    value.insert(Cow::Borrowed("on"), Value::string("1"));
    let added = TEXT.replace("tier: 'x'\n", "tier: 'x'\n  unit: one\n  \"on\": \"1\"\n");
    assert_eq!(written(&object), (added.clone(), true));
    object.value_mut(labels).remove("unit");
    object.value_mut(labels).remove("on");
    object.value_mut(labels).remove("app");
    let removed = TEXT.replace("  app: web\n", "");
    assert_eq!(written(&object), (removed, true));
}

#[test]
fn entries_are_added_to_a_mapping_that_is_not_read() {
    let document = document(TEXT);
    let root = root(&document);
    let labels = root.get("labels").unwrap();
    let mut object = Patched::new(Ordinary::of(root).unwrap());
    let lines = [("unit", "one"), ("tier", "y"), ("on", "1"), ("unit", "two")];
    let lines =
        lines.map(|(key, value)| Arc::new(EntryLine::of(key, Value::string(value)).unwrap()));
    for line in &lines {
        object.insert(labels, line);
    }
    assert!(EntryLine::of("key", Value::string("a\nb")).is_none());
    let added = TEXT.replace("tier: 'x'\n", "tier: 'y'\n  unit: two\n  \"on\": \"1\"\n");
    assert_eq!(written(&object), (added, true));
    let view = object.view();
    assert_eq!(view.str_at(&["labels", "unit"]).as_deref(), Some("two"));
    let keys = view.get("labels").unwrap().entries().unwrap();
    let keys: Vec<_> = keys.map(|(key, _)| key).collect();
    assert_eq!(keys, ["app", "tier", "unit", "on"]);
    let mut json = String::new();
    crate::write::emit::json(&mut json, view.get("labels").unwrap(), None, 0);
    assert_eq!(json, r#"{"app":"web","tier":"y","unit":"two","on":"1"}"#);
    assert_eq!(object.value_mut(labels).str_at(&["on"]), Some("1"));
    assert_eq!(object.into_value().str_at(&["labels", "unit"]), Some("two"));
}

#[test]
fn entries_of_mappings_that_end_together_are_added_to_the_inner_one_first() {
    let document = document("a:\n  b:\n    c: 1 # one\n    # below\n");
    let root = root(&document);
    let line = Arc::new(EntryLine::of("new", Value::string("x")).unwrap());
    let mut object = Patched::new(Ordinary::of(root).unwrap());
    for mapping in [root, root.get("a").unwrap(), root.at(["a", "b"]).unwrap()] {
        object.insert(mapping, &line);
    }
    let c = root.at(["a", "b", "c"]).unwrap();
    object.value_mut(c).set(Value::string("d").data);
    let added = "a:\n  b:\n    c: d # one\n    # below\n\n    new: x\n  new: x\nnew: x\n";
    assert_eq!(written(&object), (added.to_owned(), true));
}

#[test]
fn a_part_takes_in_the_changed_ones_in_it() {
    let document = document(TEXT);
    let root = root(&document);
    let mut object = Patched::new(Ordinary::of(root).unwrap());
    let tier = root.at(["labels", "tier"]).unwrap();
    object.value_mut(tier).set(Value::string("z").data);
    assert_eq!(object.view().str_at(&["labels", "tier"]).as_deref(), Some("z"));
    let labels = root.get("labels").unwrap();
    assert_eq!(object.value_mut(labels).str_at(&["tier"]), Some("z"));
    assert_eq!(object.value_mut(root).str_at(&["labels", "tier"]), Some("z"));
    assert_eq!(object.into_value().str_at(&["labels", "tier"]), Some("z"));
}

#[test]
fn a_view_sees_what_the_value_has() {
    let document = document(TEXT);
    let root = root(&document);
    let mut object = Patched::new(Ordinary::of(root).unwrap());
    let name = root.get("name").unwrap();
    object.value_mut(name).set(Value::string("shop").data);
    let value = object.clone().into_value();
    for view in [object.view(), (&value).into()] {
        assert_eq!(view.str_at(&["name"]).as_deref(), Some("shop"));
        assert_eq!(view.str_at(&["labels", "app"]).as_deref(), Some("web"));
        assert_eq!(view.get("absent").map(|_| ()), None);
        let items: Vec<_> = view.get("spec").unwrap().items().unwrap().collect();
        assert_eq!(items.len(), 2);
        assert_eq!(items[0].str_at(&["image"]).as_deref(), Some("a:1"));
        assert_eq!(items[1].as_str().as_deref(), Some("plain"));
        let labels = view.get("labels").unwrap().entries().unwrap();
        let keys: Vec<_> = labels.map(|(key, _)| key).collect();
        assert_eq!(keys, ["app", "tier"]);
        assert!(view.items().is_none() && view.scalar().is_none());
    }
}

#[test]
fn a_value_without_entries_is_read_back_on_its_lines() {
    const TEXT: &str = "\
metadata:
  notes:
    a: '0'
    b: '1'
    d: \"2\"
  name: web
spec:
- name: https
  protocol: TCP
volumes:
- name: web
  map:
    name: settings
    size: 1 # small
    mode: 0444
";
    let document = document(TEXT);
    let root = root(&document);
    let mut value = Ordinary::of(root).unwrap().value();
    let notes = value.get_mut("metadata").unwrap().get_mut("notes").unwrap();
    notes.remove("a");
    notes.remove("b");
    let port = value.get_mut("spec").unwrap().items_mut().unwrap();
    port.first_mut().unwrap().remove("protocol");
    let volume = value.get_mut("volumes").unwrap().items_mut().unwrap();
    let map = volume.first_mut().unwrap().get_mut("map").unwrap();
    map.get_mut("mode").unwrap().origin = None;
    map.get_mut("size").unwrap().set(Value::string("$((SIZE))").data);
    let (_, is_read_back) = Rewrite::moves(root, &value, 0).unwrap();
    let expected = TEXT
        .replace("    a: '0'\n    b: '1'\n", "")
        .replace("  protocol: TCP\n", "")
        .replace("size: 1", "size: $((SIZE))")
        .replace("0444", "292");
    assert_eq!(render(&document, &value, Position::Document).unwrap(), expected);
    assert!(is_read_back);
}

#[test]
fn a_view_sees_the_value_of_the_whole_node() {
    let document = document(TEXT);
    let root = root(&document);
    let mut object = Patched::new(Ordinary::of(root).unwrap());
    object.value_mut(root).remove("name");
    assert!(object.view().get("name").is_none());
    assert_eq!(object.view().entries().unwrap().count(), 2);
}

#[test]
fn a_new_mapping_of_scalars_is_read_back_on_its_lines() {
    let document = document("metadata:\n  labels:\n    app: web\nspec: {}\n");
    let root = root(&document);
    let texts = |entries: &[(&'static str, &'static str)]| {
        let entries = entries.iter().map(|(key, text)| ((*key).into(), (*text).into()));
        Value::mapping(entries.collect())
    };
    let read_back = |added: Value<'static>| {
        let mut value = Ordinary::of(root).unwrap().value();
        let metadata = value.get_mut("metadata").unwrap();
        metadata.insert("annotations".into(), added);
        metadata.insert("name".into(), "web".into());
        let (_, is_read_back) = Rewrite::moves(root, &value, 0).unwrap();
        (render(&document, &value, Position::Document).unwrap(), is_read_back)
    };
    let (text, is_read_back) = read_back(texts(&[("owner", "retail"), ("size", "1")]));
    assert_eq!(
        text,
        "\
metadata:
  labels:
    app: web
  annotations:
    owner: retail
    size: \"1\"
  name: web
spec: {}
"
    );
    assert!(is_read_back);
    for others in [
        texts(&[]),
        texts(&[("lines", "a\nb\n")]),
        Value::mapping(vec![("inner".into(), texts(&[("a", "b")]))]),
    ] {
        assert!(!read_back(others).1);
    }
}

const LINES: &[&str] = &[
    "a: 1\nb:\n  c: x # one\n  d: \"y\"\n  e: [1, {f: g}]\nh:\n- i: 1\n  j: 2\n\n- k\n# end\nl: m\n",
    "a: |\n  x\n   y\n\nb: >-\n  z\nc: p\n  q\n  r # s\nd: 'one\n  two'\ne:\n  f\ng:\n  - h: |+\n      i\n\n    j: k\n",
    "# head\na: 1 # é\r\nb:\r\n  c: d\r\n  e:\r\n  - f\r\n  - g: h\r\ni: j\r\n",
    "a:\n  # one\n  b: {c: d}\n\n  # two\n  e: f\n  # three\ng:\n    h: i\n    j:\n    - k\n    -\n    - l: m",
    "a: |+\n  x\n\n\nb: 1\n\nc: p\n  q\nd: 2\n\n  # e\nf:\n- |+\n\n- g: 1\n  h: |\n   i\n- 3\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    // Debug builds read all lines again.
    #[test]
    fn changed_values_are_written_as_they_are_read(
        text in prop::sample::select(LINES),
        choices in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        prop_assert_eq!(changed_and_moved(text, &choices), Ok(()));
    }
}
