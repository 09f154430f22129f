//! Edits by path: the new text, the errors, and a comparison with a plain model.

mod properties;

use crate::diagnostic::Result;
use crate::edit::editor::{Editor, Spot};
use crate::path::FieldPath;
use crate::read::document::Document;
use crate::source::Source;
use crate::value::Value;

/// One operation, as one line: `set PATH JSON`, `put`, `replace`, `push`, `item PATH JSON`,
/// `insert PATH JSON [before KEY | after KEY]`, `remove PATH`, `rename PATH KEY`. `.` is the root.
fn apply(editor: &mut Editor<'_>, operation: &str) -> Result<()> {
    let mut words = operation.splitn(3, ' ');
    let name = words.next().unwrap();
    let path: FieldPath = match words.next().unwrap() {
        "." => FieldPath::root(),
        path => path.parse()?,
    };
    let rest = words.next().unwrap_or_default();
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<serde_json::Value>();
    let mut value = || Value::from(values.next().unwrap().unwrap());
    match name {
        "set" => editor.set(&path, value()),
        "put" => editor.put(&path, value()),
        "replace" => editor.replace(&path, value()),
        "push" => editor.push(&path, value()),
        "item" => editor.insert_item(&path, value()),
        "insert" => {
            let value = value();
            let spot = rest.get(values.byte_offset()..).unwrap();
            let spot = match spot.trim().split_once(' ') {
                Some(("before", key)) => Spot::Before(key),
                Some(("after", key)) => Spot::After(key),
                _ => Spot::End,
            };
            editor.insert(&path, value, spot)
        }
        "remove" => editor.remove(&path).map(drop),
        "rename" => editor.rename(&path, rest),
        _ => unreachable!("{name}"),
    }
}

fn edit(before: &str, operations: &[&str]) -> Result<String> {
    let document = Document::parse(&Source::new("test", before))?;
    let mut editor = Editor::new(document.roots().next().unwrap())?;
    for operation in operations {
        apply(&mut editor, operation)?;
    }
    Ok(editor.finish()?.to_string())
}

#[track_caller]
fn check(before: &str, operations: &[&str], after: &str) {
    match edit(before, operations) {
        Ok(text) => assert_eq!(text, after, "{before:?} {operations:?}"),
        Err(error) => panic!("{before:?} {operations:?}: {error}"),
    }
}

#[track_caller]
fn check_error(before: &str, operations: &[&str], expected: &str) {
    match edit(before, operations) {
        Ok(text) => panic!("no error:\n{text}"),
        Err(error) => assert_eq!(error.to_string(), expected),
    }
}

#[test]
fn a_kept_block_does_not_include_blank_lines_of_an_entry_removed_below() {
    check(
        "-\n  a:\n  - |+\n    x\n  - x\n  b: x\n  # foot\n\n- y\n",
        &["remove [0].a[1]", "remove [0].b"],
        "-\n  a:\n  - |+\n    x\n- y\n",
    );
    check(
        "- - |+\n    x\n  -\n    a: x\n    # foot\n\n",
        &["remove [0][1]", "push . 1"],
        "- - |+\n    x\n- 1\n",
    );
}

#[test]
fn a_plain_dash_keeps_its_comma() {
    check("{-,\n b }\n", &["remove b"], "{-,\n }\n");
    check("a: {-,\nb\t}\n", &["remove a.b"], "a: {-,\n}\n");
}

#[test]
fn a_block_does_not_include_spaces_below_a_removed_entry() {
    check("a:\n  >-2\nb:\n     ", &["remove b"], "a:\n  >-2\n");
    check("a: |\n  x\nb: 1\n    \n\nc: 1\n", &["remove b"], "a: |\n  x\nc: 1\n");
    for text in [
        "a: |\n  x\nb: 1\n\nc: 1\n",
        "a: |\n   x\nb: 1\n  \n\nc: 1\n",
        "a: |-2\nb: 1\n  \nc: 1\n",
        "a: >-\nb: 1\n     \nc: 1\n",
    ] {
        check(text, &["remove b"], &text.replace("b: 1\n", ""));
    }
}

#[test]
fn comments_between_a_key_and_its_value_stay() {
    let text = "a: # key\n  # between\n\n    # deep\n  b # right\nc: 1\n";
    let kept = "a: # key\n  # between\n\n    # deep\n  x # right\nc: 1\n";
    check(text, &[r#"set a "x""#], kept);
    check("a:\n# c\n  b\nd: 1\n", &["set a 2"], "a:\n# c\n  2\nd: 1\n");
    check("- # c \n  # d \n  b\n", &["set [0] 2"], "- # c \n  # d \n  2\n");
    let block = "a:\n  # c\n  b\n";
    check(block, &[r#"set a "x\ny\n""#], "a:\n  # c\n  \"x\\ny\\n\"\n");
    check(block, &[r#"set a {"x": 1}"#], "a:\n  # c\n  x: 1\n");
    check(block, &[r#"replace a ["x"]"#], "a:\n  # c\n- x\n");
    let flow = "a:\n  # c\n  [b]\n";
    check(flow, &["set a 1"], "a:\n  # c\n  1\n");
}

#[test]
fn values_that_end_in_a_colon_stay_as_they_are() {
    let text = "a: [10.0.0.1, fd00::]  # c\nb: { c: d, ip: fd00::}\n";
    check(text, &["set b.c 1"], &text.replace("c: d", "c: 1"));
    check(text, &[r#"push a "x""#], &text.replace("::]", "::, x]"));
    check(text, &["remove a[0]"], &text.replace("10.0.0.1, ", ""));
    check(text, &["remove b.c"], &text.replace("c: d, ", ""));
    check("a: [\n  b,\n  fd00::,\n  c # d\n]\n", &["remove a[2]"], "a: [\n  b,\n  fd00::,\n]\n");
    check(
        "a: {b: c, ip: fd00::,\n  c: d} # e\n",
        &["remove a.c"],
        "a: {b: c, ip: fd00::,\n  } # e\n",
    );
    check("a: &x [b, fd00::]\nc: *x\n", &["remove a"], "c:\n- b\n- 'fd00::'\n");
}

#[test]
fn set_scalars_keep_their_style() {
    check("a: b\n", &[r#"set a "c""#], "a: c\n");
    check("&k a: x\nb: *k\n", &["set a 1"], "&k a: 1\nb: *k\n");
    check("&k a: x\nb: *k\n", &["rename a c"], "&k c: x\nb: a\n");
    check("&k a: x\nb: *k\n", &["remove a"], "b: a\n");
    check("1.10: b\n", &[r#"set [1.1] "c""#], "1.10: c\n");
    check("a: [b]#c\n", &[r#"set a "d""#], "a: d #c\n");
    check("a: [\"b\"#c\n  ]\n", &[r#"push a "d""#], "a: [\"b\", d #c\n  ]\n");
    check("a: |#c\n  b\n", &[r#"set a "d\n""#], "a: | #c\n  d\n");
    check("a: \"it\\'s\"#c\nb: 1\n", &["remove a"], "b: 1\n");
    check(
        "{\"a\": \"b\u{7f}\", \"c\": 1}",
        &[r#"set c "\u0001""#],
        "{\"a\": \"b\u{7f}\", \"c\": \"\\u0001\"}",
    );
    check("{\"a\": \"b\u{2028}\"}", &["rename a c"], "{\"c\": \"b\u{2028}\"}");
    check("a: 'b' # c\n", &[r#"set a "it's""#], "a: 'it''s' # c\n");
    check("a: \"b\"\n", &[r#"set a "c""#], "a: \"c\"\n");
    check("a: 'b'\n", &[r#"set a "x\ny""#], "a: \"x\\ny\"\n");
    check("a: b\n", &[r#"set a "true""#], "a: \"true\"\n");
    check("a: 'b'\n", &["set a 3"], "a: 3\n");
    check("a:   b   # c\n", &["set a null"], "a:   null   # c\n");
    check("a: b", &[r#"set a "c""#], "a: c");
    check("a: b\r\nc: d\r\n", &[r#"set a "x\ny\n""#], "a: |\r\n  x\r\n  y\r\nc: d\r\n");
    check("\u{feff}a: b\n", &[r#"set a "c""#], "\u{feff}a: c\n");
    check("a: >-\n  b\n  c\nd: 1\n", &[r#"set a "x\ny""#], "a: |-\n  x\n  y\nd: 1\n");
    check("a: | # why\n    b\nd: 1\n", &[r#"set a "x\n""#], "a: | # why\n    x\nd: 1\n");
    check("a: |\n  b", &[r#"set a "x""#], "a: |-\n  x");
    check("a: |\n  b", &[r#"set a "x\n""#], "a: |\n  x");
    check("a: | # c\n  b", &[r#"set a "x\n""#], "a: | # c\n  x");
    check("a: |\n  b", &[r#"set a "x\n\n""#], r#"a: "x\n\n""#);
    check("a: b", &[r#"set a "x\n""#], r#"a: "x\n""#);
    check("a:\nb: 1\n", &["set a 2"], "a: 2\nb: 1\n");
    check("a: # c\nb: 1\n", &["set a 2"], "a: 2 # c\nb: 1\n");
    check("? a\n: b\n", &[r#"set a "c""#], "? a\n: c\n");
    check("{a: b, c: [d]}\n", &[r#"set c[0] "x, y""#], "{a: b, c: ['x, y']}\n");
}

#[test]
fn text_around_a_set_scalar_still_fits() {
    // Plain text may go on after a tab, nothing else may.
    check("- b\n \t\n- c\n", &[r#"set [0] "1""#], "- \"1\"\n\n- c\n");
    check("a: b\n \t# c\n", &[r#"set a "1""#], "a: \"1\"\n  # c\n");
    check("b\n\t", &[r#"set . ["c"]"#], "- c\n");
    check("\t{}\n", &[r#"set . {"a": 1}"#], "a: 1\n");
    // A key without a colon.
    check("? a\n", &["set a 1"], "? a\n: 1\n");
    check("? a\n::b:\n", &["remove a"], "::b:\n");
    check("? a\n::b:\n", &["set a 1"], "? a\n: 1\n::b:\n");
    check("{!t\na}\n", &["set a 1"], "{a: 1}\n");
    check("[!t ]\n", &["push . 1"], "[!t , 1 ]\n");
    check("? a # c\n? b\n", &["set a 1"], "? a # c\n: 1\n? b\n");
    check("? |-\n  a", &["set a 1"], "? |-\n  a\n: 1");
    // A blank or comment after the last line of the old text.
    check("a:\n  b ", &[r#"set a "x\ny""#], "a: |-\n  x\n  y");
    check("a:\n  b # c\n", &[r#"set a "x\ny""#], "a: \"x\\ny\" # c\n");
    check("a: |\n   ", &[r#"set a "x""#], "a: \"x\"\n   ");
    // A mapping of one entry needs no braces in brackets, one of two does.
    check("[a: b]\n", &["insert [0].c 1"], "[{a: b, c: 1}]\n");
    // Lone carriage returns.
    check("# a\ra: b\r# c\rd: e\r", &["remove d"], "# a\ra: b\r");
    check("a: b\rc: d\r", &["set a 1", "insert e 2"], "a: 1\rc: d\re: 2\n");
}

#[test]
fn set_collections_keep_what_stays() {
    check(
        "a:\n  # one\n  x: 'w' # c\n  z: 1\n",
        &[r#"set a {"x": "w", "z": 2, "m": 3}"#],
        "a:\n  # one\n  x: 'w' # c\n  z: 2\n  m: 3\n",
    );
    check("a:\n  # one\n  x: 'w' # c\n", &[r#"replace a {"x": "w"}"#], "a:\n  x: w\n");
    check(
        "l:\n# one\n- name: a # c\n- name: b # d\n",
        &[r#"set l [{"name": "b"}, {"name": "c"}, {"name": "d"}]"#],
        "l:\n- name: b # d\n- name: c\n- name: d\n",
    );
    check("a: b # c\n", &[r#"set a {"x": 1}"#], "a: # c\n  x: 1\n");
    check("a: # c\n  x: 1\nb: 2\n", &["set a 3"], "a: 3 # c\nb: 2\n");
    check("a:\n- 1\n- 2\n", &["set a []"], "a: []\n");
    check("a: {x: 1}\n", &[r#"set a {"x": 2, "w": [3]}"#], "a: {x: 2, w: [3]}\n");
    check("- a\n- b\n", &[r#"set . {"x": 1}"#], "x: 1\n");
    check("a: |\n  x\n---\nb: 1\n", &["set . {}"], "{}\n---\nb: 1\n");
}

#[test]
fn entries_are_inserted_in_blocks() {
    check("a: 1\n", &["insert b 2"], "a: 1\nb: 2\n");
    check("a: 1", &["insert b 2"], "a: 1\nb: 2");
    check("a: 1\r\n", &["insert b 2"], "a: 1\r\nb: 2\r\n");
    check("a: 1\nc: 3\n", &["insert b 2 before c"], "a: 1\nb: 2\nc: 3\n");
    check("a: 1\nc: 3\n", &["insert b 2 after a"], "a: 1\nb: 2\nc: 3\n");
    check("# head\na: 1\n", &["insert b 2 before a"], "b: 2\n# head\na: 1\n");
    check("# file\n\n# head\na: 1\n", &["insert b 2 before a"], "# file\n\nb: 2\n# head\na: 1\n");
    check("- a: 1\n  c: 3\n", &["insert [0].b 2 before a"], "- b: 2\n  a: 1\n  c: 3\n");
    check("- a: 1\n- c\n", &["insert [0].b 2"], "- a: 1\n  b: 2\n- c\n");
    check(
        "a:\n    x: 1\nb: 2\n",
        &[r#"insert a.w {"z": [1]}"#],
        "a:\n    x: 1\n    w:\n        z:\n        - 1\nb: 2\n",
    );
    check(
        "a: 1 # one\n# foot\n\nb: 2\n",
        &["insert m 3 after a"],
        "a: 1 # one\n# foot\n\nm: 3\n\nb: 2\n",
    );
    check("a: 1\n# head\nb: 2\n", &["insert m 3 after a"], "a: 1\nm: 3\n# head\nb: 2\n");
    check(
        "a:\n  x: 1\n  # foot\nb: 2\n",
        &["insert m 3 after a"],
        "a:\n  x: 1\n  # foot\nm: 3\nb: 2\n",
    );
    check("a: {}\n", &["insert a.b 2"], "a:\n  b: 2\n");
    check("a: # c\n", &["insert a.b 2"], "a: # c\n  b: 2\n");
    check("a: null # c\nd: 1\n", &["insert a.b 2"], "a: # c\n  b: 2\nd: 1\n");
    check("a: ~\n", &["put a.b.c 2"], "a:\n  b:\n    c: 2\n");
    check("a: |\n  x", &["insert b 2"], "a: |\n  x\nb: 2");
    check("a: |+\n  x\n\n", &["insert b 2"], "a: |+\n  x\n\nb: 2\n");
    check("? a\n: b\n", &["insert c 2"], "? a\n: b\nc: 2\n");
    check("a: 1\n", &["insert true 2"], "a: 1\n\"true\": 2\n");
    check("a: 1\n...\n", &["insert b 2"], "a: 1\nb: 2\n...\n");
    check("a: 1\n---\nc: 3\n", &["insert b 2"], "a: 1\nb: 2\n---\nc: 3\n");
}

#[test]
fn entries_are_inserted_in_braces() {
    check("{a: 1}\n", &["insert b 2"], "{a: 1, b: 2}\n");
    check("{a: 1}\n", &["insert b 2 before a"], "{b: 2, a: 1}\n");
    check("a: {x: {}}\n", &["insert a.x.w 2"], "a: {x: {w: 2}}\n");
    check("{\"a\": 1}", &[r#"insert b "c""#], "{\"a\": 1, \"b\": \"c\"}");
    check("{\"a\":1}", &[r#"insert b ["c",1]"#], "{\"a\":1,\"b\":[\"c\",1]}");
    check("{\"a\": 1}", &[r#"set a "b""#], "{\"a\": \"b\"}");
    check("[\"a\"]", &[r#"push . "b""#], "[\"a\", \"b\"]");
    check(
        "{\n  \"a\": 1\n}\n",
        &[r#"insert b {"c": []}"#],
        "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": []\n  }\n}\n",
    );
    check(
        "{\n\t\"a\": 1,\n\t\"c\": 3\n}\n",
        &["insert b 2 after a"],
        "{\n\t\"a\": 1,\n\t\"b\": 2,\n\t\"c\": 3\n}\n",
    );
    check(
        "{\n  \"a\": 1\n}\n",
        &["insert b 2 before a", "insert c 3", "insert d 4"],
        "{\n  \"b\": 2,\n  \"a\": 1,\n  \"c\": 3,\n  \"d\": 4\n}\n",
    );
    check(
        "a: [\n  b, # one\n  c # two\n]\n",
        &[r#"push a "d""#, r#"item a[1] "m""#],
        "a: [\n  b, # one\n  m,\n  c, # two\n  d\n]\n",
    );
    check("a: [b,]\n", &[r#"push a "d""#], "a: [b, d,]\n");
    check("a: {x}\n", &["insert a.w 1"], "a: {x, w: 1}\n");
    check("a: []\n", &[r#"push a "d""#], "a:\n- d\n");
}

#[test]
fn removed_entries_take_their_comments() {
    check("a: 1\nb: 2\n", &["remove a"], "b: 2\n");
    check("a: 1\nb: 2", &["remove b"], "a: 1\n");
    check("a: 1\n# head\nb: 2 # line\nc: 3\n", &["remove b"], "a: 1\nc: 3\n");
    check("a: 1\n\n# apart\n\nb: 2\nc: 3\n", &["remove b"], "a: 1\n\n# apart\n\nc: 3\n");
    check("a: 1\n# foot\n\nb: 2\n", &["remove a"], "\nb: 2\n");
    check("a: 1\n# head\nb: 2\n", &["remove a"], "# head\nb: 2\n");
    check("a:\n  x: 1\n  # deeper\nb: 2\n", &["remove a"], "b: 2\n");
    check("t: |\n  x\na: 1\n    # deeper\nb: 2\n", &["remove a"], "t: |\n  x\nb: 2\n");
    check("t: |+\n  x\n# head\na: 1\n\nb: 2\n", &["remove a"], "t: |+\n  x\nb: 2\n");
    check("[\n \"x\n # y\",\n b,\n c\n]\n", &["remove [1]"], "[\n \"x\n # y\",\n c\n]\n");
    check("- a: 1\n  b: 2\n", &["remove [0].a"], "- b: 2\n");
    check("- a: 1\n\n  b: 2\n", &["remove [0].a"], "- b: 2\n");
    check("- a: 1\n  # head\n  b: 2\n", &["remove [0].a"], "- # head\n  b: 2\n");
    check("- - a\n  - b\n", &["remove [0][0]"], "- - b\n");
    check("-   a: 1\n    b: 2\n", &["remove [0].a"], "-   b: 2\n");
    check("? a\n: - 1\n  - 2\nb: 1\n", &["remove a[0]"], "? a\n: - 2\nb: 1\n");
    check("a:\n  # head\n  x: 1\n  # foot\nb: 2\n", &["remove a.x"], "a: {}\nb: 2\n");
    check("a:\n- 1 # one\nb: 2\n", &["remove a[0]"], "a: []\nb: 2\n");
    check("a: 1\r\n# h\r\nb: 2\r\n", &["remove b"], "a: 1\r\n");
    check("a: 1\nb: |\n  x\n\nc: 3\n", &["remove b"], "a: 1\n\nc: 3\n");
}

#[test]
fn entries_are_removed_from_braces() {
    check("{a: 1, b: 2}\n", &["remove a"], "{b: 2}\n");
    check("{a: 1, b: 2}\n", &["remove b"], "{a: 1}\n");
    check("{a: 1}\n", &["remove a"], "{}\n");
    check("a: [b, c,]\n", &["remove a[1]"], "a: [b,]\n");
    check("{\n  \"a\": 1,\n  \"b\": 2\n}\n", &["remove a"], "{\n  \"b\": 2\n}\n");
    check("{\n  \"a\": 1,\n  \"b\": 2\n}\n", &["remove b"], "{\n  \"a\": 1\n}\n");
    check("a: [\n  b, # one\n  # head\n  c # two\n]\n", &["remove a[1]"], "a: [\n  b # one\n]\n");
    check(
        "a: [\n  # head\n  b, # one\n  # c\n  c # two\n]\n",
        &["remove a[0]"],
        "a: [\n  # c\n  c # two\n]\n",
    );
    check(
        "{\n  \"a\": 1,\n  \"b\": 2\n}\n",
        &["remove b", "insert c 3"],
        "{\n  \"a\": 1,\n  \"c\": 3\n}\n",
    );
}

#[test]
fn keys_are_renamed() {
    check("a: 1 # c\n", &["rename a b"], "b: 1 # c\n");
    check("'a': 1\n", &["rename a b"], "'b': 1\n");
    check("{\"a\": 1}", &["rename a b"], "{\"b\": 1}");
    check("{a: 1}\n", &["rename a b"], "{b: 1}\n");
    check("a: 1\n", &["rename a true"], "\"true\": 1\n");
    check("? a\n: 1\n", &["rename a b"], "? b\n: 1\n");
    check("a:\n  x: 1\n", &["rename a b", "set b.x 2"], "b:\n  x: 2\n");
}

#[test]
fn items_are_pushed_inserted_and_removed() {
    check("a:\n- x\n", &[r#"push a "w""#], "a:\n- x\n- w\n");
    check("a:\n  - x\n", &[r#"push a {"w": 1, "z": 2}"#], "a:\n  - x\n  - w: 1\n    z: 2\n");
    check("a:\n- x\nb: 1\n", &["push a [1, 2]"], "a:\n- x\n- - 1\n  - 2\nb: 1\n");
    check("a:\nb: 1\n", &["push a 1"], "a:\n- 1\nb: 1\n");
    check("- - a\n  - b\n", &[r#"push [0] "c""#], "- - a\n  - b\n  - c\n");
    check("- - a\n", &[r#"item [0][0] "c""#], "- - c\n  - a\n");
    check("- a\n- b\n- c\n", &["remove [1]", "remove [1]"], "- a\n");
    check("- a\n# b\n- b\n", &[r#"item [1] "m""#], "- a\n- m\n# b\n- b\n");
    check("- a\n- b\n", &["remove [0]", r#"item [0] "m""#], "- m\n- b\n");
    check("- - a\n  - b\n", &["remove [0][0]", r#"item [0][0] "m""#], "- - m\n  - b\n");
}

#[test]
fn aliases_and_merges_are_written_out_where_they_change() {
    check("a: &x 1\nb: *x\n", &["set b 2"], "a: &x 1\nb: 2\n");
    check("a: &x 1\nb: *x\n", &["set a 2"], "a: 2\nb: 1\n");
    check("a: &x\n  k: 1\nb: *x\nc: 3\n", &["set c 4"], "a: &x\n  k: 1\nb: *x\nc: 4\n");
    check("a: &x\n  k: 1\nb: *x\n", &["insert b.l 2"], "a: &x\n  k: 1\nb:\n  k: 1\n  l: 2\n");
    check("a: &x {k: 1}\nb: *x\n", &["remove a"], "b:\n  k: 1\n");
    check(
        "a: &x {k: 1}\nb:\n  <<: *x\n  l: 2\n",
        &["set b.k 3"],
        "a: &x {k: 1}\nb:\n  k: 3\n  l: 2\n",
    );
    check(
        "a: &x {k: 1}\nb:\n  <<: *x\n  l: 2\nc: 3\n",
        &["set c 4"],
        "a: &x {k: 1}\nb:\n  <<: *x\n  l: 2\nc: 4\n",
    );
}

#[test]
fn operations_follow_one_another() {
    check(
        "a: 1\n",
        &["put b.c 1", "put b.d []", "push b.d 2", "push b.d 3", "remove b.d[0]", "rename b.c x"],
        "a: 1\nb:\n  x: 1\n  d:\n  - 3\n",
    );
    check(
        "a: # c\n- b: 'x' # d\n",
        &["rename a e", "set e[0].b \"z\"", "insert e[0].f 1", "item e[0] 0", "remove e[1].b"],
        "e: # c\n- 0\n- f: 1\n",
    );
    check("a: 1\n", &["insert b 2", "remove b"], "a: 1\n");
    check("a: |+\n  x\nb: 2", &["remove b", "insert c 3"], "a: |+\n  x\nc: 3\n");
    check("- a\n- b\n\n# c\n", &["remove [1]", r#"set [0] "p\n\n""#], "- \"p\\n\\n\"\n\n# c\n");
    check("a: 'x'\n", &["set a 2", "set a \"y\""], "a: 'y'\n");
}

#[test]
fn what_cannot_be_done_is_an_error() {
    check_error("a: 1\n", &["set b 2"], "error: test:1:1: `b` does not exist");
    check_error(
        "replicas: 1\n",
        &["set replica 2"],
        "error: test:1:1: `replica` does not exist\n  help: did you mean `replicas`?",
    );
    check_error("a: 1\n", &["set a.b 2"], "error: test:1:4: `a` is a number, expected a mapping");
    check_error("a: 1\n", &["push a 2"], "error: test:1:4: `a` is a number, expected a list");
    check_error("a: 1\n", &["insert a 2"], "error: test:1:4: `a` already exists");
    check_error("a: 1\nb: 2\n", &["rename a b"], "error: test:2:4: `b` already exists");
    check_error(
        "a: [1]\n",
        &["remove a[1]"],
        "error: test:1:4: `a[1]` does not exist\n  help: the list has 1 items, counted from 0",
    );
    check_error(
        "a:\n  b: 1\n",
        &["remove a", "set a.b 2"],
        "error: test:1:1: `a` does not exist\n  help: an edit before this one removed or renamed it",
    );
    check_error(
        "a: 1\n",
        &["remove ."],
        "error: test:1:1: the object cannot be removed: it is the whole value",
    );
    check_error("a: 1\n", &["insert b 2 before c"], "error: test:1:1: `c` does not exist");
    check_error(
        "a: 1\na: 2\n",
        &["set a 3"],
        "error: test:2:1: duplicate mapping key `a`\n  help: remove one of the two",
    );
}

#[test]
fn an_alias_outside_of_the_edited_node_is_an_error() {
    let document = Document::parse(&Source::new("test", "- &x {a: 1}\n- *x\n")).unwrap();
    let first = document.roots().next().unwrap().children().next().unwrap();
    let mut editor = Editor::new(first).unwrap();
    apply(&mut editor, "set a 2").unwrap();
    assert_eq!(
        editor.finish().unwrap_err().to_string(),
        "error: test:2:3: `*x` refers to a value that is changed elsewhere\n  help: write out the value of the alias"
    );
}

#[test]
fn a_long_key_in_braces_gets_a_question_mark() {
    let key = "k".repeat(1_025);
    for (before, old) in [("a: {b: 1}\n", "b"), ("- {x: {'b': 1}}\n", "b")] {
        let document = Document::parse(&Source::new("test", before)).unwrap();
        let root = document.roots().next().unwrap();
        let mut editor = Editor::new(root).unwrap();
        let path = if before.starts_with('-') {
            FieldPath::root().index(0).key("x")
        } else {
            FieldPath::root().key("a")
        };
        editor.rename(&path.clone().key(old), &key).unwrap();
        let other = path.key(format!("{key}2"));
        editor.insert(&other, "v", Spot::End).unwrap();
        let text = editor.finish().unwrap().to_string();
        assert_eq!(text.matches("? ").count(), 2, "{text}");
    }
}

#[test]
fn a_byte_order_mark_begins_the_first_line() {
    check("\u{feff}a: b\n# c\nd: e\n", &["remove a"], "\u{feff}# c\nd: e\n");
}
