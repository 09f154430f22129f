//! Errors at startup, and subcommands.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};

use crate::http::program::{Program, until};

tests!(
    an_error_is_one_clear_line,
    a_store_belongs_to_one_process,
    a_dump_into_a_closed_pipe_is_no_error,
    files_are_reread_on_sighup,
    the_version_names_the_commit
);

fn run(folder: &std::path::Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_krm-template-server"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn an_error_is_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (arguments, expected) in [
        (
            vec!["--listen", &address, "--store", "memory"],
            format!("cannot listen on {address}: Address already in use"),
        ),
        (
            vec!["--store", "file:no/such/folder/x.redb"],
            "no/such/folder/x.redb: ".to_owned(),
        ),
        (
            vec!["--auth", "tokens=missing.csv"],
            "missing.csv".to_owned(),
        ),
        (
            vec!["--log-level", "x=loud"],
            "--log-level x=loud".to_owned(),
        ),
        (
            vec![
                "--listen",
                "127.0.0.1:0",
                "--store",
                "memory",
                "--audit",
                "no/folder",
            ],
            "no/folder".to_owned(),
        ),
    ] {
        let output = run(folder.path(), &arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(
            errors.starts_with("krm-template-server: error: "),
            "{errors}"
        );
        assert!(errors.contains(&expected), "{errors}");
    }
    for arguments in [
        &["--no-such-option"][..],
        &["--store", "disk"],
        &["--max-reads", "0"],
    ] {
        let output = run(folder.path(), arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.starts_with("error: "), "{errors}");
    }
}

fn a_store_belongs_to_one_process() {
    let first = Program::start(&["--store", "file:t.redb"]);
    let output = run(
        first.folder(),
        &["--listen", "127.0.0.1:0", "--store", "file:t.redb"],
    );
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
    load.stdin
        .take()
        .unwrap()
        .write_all(lines.as_bytes())
        .unwrap();
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
    dump.stderr
        .take()
        .unwrap()
        .read_to_string(&mut errors)
        .unwrap();
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
        program
            .send("GET", "/version", &[("Authorization", &bearer)], b"")
            .code
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
