//! A server behind a kube-apiserver: namespaces of the cluster, and its registration there.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use krm_template_server_core::auth::Args;
use serde_json::{Value, json};

use crate::pages::site::{AGGREGATED, Page, Site};

tests!(
    templates_are_created_in_namespaces_of_the_cluster_only,
    a_cluster_that_does_not_answer_creates_nothing,
    a_registration_of_crds_is_reported
);

/// The state of a cluster.
#[derive(Default)]
struct Known {
    /// The namespaces, and whether they are being deleted.
    namespaces: BTreeMap<&'static str, bool>,
    /// The `spec` of the `APIService`, if there is one.
    registered: Option<Value>,
    /// Events for those who watch namespaces.
    events: Vec<Value>,
    is_away: bool,
}

/// A cluster with namespaces and an `APIService`.
#[derive(Clone, Default)]
struct Cluster(Arc<(Mutex<Known>, Condvar)>);

impl Cluster {
    /// Starts it, and returns it with a server for its group.
    async fn start(known: Known) -> (Self, Site) {
        let cluster = Self(Arc::new((Mutex::new(known), Condvar::new())));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        let serving = cluster.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let cluster = serving.clone();
                std::thread::spawn(move || cluster.serve(stream));
            }
        });
        let kubeconfig = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "a",
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "clusters": [{"name": "a", "cluster": {"server": server}}],
            "users": [{"name": "a", "user": {}}],
        });
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), kubeconfig.to_string()).unwrap();
        let option = format!("{AGGREGATED}={}", file.path().display());
        let site = Site::with(|_| Args::default(), &[&option]).await;
        (cluster, site)
    }

    fn change(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.0.0.lock().unwrap());
        self.0.1.notify_all();
    }

    /// Answers the requests of a connection.
    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        loop {
            let (mut request, mut line) = (String::new(), String::new());
            if reader.read_line(&mut request).unwrap_or_default() == 0 {
                return;
            }
            while reader.read_line(&mut line).is_ok() && line != "\r\n" {
                line.clear();
            }
            let path = request.split(' ').nth(1).unwrap();
            if self.0.0.lock().unwrap().is_away {
                return;
            }
            if path.contains("watch=true") {
                return self.watch(stream);
            }
            let (code, body) = self.answer(path);
            let body = body.to_string();
            let head = format!("HTTP/1.1 {code} x\r\nContent-Length: {}\r\n\r\n", body.len());
            if write!(&stream, "{head}{body}").is_err() {
                return;
            }
        }
    }

    fn answer(&self, path: &str) -> (u16, Value) {
        let known = self.0.0.lock().unwrap();
        let all = "/api/v1/namespaces";
        let found = match path.split('?').next().unwrap() {
            path if path == all => {
                let items = known.namespaces.iter();
                let items: Vec<Value> = items.map(|(name, gone)| namespace(name, *gone)).collect();
                let metadata = json!({"resourceVersion": "1"});
                Some(
                    json!({"kind": "PartialObjectMetadataList", "metadata": metadata, "items": items}),
                )
            }
            path if path.starts_with(all) => {
                let name = &path[all.len() + 1..];
                known.namespaces.get(name).map(|gone| namespace(name, *gone))
            }
            "/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.template.krm.dev" => {
                let spec = known.registered.as_ref();
                spec.map(|spec| json!({"metadata": {"name": "x"}, "spec": spec}))
            }
            other => panic!("unexpected: {other}"),
        };
        let missing =
            json!({"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404});
        found.map_or((404, missing), |found| (200, found))
    }

    /// Sends events as they come.
    fn watch(&self, mut stream: TcpStream) {
        let _ = write!(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        let mut known = self.0.0.lock().unwrap();
        loop {
            for event in std::mem::take(&mut known.events) {
                let line = format!("{event}\n");
                let _ = write!(stream, "{:x}\r\n{line}\r\n", line.len());
            }
            known = self.0.1.wait(known).unwrap();
        }
    }
}

fn namespace(name: &str, is_deleted: bool) -> Value {
    let mut metadata = json!({"name": name, "resourceVersion": "1"});
    if is_deleted {
        metadata["deletionTimestamp"] = json!("2026-11-27T00:00:00Z");
    }
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
}

async fn create(site: &Site, resource: &str, namespace: &str) -> Page {
    let path = format!("/apis/template.openshift.io/v1/namespaces/{namespace}/{resource}");
    let body = match resource {
        "templateinstances" => json!({"kind": "TemplateInstance", "metadata": {"name": "web"}}),
        _ => json!({"kind": "Template", "metadata": {"name": "web"}, "objects": []}),
    };
    let headers = [("content-type", "application/json")];
    site.send("POST", &path, &headers, &body.to_string()).await
}

/// The `spec` of the `APIService` in `deploy/`.
fn own() -> Value {
    json!({"group": "template.krm.dev", "groupPriorityMinimum": 1000, "versionPriority": 15,
        "service": {"name": "krm-template-server", "namespace": "krm-template"}})
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn templates_are_created_in_namespaces_of_the_cluster_only() {
    let known = Known {
        namespaces: [("shop", false), ("old", true)].into(),
        registered: Some(own()),
        ..Known::default()
    };
    let (cluster, site) = Cluster::start(known).await;
    assert_eq!(create(&site, "templates", "shop").await.code, 201);
    // As recorded (#100, #592).
    for resource in ["templates", "processedtemplates", "templateinstances"] {
        let page = create(&site, resource, "nowhere").await;
        let status = page.json();
        assert_eq!(page.code, 404, "{status}");
        assert_eq!(status["message"], "namespaces \"nowhere\" not found");
        let page = create(&site, resource, "old").await;
        let status = page.json();
        assert_eq!(page.code, 403, "{status}");
        assert_eq!(status["details"]["kind"], resource);
        assert_eq!(status["details"]["causes"][0]["reason"], "NamespaceTerminating");
    }
    // A new namespace, and one that has changed.
    cluster.change(|known| {
        known.namespaces.insert("new", false);
        known.namespaces.insert("shop", true);
        known.events.push(json!({"type": "MODIFIED", "object": namespace("shop", true)}));
    });
    assert_eq!(create(&site, "templates", "new").await.code, 201);
    for _ in 0..500 {
        if create(&site, "processedtemplates", "shop").await.code == 403 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(create(&site, "processedtemplates", "shop").await.code, 403);
    // A Template that is stored can be read and deleted.
    let path = "/apis/template.openshift.io/v1/namespaces/shop/templates/web";
    assert_eq!(site.get(path).await.code, 200);
    assert_eq!(site.send("DELETE", path, &[], "").await.code, 200);
    assert_eq!(site.get("/readyz").await.code, 200);
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_does_not_answer_creates_nothing() {
    let known = Known { is_away: true, ..Known::default() };
    let (_cluster, site) = Cluster::start(known).await;
    let page = create(&site, "templates", "shop").await;
    assert_eq!((page.code, page.header("retry-after")), (503, "1"));
    // It is not known whether the registration is its own.
    assert_eq!(site.get("/readyz").await.code, 200);
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn a_registration_of_crds_is_reported() {
    let mut local = own();
    local.as_object_mut().unwrap().remove("service");
    for (registered, words) in
        [(Some(local), "belongs to CustomResourceDefinitions"), (None, "does not exist")]
    {
        let known = Known { registered, ..Known::default() };
        let (_cluster, site) = Cluster::start(known).await;
        let page = site.get("/readyz?verbose").await;
        assert_eq!(page.code, 500);
        assert!(page.text.contains("[-]apiservice failed"), "{}", page.text);
        let page = site.get("/readyz/apiservice").await;
        assert!(page.text.contains(words), "{}", page.text);
        // The other group of the server may still be reached.
        assert_eq!(site.get("/readyz?exclude=apiservice").await.code, 200);
    }
}
