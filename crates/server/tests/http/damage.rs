//! Damaged and restored stores, as clients see them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;
use tempfile::TempDir;

use crate::http::program::{Program, TEMPLATES};

tests!(
    a_damaged_template_is_named_left_out_and_deleted,
    a_damaged_deployment_is_named_and_abandoned,
    the_commands_say_what_is_damaged,
    versions_from_the_future_are_expired,
    a_removed_file_fails_the_health_check
);

const STORE: [&str; 2] = ["--store", "file:t.redb"];
const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];

fn create(program: &Program, name: &str) {
    let template = json!({
        "apiVersion": "template.krm.dev/v1alpha1",
        "kind": "Template",
        "metadata": {"name": name, "annotations": {"description": format!("canary of {name}.")}},
        "objects": [],
    });
    let created = program.send("POST", TEMPLATES, &JSON, template.to_string().as_bytes());
    assert_eq!(created.code, 201, "{created:?}");
}

/// Ends a server. Returns its folder, in which the texts of the file are changed.
fn damage(program: Program, texts: &[&str]) -> TempDir {
    let folder = program.stop();
    let path = folder.path().join("t.redb");
    let mut file = fs::read(&path).unwrap();
    for text in texts {
        let places: Vec<usize> = file
            .windows(text.len())
            .enumerate()
            .filter(|(_, part)| *part == text.as_bytes())
            .map(|(at, _)| at)
            .collect();
        assert!(!places.is_empty(), "{text}");
        for at in places {
            file[at] ^= 0x20;
        }
    }
    fs::write(&path, file).unwrap();
    folder
}

fn a_damaged_template_is_named_left_out_and_deleted() {
    let program = Program::start(&STORE);
    for name in ["one", "two", "web"] {
        create(&program, name);
    }
    let folder = damage(program, &["canary of two.", "canary of web."]);
    let program = Program::start_in(folder, &STORE);
    let web = format!("{TEMPLATES}/web");
    let one = program.get(&web);
    one.is_status(500);
    let message = "Template \"shop/web\" is damaged in the store; restore it from a backup, or \
                   delete it";
    assert_eq!(one.json()["message"], message);
    let list = program.get(TEMPLATES);
    assert_eq!(list.json()["items"].as_array().unwrap().len(), 1);
    let warning = "299 - \"2 Templates are damaged in the store and left out: shop/two, shop/web\"";
    assert_eq!(list.header("Warning"), Some(warning));
    let watch = format!("{TEMPLATES}?watch=true&timeoutSeconds=1");
    assert_eq!(program.get(&watch).header("Warning"), Some(warning));
    let page = String::from_utf8(program.get("/ui/").body).unwrap();
    assert!(page.contains("2 Templates are damaged in the store"), "{page}");
    // A precondition that cannot be checked prevents the deletion.
    let options = json!({"preconditions": {"resourceVersion": "3"}}).to_string();
    let refused = program.send("DELETE", &web, &JSON, options.as_bytes());
    refused.is_status(500);
    let deleted = program.send("DELETE", &web, &[], b"");
    assert_eq!((deleted.code, &deleted.json()["status"]), (200, &json!("Success")));
    program.get(&web).is_status(404);
    create(&program, "web");
    assert_eq!(program.get(&web).code, 200);
}

fn a_damaged_deployment_is_named_and_abandoned() {
    let program = Program::start(&STORE);
    let config = json!({"name": "web", "config": "resources: []\n"}).to_string();
    let created = program.send("POST", "/deployments", &JSON, config.as_bytes());
    assert_eq!(created.code, 201, "{created:?}");
    let folder = damage(program, &["\"createdAt\":"]);
    let program = Program::start_in(folder, &STORE);
    assert_eq!(program.get("/deployments").json(), json!(["web"]));
    let one = program.get("/deployments/web");
    one.is_status(500);
    let message = one.json()["message"].to_string();
    assert!(message.contains("is damaged in the store") && message.contains("web"), "{message}");
    program.send("DELETE", "/deployments/web", &[], b"").is_status(500);
    let deleted = program.send("DELETE", "/deployments/web?abandon=true", &[], b"");
    assert_eq!(deleted.code, 200, "{deleted:?}");
    assert_eq!(program.get("/deployments").json(), json!([]));
    let again = program.send("POST", "/deployments", &JSON, config.as_bytes());
    assert_eq!(again.code, 201, "{again:?}");
}

fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = Command::new(env!("CARGO_BIN_EXE_krm-template-server"))
        .arg("store")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

fn the_commands_say_what_is_damaged() {
    let program = Program::start(&STORE);
    for name in ["one", "web"] {
        create(&program, name);
    }
    let folder = damage(program, &[]);
    let whole = "t.redb: objects whole: 2, damaged: 0\n".to_owned();
    assert_eq!(run(folder.path(), &["check", "t.redb"]), (Some(0), whole));
    let program = Program::start_in(folder, &STORE);
    let in_use = run(program.folder(), &["check", "t.redb"]);
    assert!(in_use.1.contains("t.redb: another process uses the file"), "{}", in_use.1);
    let folder = damage(program, &["canary of web."]);
    let named = "krm-template-server: \"/template.krm.dev/templates/shop/web\" is damaged\n";
    let (code, checked) = run(folder.path(), &["check", "t.redb"]);
    let state = "t.redb: objects whole: 1, damaged: 1\n";
    assert!(checked.starts_with(&(named.to_owned() + state)), "{checked}");
    assert_eq!(code, Some(1));
    let salvaged = "new.redb: objects salvaged: 1, damaged: 1\n";
    assert_eq!(
        run(folder.path(), &["salvage", "t.redb", "new.redb"]),
        (Some(0), named.to_owned() + salvaged)
    );
    assert_eq!(
        run(folder.path(), &["dump", "--store", "file:new.redb"]),
        (Some(1), named.to_owned())
    );
    let (code, compacted) = run(folder.path(), &["compact", "new.redb"]);
    assert!(compacted.starts_with("new.redb: ") && code == Some(0), "{compacted}");
}

fn versions_from_the_future_are_expired() {
    let program = Program::start(&[]);
    create(&program, "web");
    let watch = format!("{TEMPLATES}?watch=true&resourceVersion=1000&timeoutSeconds=20");
    let body = String::from_utf8(program.get(&watch).body).unwrap();
    // The body is chunked.
    let (begin, end) = (body.find('{').unwrap(), body.rfind('}').unwrap());
    let event: serde_json::Value = serde_json::from_str(&body[begin..=end]).unwrap();
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert_eq!(event["object"]["reason"], "Expired");
    // A list that another state began.
    let other = Program::start(&[]);
    for name in ["one", "two"] {
        create(&other, name);
    }
    let first = other.get(&format!("{TEMPLATES}?limit=1")).json();
    let token = first["metadata"]["continue"].as_str().unwrap();
    program.get(&format!("{TEMPLATES}?limit=1&continue={token}")).is_status(410);
}

fn a_removed_file_fails_the_health_check() {
    let program = Program::start(&STORE);
    create(&program, "web");
    assert_eq!(program.get("/readyz").code, 200);
    fs::remove_file(program.folder().join("t.redb")).unwrap();
    assert_eq!(program.get("/readyz").code, 500);
    let reason = String::from_utf8(program.get("/readyz/store").body).unwrap();
    assert!(reason.contains("t.redb: the file was removed"), "{reason}");
    assert_eq!(program.get("/livez").code, 200);
    program.send("DELETE", &format!("{TEMPLATES}/web"), &[], b"").is_status(503);
    assert_eq!(program.get(&format!("{TEMPLATES}/web")).code, 200);
}
