//! Every expansion of the corpus: the server must return the output of the command line, and the
//! expected output.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use krm_template_deployment_manager::expand::expand;
use krm_template_deployment_manager::model::Options;
use krm_template_deployment_manager::request;
use krm_template_exec::python::{Confinement, interpreters};
use krm_yaml::Value;
use krm_yaml::source::Source;
use libtest_mimic::{Failed, Trial};
use serde_json::json;

use crate::deployments::compare::{Order, canonical, first_difference, read};
use crate::deployments::needs;
use crate::http::program::Program;

/// The number of cases with an expansion, and with an error.
const EXPANSIONS: usize = 318;
const ERRORS: usize = 32;

/// A Python program that succeeds where the server runs Python templates.
const LANDLOCK: &str =
    "import ctypes, six, sys, yaml; sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 1)";

pub(crate) fn trials() -> Vec<Trial> {
    let shared = std::env::var_os("KRM_TEMPLATE_SHARED").map(PathBuf::from);
    let python = std::process::Command::new("python3")
        .args(["-c", LANDLOCK])
        .output()
        .is_ok_and(|output| output.status.success());
    let what = "KRM_TEMPLATE_SHARED, Landlock, and python3 with PyYAML and six";
    let folder = shared.unwrap_or_default().join("corpus/deployment-manager/expand");
    let is_there = python && folder.is_dir();
    let cases = Arc::new(folder);
    let run = |name: &str, check: fn(&Path) -> Result<(), Failed>| {
        let cases = Arc::clone(&cases);
        needs(what, is_there, name, move || check(&cases))
    };
    vec![
        run("corpus/expand_answers_what_the_command_line_prints", expanded),
        run("corpus/manifests_have_what_the_command_line_prints", deployed),
        run("corpus/errors_have_the_words_of_the_original", failed),
    ]
}

/// A folder of the corpus.
struct Case {
    name: String,
    input: serde_json::Value,
    expected: Option<String>,
    order: Order,
}

fn cases(folder: &Path) -> Vec<Case> {
    let mut folders: Vec<_> = fs::read_dir(folder).unwrap().map(Result::unwrap).collect();
    folders.sort_by_key(fs::DirEntry::file_name);
    let case = |entry: fs::DirEntry| {
        let path = entry.path();
        let json = |name: &str| -> serde_json::Value {
            serde_json::from_slice(&fs::read(path.join(name)).unwrap()).unwrap()
        };
        let mut input = json("input.json");
        input["strict_schemas"] = json!(true);
        Case {
            name: entry.file_name().into_string().unwrap(),
            input,
            expected: fs::read_to_string(path.join("expected.yaml")).ok(),
            order: if json("meta.json")["py2_py3_equal"] == true {
                Order::Kept
            } else {
                Order::OfPython2
            },
        }
    };
    folders.into_iter().map(case).collect()
}

/// Returns the output of the command line: the configuration, the layout, and both as JSON; or the
/// message of the first error.
fn printed(input: &serde_json::Value) -> Result<[String; 4], String> {
    let source = Source::new("request", input.to_string());
    let request = request::read(&source, Options::default()).unwrap();
    let python = interpreters("python3", Duration::from_secs(30), Confinement::Unconfined);
    let expansion = expand(&request, python.interpreter().as_mut());
    let expansion = expansion.map_err(|error| {
        let errors = error.diagnostics.errors();
        errors.iter().next().map(|error| error.message.clone()).unwrap_or_default()
    })?;
    let original_layout = expansion.layout.to_original_value();
    let layout = expansion.layout.to_value();
    let is_empty = expansion.text.as_deref() == Some("");
    let config = expansion.into_config_value();
    let text = |value: &Value<'_>| {
        if is_empty { String::new() } else { krm_yaml::to_string(value) }
    };
    Ok([text(&config), text(&original_layout), config.to_json(), layout.to_json()])
}

fn server() -> Program {
    // This does not test timeouts, and Python may be slow on a busy machine.
    Program::start(&["--allow-python", "--expansion-timeout", "60s"])
}

fn report(failures: &[String], total: usize, wanted: usize) -> Result<(), Failed> {
    println!("{} of {total}", total - failures.len());
    if failures.is_empty() && total == wanted {
        return Ok(());
    }
    Err(format!("{total} cases, wanted {wanted}\n{}", failures.join("\n")).into())
}

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];

fn expanded(folder: &Path) -> Result<(), Failed> {
    let server = server();
    let (mut failures, mut total) = (Vec::new(), 0);
    for case in cases(folder) {
        let Some(expected) = &case.expected else {
            continue;
        };
        total += 1;
        let answer = server.send("POST", "/expand", &JSON, case.input.to_string().as_bytes());
        if answer.code != 200 {
            let body = String::from_utf8_lossy(&answer.body);
            failures.push(format!("{}: {} {body}", case.name, answer.code));
            continue;
        }
        let answer = answer.json();
        let [config, layout, ..] = printed(&case.input).unwrap();
        if answer != json!({"config": config, "layout": layout}) {
            failures.push(format!("{}: not as on the command line", case.name));
        }
        // The original prints both in one document.
        let both = if config.is_empty() {
            String::new()
        } else {
            let indented = |text: &str| {
                let lines = text.lines().map(|line| format!("  {line}\n"));
                lines.collect::<String>()
            };
            format!("config:\n{}layout:\n{}", indented(&config), indented(&layout))
        };
        let found = canonical(&read(&both).unwrap(), case.order);
        let wanted = canonical(&read(expected).unwrap(), case.order);
        if found != wanted {
            failures.push(format!("{}: {}", case.name, first_difference(&found, &wanted)));
        }
    }
    report(&failures, total, EXPANSIONS)
}

fn deployed(folder: &Path) -> Result<(), Failed> {
    let server = server();
    let (mut failures, mut total) = (Vec::new(), 0);
    for mut case in cases(folder) {
        if case.expected.is_none() {
            continue;
        }
        total += 1;
        let name = format!("case-{total}");
        case.input["name"] = json!(name);
        case.input["env"]["deployment"] = json!(name);
        let sent = case.input.to_string();
        let answer = server.send("POST", "/deployments", &JSON, sent.as_bytes());
        if answer.code != 201 {
            let body = String::from_utf8_lossy(&answer.body);
            failures.push(format!("{}: {} {body}", case.name, answer.code));
            continue;
        }
        let [.., config, layout] = printed(&case.input).unwrap();
        let manifest = format!("/deployments/{name}/manifests/manifest-0001");
        let stored = server.get(&manifest);
        let text = String::from_utf8(stored.body.clone()).unwrap();
        for part in [format!("\"expandedConfig\":{config}"), format!("\"layout\":{layout}")] {
            if !text.contains(&part) {
                failures.push(format!("{}: not as on the command line", case.name));
            }
        }
        let created = answer.json();
        if created["manifests"]["manifest-0001"] != stored.json() {
            failures.push(format!("{}: the answer has another manifest", case.name));
        }
        if created["state"] != "expanded" {
            failures.push(format!("{}: {}", case.name, created["state"]));
        }
    }
    report(&failures, total, EXPANSIONS)
}

fn failed(folder: &Path) -> Result<(), Failed> {
    let server = server();
    let (mut failures, mut total) = (Vec::new(), 0);
    for mut case in cases(folder) {
        if case.expected.is_some() {
            continue;
        }
        total += 1;
        let first = printed(&case.input).unwrap_err();
        case.input["name"] = json!("failed");
        for path in ["/expand", "/deployments"] {
            let sent = case.input.to_string();
            let answer = server.send("POST", path, &JSON, sent.as_bytes());
            let code = answer.code;
            let status = answer.json();
            let causes = status["details"]["causes"].as_array().map_or(0, Vec::len);
            let message = status["message"].as_str().unwrap_or_default();
            if code != 400 || !message.contains(&first) || causes == 0 {
                failures.push(format!("{}: {path}: {status}", case.name));
            }
        }
    }
    let names = server.get("/deployments").json();
    assert_eq!(names, json!([]));
    report(&failures, total, ERRORS)
}
