//! Deletions that leave dependents to the garbage collector of a cluster, as recorded (#486–#494).

use serde_json::{Value, json};

use crate::pages::site::{AGGREGATED, Page, Site};

tests!(
    behind_a_cluster_its_garbage_collector_gets_a_finalizer,
    without_a_cluster_nothing_waits_for_one
);

const TEMPLATES: &str = "/apis/template.openshift.io/v1/namespaces/shop/templates";

async fn send(site: &Site, method: &str, path: &str, kind: &str, body: &Value) -> Page {
    let path = format!("{TEMPLATES}{path}");
    let headers = [("content-type", kind)];
    site.send(method, &path, &headers, &body.to_string()).await
}

async fn create(site: &Site, finalizers: &Value) {
    let metadata = json!({"name": "a", "finalizers": finalizers});
    let body = json!({"kind": "Template", "metadata": metadata, "objects": []});
    let created = send(site, "POST", "", "application/json", &body).await;
    assert_eq!(created.code, 201, "{}", created.text);
}

async fn delete(site: &Site, options: &Value) -> Value {
    let page = send(site, "DELETE", "/a", "application/json", options).await;
    assert_eq!(page.code, 200, "{}", page.text);
    page.json()
}

/// Returns whether the Template is still there.
async fn is_there(site: &Site) -> bool {
    site.get(&format!("{TEMPLATES}/a")).await.code == 200
}

async fn release(site: &Site) {
    let patch = json!([{"op": "remove", "path": "/metadata/finalizers"}]);
    let patched = send(site, "PATCH", "/a", "application/json-patch+json", &patch).await;
    assert_eq!(patched.code, 200, "{}", patched.text);
    assert!(!is_there(site).await);
}

#[tokio::main(flavor = "current_thread")]
async fn behind_a_cluster_its_garbage_collector_gets_a_finalizer() {
    let site = Site::with(|_| krm_template_server_core::auth::Args::default(), &[AGGREGATED]).await;
    for (options, finalizer) in [
        (json!({"propagationPolicy": "Foreground"}), "foregroundDeletion"),
        (json!({"propagationPolicy": "Orphan"}), "orphan"),
        (json!({"orphanDependents": true}), "orphan"),
    ] {
        create(&site, &json!([])).await;
        let deleted = delete(&site, &options).await;
        assert_eq!(deleted["metadata"]["finalizers"], json!([finalizer]));
        assert!(deleted["metadata"]["deletionTimestamp"].is_string());
        assert_eq!(deleted["metadata"]["deletionGracePeriodSeconds"], 0);
        // A second deletion without a choice changes nothing.
        assert_eq!(delete(&site, &json!({})).await, deleted);
        release(&site).await;
    }
    // Another finalizer stays, and a later choice replaces the first.
    create(&site, &json!(["example.com/a"])).await;
    delete(&site, &json!({"propagationPolicy": "Orphan"})).await;
    let deleted = delete(&site, &json!({"propagationPolicy": "Foreground"})).await;
    let finalizers = &deleted["metadata"]["finalizers"];
    assert_eq!(*finalizers, json!(["example.com/a", "foregroundDeletion"]));
    release(&site).await;
    for options in [json!({}), json!({"propagationPolicy": "Background"})] {
        create(&site, &json!([])).await;
        delete(&site, &options).await;
        assert!(!is_there(&site).await);
    }
    // The finalizer of a former request, which this one removes.
    create(&site, &json!(["orphan"])).await;
    delete(&site, &json!({"propagationPolicy": "Background"})).await;
    assert!(!is_there(&site).await);
}

#[tokio::main(flavor = "current_thread")]
async fn without_a_cluster_nothing_waits_for_one() {
    let site = Site::open().await;
    for policy in ["Foreground", "Orphan", "Background"] {
        create(&site, &json!([])).await;
        delete(&site, &json!({"propagationPolicy": policy})).await;
        assert!(!is_there(&site).await);
    }
}
