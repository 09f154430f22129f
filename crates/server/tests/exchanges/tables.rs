//! Tests of the comparison itself.
#![expect(clippy::unnecessary_wraps, reason = "what a trial calls returns a result")]

use http::HeaderMap;
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use crate::exchanges::client::Answer;
use crate::exchanges::comparison::{differences, faults};
use crate::exchanges::known::Known;
use crate::exchanges::listed::{Outcome, parse};
use crate::exchanges::recording::{Exchange, described};
use crate::exchanges::replay::pointer;

type Test = fn() -> Result<(), Failed>;

pub(crate) fn trials() -> Vec<Trial> {
    let table: [(&str, Test); 7] = [
        ("differences_are_found", differences_are_found),
        ("what_differs_at_each_run_is_no_difference", volatile_values),
        ("values_are_remembered", values_are_remembered),
        ("requests_get_our_values", requests_get_our_values),
        ("errors_are_statuses", errors_are_statuses),
        ("the_list_must_be_true", the_list_must_be_true),
        ("paths_and_bodies_are_made", paths_and_bodies_are_made),
    ];
    let trial = |(name, test)| Trial::test(format!("exchanges/comparison/{name}"), test);
    table.into_iter().map(trial).collect()
}

const UID_A: &str = "11111111-2222-3333-4444-555555555555";
const UID_B: &str = "aaaaaaaa-2222-3333-4444-555555555555";

fn exchange(path: &str, status: u16, body: &Value, volatile: &[&str]) -> Exchange {
    let recorded = json!({
        "request": {"method": "GET", "path": path, "user": "admin", "headers": {}},
        "response": {"status": status, "headers": {"Content-Type": "application/json"},
            "body": format!("{body}\n")},
        "volatile": volatile,
    });
    let mut exchange: Exchange = serde_json::from_value(recorded).unwrap();
    "001-a.json".clone_into(&mut exchange.file);
    exchange
}

fn answer(status: u16, body: &str) -> Answer {
    let mut headers = HeaderMap::new();
    headers.insert("Content-Type", "application/json".parse().unwrap());
    Answer { status, headers, body: body.as_bytes().to_vec() }
}

fn found(exchange: &Exchange, ours: &Value) -> Vec<String> {
    let ours = answer(exchange.response.status, &format!("{ours}\n"));
    differences(exchange, &ours, &mut Known::default())
}

#[track_caller]
fn same<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) {
    assert_eq!(found, expected);
}

/// Checks that each change of a response is reported.
fn differences_are_found() -> Result<(), Failed> {
    let openshift = "/apis/template.openshift.io/v1/namespaces/shop/processedtemplates";
    let recorded = json!({"a": 1, "b": {"c": [1, 2], "d": "x"}, "e": null});
    let rows = [
        (json!({"a": 1, "b": {"c": [1, 2], "d": "x"}, "e": null}), 0),
        (json!({"a": "1", "b": {"c": [1, 2], "d": "x"}, "e": null}), 1),
        (json!({"a": 1, "b": {"c": [2, 1], "d": "x"}, "e": null}), 2),
        (json!({"a": 1, "b": {"c": [1, 2], "d": "y"}, "e": null}), 1),
        (json!({"a": 1, "b": {"c": [1, 2], "d": "x"}}), 1),
        (json!({"a": 1, "b": {"c": [1, 2], "d": "x", "f": 1}, "e": null}), 1),
        (json!({"a": 1, "b": {"d": "x", "c": [1, 2]}, "e": null}), 1),
        (json!({"a": 1, "b": {"c": [1, 2], "d": "x"}, "e": []}), 1),
        (json!({"a": 1, "b": {"c": [1, 2], "d": "<"}, "e": null}), 2),
    ];
    for (ours, count) in rows {
        let lines = found(&exchange(openshift, 200, &recorded, &[]), &ours);
        same(&(lines.len(), &lines), &(count, &lines));
    }
    let spelled = exchange("/", 200, &serde_json::from_str("1.0")?, &[]);
    same(&differences(&spelled, &answer(200, "1\n"), &mut Known::default()).len(), &1);
    let plain = exchange("/", 200, &recorded, &[]);
    let pretty = serde_json::to_string_pretty(&recorded)?;
    same(&differences(&plain, &answer(200, &pretty), &mut Known::default()).len(), &2);
    same(
        &differences(&plain, &answer(201, &format!("{recorded}\n")), &mut Known::default()).len(),
        &1,
    );
    let mut typed = answer(200, &format!("{recorded}\n"));
    typed.headers.insert("Warning", "299 - \"w\"".parse()?);
    typed.headers.insert("Content-Type", "text/plain".parse()?);
    same(&differences(&plain, &typed, &mut Known::default()).len(), &2);
    Ok(())
}

/// Checks that values at volatile paths may differ, but must have the right format.
fn volatile_values() -> Result<(), Failed> {
    let volatile = [
        "body.metadata.uid",
        "body.metadata.resourceVersion",
        "body.metadata.creationTimestamp",
        "body.metadata.continue",
    ];
    let metadata = |uid: &str, revision: Value, time: &str, token: &str| {
        json!({"metadata": {"uid": uid, "resourceVersion": revision, "creationTimestamp": time,
            "continue": token}})
    };
    let recorded =
        exchange("/", 200, &metadata(UID_A, json!("5"), "2026-11-22T04:37:15Z", "a"), &volatile);
    let time = "2027-01-01T00:00:00Z";
    let rows = [
        (metadata(UID_B, json!("77"), time, "b"), 0),
        (metadata("b", json!("77"), time, "b"), 1),
        (metadata(UID_B, json!(77), time, "b"), 1),
        (metadata(UID_B, json!("7x"), time, "b"), 1),
        (metadata(UID_B, json!("77"), "2027-01-01T00:00:00.5Z", "b"), 1),
        (metadata(UID_B, json!("77"), time, ""), 1),
    ];
    for (ours, count) in rows {
        let lines = found(&recorded, &ours);
        same(&(lines.len(), &lines), &(count, &lines));
    }
    let text =
        |uid: &str, revision: u32| json!(format!("UID in record ({uid}), current: {revision}"));
    same(&found(&exchange("/", 200, &text(UID_A, 5), &[]), &text(UID_B, 900)).len(), &0);
    let other = json!(format!("UID in the record ({UID_B}), current: 900"));
    same(&found(&exchange("/", 200, &text(UID_A, 5), &[]), &other).len(), &1);
    let generated = "body.parameters[*].value of generated parameters and where it is used";
    let template =
        |value: &str| json!({"objects": [{"a": value}], "parameters": [{"value": value}]});
    let random = exchange("/", 200, &template("abcd"), &[generated]);
    same(&found(&random, &template("zyxw")).len(), &0);
    same(&found(&random, &template("zyx")).len(), &2);
    Ok(())
}

/// Checks that a known uid or revision does not change.
fn values_are_remembered() -> Result<(), Failed> {
    let volatile = ["body.metadata.uid", "body.metadata.resourceVersion"];
    let object =
        |uid: &str, revision: &str| json!({"metadata": {"uid": uid, "resourceVersion": revision}});
    let recorded = exchange("/", 200, &object(UID_A, "5"), &volatile);
    let mut known = Known::default();
    let mut count =
        |ours: Value| differences(&recorded, &answer(200, &format!("{ours}\n")), &mut known).len();
    same(&count(object(UID_B, "77")), &0);
    same(&count(object(UID_B, "77")), &0);
    same(&count(object(UID_A, "77")), &1);
    same(&count(object(UID_B, "78")), &1);
    Ok(())
}

/// Checks that uids and revisions in requests are replaced, and other numbers are not.
fn requests_get_our_values() -> Result<(), Failed> {
    let mut known = Known::default();
    known.learn_id(UID_A, UID_B)?;
    known.learn_revision("576", "12")?;
    let rows = [
        ("/t?resourceVersion=576&limit=576", "/t?resourceVersion=12&limit=576"),
        ("/t?resourceVersion=577", "/t?resourceVersion=99"),
        ("/t?resourceVersion=5", "/t?resourceVersion=5"),
        ("/t?resourceVersion=999999999", "/t?resourceVersion=999999999"),
        (r#"{"resourceVersion": "576", "a": "576"}"#, r#"{"resourceVersion": "12", "a": "576"}"#),
        ("resourceVersion: \"576\"\n", "resourceVersion: \"12\"\n"),
        (UID_A, UID_B),
        (UID_B, UID_B),
    ];
    for (recorded, ours) in rows {
        same(&known.fill(recorded, "99"), &ours.to_owned());
    }
    Ok(())
}

/// Checks that an error must be a `Status` with the code of the response.
fn errors_are_statuses() -> Result<(), Failed> {
    let rows = [
        (200, "x", 0),
        (404, r#"{"kind":"Status","status":"Failure","code":404}"#, 0),
        (404, "kind: Status\nstatus: Failure\ncode: 404\n", 0),
        (404, r#"{"kind":"Status","status":"Failure","code":400}"#, 1),
        (500, "panic", 1),
        (0, "closed", 1),
    ];
    for (status, body, count) in rows {
        same(&faults("GET", "/", &answer(status, body)).len(), &count);
    }
    Ok(())
}

/// Checks that a difference must be listed with its status, and an equal response must not.
fn the_list_must_be_true() -> Result<(), Failed> {
    let recorded = exchange("/", 200, &json!(1), &[]);
    let outcome = |status: u16, count: usize| {
        Outcome::new(&recorded, status, vec!["differs".to_owned(); count], Vec::new())
    };
    let rows = [
        ("", 200, 0, 0),
        ("", 200, 1, 1),
        ("001\tsame\twhy", 200, 1, 0),
        ("001\tsame\twhy", 404, 1, 2),
        ("001\t404\twhy", 404, 1, 0),
        ("001\t404\twhy", 400, 1, 2),
        ("001\tsame\twhy", 200, 0, 1),
        ("002\tsame\twhy", 200, 1, 1),
    ];
    for (list, status, count, wrong) in rows {
        same(&outcome(status, count).verdict(&parse(list)?).len(), &wrong);
    }
    for bad in ["001\tsame", "001\tsame\t", "x\tsame\twhy", "001\tx\twhy", "1-3 2\tsame\twhy"] {
        assert!(parse(bad).is_err(), "{bad}");
    }
    assert!(parse("# a comment\n\n001-003 7\tunsent\twhy\n")?.is_unsent(7));
    Ok(())
}

fn paths_and_bodies_are_made() -> Result<(), Failed> {
    same(&pointer("metadata.continue"), &"/metadata/continue".to_owned());
    same(&pointer(r#"paths["a/b"].c"#), &"/paths/a~1b/c".to_owned());
    let operations: Vec<Value> =
        serde_json::from_str(&described("10,001 times {\"op\":\"test\"}", "/"))?;
    same(&operations.len(), &10_001);
    let template: Value = serde_json::from_str(&described(
        "a value of 100,000 x in 300 places",
        "/apis/template.openshift.io/v1",
    ))?;
    same(&template.pointer("/objects").and_then(Value::as_array).map(Vec::len), &Some(300));
    same(
        &template.pointer("/parameters/0/value").and_then(Value::as_str).map(str::len),
        &Some(100_000),
    );
    Ok(())
}
