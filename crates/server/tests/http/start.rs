//! Errors at startup, and subcommands.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};

use crate::http::program::{Program, TEMPLATE, TEMPLATES, until};
use crate::http::two::certificate;

tests!(
    an_error_is_one_clear_line,
    python_is_never_without_a_sandbox,
    a_store_belongs_to_one_process,
    a_dump_into_a_closed_pipe_is_no_error,
    files_are_reread_on_sighup,
    the_version_names_the_commit,
    a_running_server_sends_a_dump,
    the_first_commands_fit_the_server
);

fn run(folder: &std::path::Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_krm-template-server"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// On a kernel without Landlock the server does not start with `--allow-python`.
#[cfg(target_os = "linux")]
fn python_is_never_without_a_sandbox() {
    let folder = tempfile::tempdir().unwrap();
    let server = env!("CARGO_BIN_EXE_krm-template-server");
    let without = include_str!("../../../../tests/deployment-manager/without.py");
    let output = Command::new("python3")
        .args(["-c", without, "444,445,446", server])
        .args(["--listen", "127.0.0.1:0", "--store", "memory"])
        .arg("--allow-python")
        .current_dir(folder.path())
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    let expected = "--allow-python needs a sandbox of the kernel, and there is none: the kernel has no Landlock";
    assert!(errors.contains(expected), "{errors}");
    let output = run(folder.path(), &["--allow-python=unconfined"]);
    assert_eq!(output.status.code(), Some(2));
}

#[cfg(not(target_os = "linux"))]
fn python_is_never_without_a_sandbox() {}

fn an_error_is_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (arguments, expected) in [
        (
            vec!["--listen", &address, "--store", "memory"],
            format!("cannot listen on {address}: Address already in use"),
        ),
        (vec!["--store", "file:no/such/folder/x.redb"], "no/such/folder/x.redb: ".to_owned()),
        (vec!["--auth", "tokens=missing.csv"], "missing.csv".to_owned()),
        (vec!["--log-level", "x=loud"], "--log-level x=loud".to_owned()),
        (
            vec!["--listen", "127.0.0.1:0", "--store", "memory", "--audit", "no/folder"],
            "no/folder".to_owned(),
        ),
    ] {
        let output = run(folder.path(), &arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(errors.starts_with("krm-template-server: error: "), "{errors}");
        assert!(errors.contains(&expected), "{errors}");
    }
    for arguments in [&["--no-such-option"][..], &["--store", "disk"], &["--max-reads", "0"]] {
        let output = run(folder.path(), arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.starts_with("error: "), "{errors}");
    }
}

fn a_store_belongs_to_one_process() {
    let first = Program::start(&["--store", "file:t.redb"]);
    let output = run(first.folder(), &["--listen", "127.0.0.1:0", "--store", "file:t.redb"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("t.redb: "), "{errors}");
}

fn a_dump_into_a_closed_pipe_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    for n in 0..2_000 {
        lines += &format!("{{\"key\":\"/k/{n}\",\"value\":\"{}\"}}\n", "x".repeat(100));
    }
    let store = ["--store", "file:t.redb"];
    let mut load = Command::new(env!("CARGO_BIN_EXE_krm-template-server"))
        .args(["store", "load"])
        .args(store)
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    load.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    assert!(load.wait().unwrap().success());
    let mut dump = Command::new(env!("CARGO_BIN_EXE_krm-template-server"))
        .args(["store", "dump"])
        .args(store)
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    dump.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
    let mut errors = String::new();
    dump.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(dump.wait().unwrap().success(), "{errors}");
    assert_eq!(errors, "");
}

fn files_are_reread_on_sighup() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens.csv");
    std::fs::write(&tokens, "old,jane,1\n").unwrap();
    let program = Program::start_in(folder, &["--auth", "tokens=tokens.csv"]);
    let code = |token: &str| {
        let bearer = format!("Bearer {token}");
        program.send("GET", "/version", &[("Authorization", &bearer)], b"").code
    };
    assert_eq!((code("old"), code("new")), (200, 401));
    std::fs::write(&tokens, "new,jane,1\n").unwrap();
    program.signal("HUP");
    until("the new file counts", || (code("new") == 200).then_some(()));
    assert_eq!(code("old"), 401);
}

fn the_version_names_the_commit() {
    let output = run(std::env::temp_dir().as_path(), &["--version"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let commit = option_env!("KRM_TEMPLATE_COMMIT").map_or(String::new(), |it| format!(" ({it})"));
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(text, format!("krm-template-server {version}{commit}\n"));
}

/// More objects than a page of etcd has.
const DUMPED: usize = 20;

fn a_running_server_sends_a_dump() {
    let folder = tempfile::tempdir().unwrap();
    let rbac = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n\
        metadata: {name: edit}\nrules:\n\
        - {apiGroups: [template.krm.dev], resources: ['*'], verbs: ['*']}\n---\n\
        apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: dump}\n\
        rules:\n- {nonResourceURLs: [/store/dump], verbs: [get]}\n---\n\
        apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n\
        metadata: {name: edit}\n\
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}\n\
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}]\n---\n\
        apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n\
        metadata: {name: dump}\n\
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: dump}\n\
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}]\n";
    std::fs::write(folder.path().join("rbac.yaml"), rbac).unwrap();
    std::fs::write(folder.path().join("tokens"), "a,ada,1\nb,bob,2\n").unwrap();
    let file = ["--store", "file:store.redb"];
    let users = ["--auth", "tokens=tokens", "--rbac", "rbac.yaml"];
    let program = Program::start_in(folder, &[&file[..], &users].concat());
    let send = |user: &str, method: &str, path: &str, body: &str| {
        let bearer = format!("Bearer {user}");
        let headers = [("Content-Type", "application/json"), ("Authorization", &*bearer)];
        program.send(method, path, &headers, body.as_bytes())
    };
    for number in 0..DUMPED {
        let template = TEMPLATE.replace("\"web\"", &format!("\"web-{number}\""));
        assert_eq!(send("a", "POST", TEMPLATES, &template).code, 201);
    }
    // Whoever may do everything with Templates may not read the secrets of all.
    assert_eq!(send("a", "GET", "/store/dump", "").code, 403);
    assert_eq!(send("b", "POST", "/store/dump", "").code, 403);
    let dump = send("b", "GET", "/store/dump", "");
    assert_eq!((dump.code, dump.header("Content-Type")), (200, Some("application/jsonl")));
    let lines = String::from_utf8(dump.body.clone()).unwrap();
    assert_eq!(lines.lines().count(), 1 + DUMPED);

    // It is what `store dump` prints, and `store load` takes it.
    let folder = program.stop();
    let printed = run(folder.path(), &["store", "dump", "--store", "file:store.redb"]);
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), lines);
    let mut load = Command::new(env!("CARGO_BIN_EXE_krm-template-server"))
        .args(["store", "load", "--store", "file:other.redb"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    load.stdin.take().unwrap().write_all(&dump.body).unwrap();
    assert!(load.wait().unwrap().success());
}

fn the_first_commands_fit_the_server() {
    let plain = Program::start(&[]);
    until("the commands are printed", || plain.output().contains("curl 'http://").then_some(()));
    assert!(!plain.output().contains("--token"), "{}", plain.output());
    let folder = tempfile::tempdir().unwrap();
    certificate(folder.path());
    let encrypted = Program::start_in(folder, &["--tls-cert", "tls.crt", "--tls-key", "tls.key"]);
    until("the commands name the authority and a token", || {
        let output = encrypted.output();
        let kubectl = output.matches(" --certificate-authority CA --token TOKEN ").count() == 2;
        let curl = output.contains("curl --cacert CA -H 'Authorization: Bearer TOKEN' 'https://");
        (kubectl && curl).then_some(())
    });

    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = r#"{"current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "clusters": [{"name": "a", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "a", "user": {}}]}"#;
    std::fs::write(folder.path().join("kubeconfig"), kubeconfig).unwrap();
    let applying = Program::start_in(folder, &["--apply", "--kubeconfig", "kubeconfig"]);
    let output = applying.output();
    assert!(output.contains("one of system:anonymous"), "{output}");
}
