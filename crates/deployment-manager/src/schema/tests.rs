//! Schemas and properties.

use std::cell::Cell;

use krm_yaml::Value;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;

use crate::model::Options;
use crate::request;
use crate::schema::Schemas;
use crate::schema::checker::Checker;
use crate::schema::deadline::Deadline;
use crate::schema::problem::Problem;
use crate::yaml::{self, Located};

/// The properties as JSON, or the messages.
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
    match Schemas::new(&request.imports, true, None).check("t.schema", located) {
        Ok(checked) => checked.properties.to_json(),
        Err(errors) => {
            let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
            messages.join("\n")
        }
    }
}

#[track_caller]
fn refuses(schema: &str, properties: &str, lines: &[&str]) {
    assert_eq!(check(schema, properties), lines.join("\n"), "{schema}");
}

#[track_caller]
fn refuses_schema(schema: &str, reason: &str) {
    let expected = format!("schema `t.schema` is invalid: {reason}");
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
    let line = r"property `a` of `` must match `^(?P<q>x)y\Z`";
    refuses(schema, r#"{a: "xy\n"}"#, &[line]);
    let schema = "properties: {a: {pattern: '^x$'}}";
    gives(schema, r#"{a: "x\n"}"#, r#"{"a":"x\n"}"#);
    let schema = "patternProperties: {'^a$': {type: string}}";
    refuses(schema, "{a: 1}", &["property `a` of `` must be of type `string`, found a number"]);
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
    refuses(schema, "{a: 0.3}", &["property `a` of `` must be a multiple of 0.1"]);
    let schema = "properties: {a: {multipleOf: 2}}";
    gives(schema, "{a: 4.0}", r#"{"a":4.0}"#);
    refuses(schema, "{a: 5}", &["property `a` of `` must be a multiple of 2"]);
}

#[test]
fn a_float_with_an_exponent_is_not_an_integer() {
    let line = "property `a` of `` must be of type `integer`, found a number";
    refuses("properties: {a: {type: integer}}", "{a: 1.5e+300}", &[line]);
}

#[test]
fn each_property_that_needs_a_missing_one_has_a_line() {
    refuses(
        "dependencies: {a: [b, c], b: [c]}",
        "{a: 1, b: 2}",
        &[
            "properties of `` must have `c` next to `a`",
            "properties of `` must have `c` next to `b`",
        ],
    );
}

#[test]
fn a_schema_that_is_used_twice_has_its_lines_twice() {
    let schema = "definitions: {d: {type: array}}\n\
                  allOf: [{$ref: '#/definitions/d'}, {$ref: '#/definitions/d'}]";
    let line = "properties of `` must be of type `array`, found a mapping";
    refuses(schema, "{a: 1}", &[line, line]);
}

#[test]
fn empty_pattern_properties_are_patterns_without_a_match() {
    refuses(
        "{patternProperties: {}, additionalProperties: false}",
        "{a: 1}",
        &["properties of `` must not have `a`"],
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
    refuses_schema("properties: {a: {$ref: '#nope'}}", "there is no `#nope` in it");
    refuses_schema("properties: {a: {$ref: x.yaml}}", "`x.yaml` is not read");
    gives("properties: {a: {$ref: ''}}", "{}", "{}");
    gives("properties: {a: {$ref: '#/'}}", "{}", "{}");
    let schema = "properties: {a: {$ref: '#/definitions/é b'}}\ndefinitions: {é b: {type: string}}";
    refuses(schema, "{a: 1}", &["property `a` of `` must be of type `string`, found a number"]);
}

#[test]
fn a_reference_is_a_string() {
    for (reference, found) in [
        ("", "nothing"),
        ("1", "a number"),
        ("1.5", "a number"),
        ("true", "a boolean"),
        ("[x]", "a list"),
    ] {
        let reason = format!("a `$ref` is a string, found {found}");
        refuses_schema(&format!("$ref: {reference}"), &reason);
    }
}

#[test]
fn a_value_with_a_reference_is_known_later() {
    let schema = "properties: {a: {type: integer}, b: {type: integer}}";
    let line = "property `a` of `` has an incomplete reference";
    refuses(schema, "{a: $(ref.x}", &[line]);
    refuses(schema, "{a: [1, $(ref.x]}", &[line]);
    gives(schema, "{a: $(ref.x.y)}", r#"{"a":"$(ref.x.y)"}"#);
}

#[test]
fn a_schema_names_its_imports() {
    refuses(
        "imports: [{path: \"it's\"}]",
        "{}",
        &["schema `t.schema` needs `it's`, which is not imported"],
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
    let errors = schemas.check("t.schema", located).unwrap_err();
    assert!(errors.iter().all(|error| error.conceals));
}

/// Schemas and values with the places where Python's jsonschema 3.2.0 finds errors.
#[test]
fn errors_are_where_the_original_finds_them() {
    let cases: serde_json::Value = serde_json::from_str(include_str!("draft4_cases.json")).unwrap();
    let cases = cases.as_array().unwrap();
    assert!(cases.len() >= 400);
    for case in cases {
        let checker = Checker::new(Value::from(case["schema"].clone()));
        let mut value = Value::from(case["value"].clone());
        let findings = checker.findings(&mut value, &Deadline::new(None)).unwrap();
        let places: Vec<String> = findings.iter().map(|found| found.path.to_string()).collect();
        assert_eq!(serde_json::json!(places), case["errors"], "{case}");
    }
}

#[test]
fn defaults_are_set_where_a_validator_looks() {
    for (schema, value, expected) in [
        (r#"{"properties":{"a":{"default":null}}}"#, "{}", r#"{"a":null}"#),
        (
            r#"{"properties":{"a":{"default":{},"properties":{"b":{"default":2}}}}}"#,
            "{}",
            r#"{"a":{"b":2}}"#,
        ),
        (r##"{"properties":{"a":{"$ref":"#/d"}},"d":{"default":3}}"##, "{}", r#"{"a":3}"#),
        (r#"{"items":{"properties":{"a":{"default":1}}}}"#, "[{},{}]", r#"[{"a":1},{"a":1}]"#),
        (r#"{"anyOf":[{"type":"string","properties":{"a":{"default":1}}}]}"#, "{}", r#"{"a":1}"#),
        (
            r#"{"patternProperties":{"^x":{"properties":{"a":{"default":1}}}},"additionalProperties":{"properties":{"b":{"default":2}}}}"#,
            r#"{"x1":{},"y":{}}"#,
            r#"{"x1":{"a":1},"y":{"b":2}}"#,
        ),
        (
            r#"{"dependencies":{"a":{"properties":{"b":{"default":2}}}}}"#,
            r#"{"a":1}"#,
            r#"{"a":1,"b":2}"#,
        ),
    ] {
        let mut value = json(value);
        assert!(Checker::new(json(schema)).set_defaults(&mut value, &Deadline::new(None)).is_ok());
        assert_eq!(value.to_json(), expected, "{schema}");
    }
}

fn json(text: &str) -> Value<'static> {
    Value::from(serde_json::from_str::<serde_json::Value>(text).unwrap())
}

#[test]
fn schemas_without_end_are_errors() {
    for schema in [
        r##"{"$ref":"#"}"##,
        r##"{"not":{"$ref":"#"}}"##,
        r##"{"allOf":[{"$ref":"#"}]}"##,
        // Twice at each of many levels.
        r##"{"allOf":[{"$ref":"#/a"},{"$ref":"#/a"}],"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}"##,
    ] {
        let (checker, deadline) = (Checker::new(json(schema)), Deadline::new(None));
        let mut value = json("{}");
        let found = checker.findings(&mut value, &deadline);
        assert!(matches!(found, Err(Problem::Endless)), "{schema}");
        let set = checker.set_defaults(&mut value, &deadline);
        assert!(matches!(set, Err(Problem::Endless)), "{schema}");
    }
}

#[test]
fn a_pattern_that_is_not_a_regular_expression_is_an_error_of_the_schema() {
    let found = check("properties: {a: {pattern: '('}}", "{a: x}");
    assert!(found.starts_with("schema `t.schema` is invalid: `(` is not a regular expression: "));
}

/// The properties checked within a time, and how often it was looked at.
fn timed(schema: &str, properties: &str, most: usize) -> (Result<(), Diagnostics>, usize) {
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
    let checked = schemas.check("t.schema", located).map(|_| ());
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
            let text = format!("{:?}", checked.unwrap_err());
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
        let found = checked.unwrap_err();
        let errors = found.iter();
        let longest = errors.clone().map(|one| one.message.len()).max();
        assert!((least..=1_001).contains(&errors.count()), "{schema:.80}");
        assert!(longest <= Some(4_200), "{longest:?} {schema:.80}");
        if least > 1 {
            let last = found.iter().last().unwrap();
            assert!(last.message.ends_with("4000 more errors"), "{}", last.message);
        }
    }
}
