//! The style of kustomize; all texts are what `kubectl kustomize` 1.37 prints.

use std::sync::Arc;

use crate::resources::print::print_as_kustomize;
use crate::resources::resource::Resource;
use krm_yaml::Document;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;

/// An object in the style of kustomize.
fn styled(text: &str) -> String {
    let document = Arc::new(Document::parse(&Source::new("a.yaml", text)).unwrap());
    let node = document.roots().next().unwrap().id();
    let resource = Resource::read(&document, node, &mut Diagnostics::new()).unwrap();
    print_as_kustomize(&resource)
}

/// Compares how values are printed below a key.
fn check(cases: &[(&str, &str)]) {
    for (value, expected) in cases {
        let printed = styled(&format!("{{texts: {{a: {value}}}}}"));
        assert_eq!(printed, format!("texts:\n  a: {expected}\n"), "{value}");
    }
}

#[test]
fn keys_have_their_natural_order() {
    let keys = [
        "\"\"", "'- x'", "\"~\"", "1-", "\"1.5\"", "\"9\"", "\"10\"", "Z", "a-1", "a/1", "a_1",
        "a0", "a00", "a1", "a1-c", "a1.c", "a1_", "a1b", "a01", "a001", "'k: v'", "\"on\"", "q3",
        "x.0", "x.00", "x0", "x00", "x1", "x10", "x010", "z", "é",
    ];
    let expected = keys.map(|key| format!("{key}: v\n")).concat();
    let reversed: Vec<String> = keys.iter().rev().map(|key| format!("{key}: v\n")).collect();
    let reversed = reversed.concat();
    assert_eq!(styled(&reversed), expected);
    assert_eq!(styled("a1b: v\na10: v\n"), "a10: v\na1b: v\n");
    // An order with a cycle does not fail.
    let cycles: Vec<String> = (0..99).map(|n| format!("a{n}: v\na{n}b: v\n")).collect();
    let cycles = cycles.concat();
    assert_eq!(styled(&cycles).lines().count(), 198);
}

#[test]
fn blocks_are_indented_by_two_and_items_are_not() {
    let text = "# comment\nb: [[1, [2, []]], {}, {a: [1, {b: []}]}, null, true] # comment\na: {}\n";
    let expected =
        "a: {}\nb:\n- - 1\n  - - 2\n    - []\n- {}\n- a:\n  - 1\n  - b: []\n- null\n- true\n";
    assert_eq!(styled(text), expected);
    let (long, longer) = ("l".repeat(128), "m".repeat(129));
    let text = format!("{longer}: [1, 2]\n{long}: v\n\"n\\nn\": {{a: 1, b: 2}}\n");
    let expected = format!("{long}: v\n? {longer}\n: - 1\n  - 2\n? |-\n  n\n  n\n: a: 1\n  b: 2\n");
    assert_eq!(styled(&text), expected);
}

#[test]
fn numbers_are_spelled_as_in_go() {
    check(&[
        ("1.10", "1.1"),
        ("1.0", "1"),
        ("1e3", "1000"),
        ("1e20", "1e+20"),
        ("0.0000001", "1e-07"),
        ("0.00001", "1e-05"),
        ("123456789.5", "1.234567895e+08"),
        ("1234567.5", "1.2345675e+06"),
        ("100000.5", "100000.5"),
        ("-0.0", "0"),
        ("12345678901234567890", "12345678901234567890"),
        ("123456789012345678901", "1.2345678901234568e+20"),
        ("9007199254740993", "9007199254740993"),
    ]);
}

#[test]
fn what_another_type_would_be_read_from_is_double_quoted() {
    for text in [
        "",
        "~",
        "NULL",
        "y",
        "No",
        "off",
        "True",
        "010",
        "09",
        "1e3",
        ".5",
        "0x1F",
        "0o7",
        "0b11",
        "0b-11",
        "1_000",
        "+1",
        "1.",
        ".inf",
        "1:30",
        "190:20:30.15",
        "2001-1-1",
        "2001-01-01 1:2:3",
        "18446744073709551616",
    ] {
        let quoted = format!("\"{text}\"");
        check(&[(&quoted, &quoted)]);
    }
    for text in [
        "=",
        "<<",
        "nO",
        ".",
        "+",
        "._5",
        "0x",
        "0o8",
        "1:60",
        "1:2:3_",
        "2001-13-1",
        "nan",
        "1e999",
        "2001-01-01T1:2:3",
        "0xFFFFFFFFFFFFFFFFF",
        "_1",
        "a#",
        "a\\\\b",
        "a,b",
        "-a",
        ":a",
        "?a",
    ] {
        check(&[(&format!("\"{text}\""), &text.replace("\\\\", "\\"))]);
    }
}

#[test]
fn what_needs_quotes_is_single_quoted() {
    for text in [
        "- a", "a: b", "a #b", "---x", "...", "? a", ": a", "-", " ", "!a", "&", "%", "@a", "`",
        "|", "> a", "#", "a:", "[a", "{{ x }}", "*", "' a'",
    ] {
        let expected = format!("'{}'", text.replace('\'', "''"));
        check(&[(&format!("\"{text}\""), &expected)]);
    }
    check(&[("\"it's\"", "it's"), ("\"it's: so\"", "'it''s: so'")]);
    check(&[("\"a\\u2028b\"", "'a\u{2028}    b'")]);
}

#[test]
fn what_cannot_be_seen_is_escaped() {
    check(&[
        (r#""é\U0001F600 x""#, r#""é\U0001F600 x""#),
        (r#""\u00a0x""#, "\u{a0}x"),
        (r#""\ufeffx""#, r#""\uFEFF\x78""#),
        (r#""x\ufeffy""#, r#""x\uFEFFy""#),
        (r#""\u0007""#, r#""\a""#),
        (r#""a\r\nb""#, r#""a\r\nb""#),
        (r#""a\tb\nc""#, r#""a\tb\nc""#),
        (r#""a\u2028 b""#, "\"a\\L b\""),
    ]);
}

#[test]
fn several_lines_are_a_literal_block() {
    check(&[
        (r#""a\nb\n""#, "|\n    a\n    b"),
        (r#""a\nb""#, "|-\n    a\n    b"),
        (r#""  a\nb""#, "|2-\n      a\n    b"),
        (r#""\n a""#, "|2-\n\n     a"),
        (r#""a \nb""#, r#""a \nb""#),
        (r#""a\n ""#, r#""a\n ""#),
        (r##""#a\nb""##, "|-\n    #a\n    b"),
    ]);
    assert_eq!(styled("{a: \"x\\n\\n\", b: \"\\n\"}"), "a: |+\n  x\n\nb: |2+\n\n");
}

#[test]
fn long_lines_are_folded_at_a_space() {
    let (words, fewer) = ("word ".repeat(16), "word ".repeat(15));
    let (head, short) = (words.trim_end(), fewer.trim_end());
    check(&[
        (&format!("{words}end"), &format!("{head}\n    end")),
        (&format!("'{words}end: '"), &format!("'{head}\n    end: '")),
        (&format!("\"\\t{fewer}e\""), &format!("\"\\t{short}\n    e\"")),
        (&format!("\"\\t{fewer} e\""), &format!("\"\\t{short}\n    \\ e\"")),
        (&format!("'{words} end'"), &format!("{words} end")),
    ]);
}

#[test]
fn folded_texts_have_the_line_breaks_that_kustomize_adds() {
    let text = "x: >\n  {\n    \"id\": 1\n  }\ny: >-\n  one\n  two\n\n  three\n   four\n";
    let expected = "x: |\n  {\n\n    \"id\": 1\n  }\n\"y\": |-\n  one two\n  three\n\n   four\n";
    assert_eq!(styled(text), expected);
}
