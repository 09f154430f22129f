//! Recorded responses of a real OpenShift API server to `processedtemplates`.

use krm_template_server::request::Format;
use krm_template_server_core::Group;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::process::shared::{json, read, request, shared, template, yaml};

/// Intended differences, with their reasons.
const EXCEPTIONS: &str = include_str!("exceptions.json");

/// The numbers of the recorded exchanges about processing.
const NUMBERS: std::ops::RangeInclusive<u32> = 526..=656;

pub(crate) fn trials() -> Vec<Trial> {
    let Some(folder) = shared("corpus/template-api") else {
        return crate::without_data("process/recorded");
    };
    let exceptions: Value = serde_json::from_str(EXCEPTIONS).expect("JSON");
    let mut trials = Vec::new();
    let files = std::fs::read_dir(folder).expect("the recorded answers");
    for file in files {
        let path = file.expect("a file").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let number = name.split('-').next().and_then(|number| number.parse().ok());
        if !number.is_some_and(|number| NUMBERS.contains(&number)) {
            continue;
        }
        let exchange: Value = serde_json::from_str(&read(&path)).expect("JSON");
        if !exchange["request"]["path"].as_str().unwrap_or_default().contains("/processedtemplates")
        {
            continue;
        }
        let exception = exceptions[&name].clone();
        if exception["elsewhere"].is_string() {
            continue;
        }
        trials.push(Trial::test(format!("process/recorded/{name}"), move || {
            check(&exchange, &exception)
        }));
    }
    assert!(trials.len() > 100, "{}", trials.len());
    trials.push(Trial::test("process/recorded/exceptions_have_reasons", move || {
        let all = exceptions.as_object().expect("a mapping");
        let has_reason = |one: &Value| one["elsewhere"].is_string() || one["why"].is_string();
        if all.values().all(has_reason) { Ok(()) } else { Err("no reason".into()) }
    }));
    trials
}

fn check(exchange: &Value, exception: &Value) -> Result<(), Failed> {
    let sent = &exchange["request"];
    let body = sent["body"].as_str().unwrap_or_default();
    let is_yaml =
        |header: &str| sent["headers"][header].as_str().is_some_and(|value| value.contains("yaml"));
    let text = if is_yaml("Content-Type") { yaml(body) } else { json(body) };
    let mut request = request(Group::OpenShift);
    if is_yaml("Accept") {
        request.syntax = Format::Yaml;
    }
    let (code, answer) = match template(&request, text) {
        Ok(done) => (201, done.body),
        Err(status) => (status.code, format!("{}\n", status.object())),
    };
    let recorded = &exchange["response"];
    let expected = match &exception["answer"] {
        Value::Null => without_managed_fields(recorded["body"].as_str().unwrap_or_default()),
        Value::String(text) => text.clone(),
        object => format!("{object}\n"),
    };
    let expected_code = exception["code"].as_u64().or(recorded["status"].as_u64());
    if expected_code != Some(code.into()) {
        return Err(format!("{code}, expected {expected_code:?}: {answer}").into());
    }
    let (mut answer, mut expected) = (answer, expected);
    for path in exchange["volatile"].as_array().into_iter().flatten() {
        let path = path.as_str().unwrap_or_default();
        if let Some(pointer) = pointer(path) {
            (answer, expected) = (masked(&answer, &pointer), masked(&expected, &pointer));
        }
    }
    let (answer, expected) = (without_generated(answer), without_generated(expected));
    if answer == expected {
        return Ok(());
    }
    Err(format!("ours:     {answer}\nexpected: {expected}").into())
}

/// Removes the managed fields, which our responses do not have.
fn without_managed_fields(body: &str) -> String {
    let Some((before, rest)) = body.split_once("\"managedFields\":[") else {
        return body.to_owned();
    };
    let mut depth = 1;
    let end = rest.char_indices().find(|(_, c)| {
        depth += match c {
            '[' => 1,
            ']' => -1,
            _ => 0,
        };
        depth == 0
    });
    let after = &rest[end.expect("a closing bracket").0 + 1..];
    format!("{}{after}", before.strip_suffix(',').unwrap_or(before))
}

/// Masks all generated values in a response.
fn without_generated(body: String) -> String {
    let Ok(value) = serde_json::from_str::<Value>(&body) else {
        return body;
    };
    let mut body = body;
    for parameter in value["parameters"].as_array().into_iter().flatten() {
        let [from, text] = ["from", "value"].map(|key| parameter[key].as_str().unwrap_or_default());
        if parameter["generate"] == "expression" && text != from && text != "given" {
            let mask = "*".repeat(text.chars().count());
            let spelled = Value::from(text).to_string();
            let escaped = &spelled[1..spelled.len() - 1];
            body = body.replace(escaped, &mask);
            let escaped = escaped.replace('<', "\\u003c").replace('>', "\\u003e");
            body = body.replace(&escaped.replace('&', "\\u0026"), &mask);
        }
    }
    body
}

/// Converts a path such as `body.objects[0].data.a` to a JSON pointer. Returns `None` for managed
/// fields.
fn pointer(path: &str) -> Option<String> {
    let path = path.strip_prefix("body")?;
    let pointer = path.replace('[', "/").replace(']', "").replace('.', "/");
    (!pointer.contains("managedFields")).then_some(pointer)
}

/// Masks one value of a body.
fn masked(body: &str, pointer: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(body) else {
        return body.to_owned();
    };
    if let Some(part) = value.pointer_mut(pointer) {
        *part = Value::from("…");
    }
    format!("{value}\n")
}
