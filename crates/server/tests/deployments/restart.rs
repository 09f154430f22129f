//! A restarted server keeps all its data.

use libtest_mimic::Trial;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::deployments::paths::{JSON, names, site};
use crate::deployments::trial;
use crate::http::program::Program;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("restart/a_file_keeps_everything", file),
        trial("restart/an_operation_that_was_interrupted_says_so", interrupted),
        trial("restart/a_server_ends_when_its_operations_have", graceful),
    ]
}

const STORE: [&str; 2] = ["--store", "file:store.redb"];

fn start(folder: TempDir) -> Program {
    Program::start_in(folder, &STORE)
}

/// Kills the program, and keeps the file of its store for the next one.
fn moved(program: Program) -> TempDir {
    let next = tempfile::tempdir().unwrap();
    let file = next.path().join("store.redb");
    std::fs::hard_link(program.folder().join("store.redb"), file).unwrap();
    program.signal("KILL");
    drop(program.end());
    next
}

fn file() {
    let program = start(tempfile::tempdir().unwrap());
    let created = program.send("POST", "/deployments", &JSON, &site("web", 2));
    assert_eq!(created.code, 201);
    let updated = program.send("PUT", "/deployments/web", &JSON, &site("web", 1));
    assert_eq!(updated.code, 200);
    let operation = updated.header("Location").unwrap().to_owned();
    let paths = [
        "/deployments",
        "/deployments/web",
        "/deployments/web/manifests",
        "/deployments/web/manifests/manifest-0001",
        "/types",
        "/types/all/instances",
        &operation,
    ];
    let before: Vec<Value> = paths.map(|path| program.get(path).json()).to_vec();
    let program = start(moved(program));
    let after: Vec<Value> = paths.map(|path| program.get(path).json()).to_vec();
    assert_eq!(after, before);
    let updated = program.send("PUT", "/deployments/web", &JSON, &site("web", 3));
    assert_eq!(updated.json()["latestManifest"], "manifest-0003");
}

/// Returns a dump of the store of a server that stopped while it applied a manifest.
fn left_behind(state: &str) -> String {
    let operation = json!({
        "name": "operation-1", "type": "update", "deployment": "web", "namespace": "default",
        "user": "jane", "state": "running", "startedAt": "2026-11-25T00:00:00Z",
        "manifest": "manifest-0002",
        "steps": [{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "new",
            "uid": "u-2", "what": "applied"}],
    });
    let deployment = json!({
        "name": "web", "namespace": "default", "state": state,
        "createdAt": "2026-11-25T00:00:00Z", "modifiedAt": "2026-11-25T00:00:00Z",
        "deployedAt": "2026-11-25T00:00:00Z",
        "latestManifest": "manifest-0002", "manifests": ["manifest-0001", "manifest-0002"],
        "operation": "operation-1",
        "resources": [{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default",
            "name": "old", "uid": "u-1"}],
    });
    let lock = json!({"operation": "operation-1", "beat": 3});
    let manifest = |name: &str| json!({"name": name, "layout": {"resources": []}});
    let items = [
        ("/dm/operations/operation-1", operation),
        ("/dm/deployments/default/web", deployment),
        ("/dm/locks/default/web", lock),
        ("/dm/manifests/default/web/manifest-0001", manifest("manifest-0001")),
        ("/dm/manifests/default/web/manifest-0002", manifest("manifest-0002")),
        // A manifest that was written, but did not become the latest one.
        ("/dm/manifests/default/web/manifest-0003", manifest("manifest-0003")),
    ];
    let lines = items
        .iter()
        .map(|(key, value)| json!({"key": key, "value": value.to_string()}).to_string() + "\n");
    lines.collect()
}

/// Loads a dump into a store in a new folder.
fn loaded(dump: &str) -> TempDir {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let mut load = Command::new(env!("CARGO_BIN_EXE_krm-template-server"))
        .args(["store", "load"])
        .args(STORE)
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    load.stdin.take().unwrap().write_all(dump.as_bytes()).unwrap();
    assert!(load.wait().unwrap().success());
    folder
}

fn interrupted() {
    let program = start(loaded(&left_behind("applying")));
    let operation = program.get("/operations/operation-1").json();
    assert_eq!(operation["state"], "interrupted", "{operation}");
    assert!(operation["finishedAt"].is_string());
    let deployment = program.get("/deployments/web").json();
    assert_eq!(deployment["state"], "interrupted");
    let message = deployment["message"].as_str().unwrap();
    assert!(message.contains("run the request again"), "{message}");
    // The objects that it applied before it stopped are known.
    let resources = deployment["resources"].as_array().unwrap();
    let uids: Vec<&Value> = resources.iter().map(|one| &one["uid"]).collect();
    assert_eq!(uids, ["u-1", "u-2"]);
    // The manifest that never became the latest one is deleted, and its name is free.
    let path = "/deployments/web/manifests";
    assert_eq!(names(&program, path), ["manifest-0001", "manifest-0002"]);
    assert_eq!(program.get("/deployments/web/manifests/manifest-0003").code, 404);
    let again = program.send("PUT", "/deployments/web", &JSON, &site("web", 1)).json();
    assert_eq!(again["state"], "expanded");
    assert_eq!(again["latestManifest"], "manifest-0003");
    let content = &again["manifests"]["manifest-0003"]["inputConfig"]["content"];
    assert!(content.as_str().unwrap().contains("replicas: 1"));
    // A server that changes no cluster keeps the record of the objects in the cluster.
    let refused = program.send("DELETE", "/deployments/web", &[], b"");
    refused.is_status(409);
    let abandoned = program.send("DELETE", "/deployments/web?abandon=true", &[], b"");
    assert_eq!(abandoned.json()["message"], "deleted; 2 objects remain in the cluster");

    // A change is done if its last write is in the store.
    let program = start(loaded(&left_behind("applied")));
    let operation = program.get("/operations/operation-1").json();
    assert_eq!(operation["state"], "done");
}

fn graceful() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start_in(folder, &[&STORE[..], &["--shutdown-delay", "0s"]].concat());
    let begun = program.send("POST", "/deployments?async=true", &JSON, &site("web", 900));
    assert_eq!(begun.code, 202);
    let path = begun.header("Location").unwrap().to_owned();
    program.signal("TERM");
    let next = tempfile::tempdir().unwrap();
    let file = next.path().join("store.redb");
    std::fs::hard_link(program.folder().join("store.redb"), &file).unwrap();
    let (status, output) = program.end();
    assert!(status.success(), "{output}");
    let program = start(next);
    assert_eq!(program.get(&path).json()["state"], "done");
}
