//! Quoted text whose lines are not indented deeper than the block around it.

use proptest::prelude::*;
use proptest::sample::select;

use crate::diagnostic::Diagnostics;
use crate::read::document::Document;
use crate::read::values::DuplicateKeys;
use crate::source::Source;
use crate::table::{KeyKind, Kind};
use crate::testing::{compare, edited, moved, unchanged, updated};

/// The content of each document, as JSON.
fn read(text: &str) -> Result<Vec<String>, String> {
    let document = Document::parse(&Source::new("test", text)).map_err(|error| error.message)?;
    let mut found = Diagnostics::new();
    let values = document.roots().map(|root| {
        let value = root.value(DuplicateKeys::Refuse, &mut found);
        value.map(|value| value.to_json())
    });
    let values: Option<Vec<String>> = values.collect();
    values.ok_or_else(|| format!("{found:?}"))
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(read(text), Ok(vec![expected.to_owned()]), "{text:?}");
    unchanged(text).unwrap();
    moved(text).unwrap();
    compare(text).unwrap();
}

#[track_caller]
fn refuses(text: &str, expected: &str) {
    let error = read(text).unwrap_err();
    assert!(error.contains(expected), "{text:?}: {error}");
}

#[test]
fn lines_may_begin_in_any_column() {
    check("data:\n  a: 'one\n  two'\n", r#"{"data":{"a":"one two"}}"#);
    check("data:\n  a: 'one\ntwo'\n", r#"{"data":{"a":"one two"}}"#);
    check(
        "data:\n  a: \"one\n\n two\\\n three\"\n  b: 1\n",
        r#"{"data":{"a":"one\ntwothree","b":1}}"#,
    );
    check("- 'one\n- two'\n- x\n", r#"["one - two","x"]"#);
    check("a:\n- - 'one\nb: two' # c\n  - z\n", r#"{"a":[["one b: two","z"]]}"#);
    check("a: &x 'one\ntwo'\nb: *x\n", r#"{"a":"one two","b":"one two"}"#);
    check("a: !!str 'one\ntwo'\n", r#"{"a":"one two"}"#);
    check("a: \"one\nit\\'s\"#c\n", r#"{"a":"one it's"}"#);
    check("a: 'one\r\n# two'\r\nb: 1\r\n", r##"{"a":"one # two","b":1}"##);
    check("? 'one\ntwo'\n: 'three\nfour'\n", r#"{"one two":"three four"}"#);
    check("a:\n  'one\ntwo'\nb: 'it''s\n...x'\n", r#"{"a":"one two","b":"it's ...x"}"#);
    check("\u{feff}a: 'one\ntwo'", r#"{"a":"one two"}"#);
}

#[test]
fn tabs_may_indent_such_lines() {
    check("a:\n  b: \"one\n\ttwo\"\n", r#"{"a":{"b":"one two"}}"#);
    check("a:\n  b: 'one\n \t two'\n", r#"{"a":{"b":"one two"}}"#);
}

#[test]
fn every_document_may_have_such_lines() {
    let text = "a: 'one\ntwo'\n---\n- 'one\ntwo'\n--- 'one\ntwo'\n";
    let expected = [r#"{"a":"one two"}"#, r#"["one two"]"#, r#""one two""#];
    assert_eq!(read(text).unwrap(), expected);
}

#[test]
fn quotes_elsewhere_begin_no_scalar() {
    let text = "\
# it's a comment
a: it's \"plain
  'text'
b: |
  echo 'two
  lines'
c: [don't, 'x
  y']
d: 'one
two'
e: >-

  'x
   y
- f
";
    let text = &text.replace("\n- f\n", "\n");
    let expected = r##"{"a":"it's \"plain 'text'","b":"echo 'two\nlines'\n","c":["don't","x y"],"d":"one two","e":"\n'x\n y"}"##;
    check(text, expected);
    check(
        "- k: |\n    'a\n  l: 'b\nc'\n- |\n 'd\n- 'e\nf'\n",
        r#"[{"k":"'a\n","l":"b c"},"'d\n","e f"]"#,
    );
    check("%YAML 1.1\n--- # it's\n&a x: |\n 'y\nz: 'one\ntwo'\n", r#"{"x":"'y\n","z":"one two"}"#);
    check("a: [b\n  'c, d]\ne: 'one\ntwo'\n", r#"{"a":["b 'c","d"],"e":"one two"}"#);
}

#[test]
fn texts_that_go_yaml_refuses_are_refused() {
    for text in [
        "'one\ntwo': b\n",
        "a:\n  'one\n  two' : b\n",
        "- 'one\n two': b\n",
        "a: ['one\ntwo']: b\n",
        "x: 'one\ntwo'\n['one\ntwo']: b\n",
        "a: 'one\ntwo' b\n",
        "a: 'one\ntwo\n",
        "a: 'one\n---\ntwo'\n",
        "a: 'one\n...\ntwo'\n",
        "a: 'one\n... two'\n",
        "a: \"one\n\\qtwo\"\n",
        "a: 'one\ntwo'\n b: c\n",
    ] {
        refuses(text, "not valid YAML");
    }
}

#[test]
fn a_line_that_kubectl_reads_as_the_start_of_a_document_is_refused() {
    refuses("a: 'one\n---two'\n", "not valid YAML");
    check("a:\n  - 'one\n  ---two'\n", r#"{"a":["one ---two"]}"#);
    check(" a: 'one\n ---two'\n", r#"{"a":"one ---two"}"#);
}

const TOKENS: &[&str] = &[
    "a", "b", "a: ", "b: ", "- ", "? ", "'", "'", "'", "\"", "\"", "\n", "\n", "\n", "\n ", "\n  ",
    "\n  ", "''", "\\", "\\\"", "\t", " #", "# ", "|\n", ">-\n", "|1\n", "[", "]", "{", "}", ", ",
    "---", "---\n", "...", "\r\n", "&x ", "!t ", "%", ":", " ", "- - ", "it's",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(select(TOKENS), 1..30).prop_map(|tokens| tokens.concat())
}

fn lines() -> impl Strategy<Value = String> {
    const LINES: &[&str] = &[
        "a: 'one",
        "two'",
        "b: \"one",
        "two\"",
        "- 'one",
        "- two'",
        "c:",
        "- d: 'x",
        "e: f'",
        "g: |",
        "h 'i",
        "j: k",
        "- l",
        "'m'",
        "\"n\"",
        "o: 'p",
        "' # q",
        "",
        "r: [s, 't",
        "u']",
        "# it's",
        "? 'v",
        "'",
        "---",
        "w: >2",
        "x: y \"z",
        "... ",
        "--- 'x",
        "\"aa",
        "bb\": cc",
    ];
    prop::collection::vec((0_usize..5, select(LINES)), 1..10).prop_map(|lines| {
        let line = |(spaces, line)| format!("{}{line}\n", " ".repeat(spaces));
        lines.into_iter().map(line).collect()
    })
}

/// A text in which each line of quoted text is indented deeper than anything else.
fn indented(text: &str) -> Option<String> {
    let document = Document::parse_fully(&Source::new("test", text)).ok()?;
    let mut scalars = Vec::new();
    for node in &document.nodes {
        if node.key_kind != KeyKind::Complex {
            scalars.push(node.key.range());
        }
        if matches!(node.kind, Kind::Scalar(_)) {
            scalars.push(node.value.range());
        }
    }
    let mut out = String::new();
    let mut from = 0;
    for range in scalars {
        let (before, raw) = (document.slice(from..range.start), document.slice(range.clone()));
        from = range.end;
        out.push_str(before);
        if raw.starts_with(['\'', '"']) {
            out.push_str(&raw.replace('\n', &format!("\n{}", " ".repeat(40))));
        } else {
            out.push_str(raw);
        }
    }
    out.push_str(document.slice(from..text.len()));
    Some(out)
}

/// Checks a property of every text: lines of quoted text may begin in any column, and mean the
/// same.
fn holds(text: &str) -> Result<(), String> {
    let Some(indented) = indented(text) else {
        return Ok(());
    };
    let (read, again) = (read(text).ok(), read(&indented).ok());
    if read != again {
        return Err(format!("{text:?} is {read:?}\n{indented:?} is {again:?}"));
    }
    unchanged(text)?;
    moved(text)?;
    compare(text).map(drop)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn lines_mean_the_same_in_any_column(text in prop_oneof![soup(), lines()]) {
        holds(&text).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn edits_beside_them_read_as_meant(
        text in prop_oneof![soup(), lines()],
        choices in prop::collection::vec(any::<u8>(), 0..12),
    ) {
        edited(&text, &choices).map_err(TestCaseError::fail)?;
        updated(&text, &choices).map_err(TestCaseError::fail)?;
    }
}
