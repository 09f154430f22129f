//! Tests of drafts, stored Templates and responses together.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::decode;
use super::encode::{self, ListMeta, Table};
use super::{Draft, Stored, pretty, yaml, yaml_object};
use crate::request::{FieldValidation, Format, Include, MetaVersion};
use crate::validation::object_meta;
use krm_template_server_core::{Group, Kind};

const HOW: object_meta::Create<'_> = object_meta::Create {
    namespace: "shop",
    now: jiff::Timestamp::UNIX_EPOCH,
    uid: "9ad8",
    suffix: "bcdfg",
};

fn read(group: Group, format: Format, body: &str) -> Draft {
    decode::template(group, format, body.as_bytes(), FieldValidation::Ignore).unwrap().0
}

#[track_caller]
fn created(group: Group, format: Format, body: &str) -> Stored {
    let mut draft = read(group, format, body);
    object_meta::create(&mut draft, &HOW).unwrap();
    Stored::decode(Stored::encode(&draft).unwrap().bytes()).unwrap()
}

fn object(stored: &Stored) -> String {
    let mut out = Vec::new();
    encode::object((stored, 7), &mut out);
    String::from_utf8(out).unwrap()
}

const KRM_BODY: &str = r#"{"labels": {"app": "$(A)"}, "kind": "Template", "apiVersion":
    "template.krm.dev/v1alpha1", "zeal": [1.0, null], "metadata": {"annotations":
    {"tags": "a,b", "description": "one", "openshift.io/display-name": "Web"}, "odd": {"b": 1, "a": 2},
    "name": "web", "labels": {"team": "sales", "a": null}},
    "objects": [{"z": 1e3, "a": "<\u00e9>"}, {"b": 12345678901234567890, "a": -0.0}],
    "parameters": [{"name": "A", "value": 1.50}, {"name": "B"}]}"#;

#[test]
fn a_template_is_answered_as_it_came_with_system_fields() {
    let expected = concat!(
        r#"{"kind":"Template","apiVersion":"template.krm.dev/v1alpha1","metadata":{"name":"web","#,
        r#""namespace":"shop","uid":"9ad8","resourceVersion":"7","generation":1,"#,
        r#""creationTimestamp":"1970-01-01T00:00:00Z","labels":{"team":"sales","a":""},"#,
        r#""annotations":{"tags":"a,b","description":"one","openshift.io/display-name":"Web"},"#,
        r#""odd":{"b":1,"a":2}},"labels":{"app":"$(A)"},"zeal":[1.0,null],"#,
        r#""objects":[{"z":1e3,"a":"\u003c\u00e9\u003e"},{"b":12345678901234567890,"a":-0.0}],"#,
        r#""parameters":[{"name":"A","value":1.50},{"name":"B"}]}"#,
        "\n"
    );
    let stored = created(Group::Krm, Format::Json, KRM_BODY);
    assert_eq!(object(&stored), expected);
    let labels = stored.labels();
    let labels: Vec<(&str, &str)> = labels.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(labels, [("a", ""), ("team", "sales")]);
    assert_eq!((stored.namespace(), stored.name(), stored.uid()), ("shop", "web", "9ad8"));
    let mut out = Vec::new();
    encode::object((&stored, 0), &mut out);
    let dry = expected.replace(r#""resourceVersion":"7","#, "");
    assert_eq!(String::from_utf8(out).unwrap(), dry);
}

#[test]
fn a_draft_of_what_is_stored_is_the_same() {
    for (group, body) in
        [(Group::Krm, KRM_BODY), (Group::OpenShift, r#"{"metadata":{"name":"a"},"objects":null}"#)]
    {
        let stored = created(group, Format::Json, body);
        let mut draft = stored.draft(3);
        assert_eq!(draft.text("resourceVersion"), "3");
        assert_eq!(Stored::encode(&draft).unwrap(), stored);
        let object = draft.to_value();
        let (again, warnings) = decode::patched(
            group,
            Kind::Template,
            object.clone(),
            Some(&draft),
            &[],
            FieldValidation::Strict,
        )
        .unwrap();
        assert_eq!((again.metadata.clone(), warnings), (draft.metadata.clone(), Vec::new()));
        assert!(object_meta::is_same(&again, &draft), "{again:?}");
        let mut managed = |time| {
            let manager = json!([{"manager": "ann", "time": time}]);
            draft.metadata.insert("managedFields".to_owned(), manager);
            draft.clone()
        };
        assert!(object_meta::is_same(&managed("1"), &managed("2")));
        draft.metadata.insert("labels".to_owned(), json!({"x": "y"}));
        assert!(!object_meta::is_same(&again, &draft));
    }
}

#[test]
fn a_row_of_our_group_has_an_age_and_wide_columns() {
    let stored = created(Group::Krm, Format::Json, KRM_BODY);
    let table = Table {
        group: Group::Krm,
        kind: Kind::Template,
        version: MetaVersion::V1,
        include: Include::None,
        has_columns: true,
        now: 125,
    };
    let mut out = Vec::new();
    encode::table(
        table,
        &ListMeta { revision: 9, ..ListMeta::default() },
        [(&stored, 7)],
        &mut out,
    );
    let table: Value = serde_json::from_slice(&out).unwrap();
    let columns = table["columnDefinitions"].as_array().unwrap().iter();
    let columns: Vec<(&str, i64)> = columns
        .map(|one| (one["name"].as_str().unwrap(), one["priority"].as_i64().unwrap()))
        .collect();
    let expected = [
        ("Name", 0),
        ("Description", 0),
        ("Parameters", 0),
        ("Objects", 0),
        ("Age", 0),
        ("Display Name", 1),
        ("Tags", 1),
    ];
    assert_eq!(columns, expected);
    let cells = json!(["web", "one", "2 (1 blank)", 2, "2m5s", "Web", "a,b"]);
    assert_eq!(table["rows"], json!([{"cells": cells, "object": null}]));
}

const POSTED: &str = "\
# A shop.
apiVersion: v1 # old
kind: Template
metadata:
  name: web # its name
parameters:
- name: A # why
  value: 1 # a number
objects:
# The only one.
- {b: 2, a: 1.0}
";

#[test]
fn posted_yaml_keeps_its_comments_until_a_write_in_json() {
    let stored = created(Group::OpenShift, Format::Yaml, POSTED);
    let mut out = Vec::new();
    yaml_object((&stored, 7), &mut out);
    let expected = "\
# A shop.
apiVersion: template.openshift.io/v1 # old
kind: Template
metadata:
  name: web # its name
  namespace: shop
  uid: 9ad8
  resourceVersion: \"7\"
  creationTimestamp: \"1970-01-01T00:00:00Z\"
parameters:
- name: A # why
  value: \"1\" # a number
objects:
# The only one.
- {b: 2, a: 1.0}
";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    let old = stored.draft(7);
    let mut value = old.to_value();
    let (same, _) = decode::patched(
        Group::OpenShift,
        Kind::Template,
        value.clone(),
        Some(&old),
        &[],
        FieldValidation::Strict,
    )
    .unwrap();
    assert!(object_meta::is_same(&same, &old));
    value["message"] = json!("x");
    let (patched, _) = decode::patched(
        Group::OpenShift,
        Kind::Template,
        value,
        None,
        &[],
        FieldValidation::Strict,
    )
    .unwrap();
    let mut out = Vec::new();
    yaml_object((&Stored::encode(&patched).unwrap(), 8), &mut out);
    let text = String::from_utf8(out).unwrap();
    assert!(!text.contains('#') && text.contains("message: x\n"), "{text}");
}

#[test]
fn the_first_of_two_documents_counts() {
    let body = "# one\nmetadata: {name: a}\n---\n# two\nmetadata: {name: b}\n";
    let stored = created(Group::OpenShift, Format::Yaml, body);
    let mut out = Vec::new();
    yaml_object((&stored, 0), &mut out);
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("# one") && !text.contains("two") && !text.contains("---"), "{text}");
    assert_eq!(stored.name(), "a");
}

#[test]
fn keys_are_in_the_order_of_go_yaml() {
    let json = br#"{"b":1,"a10":1,"a2":1,"A":1,"a":1,"_":1,"1":1,"a_b":1,"ab":1,"a-":1}"#;
    let text = String::from_utf8(yaml(json)).unwrap();
    let keys: Vec<&str> = text.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(keys, ["_", "\"1\"", "A", "a", "a-", "a_b", "a2", "a10", "ab", "b"]);
}

#[test]
fn an_error_names_no_text_of_the_body() {
    let bodies = [
        (Format::Json, r#"{"metadata":{"name":"a"},"parameters":[{"value":{"canary":1}}]}"#),
        (Format::Json, r#"{"objects":["canary", canary]}"#),
        (Format::Yaml, "a: &canary 1\nb: *canary2\n"),
        (Format::Yaml, "canary: [canary"),
        (Format::Yaml, "a: \"canary\\x\"\n"),
        (Format::Yaml, "a: !canary 1\n? [canary]\n: 2\n"),
    ];
    for (format, body) in bodies {
        let read =
            decode::template(Group::OpenShift, format, body.as_bytes(), FieldValidation::Strict);
        let status = read.unwrap_err();
        assert_eq!(status.code, 400);
        assert!(!status.message.contains("canary"), "{}", status.message);
    }
}

#[test]
fn aliases_and_nesting_are_bounded() {
    // The server's threads have this stack size. In a debug build, a test's stack is too small.
    let thread = std::thread::Builder::new().stack_size(16 << 20);
    thread.spawn(check_bounds).unwrap().join().unwrap();
}

fn check_bounds() {
    let mut bomb = "metadata: {name: a}\na: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (letter, before) in ('b'..='i').zip('a'..) {
        let aliases = vec![format!("*{before}"); 9].join(",");
        bomb.extend([letter, ':', ' ', '&', letter, ' ', '[']);
        bomb.extend([aliases.as_str(), "]\n"]);
    }
    let deep = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"metadata":{{"name":"a"}},"objects":[{{"a":{open}{close}}}]}}"#)
    };
    for (format, body) in
        [(Format::Yaml, &bomb), (Format::Json, &deep(1_000)), (Format::Yaml, &deep(1_000))]
    {
        let read =
            decode::template(Group::OpenShift, format, body.as_bytes(), FieldValidation::Ignore);
        assert_eq!(read.unwrap_err().code, 400);
    }
    for format in [Format::Json, Format::Yaml] {
        let stored = created(Group::OpenShift, format, &deep(990));
        let text = object(&stored);
        assert!(text.contains(&"[".repeat(990)) && !yaml(text.as_bytes()).is_empty());
        assert!(pretty(text.as_bytes()).len() > 990 * 990);
        assert!(stored.draft(7).to_value().is_object());
    }
}

#[test]
fn types_of_metadata_are_checked_in_both_groups() {
    let cases = [
        (r#""metadata":1"#, "metadata: expected object, got number"),
        (r#""metadata":{"name":{}}"#, "metadata.name: expected string, got object"),
        (r#""metadata":{"labels":{"a/b":1}}"#, "metadata.labels.a/b: expected string, got number"),
        (r#""metadata":{"finalizers":[1]}"#, "metadata.finalizers[0]: expected string, got number"),
        (
            r#""metadata":{"generation":1.5}"#,
            "metadata.generation: expected 64-bit integer, got number",
        ),
        (
            r#""metadata":{"creationTimestamp":"today"}"#,
            "metadata.creationTimestamp: the time must be in RFC 3339 format",
        ),
        (
            r#""metadata":{"ownerReferences":[{"uid":true}]}"#,
            "metadata.ownerReferences[0].uid: expected string, got bool",
        ),
        (
            r#""metadata":{"ownerReferences":[[]]}"#,
            "metadata.ownerReferences[0]: expected object, got array",
        ),
    ];
    for group in Group::ALL {
        for (fields, text) in cases {
            let version = group.api_version();
            let body = format!(r#"{{"kind":"Template","apiVersion":"{version}",{fields}}}"#);
            let read =
                decode::template(group, Format::Json, body.as_bytes(), FieldValidation::Ignore);
            let expected = format!(
                "Template in version {:?} cannot be handled as a Template: {text}",
                group.version()
            );
            assert_eq!(read.unwrap_err().message, expected);
        }
    }
}

#[test]
fn an_update_keeps_system_fields_and_counts_changes() {
    let old = created(Group::Krm, Format::Json, KRM_BODY).draft(7);
    let with = |key: &str, value: Value| {
        let mut draft = old.clone();
        draft.metadata.insert(key.to_owned(), value);
        draft
    };
    let mut same = with("generation", json!(9));
    same.metadata.shift_remove("uid");
    same.metadata.insert("creationTimestamp".to_owned(), json!("2020-01-01T00:00:00Z"));
    object_meta::update(&mut same, &old).unwrap();
    assert!(object_meta::is_same(&same, &old), "{same:?}");

    let body = KRM_BODY.replace("1e3", "1000");
    let mut changed = read(Group::Krm, Format::Json, &body);
    object_meta::named(&mut changed, "shop", "web").unwrap();
    object_meta::update(&mut changed, &old).unwrap();
    assert_eq!(changed.metadata["generation"], 2);
    assert_eq!(changed.text("uid"), "9ad8");

    for (key, value) in [("uid", json!("x")), ("deletionTimestamp", json!("2020-01-01T00:00:00Z"))]
    {
        let status = object_meta::update(&mut with(key, value), &old).unwrap_err();
        assert_eq!(status.code, 422);
        assert!(status.message.ends_with("field is immutable"), "{status}");
    }
    assert_eq!(object_meta::same_uid(&with("uid", json!("x")), &old).unwrap_err().code, 409);
}

#[test]
fn an_object_that_is_being_deleted_gets_no_new_finalizers() {
    let body = r#"{"metadata":{"name":"fin","finalizers":["example.com/wait"]}}"#;
    let mut old = created(Group::OpenShift, Format::Json, body).draft(7);
    object_meta::delete(&mut old, jiff::Timestamp::UNIX_EPOCH);
    assert!(Stored::encode(&old).unwrap().is_being_deleted());
    let mut more = old.clone();
    more.metadata.insert("finalizers".to_owned(), json!(["example.com/wait", "example.com/more"]));
    let status = object_meta::update(&mut more, &old).unwrap_err();
    // As recorded from openshift-apiserver.
    let expected = "Template.template.openshift.io \"fin\" is invalid: metadata.finalizers: \
                    Forbidden: no new finalizers can be added if the object is being deleted, \
                    found new finalizers []string{\"example.com/more\"}";
    assert_eq!(status.message, expected);
    let mut fewer = old.clone();
    fewer.metadata.shift_remove("finalizers");
    object_meta::update(&mut fewer, &old).unwrap();
    assert_eq!(fewer.finalizers().count(), 0);
    assert!(fewer.is_being_deleted());
}

#[test]
fn empty_fields_of_openshift_are_left_out_but_objects() {
    let head = r#"{"kind":"Template","apiVersion":"template.openshift.io/v1","metadata":{"name":"a","namespace":"shop","uid":"9ad8","resourceVersion":"7","creationTimestamp":"1970-01-01T00:00:00Z""#;
    for (fields, metadata, rest) in [
        (r#""message":"m""#, "", r#","message":"m","objects":null"#),
        (r#""parameters":null,"labels":null,"message":null"#, "", r#","objects":null"#),
        (
            r#""labels":{"b":null},"parameters":[],"message":"","objects":[]"#,
            "",
            r#","labels":{"b":""},"objects":null"#,
        ),
        (
            r#""x":[],"labels":{},"parameters":[{"name":"A"}],"metadata":{"name":"a","labels":{"a":null},"annotations":{},"finalizers":[]}"#,
            r#","labels":{"a":""}"#,
            r#","x":[],"objects":null,"parameters":[{"name":"A"}]"#,
        ),
    ] {
        let body = format!(r#"{{"metadata":{{"name":"a"}},{fields}}}"#);
        let stored = created(Group::OpenShift, Format::Json, &body);
        assert_eq!(object(&stored), format!("{head}{metadata}}}{rest}}}\n"), "{fields}");
    }
}

#[test]
fn an_update_in_another_order_is_the_same_object() {
    let read = |body| read(Group::OpenShift, Format::Json, body);
    let old = read(r#"{"message":"m","objects":[{"a":1,"b":2}],"parameters":[{"name":"A"}]}"#);
    for (body, is_same) in [
        (
            r#"{"parameters":[{"name":"A"}],"labels":{},"objects":[{"a":1,"b":2}],"message":"m"}"#,
            true,
        ),
        (r#"{"message":"m","objects":[{"b":2,"a":1}],"parameters":[{"name":"A"}]}"#, true),
        (r#"{"message":"m","objects":[{"a":1,"b":2}],"labels":{"a":"b"}}"#, false),
        (r#"{"message":"m","objects":[{"a":1,"b":2}]}"#, false),
    ] {
        assert_eq!(object_meta::is_same(&read(body), &old), is_same, "{body}");
    }
}

#[test]
fn a_configuration_is_a_mapping_in_yaml() {
    const WARN: FieldValidation = FieldValidation::Warn;
    let read = |body: &str, how| decode::configuration(body.as_bytes(), how);
    let (object, warnings) = read("a: 1\nb: {c: x} # why\n", FieldValidation::Strict).unwrap();
    assert_eq!((object, warnings.len()), (json!({"a": 1, "b": {"c": "x"}}), 0));
    assert_eq!(read("", WARN).unwrap().0, Value::Null);
    let (object, warnings) = read("a: 1\na: 2\n", WARN).unwrap();
    assert_eq!(object, json!({"a": 2}));
    assert_eq!(warnings, ["line 2: key \"a\" already set in map"]);
    for (body, text) in [
        (
            "a: 1\na: 2\n",
            "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  \
             line 2: key \"a\" already set in map",
        ),
        ("[]", "error decoding YAML: expected object, got array"),
        (
            "a: [b\n",
            "error decoding YAML: error converting YAML to JSON: yaml: line 1: not valid YAML: \
             unclosed bracket '['",
        ),
    ] {
        let status = read(body, FieldValidation::Strict).unwrap_err();
        assert_eq!((status.code, status.message.as_str()), (400, text), "{body}");
    }
}

#[test]
fn keys_that_a_patch_has_twice_are_reported() {
    let body = br#"{"message":"a","message":"b","x":[{"y":1,"y":2}]}"#;
    let repeated = decode::repeated_keys(body);
    assert_eq!(repeated, [r#"duplicate field "message""#, r#"duplicate field "x[0].y""#]);
    let old = read(Group::Krm, Format::Json, KRM_BODY);
    let object = old.to_value();
    let patched = |how| {
        decode::patched(Group::Krm, Kind::Template, object.clone(), Some(&old), &repeated, how)
    };
    assert_eq!(patched(FieldValidation::Warn).unwrap().1, repeated);
    assert!(patched(FieldValidation::Ignore).unwrap().1.is_empty());
    let status = patched(FieldValidation::Strict).unwrap_err();
    let expected = " \"\" is invalid: patch: Invalid value: strict decoding error: duplicate field \
                    \"message\", duplicate field \"x[0].y\"";
    assert_eq!((status.code, status.message.as_str()), (422, expected));
}

#[test]
fn a_patch_may_not_change_the_kind_and_adds_no_unknown_fields() {
    let old = read(Group::Krm, Format::Json, KRM_BODY);
    let object = old.to_value();
    let with = |key: &str, value: Value| {
        let mut object = object.clone();
        object[key] = value;
        decode::patched(
            Group::Krm,
            Kind::Template,
            object,
            Some(&old),
            &[],
            FieldValidation::Strict,
        )
    };
    assert!(with("message", json!("x")).is_ok());
    let cases = [
        (
            "kind",
            json!("Other"),
            "no kind \"Other\" is registered for version \"template.krm.dev/v1alpha1\"",
        ),
        ("typo", json!(1), "strict decoding error: unknown field \"typo\""),
    ];
    for (key, value, text) in cases {
        let status = with(key, value).unwrap_err();
        assert_eq!(status.code, 422);
        assert_eq!(status.message, format!(" \"\" is invalid: patch: Invalid value: {text}"));
    }
}

#[test]
fn damaged_bytes_are_an_error() {
    let whole = created(Group::Krm, Format::Json, KRM_BODY);
    let text = String::from_utf8(whole.bytes().to_vec()).unwrap();
    let head = text.lines().next().unwrap();
    for damaged in ["", "x", "1 a b", head, &text.replace("1 template", "2 template")] {
        let bytes = bytes::Bytes::from(damaged.to_owned());
        assert_eq!(Stored::decode(&bytes).unwrap_err().code, 500, "{damaged}");
    }
}

/// Generates random JSON text, with unusual white space, numbers and escapes.
fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|flag| flag.to_string()),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        any::<String>().prop_map(|text| json!(text).to_string()),
        "\"(\\\\u([0-9a-ce-f][0-9a-f]{3}|d[0-7][0-9a-f]{2})|\\\\/|[a-z<>&\u{2028}])*\"",
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let key = any::<String>().prop_map(|text| json!(text).to_string());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6)
                .prop_map(|items| format!("[ {} ]", items.join(" ,"))),
            prop::collection::vec((key, inner), 0..6).prop_map(|entries| {
                let entries: Vec<String> =
                    entries.iter().map(|(key, value)| format!("{key}\n: {value}")).collect();
                format!("{{{}\t}}", entries.join(","))
            }),
        ]
    })
}

/// Removes white space and adds HTML escapes, independently of the tested code.
fn compacted(text: &str) -> String {
    let mut out = String::new();
    let strings = text.split_inclusive('"');
    let mut in_string = false;
    for part in strings {
        let is_quote_escaped = part
            .strip_suffix('"')
            .is_some_and(|rest| (rest.len() - rest.trim_end_matches('\\').len()) % 2 == 1);
        if in_string {
            out.push_str(
                &part
                    .replace('<', "\\u003c")
                    .replace('>', "\\u003e")
                    .replace('&', "\\u0026")
                    .replace('\u{2028}', "\\u2028")
                    .replace('\u{2029}', "\\u2029"),
            );
            in_string = is_quote_escaped;
        } else {
            out.extend(part.chars().filter(|c| !matches!(c, ' ' | '\t' | '\n')));
            in_string = part.ends_with('"');
        }
    }
    out
}

proptest! {
    #[test]
    fn objects_keep_their_spelling(items in prop::collection::vec(json_text(), 1..5)) {
        let objects = format!("[{}]", items.join(", "));
        let body = format!(r#"{{"metadata":{{"name":"a"}}, "objects" : {objects}, "message":"m"}}"#);
        let stored = created(Group::OpenShift, Format::Json, &body);
        let answer = object(&stored);
        let kept = answer.split_once("\"objects\":").unwrap().1;
        prop_assert_eq!(kept, format!("{},\"message\":\"m\"}}\n", compacted(&objects)));
        let again = stored.draft(7);
        prop_assert_eq!(again.field("objects").unwrap(), compacted(&objects));
    }

    #[test]
    fn any_json_is_read_or_refused(text in json_text()) {
        for group in Group::ALL {
            let fields = format!(r#"{{"kind":"Template","apiVersion":{:?},"metadata":{text},
                "parameters":{text},"labels":{text},"objects":{text}}}"#, group.api_version());
            for body in [&text, &fields] {
                let read = decode::template(group, Format::Json, body.as_bytes(), FieldValidation::Strict);
                if let Ok((mut draft, _)) = read && object_meta::create(&mut draft, &HOW).is_ok() {
                    let stored = Stored::encode(&draft).unwrap();
                    let answer = object(&stored);
                    prop_assert!(serde_json::from_str::<Value>(&answer).is_ok(), "{}", answer);
                    _ = yaml(answer.as_bytes());
                    _ = pretty(answer.as_bytes());
                }
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[\\{\\}\\[\\]\":,a-z&*!|>#\n -]{0,60}", bytes: Vec<u8>) {
        for format in [Format::Json, Format::Yaml] {
            for body in [text.as_bytes(), bytes.as_slice()] {
                _ = decode::template(Group::OpenShift, format, body, FieldValidation::Warn);
            }
        }
        _ = Stored::decode(&bytes::Bytes::from(bytes));
    }
}
