//! The meaning of texts to PyYAML 6.0.3: each value was printed by `json.dumps(yaml.safe_load(…))`.

use crate::diagnostic::Diagnostics;
use crate::read::document::Document;
use crate::read::values::{DuplicateKeys, Words};
use crate::source::Source;

/// The first document as JSON, and the warnings.
fn read(text: &str) -> (String, Vec<String>) {
    let document = Document::parse(&Source::new("test", text)).unwrap();
    let mut diagnostics = Diagnostics::new();
    let root = document.roots().next().unwrap();
    let value = root.value_with(DuplicateKeys::LastWins, Words::PyYaml, &mut diagnostics);
    let warnings = diagnostics.iter().map(|one| one.message.clone());
    (value.unwrap().to_json(), warnings.collect())
}

#[track_caller]
fn means(text: &str, json: &str) {
    let (found, warnings) = read(text);
    assert_eq!(found, json, "{text:?}");
    assert!(warnings.is_empty(), "{text:?}: {warnings:?}");
}

#[test]
fn scalars_are_those_of_yaml_1_1_as_pyyaml_reads_it() {
    means("a: y\nb: yes\nc: 1:30", r#"{"a":"y","b":true,"c":90}"#);
    means("a: 1e3\nb: 08\nc: 0o17", r#"{"a":"1e3","b":"08","c":"0o17"}"#);
    means("a: 0644\nb: 1_000\nc: 1.", r#"{"a":420,"b":1000,"c":1.0}"#);
    means("a: 2020-01-01", r#"{"a":"2020-01-01"}"#);
    means("a: 'yes'\nb: \"1\"", r#"{"a":"yes","b":"1"}"#);
    means("a: !!str 1:30\nb: !!int '5'", r#"{"a":"1:30","b":5}"#);
    means("a:\nb: ~", r#"{"a":null,"b":null}"#);
}

#[test]
fn keys_are_the_text_of_what_they_mean() {
    means("1: a\nyes: b\n~: c\ny: d", r#"{"1":"a","true":"b","null":"c","y":"d"}"#);
    means("0x10: a\n1:30: b\n'0x10': c", r#"{"16":"a","90":"b","0x10":"c"}"#);
}

#[test]
fn merge_keys_and_aliases_are_copies() {
    means("a: &a {x: 1}\nb: *a", r#"{"a":{"x":1},"b":{"x":1}}"#);
    means("a: &a {x: 1, y: 1}\nb:\n  <<: *a\n  y: 2", r#"{"a":{"x":1,"y":1},"b":{"x":1,"y":2}}"#);
    means("<<: [{a: 1}, {a: 2, b: 3}]", r#"{"a":1,"b":3}"#);
    means("a: &x yes\nb: *x", r#"{"a":true,"b":true}"#);
}

#[test]
fn of_equal_keys_the_last_one_counts() {
    let (json, warnings) = read("a: 1\nb: 2\na: 3");
    assert_eq!(json, r#"{"a":3,"b":2}"#);
    assert_eq!(warnings, ["duplicate mapping key `a`"]);
}

#[test]
fn the_end_of_the_text_adds_no_line_break() {
    means("a: |\n    x", r#"{"a":"x"}"#);
    means("a: |+\n    x", r#"{"a":"x"}"#);
    means("a: |-\n    x", r#"{"a":"x"}"#);
    means("a: |\n    x\n", r#"{"a":"x\n"}"#);
    means("a: |\n    x\n    ", r#"{"a":"x\n"}"#);
    means("a: |\n    x\n     ", r#"{"a":"x\n "}"#);
    means("a: >\n    x\n    y", r#"{"a":"x y"}"#);
    means("a: |\n  x\nb: 1", r#"{"a":"x\n","b":1}"#);
}
