//! `export --from-cluster` with a kubectl that is a script of the test.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

use crate::program::{self, Output};

/// What kubectl printed of a small shop.
const SHOP: &str = "examples/export/shop.json";
/// A word that must not be shown, and how it begins in base64.
const SECRETS: [&str; 2] = ["canary", "Y2FuYXJ5"];
/// The kinds without any named.
const KINDS: &str = "deployments.apps,statefulsets.apps,daemonsets.apps,cronjobs.batch,jobs.batch,\
pods,services,ingresses.networking.k8s.io,networkpolicies.networking.k8s.io,configmaps,secrets,\
persistentvolumeclaims,serviceaccounts,roles.rbac.authorization.k8s.io,\
rolebindings.rbac.authorization.k8s.io,horizontalpodautoscalers.autoscaling,\
poddisruptionbudgets.policy";

pub(crate) fn trials() -> Vec<Trial> {
    if cfg!(not(unix)) {
        return Vec::new();
    }
    vec![
        Trial::test("kubectl/its_objects_are_exported", objects),
        Trial::test("kubectl/options_are_passed_on", options),
        Trial::test("kubectl/its_warnings_are_shown", warnings),
        Trial::test("kubectl/its_errors_are_shown", errors),
        Trial::test("kubectl/its_log_prefix_is_not_shown", log),
        Trial::test("kubectl/it_may_be_missing", missing),
        Trial::test("kubectl/it_may_print_something_else", something_else),
        Trial::test("kubectl/it_is_stopped_by_a_signal", signal),
    ]
}

/// A folder with a script `bin/kubectl` that keeps its arguments in a file.
struct Cluster(PathBuf);

impl Cluster {
    fn new(name: &str, script: &str) -> Result<Self, Failed> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kubectl").join(name);
        // Files of an earlier run.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("bin"))?;
        fs::copy(crate::root().join(SHOP), folder.join("shop.json"))?;
        let program = folder.join("bin/kubectl");
        fs::write(&program, format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > arguments\n{script}\n"))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        }
        Ok(Self(folder))
    }

    fn export(&self, more: &[&str]) -> Result<Output, Failed> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = [self.0.join("bin")];
        let folders = folders.into_iter().chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders)?;
        let mut command = program::command(&self.0);
        command.arg("export").args(more).env("PATH", path);
        let output = program::run(&mut command, Vec::new())?;
        let said = String::from_utf8_lossy(&output.stderr);
        if SECRETS.iter().any(|secret| said.contains(secret)) {
            return Err(format!("a secret is shown:\n{said}").into());
        }
        Ok(output)
    }

    fn passed(&self) -> Result<Vec<String>, Failed> {
        let passed = fs::read_to_string(self.0.join("arguments"))?;
        Ok(passed.lines().map(str::to_owned).collect())
    }
}

/// The standard error of a run with this exit status, and with output only if it is 0.
fn said(output: Output, exit: &str) -> Result<String, Failed> {
    let said = String::from_utf8(output.stderr)?;
    if output.exit == exit && output.stdout.is_empty() == (exit != "0") {
        Ok(said)
    } else {
        Err(format!("exit {}, expected {exit}\n{said}", output.exit).into())
    }
}

fn is_same(found: &str, expected: &str) -> Result<(), Failed> {
    if found == expected {
        return Ok(());
    }
    Err(format!("expected\n{expected}\nfound\n{found}").into())
}

fn objects() -> Result<(), Failed> {
    let cluster = Cluster::new("objects", "cat shop.json")?;
    let from_cluster = cluster.export(&["--from-cluster"])?;
    let passed = ["get", "--output=json", "--show-managed-fields", "--", KINDS];
    is_same(&cluster.passed()?.join("\n"), &passed.join("\n"))?;
    let from_file = cluster.export(&["-f", "shop.json"])?;
    let [found, expected] = [&from_cluster, &from_file].map(|output| {
        let parts = [&output.stdout, &output.stderr];
        parts.map(|text| String::from_utf8_lossy(text)).join("\n")
    });
    is_same(&found, &expected)?;
    said(from_cluster, "0").map(|_| ())
}

fn options() -> Result<(), Failed> {
    let cluster = Cluster::new("options", "cat shop.json")?;
    let arguments = [
        "--from-cluster",
        "deploy,--raw=/",
        "--context",
        "a b",
        "-n",
        "shop",
        "-l",
        "app.kubernetes.io/part-of in (shop, web)",
    ];
    cluster.export(&arguments)?;
    let expected = [
        "get",
        "--output=json",
        "--show-managed-fields",
        "--context=a b",
        "--namespace=shop",
        "--selector=app.kubernetes.io/part-of in (shop, web)",
        "--",
        "deploy,--raw=/",
    ];
    is_same(&cluster.passed()?.join("\n"), &expected.join("\n"))
}

fn warnings() -> Result<(), Failed> {
    let cluster = Cluster::new(
        "warnings",
        r"printf 'Warning: \033[31mA is old\nIt is gone in 2\n' >&2; cat shop.json",
    )?;
    let said = said(cluster.export(&["--from-cluster", "deploy"])?, "0")?;
    let expected = "`kubectl get` succeeded\n  \
                    help: it wrote to standard error:\n        Warning: \\u{1b}[31mA is old\n        It is gone in 2\n";
    if said.starts_with(expected) { Ok(()) } else { Err(said.into()) }
}

fn errors() -> Result<(), Failed> {
    let cluster = Cluster::new(
        "errors",
        "cat shop.json; echo 'Error from server (Forbidden): secrets is forbidden' >&2; exit 3",
    )?;
    let said = said(cluster.export(&["--from-cluster"])?, "1")?;
    let expected = "error: `kubectl get` failed: exit status 3\n |\n \
         = help: it wrote to standard error:\n         \
         Error from server (Forbidden): secrets is forbidden\n \
         = help: check the context and the namespace, and name only kinds that exist and that you may \
         read, as in `--from-cluster deployments,services`\n";
    is_same(&said, expected)
}

/// As kubectl prints errors with `-v`.
fn log() -> Result<(), Failed> {
    let cluster = Cluster::new(
        "log",
        r#"echo 'F1122 21:00:00.000000 7 x.go:1] "command failed" err="no cluster"' >&2; exit 1"#,
    )?;
    let said = said(cluster.export(&["--from-cluster"])?, "1")?;
    if said.contains("\n         no cluster\n") {
        return Ok(());
    }
    Err(said.into())
}

fn missing() -> Result<(), Failed> {
    let cluster = Cluster::new("missing", "")?;
    let mut command = program::command(&cluster.0);
    command.args(["export", "--from-cluster"]).env("PATH", ".");
    let expected = "error: program `kubectl` not found\n |\n = help: install it, or give a file with what \
                    `kubectl get -o json` printed elsewhere\n";
    is_same(&said(program::run(&mut command, Vec::new())?, "1")?, expected)
}

/// What follows the secret makes it invalid.
fn something_else() -> Result<(), Failed> {
    let outputs = [
        ("", "there is no object to export"),
        (r#"{"items": ["canary", {"password": "canary"}"#, "error: "),
        (r#"{"password": "canary"}"#, "the object has neither `kind` nor `metadata.name`"),
        ("password: canary\n  token: canary", "error: "),
        ("canary", "error: "),
        (
            r#"{"kind": "List", "items": [{"kind": "Secret", "data": {"a": "Y2FuYXJ5"}}]}"#,
            "the object has no `metadata.name`",
        ),
        ("password: canary \\0377", "`kubectl` is not UTF-8"),
        ("password: canary \\0001", "error: "),
    ];
    for (index, (text, problem)) in outputs.iter().enumerate() {
        let cluster =
            Cluster::new(&format!("something_else_{index}"), &format!("printf '%b' '{text}'"))?;
        let said = said(cluster.export(&["--from-cluster"])?, "1")?;
        if !said.contains(problem) {
            return Err(format!("{text} is said to be\n{said}").into());
        }
    }
    Ok(())
}

/// The program stops kubectl first, and tells how it ended.
fn signal() -> Result<(), Failed> {
    let cluster = Cluster::new("signal", "kill -TERM $PPID; exec sleep 60")?;
    let said = said(cluster.export(&["--from-cluster"])?, "signal: 15 (SIGTERM)")?;
    is_same(&said, "error: `kubectl` was interrupted\n")
}
