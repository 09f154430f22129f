//! Hostile requests: bodies that grow, secrets in every place, and random input.

#![expect(clippy::disallowed_methods, reason = "a test reads its data")]

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use krm_template_server::request::Format;
use krm_template_server::templates::{self, Limits, Output, Processed, Request, Text};
use krm_template_server_core::{Group, Result};
use libtest_mimic::Trial;
use proptest::prelude::{Strategy, any, prop};
use proptest::test_runner::{Config, TestRunner};

use crate::process::shared::{json, on_thread, request, template, yaml};

pub(crate) fn trials() -> Vec<Trial> {
    let tests: [(&str, fn()); 6] = [
        (
            "values_are_counted_before_memory_is_asked_for",
            values_are_counted_before_memory_is_asked_for,
        ),
        ("objects_are_counted", objects_are_counted),
        ("time_is_looked_at_once_an_object", time_is_looked_at_once_an_object),
        ("yaml_that_would_grow_is_refused", yaml_that_would_grow_is_refused),
        ("no_message_says_a_value", no_message_says_a_value),
        ("no_body_makes_it_panic", no_body_makes_it_panic),
    ];
    let run = |test: fn()| {
        move || {
            test();
            Ok(())
        }
    };
    let tests = tests.into_iter();
    tests.map(|(name, test)| Trial::test(format!("process/hostile/{name}"), run(test))).collect()
}

/// Returns the code and the reasons of the causes, or the reason of a `Status` without causes.
fn reason(result: Result<Processed>) -> (u16, String) {
    let status = result.err().expect("an error");
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let reasons: Vec<&str> = causes.map(|cause| cause.reason).collect();
    let reasons = if reasons.is_empty() { status.reason.to_owned() } else { reasons.join(",") };
    (status.code, reasons)
}

/// Returns a Template in each dialect, with references in the syntax of the dialect.
fn bodies(body: &str) -> [(Group, String); 2] {
    let upstream = body.replace("$((A))", "${{A}}").replace("$(A)", "${A}");
    [(Group::Krm, body.to_owned()), (Group::OpenShift, upstream)]
}

/// Returns the peak memory of the process in KiB.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

const MIB: usize = 1 << 20;

/// Returns an object with additional fields.
fn object(more: &str) -> String {
    format!(r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "n"}}{more}}}"#)
}

fn values_are_counted_before_memory_is_asked_for() {
    let before = peak();
    let value = "x".repeat(MIB);
    let many = "$(A)".repeat(1_000);
    let items = vec![r#"{"metadata": {}}"#; 1_000].join(",");
    let places = [
        // In one string, in many, in keys, in names of variables, in labels, in the message.
        object(&format!(r#", "a": "{many}""#)),
        object(&format!(r#", "a": [{}]"#, vec![r#""$(A)""#; 1_000].join(","))),
        object(&format!(r#", "a": [{}]"#, vec![r#""$((A))""#; 1_000].join(","))),
        object(&format!(r#", "a": {{"{many}": 1}}"#)),
        object(&format!(
            r#", "spec": {{"containers": [{{"env": [{{"name": "{many}", "value": "$(A)"}}]}}]}}"#
        )),
        vec![object(""); 1_000].join(",") + r#"], "labels": {"a": "$(A)"}, "none": ["#,
        format!(
            r#"{{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {{"name": "n"}},
            "spec": {{"volumeClaimTemplates": [{items}]}}}}], "labels": {{"a": "$(A)"}}, "none": ["#
        ),
        format!(r#"], "message": "{many}", "none": ["#),
    ];
    for (index, objects) in places.into_iter().enumerate() {
        let body = format!(
            r#"{{"parameters": [{{"name": "A", "value": "{value}"}}], "objects": [{objects}]}}"#
        );
        for (group, body) in bodies(&body) {
            if group == Group::OpenShift && body.contains("StatefulSet") {
                // This dialect does not add labels there.
                continue;
            }
            let result = template(&request(group), json(&body));
            assert_eq!(reason(result), (422, "FieldValueTooLong".to_owned()), "{index} {group:?}");
        }
    }
    defaults_and_escapes_are_counted();
    if let (Some(before), Some(after)) = (before, peak()) {
        assert!(after - before < 256 << 10, "{before} KiB, {after} KiB");
    }
}

/// Checks defaults that refer to one another, and strings that grow when they are escaped.
fn defaults_and_escapes_are_counted() {
    let chain: Vec<String> = (0..1_000)
        .map(|at| format!(r#"{{"name": "P{at}", "value": "$(A)$(A)$(A)$(A)"}}"#))
        .collect();
    let short = "x".repeat(MIB / 8);
    let body = format!(
        r#"{{"objects": [], "parameters": [{{"name": "A", "value": "{short}"}}, {}]}}"#,
        chain.join(",")
    );
    let result = template(&request(Group::Krm), json(&body));
    assert_eq!(reason(result), (422, "FieldValueTooLong".to_owned()));
    let less = "<".repeat(3 * MIB);
    let body = format!(r#"{{"objects": [{}]}}"#, object(&format!(r#", "a": "{less}""#)));
    let result = template(&request(Group::Krm), json(&body));
    assert_eq!(reason(result), (422, "FieldValueTooLong".to_owned()));
}

fn objects_are_counted() {
    let object = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}"#;
    let body = |count: usize| format!(r#"{{"objects": [{}]}}"#, vec![object; count].join(","));
    let list = |count: usize| {
        let items = vec![object; count].join(",");
        format!(r#"{{"objects": [{{"apiVersion": "v1", "kind": "List", "items": [{items}]}}]}}"#)
    };
    for group in Group::ALL {
        assert!(template(&request(group), json(&body(10_000))).is_ok());
        for body in [body(10_001), list(10_001)] {
            let result = template(&request(group), json(&body));
            assert_eq!(reason(result), (422, "FieldValueTooMany".to_owned()));
        }
    }
}

fn time_is_looked_at_once_an_object() {
    let object = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}"#;
    let body = format!(r#"{{"objects": [{}]}}"#, vec![object; 100].join(","));
    let asked = AtomicUsize::new(0);
    let is_late = || asked.fetch_add(1, Relaxed) >= 50;
    let request = Request { limits: Limits::of_server(&is_late), ..request(Group::Krm) };
    assert_eq!(reason(template(&request, json(&body))), (504, "Timeout".to_owned()));
    let asked = asked.load(Relaxed);
    assert!((50..=60).contains(&asked), "{asked}");
}

fn yaml_that_would_grow_is_refused() {
    let deep = |value: &str| {
        let (open, close) = ("[".repeat(900), "]".repeat(900));
        format!(
            "parameters: [{{name: A, value: {value}}}]\nobjects:\n- apiVersion: v1\n  kind: X\n  \
             metadata: {{name: x}}\n  a: {open}$(A){close}\n"
        )
    };
    let request = Request { syntax: Format::Yaml, ..request(Group::Krm) };
    let lines = format!("{:?}", "a\n".repeat(100_000));
    let result = template(&request, yaml(&deep(&lines)));
    assert_eq!(reason(result), (422, "FieldValueTooLong".to_owned()));
    assert!(template(&request, yaml(&deep("a"))).is_ok());
}

const CANARY: &str = "canary-4711-word";

/// Bodies with errors, each with the canary as the value of `A`.
const MISTAKES: &[&str] = &[
    r#"{"parameters": [{"name": "A", "value": "CANARY", "type": "int"}], "objects": []}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY", "type": "bool", "secret": true}], "objects": []}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY", "type": "array"}], "objects": []}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY", "type": "base64"}], "objects": []}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY", "pattern": "^x"}], "objects": []}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY", "enum": ["a"]}], "objects": []}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY", "maxLength": 3}], "objects": []}"#,
    r#"{"parameters": [{"name": "A", "value": ["CANARY"]}], "objects": []}"#,
    r#"{"parameters": [{"name": "A", "value": {"CANARY": .inf}, "type": "map"}], "objects": []}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY"}, {"name": "A", "value": "CANARY"}], "objects": []}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY"}], "objects": [null]}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY"}], "objects": ["$(A)"]}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY"}], "objects": [{"$(A)": 1}]}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY"}],
        "objects": [{"apiVersion": "v1", "kind": "X", "metadata": {"name": "x", "$(A)": "$(B)"}, "$(A)": {"replicas": "$((B))"}}]}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY"}],
        "objects": [{"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}, "a": {"$(A)": 1, "$((A))": 2}, "b": "$((A))"}]}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY"}, {"name": "B", "value": "CANARY"}],
        "objects": [{"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}, "a": {"$(A)": 1, "$(B)": 2}}]}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY", "type": "number"}],
        "objects": [{"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}, "a": "$((A))x$((A))"}]}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY / no label"}], "labels": {"a": "$(A)", "$(A)": "b"},
        "objects": [{"apiVersion": "v1", "kind": "X", "metadata": {"name": "x", "labels": 5}}]}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY"}], "labels": {"$(A)": "a", "CANARY": "b"}, "objects": []}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY"}], "values": {"B": "CANARY", "A": "CANARY"}, "objects": []}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY"}, {"name": "B", "value": "$(A)", "type": "int"}], "objects": []}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY", "generate": "x", "from": "CANARY"}], "objects": [{}]}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY"}], "objects": [{"apiVersion": "$(A)", "kind": "", "metadata": {"name": "$((A))"}}]}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY"}], "objects": [{"kind": "List", "items": [{"$(A)": "$(A)"}]}]}"#,
    r#"{"parameters": [{"name": "A", "value": "CANARY", "required": "CANARY"}], "objects": []}"#,
    r#"{"parameters": [{"name": "A", "value": !!int "CANARY"}], "objects": []}"#,
];

fn no_message_says_a_value() {
    let mut heard = 0;
    let mut hear = |result: Result<Processed>, body: &str| {
        let said = match result {
            Ok(done) => done.warnings.join("\n"),
            Err(status) => status.object().to_string(),
        };
        heard += usize::from(!said.is_empty());
        assert!(!said.contains(CANARY), "{body}\n{said}");
    };
    for body in MISTAKES {
        let body = body.replace("CANARY", CANARY);
        for (group, body) in bodies(&body) {
            hear(template(&request(group), yaml(&body)), &body);
        }
        hear(stored(&body.replace(CANARY, "1"), CANARY), &body);
        hear(stored(&body.replace(CANARY, "1"), &format!("[{CANARY}, .inf]")), &body);
        let schema =
            on_thread(|| templates::schema(Group::Krm, yaml(&body), &Limits::of_server(&|| false)));
        hear(
            schema.map(|_| Processed { body: String::new(), warnings: Vec::new(), objects: 0 }),
            &body,
        );
    }
    assert!(heard > 80, "{heard}");
}

/// Processes a stored Template with a value for `A`.
fn stored(body: &str, value: &str) -> Result<Processed> {
    let parameters = format!("values: {{A: {value}, AA: {value}, B: {value}}}\nlabels: {{a: 1}}\n");
    on_thread(|| templates::stored(&request(Group::Krm), yaml(body), yaml(&parameters)))
}

/// Fragments of random bodies.
const PIECES: &[&str] = &[
    "apiVersion: v1\n",
    "kind: Template\n",
    "kind: List\n",
    "metadata: {name: x, namespace: shop}\n",
    "parameters:\n",
    "- name: A\n",
    "  name: A\n",
    "  value: a\n",
    "  value: [1, {b: c}]\n",
    "  required: true\n",
    "  generate: expression\n",
    "  from: '[a-z]{3}'\n",
    "  from: '[z-a]{0}'\n",
    "  type: map\n",
    "objects:\n",
    "- apiVersion: v1\n",
    "  kind: ConfigMap\n",
    "  metadata: {name: x}\n",
    "  metadata: {labels: 5}\n",
    "  items: [{a: b}, null]\n",
    "  kind: List\n",
    "  a: ${{A}}\n",
    "  a: $((A))\n",
    "  $(A): ${A}\n",
    "  b: &x [*x]\n",
    "  ? [1]\n  : 2\n",
    "  <<: {a: 1}\n",
    "labels: {a: $(A), ${A}: b}\n",
    "message: ${A} $(A)\n",
    "values: {A: b}\n",
    "objects: []\n",
    "objects: [null, 5, [], {}, \"${{A}}\"]\n",
    "parameters: [null, {}, {name: 5}]\n",
    "---\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "'",
    "|\n",
    "\t",
    "\r\n",
    "\u{0}",
    "\u{2028}",
    "é",
    "!!binary x\n",
    "%YAML 1.1\n",
    "#",
];

fn no_body_makes_it_panic() {
    let piece = prop::sample::select(PIECES);
    let pieces = prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat());
    let text = any::<String>();
    let bodies = prop::strategy::Union::new([pieces.boxed(), text.boxed()]);
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let mut runner =
        TestRunner::new(Config { cases: 1_000, failure_persistence: None, ..Config::default() });
    let case = (bodies.clone(), bodies, switches);
    let run = runner.run(&case, |(body, parameters, (is_krm, is_yaml, is_list, source_map))| {
        let group = if is_krm { Group::Krm } else { Group::OpenShift };
        let syntax = if is_yaml { Format::Yaml } else { Format::Json };
        let output = if is_list { Output::List } else { Output::Template };
        let request = Request { syntax, output, source_map, ..request(group) };
        let text = |text| Text { text, syntax };
        on_thread(|| {
            for done in [
                templates::template(&request, text(&body)),
                templates::stored(&request, text(&body), text(&parameters)),
            ] {
                if let Ok(done) = done
                    && !is_yaml
                {
                    let answer: serde_json::Value = serde_json::from_str(&done.body).expect("JSON");
                    assert!(answer.is_object());
                }
            }
            let _ = templates::schema(group, text(&body), &Limits::of_server(&|| false));
        });
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}
