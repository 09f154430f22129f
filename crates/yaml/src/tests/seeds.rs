//! Small texts at the edges of the fast paths.

use super::{compare, compare_variants};
use crate::limits::MAX_DEPTH;
use crate::read::characters::Characters;
use crate::read::document::Document;
use crate::read::text::fast;
use crate::source::Source;

/// Both paths agree on the text, and the fast path reads it.
#[track_caller]
fn takes(text: &str) {
    assert_eq!(compare(text), Ok(true), "{text:?}");
    compare_variants(text).unwrap();
}

#[track_caller]
fn leaves(text: &str) {
    assert!(fast(text, Characters::Any).is_none(), "{text:?}");
    compare_variants(text).unwrap();
}

#[test]
fn reads_yaml_of_kubernetes_tools() {
    takes("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n");
    takes("a:\n- b\n- c:\n  - d\n- e: f\n  g: h\ni: j\n");
    takes("a:\n  - b\n  -   wide: c\n      d: e\n  - - f\n    - g\n  -\n    h: i\n");
    takes("- # c\n  a: b\n# c\n\n- a: # d\n    b\n");
    takes("a:\nb: # c\nc:\n  d:\ne:\n-\n- f:\n");
    takes(
        "a: {cpu: 100m, memory: 128Mi}\nb: [\"--port=8080\", -x, --y, nginx:1.2]\nc: {}\nd: [ ]\n",
    );
    takes("a: {\"b\":1, 'c': [[], {d: \"e\"}]} # f\n");
    takes("a: \"b\\\"\\n\\u00e9\" # c\n'd''e' : 'f'\n\"g\":\n  h: i\n");
    takes("a b : c  \n-d: http://e/f#g\nh: a'b\"c # d\n\"\": ''\n");
    takes("---\na: b\n---\n- c\n--- # d\ne: f\n");
    takes("");
    takes("# nothing\n\n");
    takes("\u{feff}# c\n- a\n");
}

#[test]
fn reads_block_scalars() {
    takes("a: |\n  b\n   c: d\n\n  # e\nf: g\n");
    takes("a: >-\n  b\n\n\nc: |+\n  d\n\n\ne: |2\n   f\ng: |-1 # h\n  i\n");
    takes("- |\n a\n- - >\n   b\n  - c: |\n      d\n    e: f\n");
    takes("a: |\nb: |+\n\nc:\n- |\n- d\n");
    takes("a: |\n  ---\n  \ttab\n  \"'{[\n");
    takes("a: |\n  b");
}

#[test]
fn reads_plain_text_of_several_lines() {
    takes("a: b\n  c\n\n  - d \"e # f\ng: h\n");
    takes("- a\n b\n-\n  c\n  d\ne:\n".replace("e:\n", "").as_str());
    takes("a:\n  b\n c\nd: e\n");
}

#[test]
fn reads_quoted_text_of_several_lines() {
    takes("a: \"b\n  c\"\nd: 'e\n\n\n f' # g\n");
    takes("- \"a\n\n  b: c\n  - d\"\n- 'e\n  ''\n  '\n-\n  'f\n  # g'\n");
    takes("a: \"b\\\n  \\ c\\n\\\n\n  d\"\n");
    for text in [
        "a: \"b\nc\"\n",
        "a: 'b\n---\n c'\n",
        "a: \"b\n\tc\"\n",
        "a: \"b\t\n c\"\n",
        "a: 'b\n  c': d\n",
        "\"a\n b\": c\n",
        "- 'a\n  b': c\n",
        "a: \"b\n  c\" d\n",
        "a: 'b\n c\n",
        "a: \"b\n  \\q\"\n",
        "a: ['b\n c']\n",
        "a:\n- 'b\nc'\n",
        "- a: 'b\n  c'\n",
    ] {
        leaves(text);
    }
}

#[test]
fn leaves_what_needs_more_than_a_line() {
    for text in [
        "a: [b,\n  c]\n",
        "a: {\n  b: c}\n",
        "? a\n: b\n",
        "a: &b c\n",
        "a: *b\n",
        "a: !!str b\n",
        "&a b: c\n",
        "%YAML 1.2\n---\na: b\n",
        "a: b\n...\n",
        "--- a\n",
        "a\n",
        "\"a\"\n",
        "--- |\n  a\n",
        "---\n",
        "a: b\n---\n",
    ] {
        leaves(text);
    }
}

#[test]
fn leaves_what_readers_differ_on() {
    for text in [
        "a:\tb\n",
        "-\ta\n",
        "\ta: b\n",
        "a: b\t\n",
        "a: b\tc\n",
        "a:\n\t\n",
        "a: b\rc: d\n",
        "a: b\u{85}c\n",
        "a: b\u{2028}c\n",
        "a: \u{feff}b\n",
        "a: \u{80}\n",
        "a: \u{fffe}\n",
        "a: é\u{9f}",
        ": a\n",
        "a: {b:}\n",
        "a: {b: }\n",
        "a: {b}\n",
        "a: [b,]\n",
        "a: [b: c]\n",
        "a: [b?c]\n",
        "a: [?b]\n",
        "a: {b: c, ${D}: e}\n",
        "a: {{b}}\n",
        "a: \"\\'\"\n",
        "a: \"\\/\"\n",
        "a: \"\\ud83d\\ude00\"\n",
        "a: |\n\t\n  b\n",
        "a: |\n    \n  b\n",
        "a: |2\n b\n",
        "a: |2\n # b\n",
        "a:\n  |\n  b\n",
    ] {
        leaves(text);
    }
}

#[test]
fn leaves_what_is_wrong() {
    for text in [
        "a: b: c\n",
        "a: b:\n",
        "a: - b\n",
        "a: -\n",
        "a: b\nc\n",
        "a: b\n  c: d\n",
        "a:\n   b: c\n  d: e\n",
        " a: b\nc: d\n",
        "- a\nb: c\n",
        "a: b\n- c\n",
        "a: \"b\" c\n",
        "a: 'b'c\n",
        "a: \"b\"#c\n",
        "a: [b] c\n",
        "a: [b\n",
        "a: b]\n  c: d\n",
        "a: {b: c]\n",
        "a: [b}\n",
        "a: [b,,c]\n",
        "a: [,b]\n",
        "a: @b\n",
        "a: `b\n",
        "a: %b\n",
        "a: ,b\n",
        "a: ]\n",
        "a: }\n",
        "a: \"\\q\"\n",
        "a: \"\\x1\"\n",
        "a: \"\\U00110000\"\n",
        "a: b #c\n  d\n",
        "a: b\n# c\n  d\n",
        "a: ||\n",
        "a: |0\n",
        "a: |#b\n",
        "a: |++\n",
        "a: |12\n",
        "a: \"b\n",
        "a: 'b\n",
        "a: b\n%c: d\n",
        "- - a\n - b\n",
        "a: \"b\": c\n",
        "\"a\":b\n",
        "a:b\n",
    ] {
        leaves(text);
    }
}

#[test]
fn keys_are_as_long_as_all_readers_let_them_be() {
    for (length, taken) in [(1_000, true), (1_020, false), (1_030, false)] {
        let key = "k".repeat(length);
        let quoted = "k".repeat(length - 2);
        for text in [
            format!("{key}: a\n"),
            format!("- \"{quoted}\": a\n"),
            format!("a: {{{key}: b}}\n"),
            format!("a: {{'{quoted}': b}}\n"),
        ] {
            assert_eq!(compare(&text), Ok(taken));
        }
    }
    let long = "word ".repeat(1_000);
    takes(&format!("- {long}\n- '{long}'\n- [{long}, {long}]\n- {{a: {long}}}\n- |\n  {long}\n"));
    takes(&format!("a:\n  {long}\nb:\n  \"{long}\"\nc:\n  [{long}]\n"));
}

#[test]
fn nesting_is_as_deep_as_on_the_full_path() {
    for depth in [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1] {
        let taken = depth <= MAX_DEPTH;
        assert_eq!(compare(&format!("{}a\n", "- ".repeat(depth))), Ok(taken), "{depth}");
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        assert_eq!(compare(&format!("{open}{close}")), Ok(taken), "{depth}");
        let text = format!("{}1{}", "{\"a\": ".repeat(depth), "}".repeat(depth));
        assert_eq!(compare(&text), Ok(taken), "{depth}");
        let (dashes, open) = ("- ".repeat(600), "[".repeat(depth - 600));
        let text = format!("{dashes}{open}{}\n", "]".repeat(depth - 600));
        assert_eq!(compare(&text), Ok(taken), "{depth}");
        let document = Document::parse(&Source::new("test", text));
        assert_eq!(document.is_ok(), taken, "{depth}");
    }
}

#[test]
fn reads_json() {
    takes("{\"a\":1,\"b\":[true,false,null,-0.5e+10,\"\\u00e9\\/\\ud83d\\ude00\"],\"c\":{}}");
    takes("[\n\t{\"a\" : \"b\"},\n\t[ ]\n]\n");
    takes("\u{feff}  {\"a\":\r\n  {}}\r\n");
    takes("\t{}\t\r\r  \n");
}

#[test]
fn reads_several_json_texts() {
    takes("{\"a\":1}{\"b\":{}}\n{}\n\n\t{\"c\": [{}]}\n");
    takes("\u{feff}{} {}");
    takes("[1]\n{}[\"a\"]\"b\" null 1\r\n");
    for text in [
        "1\n{}",
        "{} 1{}",
        "{} truefalse",
        "{},{}",
        "{}\n{",
        "{}\n{a: 1}",
        "{}\n# c\n{}",
        "{}\n---\n{}",
        "{}\n{}\n\t\n",
    ] {
        leaves(text);
    }
}

#[test]
fn leaves_what_is_yaml_in_braces() {
    for text in [
        "{a: 1}",
        "{\"a\": b}",
        "[1,]",
        "[1] # c",
        "[1]\n---\n[2]",
        "[01]",
        "[1.]",
        "[.5]",
        "[+1]",
        "[tru]",
        "['a']",
        "{\"a\"\n: 1}",
        "[\"a\tb\"]",
        "[\"\\x41\"]",
        "[1 2]",
        "[1",
        "{\"a\"}",
        "{\"a\":}",
        "[}",
        "{1: 2}",
        "[\"a\nb\"]",
        "[\"\\u00g0\"]",
        "[-]",
        "[1]]",
        "[1e]",
        "{}\n\t",
        "  {}\r\r\t\n",
        "[1]\r\n \t\r\n",
    ] {
        leaves(text);
    }
}
