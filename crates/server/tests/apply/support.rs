//! The fake cluster in `tests/server/cluster` as a process, and objects to apply to it.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use http::Request;
use http_body_util::BodyExt;
use krm_template_cluster::{Cluster, Limits, Object, Owner, Progress, Step, What};
use krm_template_server_core::{Result, Status, User, auth::cluster};
use kube::client::Body;
use serde_json::{Value, json};

/// Returns the folder with the programs of the fake cluster.
pub(crate) fn programs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/server")
}

/// A running fake cluster. Dropping it closes its standard input, which stops it.
pub(crate) struct Small {
    process: Child,
    admin: kube::Client,
    server: kube::Client,
}

impl Drop for Small {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().unwrap();
    }
}

impl Small {
    /// Starts a cluster with the namespaces `default` and `kube-system`. Its account `server` may
    /// impersonate; `anna` has full access to some kinds in `shop` and `default`.
    pub(crate) async fn start() -> Self {
        let mut process = Command::new("python3")
            .arg(programs().join("cluster"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let small = Self {
            process,
            admin: client(url.trim(), "admin").await,
            server: client(url.trim(), "server").await,
        };
        small
            .set(json!({"users": {
                "server": {"rules": [{"verbs": ["impersonate"]}]},
                "anna": {"rules": [
                    {"resources": ["configmaps", "secrets", "services"], "namespaces": ["shop", "default"]},
                    {"resources": ["namespaces"], "verbs": ["get"]},
                ]},
            }}))
            .await;
        small
    }

    /// Returns the cluster with the account of the server.
    pub(crate) fn cluster(&self) -> Cluster {
        Cluster::with(
            self.server.clone(),
            Limits {
                answer: Duration::from_secs(10),
                wait: Duration::from_secs(20),
                pause: Duration::from_millis(2),
            },
        )
    }

    /// Sends a request as an administrator, and returns the code and the body.
    pub(crate) async fn ask(
        &self,
        method: &str,
        path: &str,
        kind: &str,
        body: &Value,
    ) -> (u16, Value) {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", kind)
            .body(Body::from(body))
            .unwrap();
        let response = self.admin.send(request).await.unwrap();
        let code = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (code, serde_json::from_slice(&body).unwrap())
    }

    pub(crate) async fn get(&self, path: &str) -> Option<Value> {
        match self.ask("GET", path, "application/json", &Value::Null).await {
            (200, value) => Some(value),
            (404, _) => None,
            other => panic!("{path}: {other:?}"),
        }
    }

    /// Creates an object as another manager.
    pub(crate) async fn create(&self, path: &str, value: &Value) {
        let (code, body) = self.ask("POST", path, "application/json", value).await;
        assert_eq!(code, 201, "{body}");
    }

    /// Changes an object as another manager.
    pub(crate) async fn patch(&self, path: &str, change: &Value) {
        let path = format!("{path}?fieldManager=hand");
        let (code, body) = self.ask("PATCH", &path, "application/merge-patch+json", change).await;
        assert_eq!(code, 200, "{body}");
    }

    /// Sets the behavior of the cluster.
    pub(crate) async fn set(&self, fields: Value) {
        let (code, _) = self.ask("POST", "/test", "application/json", &fields).await;
        assert_eq!(code, 200);
    }

    /// Returns the requests since the last call.
    pub(crate) async fn asked(&self) -> Vec<Value> {
        let (_, asked) = self.ask("GET", "/test", "application/json", &Value::Null).await;
        asked.as_array().unwrap().clone()
    }

    /// Returns the writing requests since the last call, as `METHOD PATH`.
    pub(crate) async fn changes(&self) -> Vec<String> {
        let asked = self.asked().await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        asked
            .iter()
            .filter(|entry| entry["method"] != "GET" && entry["path"] != SELF_REVIEWS)
            .map(|entry| format!("{} {}", text(&entry["method"]), text(&entry["path"])))
            .collect()
    }
}

/// Creates a client from a kubeconfig, like the program.
async fn client(url: &str, token: &str) -> kube::Client {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "small",
        "contexts": [{"name": "small", "context": {"cluster": "small", "user": "small"}}],
        "clusters": [{"name": "small", "cluster": {"server": url}}],
        "users": [{"name": "small", "user": {"token": token}}],
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kubeconfig");
    std::fs::write(&path, config.to_string()).unwrap();
    cluster::client(Some(&path)).await.unwrap()
}

/// Records all steps. With `stop_after`, stops the change after that number of steps.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) steps: Vec<Step>,
    pub(crate) stop_after: Option<usize>,
}

impl Progress for Notes {
    async fn step(&mut self, step: &Step) -> Result<()> {
        self.steps.push(step.clone());
        if self.stop_after == Some(self.steps.len()) {
            return Err(Status::unavailable("the store is away"));
        }
        Ok(())
    }
}

/// Returns a cluster administrator.
pub(crate) fn master() -> User {
    User { name: "admin".to_owned(), ..User::default() }
}

pub(crate) fn anna() -> User {
    User { name: "anna".to_owned(), ..User::default() }
}

/// Returns a deployment in the namespace `default`.
pub(crate) fn owner(name: &str) -> Owner {
    Owner { kind: "Deployment".to_owned(), namespace: "default".to_owned(), name: name.to_owned() }
}

pub(crate) fn object(api_version: &str, kind: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}})
}

pub(crate) fn config_map(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": value}})
}

/// Returns a `CustomResourceDefinition` of the kind `Widget`.
pub(crate) fn widgets() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object",
                "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
            }}}],
        },
    })
}

pub(crate) fn objects(values: &[Value]) -> Vec<Object> {
    values.iter().cloned().map(Object).collect()
}

/// Formats steps as `what kind/name`.
pub(crate) fn shown(steps: &[Step]) -> Vec<String> {
    steps
        .iter()
        .map(|Step { object, what, .. }| format!("{} {}/{}", word(*what), object.kind, object.name))
        .collect()
}

fn word(what: What) -> String {
    serde_json::to_value(what).unwrap().as_str().unwrap().to_owned()
}

/// The path where the server asks for its own name.
pub(crate) const SELF_REVIEWS: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

pub(crate) const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The future of a test.
pub(crate) type Future = std::pin::Pin<Box<dyn std::future::Future<Output = ()>>>;
