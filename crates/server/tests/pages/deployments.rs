//! Deployments: the list, a deployment, and the parts that all their pages share.

use serde_json::{Value, json};

use crate::pages::site::{Page, Site, TOKEN};

tests!(
    an_empty_list_has_the_command_that_creates_a_deployment,
    the_list_has_the_deployments_of_a_namespace_or_of_all,
    the_list_has_pages,
    a_deployment_has_its_manifests_operations_resources_and_outputs,
    objects_of_a_cluster_have_their_progress,
    what_is_not_there_is_404,
    a_form_in_a_namespace_called_deployments_opens,
    texts_are_text,
    without_a_login_the_page_to_log_in_opens,
    pages_link_templates_and_deployments
);

const CANARY: &str = "<script>canary</script>";

const TEMPLATE: &str = "resources:\n{% for i in range(properties['replicas']) %}\n- name: {{ env['name'] }}-{{ i }}\n  \
     type: Pod\n{% endfor %}\noutputs:\n- name: host\n  value: {{ env['name'] }}-0\n";

fn config(replicas: usize) -> String {
    format!(
        "imports:\n- path: site.jinja\nresources:\n- name: web\n  type: site.jinja\n  properties:\n    \
         replicas: {replicas}\n- name: db\n  type: Service\noutputs:\n- name: address\n  value: $(ref.web.host)\n"
    )
}

pub(crate) fn body(name: &str, content: &str, imports: &[(&str, &str)]) -> String {
    let imports: Vec<_> = imports
        .iter()
        .map(|(name, content)| json!({"name": name, "path": name, "content": content}))
        .collect();
    json!({"name": name, "configuration": {"content": content, "imports": imports}}).to_string()
}

pub(crate) fn web(replicas: usize) -> String {
    body("web", &config(replicas), &[("site.jinja", TEMPLATE)])
}

pub(crate) async fn api(site: &Site, method: &str, path: &str, body: &str) -> Page {
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("content-type", "application/json"), ("authorization", bearer.as_str())];
    site.send(method, path, &headers, body).await
}

pub(crate) async fn create(site: &Site, path: &str, body: &str) {
    let page = api(site, "POST", path, body).await;
    assert_eq!(page.code, 201, "{}", page.text);
}

pub(crate) async fn update(site: &Site, path: &str, body: &str) {
    let page = api(site, "PUT", path, body).await;
    assert_eq!(page.code, 200, "{}", page.text);
}

/// Returns the text of a page without HTML tags.
fn text(page: &Page) -> String {
    let main = page.text.split_once("<main").unwrap().1;
    let tags = regex_lite::Regex::new("<[^>]*>").unwrap();
    let text = tags.replace_all(main, "").replace("&#x2f;", "/");
    text.replace("&quot;", "\"")
}

#[track_caller]
pub(crate) fn has(page: &Page, parts: &[&str]) {
    let text = text(page);
    for part in parts {
        assert!(text.contains(part), "there is no {part:?} in:\n{text}");
    }
}

#[track_caller]
pub(crate) fn lacks(page: &Page, parts: &[&str]) {
    for part in parts {
        assert!(!page.text.contains(part), "{part:?} is in:\n{}", page.text);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn an_empty_list_has_the_command_that_creates_a_deployment() {
    let site = Site::open().await;
    let page = site.get("/ui/deployments?namespace=shop").await;
    assert_eq!(page.code, 200);
    has(
        &page,
        &[
            "krm-template-server deployments create web --config config.yaml",
            "--namespace shop --server http://localhost:8080",
            "It applies nothing to a cluster.",
        ],
    );
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
}

#[tokio::main(flavor = "current_thread")]
async fn the_list_has_the_deployments_of_a_namespace_or_of_all() {
    let site = Site::open().await;
    create(&site, "/deployments", &web(2)).await;
    create(&site, "/deployments?namespace=shop", &body("shop-db", "resources: []\n", &[])).await;
    update(&site, "/deployments/web", &web(1)).await;
    let all = site.get("/ui/deployments").await;
    has(
        &all,
        &["2 deployments", "web", "default", "expanded", "manifest-0002", "just now", "shop-db"],
    );
    let shop = site.get("/ui/deployments?namespace=shop").await;
    has(&shop, &["1 deployment\n", "shop-db", "manifest-0001"]);
    lacks(&shop, &[">web<"]);
    assert_eq!(site.get("/ui/deployments?namespace=Shop").await.code, 400);
}

#[tokio::main(flavor = "current_thread")]
async fn the_list_has_pages() {
    let site = Site::open().await;
    let empty = |name: &str| body(name, "resources: []\n", &[]);
    for number in 0..101 {
        create(&site, "/deployments", &empty(&format!("site-{number:03}"))).await;
    }
    let first = site.get("/ui/deployments?namespace=default").await;
    has(&first, &["100 deployments, and more on the next page", "site-099"]);
    lacks(&first, &["site-100"]);
    let next = "/ui/deployments?namespace=default&continue=default%2Fsite-099";
    let escaped = next.replace('/', "&#x2f;").replace('&', "&amp;").replace("&amp;#", "&#");
    assert!(first.text.contains(&escaped), "{}", first.text);
    let second = site.get(next).await;
    has(&second, &["1 deployment", "site-100"]);
    lacks(&second, &["site-099", "rel=\"next\""]);
    let foreign = "/ui/deployments?namespace=default&continue=other%2Fsite";
    assert_eq!(site.get(foreign).await.code, 400);
}

#[tokio::main(flavor = "current_thread")]
async fn a_deployment_has_its_manifests_operations_resources_and_outputs() {
    let site = Site::open().await;
    create(&site, "/deployments", &web(2)).await;
    update(&site, "/deployments/web", &web(1)).await;
    let failed = api(&site, "PUT", "/deployments/web", &body("web", "resources: 1\n", &[])).await;
    assert_eq!(failed.code, 400);
    let page = site.get("/ui/deployments/web").await;
    assert_eq!(page.code, 200);
    has(
        &page,
        &[
            "expanded only: nothing was applied to a cluster",
            "manifest-0002 newest",
            "update failed manifest-0003",
            "update done manifest-0002",
            "create done manifest-0001",
            "by system:anonymous",
            "Resources 2",
            "web-0 Pod",
            "db Service",
            "name: address\n  value: web-0",
            "deployments update web --config config.yaml",
        ],
    );
    // The API keeps no manifest of the failed update.
    lacks(&page, &["manifests&#x2f;manifest-0003"]);
}

#[tokio::main(flavor = "current_thread")]
async fn objects_of_a_cluster_have_their_progress() {
    let site = Site::open().await;
    create(&site, "/deployments", &web(1)).await;
    let deployment = api(&site, "GET", "/deployments/web", "").await.json();
    let operation = deployment["operation"].as_str().unwrap();
    let path = format!("/operations/{operation}");
    let mut stored: Value = api(&site, "GET", &path, "").await.json();
    stored["state"] = json!("failed");
    stored["errors"] = json!(["Deployment \"b\" is forbidden"]);
    stored["steps"] = json!([
        {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "a", "what": "unchanged"},
        {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "b", "what": "failed",
         "message": "forbidden"},
    ]);
    site.replace(&format!("/dm/operations/{operation}"), &stored).await;
    let mut stored = deployment;
    stored["state"] = json!("failed");
    stored["errors"] = json!(["Deployment \"b\" is forbidden"]);
    stored["resources"] = json!([
        {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "a", "uid": "1"},
        {"apiVersion": "v1", "kind": "Service", "namespace": "default", "name": "c", "uid": "2"},
    ]);
    stored["manifests"] = json!(["manifest-0001"]);
    site.replace("/dm/deployments/default/web", &stored).await;
    let page = site.get("/ui/deployments/web").await;
    assert_eq!(page.code, 200, "{}", page.text);
    has(
        &page,
        &[
            "Objects in the cluster 3",
            "ConfigMap a default unchanged",
            "Deployment b default failed\nforbidden",
            "Service c default applied",
            "Deployment \"b\" is forbidden",
        ],
    );
}

#[tokio::main(flavor = "current_thread")]
async fn what_is_not_there_is_404() {
    let site = Site::open().await;
    create(&site, "/deployments", &web(1)).await;
    for path in [
        "missing",
        "Not_A_Name",
        "web?namespace=shop",
        "web/manifests/manifest-0002",
        "web/manifests/manifest-0001?node=nothing",
        "web/manifests/manifest-0001?node=%24.resources%5B9%5D",
        "web/manifests/diff?from=manifest-0001&to=manifest-0009",
        "web/manifests",
        "web/manifests/manifest-0001/more",
    ] {
        let page = site.get(&format!("/ui/deployments/{path}")).await;
        assert_eq!(page.code, 404, "{path}: {}", page.text);
        has(&page, &["Not found"]);
    }
    let page = site.get("/ui/deployments/missing").await;
    has(&page, &["All deployments"]);
    let posted = site.post("/ui/deployments/web", &[("a", "b")]).await;
    assert_eq!(posted.code, 405);
}

#[tokio::main(flavor = "current_thread")]
async fn a_form_in_a_namespace_called_deployments_opens() {
    let site = Site::open().await;
    let template = "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata:\n  name: web\nobjects: []\n";
    let path = "/apis/template.krm.dev/v1alpha1/namespaces/deployments/templates";
    site.store(path, template).await;
    let page = site.get("/ui/deployments/template.krm.dev/web").await;
    assert_eq!(page.code, 200);
    has(&page, &["This Template has no parameters."]);
}

#[tokio::main(flavor = "current_thread")]
async fn texts_are_text() {
    let site = Site::open().await;
    let content = format!(
        "# {CANARY}\nimports:\n- path: site.jinja\nresources:\n- name: \"{CANARY}\"\n  type: \"{CANARY}\"\n- name: web\n  \
         type: site.jinja\noutputs:\n- name: \"{CANARY}\"\n  value: \"{CANARY}\"\n"
    );
    let template = format!(
        "# {CANARY}\nresources:\n- name: a\n  type: Pod\n  properties:\n    a: \"{CANARY}\"\n"
    );
    let imports = [("site.jinja", template.as_str())];
    create(&site, "/deployments", &body("web", &content, &imports)).await;
    update(&site, "/deployments/web", &body("web", "resources: []\n", &[])).await;
    for path in [
        "web",
        "web/manifests/manifest-0001",
        "web/manifests/manifest-0001?node=%24.resources%5B0%5D",
        "web/manifests/manifest-0001?node=%24.resources%5B1%5D.resources%5B0%5D",
        "web/manifests/diff",
        "web/manifests/manifest-0001?node=%3Cscript%3Ecanary%3C%2Fscript%3E",
        "%3Cscript%3Ecanary%3C%2Fscript%3E",
    ] {
        let page = site.get(&format!("/ui/deployments/{path}")).await;
        lacks(&page, &[CANARY]);
        assert!(
            page.code == 404 || path == "web" || page.text.contains("&lt;script&gt;"),
            "{path}"
        );
    }
}

#[tokio::main(flavor = "current_thread")]
async fn without_a_login_the_page_to_log_in_opens() {
    let site = Site::with_login().await;
    let page = site.get("/ui/deployments/web").await;
    assert_eq!(page.code, 303);
    assert_eq!(page.header("location"), "/ui/login?next=%2Fui%2Fdeployments%2Fweb");
}

#[tokio::main(flavor = "current_thread")]
async fn pages_link_templates_and_deployments() {
    let site = Site::open().await;
    let page = site.get("/ui/?namespace=shop").await;
    assert!(
        page.text.contains("href=\"/ui/deployments?namespace=shop\">Deployments</a>"),
        "{}",
        page.text
    );
    let page = site.get("/ui/deployments?namespace=shop").await;
    assert!(page.text.contains("href=\"/ui/?namespace=shop\">Templates</a>"), "{}", page.text);
    assert!(
        page.text.contains("href=\"/ui/deployments?namespace=shop\" aria-current=\"page\""),
        "{}",
        page.text
    );
    // The namespace selector leads to this list.
    assert!(
        page.text
            .contains("class=\"namespace\" method=\"get\" action=\"&#x2f;ui&#x2f;deployments\""),
        "{}",
        page.text
    );
}
