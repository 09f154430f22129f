//! Schemas and properties. The expected texts are those of the original's own checks,
//! run with Python's jsonschema 3.2.0.

use std::cell::Cell;

use krm_yaml::Value;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;

use crate::model::Options;
use crate::request;
use crate::schema::checker::{Checker, Finding};
use crate::schema::clock::Clock;
use crate::schema::problem::Problem;
use crate::schema::{Invalid, Schemas};
use crate::yaml::{self, Located};

/// The properties as JSON, or the text of the original.
fn check(schema: &str, properties: &str) -> String {
    let options = Options { validate_schema: true, strict_schemas: true, outputs: false };
    let json = serde_json::json!({
        "content": "",
        "imports": {"t.schema": {"path": "t.schema", "content": schema}},
    });
    let request = request::of_value(&Value::from(json), options).unwrap();
    let source = Source::new("config.yaml", properties);
    let parsed = yaml::read(&source, &mut Diagnostics::new()).unwrap();
    let resource = Value::mapping(vec![("properties".into(), parsed.value)]);
    let located = Located { value: &resource, document: None };
    match Schemas::new(&request.imports, true, None).check("t.schema", "t", located) {
        Ok(checked) => checked.properties.to_json(),
        Err(invalid) => invalid.text,
    }
}

#[track_caller]
fn refuses(schema: &str, properties: &str, lines: &[&str]) {
    let expected = format!("Invalid properties for 't':\n{}", lines.join("\n"));
    assert_eq!(check(schema, properties), expected, "{schema}");
}

#[track_caller]
fn refuses_schema(schema: &str, lines: &[&str]) {
    let expected = format!("Invalid schema 't.schema':\n{}", lines.join("\n"));
    assert_eq!(check(schema, "{a: 1}"), expected, "{schema}");
}

#[track_caller]
fn gives(schema: &str, properties: &str, json: &str) {
    assert_eq!(check(schema, properties), json, "{schema}");
}

#[test]
fn patterns_are_regular_expressions_of_python() {
    let schema = "properties: {a: {pattern: '^(?P<q>x)y\\Z'}}";
    gives(schema, "{a: xy}", r#"{"a":"xy"}"#);
    let line = r"'xy\n' does not match '^(?P<q>x)y\\Z' at ['a']";
    refuses(schema, r#"{a: "xy\n"}"#, &[line]);
    let schema = "properties: {a: {pattern: '^x$'}}";
    gives(schema, r#"{a: "x\n"}"#, r#"{"a":"x\n"}"#);
    let schema = "patternProperties: {'^a$': {type: string}}";
    refuses(schema, "{a: 1}", &["1 is not of type 'string' at ['a']"]);
}

#[test]
fn patterns_with_lookahead_select_defaults() {
    let schema = "patternProperties: {'^(?!b)': {properties: {n: {default: 1}}}}";
    gives(schema, "{a: {}, b: {}}", r#"{"a":{"n":1},"b":{}}"#);
}

#[test]
fn multiples_of_floats_are_computed_as_python_computes_them() {
    let schema = "properties: {a: {multipleOf: 0.1}}";
    gives(schema, "{a: 0.2}", r#"{"a":0.2}"#);
    refuses(schema, "{a: 0.3}", &["0.3 is not a multiple of 0.1 at ['a']"]);
    let schema = "properties: {a: {multipleOf: 2}}";
    gives(schema, "{a: 4.0}", r#"{"a":4.0}"#);
    refuses(schema, "{a: 5}", &["5 is not a multiple of 2 at ['a']"]);
}

#[test]
fn a_float_with_an_exponent_is_not_an_integer() {
    let line = "1.5e+300 is not of type 'integer' at ['a']";
    refuses("properties: {a: {type: integer}}", "{a: 1.5e+300}", &[line]);
}

#[test]
fn each_property_that_needs_a_missing_one_has_a_line() {
    refuses(
        "dependencies: {a: [b, c], b: [c]}",
        "{a: 1, b: 2}",
        &["'c' is a dependency of 'a'", "'c' is a dependency of 'b'"],
    );
}

#[test]
fn a_schema_that_is_used_twice_has_its_lines_twice() {
    let schema = "definitions: {d: {type: array}}\n\
                  allOf: [{$ref: '#/definitions/d'}, {$ref: '#/definitions/d'}]";
    let line = "{'a': 1} is not of type 'array'";
    refuses(schema, "{a: 1}", &[line, line]);
}

#[test]
fn empty_pattern_properties_are_patterns_without_a_match() {
    refuses(
        "{patternProperties: {}, additionalProperties: false}",
        "{a: 1}",
        &["'a' does not match any of the regexes: "],
    );
}

#[test]
fn defaults_come_from_any_of_up_to_the_first_branch_that_fits() {
    let branches =
        "[{properties: {m: {default: 2}}, required: [z]}, {properties: {n: {default: 3}}}]";
    gives(&format!("anyOf: {branches}"), "{n: 1, z: 1}", r#"{"n":1,"z":1,"m":2}"#);
    gives(
        &format!("properties: {{p: {{anyOf: {branches}}}}}"),
        "{p: {z: 1}}",
        r#"{"p":{"z":1,"m":2}}"#,
    );
    let typed =
        "anyOf: [{type: array, properties: {m: {default: 2}}}, {properties: {n: {default: 3}}}]";
    gives(typed, "{z: 1}", r#"{"z":1,"m":2,"n":3}"#);
}

#[test]
fn references_are_looked_up_where_they_are_needed() {
    let schema = "properties: {a: {}, b: {not: {$ref: '#/nope'}}}";
    gives(schema, "{a: 1}", r#"{"a":1}"#);
    refuses_schema("properties: {a: {$ref: '#nope'}}", &["Unresolvable JSON pointer: 'nope'"]);
    refuses_schema("properties: {a: {$ref: x.yaml}}", &["unknown url type: x.yaml"]);
    gives("properties: {a: {$ref: ''}}", "{}", "{}");
    gives("properties: {a: {$ref: '#/'}}", "{}", "{}");
    let schema = "properties: {a: {$ref: '#/definitions/é b'}}\ndefinitions: {é b: {type: string}}";
    refuses(schema, "{a: 1}", &["1 is not of type 'string' at ['a']"]);
}

#[test]
fn a_reference_that_is_not_a_text_has_the_line_of_python() {
    let hint = "Perhaps you forgot to put 'quotes' around your reference.";
    for (reference, line) in [
        ("", "argument of type 'NoneType' is not iterable"),
        ("1", "argument of type 'int' is not iterable"),
        ("1.5", "argument of type 'float' is not iterable"),
        ("true", "argument of type 'bool' is not iterable"),
        ("[x]", "unhashable type: 'list'"),
    ] {
        refuses_schema(&format!("$ref: {reference}"), &[line, hint]);
    }
}

#[test]
fn a_malformed_reference_is_the_only_line() {
    let schema = "properties: {a: {type: integer}, b: {type: integer}}";
    let line = "Malformed reference. Reference: $(ref.x";
    gives(schema, "{a: $(ref.x, b: y}", line);
    let line = "Malformed reference. Reference: ['$(ref.x']";
    gives(schema, "{a: [$(ref.x]}", line);
    gives(schema, "{a: $(ref.x.y)}", r#"{"a":"$(ref.x.y)"}"#);
}

#[test]
fn names_of_files_are_in_single_quotes() {
    refuses(
        "imports: [{path: \"it's\"}]",
        "{}",
        &["File 'it's' requested in schema 't.schema' but not included with imports."],
    );
}

#[test]
fn a_line_with_a_secret_beside_the_property_is_not_shown() {
    let json = serde_json::json!({
        "content": "",
        "imports": {"t.schema": {"content": "properties: {n: {type: integer}}"}},
    });
    let request = request::of_value(&Value::from(json), Options::default()).unwrap();
    let source = Source::new("c.yaml", "{properties: {n: x, password: hunter2}}");
    let parsed = yaml::read(&source, &mut Diagnostics::new()).unwrap();
    let located = Located { value: &parsed.value, document: Some(&parsed.document) };
    let mut schemas = Schemas::new(&request.imports, true, None);
    let invalid = schemas.check("t.schema", "t", located).unwrap_err();
    assert!(invalid.diagnostics.iter().all(|error| error.conceals));
}

/// Schemas and values with the lines of Python's jsonschema 3.2.0, which were recorded.
#[test]
fn keywords_have_the_lines_of_the_original() {
    let cases: serde_json::Value = serde_json::from_str(include_str!("draft4_cases.json")).unwrap();
    let cases = cases.as_array().unwrap();
    assert!(cases.len() >= 400);
    for case in cases {
        let checker = Checker::new(Value::from(case["schema"].clone()));
        let value = Value::from(case["value"].clone());
        let findings = checker.findings(&value, &Clock::new(None)).unwrap();
        let mut lines: Vec<String> = findings.iter().map(Finding::line).collect();
        lines.sort();
        assert_eq!(serde_json::json!(lines), case["errors"], "{case}");
    }
}

#[test]
fn schemas_without_end_are_errors() {
    for schema in [
        r##"{"not":{"$ref":"#"}}"##,
        r##"{"allOf":[{"$ref":"#/a"},{"$ref":"#/a"}],"a":{"anyOf":[{"$ref":"#"}]}}"##,
    ] {
        let checker =
            Checker::new(Value::from(serde_json::from_str::<serde_json::Value>(schema).unwrap()));
        let found = checker.findings(&Value::mapping(Vec::new()), &Clock::new(None));
        assert!(matches!(found, Err(Problem::Endless)), "{schema}");
    }
}

#[test]
fn a_pattern_that_is_not_a_regular_expression_is_an_error_of_the_schema() {
    let found = check("properties: {a: {pattern: '('}}", "{a: x}");
    assert!(found.starts_with("Invalid schema 't.schema':\n'(' is not a regular expression: "));
}

/// The properties checked within a time, and how often it was looked at.
fn timed(schema: &str, properties: &str, most: usize) -> (Result<(), Invalid>, usize) {
    let options = Options { validate_schema: true, strict_schemas: true, outputs: false };
    let json = serde_json::json!({
        "content": "",
        "imports": {"t.schema": {"path": "t.schema", "content": schema}},
    });
    let request = request::of_value(&Value::from(json), options).unwrap();
    let source = Source::new("config.yaml", format!("name: n\nproperties: {properties}"));
    let parsed = yaml::read(&source, &mut Diagnostics::new()).unwrap();
    let located = Located { value: &parsed.value, document: Some(&parsed.document) };
    let asked = Cell::new(0);
    let is_late = || {
        asked.set(asked.get() + 1);
        asked.get() > most
    };
    let mut schemas = Schemas::new(&request.imports, true, Some(&is_late));
    let checked = schemas.check("t.schema", "t", located).map(|_| ());
    (checked, asked.get())
}

fn joined(count: usize, separator: &str, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(separator)
}

#[test]
fn the_time_is_looked_at_in_all_work() {
    let keys = |value: &str| joined(2_000, ", ", |at| format!("k{at}: {value}"));
    let words = joined(2_000, ", ", |at| format!("w{at}"));
    let long = "a".repeat(100_000);
    for (what, schema, properties) in [
        ("properties", format!("properties: {{{}}}", keys("{}")), format!("{{{}}}", keys("1"))),
        ("required", format!("required: [{words}]"), format!("{{{}}}", keys("1"))),
        (
            "additional",
            format!("additionalProperties: false\nproperties: {{{}}}", keys("{}")),
            format!("{{{}}}", keys("1")),
        ),
        (
            "patterns",
            format!("patternProperties: {{{}}}", keys("{}")),
            format!("{{{}}}", keys("1")),
        ),
        (
            "a pattern",
            format!(
                "properties: {{a: {{allOf: [{}]}}}}",
                joined(20, ",", |_| "{pattern: ^b}".to_owned())
            ),
            format!("{{a: {long}}}"),
        ),
        (
            "enum",
            format!(
                "properties: {{a: {{allOf: [{}]}}}}",
                joined(20, ",", |_| format!("{{enum: [{long}]}}"))
            ),
            "{a: 1}".to_owned(),
        ),
        (
            "branches",
            format!("allOf: [{}]", joined(10_000, ",", |_| "{type: object}".to_owned())),
            "{a: 1}".to_owned(),
        ),
        (
            "unknown",
            format!("properties: {{{}}}", keys("{}")),
            format!("{{{}}}", joined(200, ", ", |at| format!("x{at}: 1"))),
        ),
    ] {
        let (_, asked) = timed(&schema, &properties, usize::MAX);
        assert!(asked >= 10, "{what}: {asked}");
        for most in [0, asked / 2] {
            let (checked, asked) = timed(&schema, &properties, most);
            let text = checked.unwrap_err().text;
            assert!(text.contains("takes too long"), "{what}: {text}");
            assert_eq!(asked, most + 1, "{what}");
        }
    }
}

#[test]
fn errors_are_bounded() {
    let long = "x".repeat(50_000);
    for (schema, properties, least) in [
        (
            format!("allOf: [{}]", joined(5_000, ",", |_| "{type: string}".to_owned())),
            format!("{{a: {long}}}"),
            1_000,
        ),
        (
            format!("required: [{}]", joined(5_000, ",", |at| format!("k{at}"))),
            "{a: 1}".to_owned(),
            1_000,
        ),
        (
            "additionalProperties: false".to_owned(),
            format!("{{{}}}", joined(5_000, ",", |at| format!("k{at}: 1"))),
            1,
        ),
        ("properties: {a: {pattern: b}}".to_owned(), format!("{{a: {long}}}"), 1),
        (format!("properties: {{a: {{pattern: {long}}}}}"), "{a: a}".to_owned(), 1),
    ] {
        let (checked, _) = timed(&schema, &properties, usize::MAX);
        let invalid = checked.unwrap_err();
        let errors = invalid.diagnostics.iter();
        let longest = errors.clone().map(|one| one.message.len()).max();
        assert!((least..=1_001).contains(&errors.count()), "{schema:.80}");
        assert!(longest <= Some(4_200), "{longest:?} {schema:.80}");
        assert!(invalid.text.len() < 70_000, "{}", invalid.text.len());
        if least > 1 {
            let last = invalid.diagnostics.iter().last().unwrap();
            assert!(last.message.ends_with("4000 more errors"), "{}", last.message);
        }
    }
}

#[test]
fn a_secret_that_is_cut_is_hidden() {
    let secret = "s3cr3t".repeat(100);
    let properties = format!("{{a: [b, '{secret}'], password: '{secret}'}}");
    let (checked, _) = timed("properties: {a: {type: string}}", &properties, usize::MAX);
    let invalid = checked.unwrap_err();
    let message = &invalid.diagnostics.iter().next().unwrap().message;
    assert_eq!(message, "property `a` of `n`: ['b', (hidden)… is not of type 'string'");
}
