//! Two servers on one etcd.

use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use crate::deployments::needs;
use crate::deployments::paths::{JSON, names, site};
use crate::http::program::{Program, until};

pub(crate) fn trials() -> Vec<Trial> {
    let is_there = Command::new("etcd").arg("--version").output().is_ok();
    let run = |name: &str, test: fn()| {
        needs("etcd", is_there, name, move || {
            test();
            Ok(())
        })
    };
    vec![
        run("replicas/what_one_creates_the_other_changes", shared),
        run("replicas/one_of_two_changes_at_once_gets_409", at_once),
        run("replicas/the_operation_of_a_server_that_ended_is_interrupted", taken_over),
    ]
}

/// A process of etcd. It is killed on drop.
struct Etcd {
    process: Child,
    address: String,
    _folder: TempDir,
}

impl Etcd {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = || {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().port()
        };
        let address = format!("http://127.0.0.1:{}", port());
        let peers = format!("http://127.0.0.1:{}", port());
        let process = Command::new("etcd")
            .arg("--data-dir")
            .arg(folder.path().join("data"))
            .args(["--listen-client-urls", &address, "--advertise-client-urls", &address])
            .args(["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers])
            .args(["--initial-cluster", &format!("default={peers}")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { process, address, _folder: folder }
    }

    fn server(&self, more: &[&str]) -> Program {
        let arguments = ["--store", "etcd", "--etcd-endpoints", &self.address];
        let program = Program::start(&[&arguments[..], more].concat());
        until("the server is ready", || (program.get("/readyz").code == 200).then_some(()));
        program
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn shared() {
    let etcd = Etcd::start();
    let (one, two) = (etcd.server(&[]), etcd.server(&[]));
    assert_eq!(one.send("POST", "/deployments", &JSON, &site("web", 1)).code, 201);
    let updated = two.send("PUT", "/deployments/web", &JSON, &site("web", 2));
    assert_eq!(updated.json()["latestManifest"], "manifest-0002");
    for path in ["/deployments/web", "/types/all/instances", updated.header("Location").unwrap()] {
        assert_eq!(one.get(path).json(), two.get(path).json(), "{path}");
    }
    assert_eq!(two.send("DELETE", "/deployments/web", &[], b"").code, 200);
    assert_eq!(names(&one, "/deployments"), [""; 0]);
}

/// Returns a body with a slow template, so that two changes overlap.
fn slow(name: &str) -> Vec<u8> {
    let template =
        "resources: [{% for a in range(1000) %}{% for b in range(900) %}{% endfor %}{% endfor %}]";
    crate::deployments::body(
        name,
        "resources: [{name: a, type: a.jinja}]",
        &[("a.jinja", template)],
    )
}

fn at_once() {
    let etcd = Etcd::start();
    let timeout = ["--expansion-timeout", "60s"];
    let (one, two) = (etcd.server(&timeout), etcd.server(&timeout));
    let mut both = Vec::new();
    for round in 0..5 {
        let sent = slow(&format!("web-{round}"));
        let ask = &|server: &Program| {
            let answer = server.send("POST", "/deployments", &JSON, &sent);
            (answer.code, answer.json())
        };
        let mut codes = thread::scope(|scope| {
            let [first, second] = [&one, &two].map(|server| scope.spawn(move || ask(server)));
            [first.join().unwrap(), second.join().unwrap()]
        });
        codes.sort_by_key(|(code, _)| *code);
        let [(created, _), (refused, status)] = &codes;
        assert_eq!((*created, *refused), (201, 409), "{status}");
        both.push(status["message"].as_str().unwrap().to_owned());
    }
    let is_busy = |message: &String| message.contains("is being changed by the operation");
    assert!(both.iter().any(is_busy), "no two changes were at once: {both:?}");
}

fn taken_over() {
    let etcd = Etcd::start();
    let (one, two) = (etcd.server(&["--expansion-timeout", "60s"]), etcd.server(&[]));
    assert_eq!(one.send("POST", "/deployments", &JSON, &site("web", 1)).code, 201);
    let sent = slow("web");
    let begun = one.send("PUT", "/deployments/web?async=true", &JSON, &sent);
    assert_eq!(begun.code, 202);
    let path = begun.header("Location").unwrap().to_owned();
    one.signal("KILL");
    drop(one.end());
    // The lock of a server that no longer responds is not taken over at once.
    let refused = two.send("PUT", "/deployments/web", &JSON, &site("web", 2));
    refused.is_status(409);
    let mut operation = Value::Null;
    until("the lock is taken over", || {
        operation = two.get(&path).json();
        let is_final = operation["state"] != "running" && operation["state"] != "pending";
        thread::sleep(Duration::from_millis(100));
        is_final.then_some(())
    });
    assert_eq!(operation["state"], "interrupted", "{operation}");
    let deployment = two.get("/deployments/web").json();
    assert_eq!(deployment["latestManifest"], "manifest-0001");
    let updated = two.send("PUT", "/deployments/web", &JSON, &site("web", 2));
    assert_eq!(updated.json()["latestManifest"], "manifest-0002");
}
