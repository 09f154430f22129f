//! Deployments, their manifests, and what two manifests differ in.

use serde_json::{Value, json};

use crate::site::{Page, Site, TOKEN};

const CANARY: &str = "<script>canary</script>";

const TEMPLATE: &str = "resources:\n{% for i in range(properties['replicas']) %}\n- name: {{ env['name'] }}-{{ i }}\n  \
     type: Pod\n{% endfor %}\noutputs:\n- name: host\n  value: {{ env['name'] }}-0\n";

fn config(replicas: usize) -> String {
    format!(
        "imports:\n- path: site.jinja\nresources:\n- name: web\n  type: site.jinja\n  properties:\n    \
         replicas: {replicas}\n- name: db\n  type: Service\noutputs:\n- name: address\n  value: $(ref.web.host)\n"
    )
}

fn body(name: &str, content: &str, imports: &[(&str, &str)]) -> String {
    let imports: Vec<_> = imports
        .iter()
        .map(|(name, content)| json!({"name": name, "path": name, "content": content}))
        .collect();
    json!({"name": name, "configuration": {"content": content, "imports": imports}}).to_string()
}

fn web(replicas: usize) -> String {
    body("web", &config(replicas), &[("site.jinja", TEMPLATE)])
}

async fn api(site: &Site, method: &str, path: &str, body: &str) -> Page {
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("content-type", "application/json"),
        ("authorization", bearer.as_str()),
    ];
    site.send(method, path, &headers, body).await
}

async fn create(site: &Site, path: &str, body: &str) {
    let page = api(site, "POST", path, body).await;
    assert_eq!(page.code, 201, "{}", page.text);
}

async fn update(site: &Site, path: &str, body: &str) {
    let page = api(site, "PUT", path, body).await;
    assert_eq!(page.code, 200, "{}", page.text);
}

/// The page, without the marks of HTML.
fn text(page: &Page) -> String {
    let main = page.text.split_once("<main").unwrap().1;
    let tags = regex_lite::Regex::new("<[^>]*>").unwrap();
    let text = tags.replace_all(main, "").replace("&#x2f;", "/");
    text.replace("&quot;", "\"")
}

#[track_caller]
fn has(page: &Page, parts: &[&str]) {
    let text = text(page);
    for part in parts {
        assert!(text.contains(part), "there is no {part:?} in:\n{text}");
    }
}

#[track_caller]
fn lacks(page: &Page, parts: &[&str]) {
    for part in parts {
        assert!(!page.text.contains(part), "{part:?} is in:\n{}", page.text);
    }
}

const NODE: &str = "/ui/deployments/web/manifests/manifest-0001?node=%24.resources%5B0%5D";

#[tokio::test]
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

#[tokio::test]
async fn the_list_has_the_deployments_of_a_namespace_or_of_all() {
    let site = Site::open().await;
    create(&site, "/deployments", &web(2)).await;
    create(
        &site,
        "/deployments?namespace=shop",
        &body("shop-db", "resources: []\n", &[]),
    )
    .await;
    update(&site, "/deployments/web", &web(1)).await;
    let all = site.get("/ui/deployments").await;
    has(
        &all,
        &[
            "2 deployments",
            "web",
            "default",
            "expanded",
            "manifest-0002",
            "just now",
            "shop-db",
        ],
    );
    let shop = site.get("/ui/deployments?namespace=shop").await;
    has(&shop, &["1 deployment\n", "shop-db", "manifest-0001"]);
    lacks(&shop, &[">web<"]);
    assert_eq!(site.get("/ui/deployments?namespace=Shop").await.code, 400);
}

#[tokio::test]
async fn the_list_has_pages() {
    let site = Site::open().await;
    let empty = |name: &str| body(name, "resources: []\n", &[]);
    for number in 0..101 {
        create(&site, "/deployments", &empty(&format!("site-{number:03}"))).await;
    }
    let first = site.get("/ui/deployments?namespace=default").await;
    has(
        &first,
        &["100 deployments, and more on the next page", "site-099"],
    );
    lacks(&first, &["site-100"]);
    let next = "/ui/deployments?namespace=default&continue=default%2Fsite-099";
    let escaped = next
        .replace('/', "&#x2f;")
        .replace('&', "&amp;")
        .replace("&amp;#", "&#");
    assert!(first.text.contains(&escaped), "{}", first.text);
    let second = site.get(next).await;
    has(&second, &["1 deployment", "site-100"]);
    lacks(&second, &["site-099", "rel=\"next\""]);
    let foreign = "/ui/deployments?namespace=default&continue=other%2Fsite";
    assert_eq!(site.get(foreign).await.code, 400);
}

#[tokio::test]
async fn a_deployment_has_its_manifests_operations_resources_and_outputs() {
    let site = Site::open().await;
    create(&site, "/deployments", &web(2)).await;
    update(&site, "/deployments/web", &web(1)).await;
    let failed = api(
        &site,
        "PUT",
        "/deployments/web",
        &body("web", "resources: 1\n", &[]),
    )
    .await;
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
    // The API keeps no manifest of the update that failed.
    lacks(&page, &["manifests&#x2f;manifest-0003"]);
}

#[tokio::test]
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
    site.replace(&format!("/dm/operations/{operation}"), &stored)
        .await;
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

#[tokio::test]
async fn a_node_of_the_tree_has_its_resource_and_its_template() {
    let site = Site::open().await;
    create(&site, "/deployments", &web(2)).await;
    let root = site
        .get("/ui/deployments/web/manifests/manifest-0001")
        .await;
    assert_eq!(root.code, 200);
    has(
        &root,
        &[
            "manifest-0001 newest",
            "3 resources",
            "Resources of web",
            "web-1 Pod",
        ],
    );
    has(
        &root,
        &["imports:\n- path: site.jinja", "Outputs", "value: web-0"],
    );
    let template = site.get(NODE).await;
    has(
        &template,
        &[
            "Properties",
            "replicas: 2",
            "Template site.jinja",
            "{% for i in range",
        ],
    );
    let pod = site.get(&format!("{NODE}.resources%5B1%5D")).await;
    has(
        &pod,
        &[
            "$.resources[0].resources[1] · from site.jinja",
            "Resourcename: web-1\ntype: Pod",
            "Template that made it site.jinja",
        ],
    );
    let tree = pod.text.split_once("class=\"tree\"").unwrap().1;
    assert_eq!(tree.matches("aria-current").count(), 1);
    let top = site
        .get("/ui/deployments/web/manifests/manifest-0001?node=%24.resources%5B1%5D")
        .await;
    has(
        &top,
        &[
            "· from configuration",
            "Resourcename: db\ntype: Service",
            "Configuration that has it",
        ],
    );
}

#[tokio::test]
async fn a_template_that_creates_nothing_takes_no_resource_of_another() {
    let site = Site::open().await;
    let content = "resources:\n- name: web\n  type: none.jinja\n- name: db\n  type: Pod\n";
    let imports = [("none.jinja", "resources: []\n")];
    create(&site, "/deployments", &body("web", content, &imports)).await;
    let template = site.get(NODE).await;
    has(&template, &["Template none.jinja"]);
    lacks(&template, &["<span class=\"kind\">Resource</span>"]);
    let pod = site
        .get("/ui/deployments/web/manifests/manifest-0001?node=%24.resources%5B1%5D")
        .await;
    has(&pod, &["Resourcename: db\ntype: Pod"]);
}

#[tokio::test]
async fn the_difference_is_a_unified_diff_with_signs() {
    let site = Site::open().await;
    create(&site, "/deployments", &web(1)).await;
    update(&site, "/deployments/web", &web(2)).await;
    let page = site.get("/ui/deployments/web/manifests/diff").await;
    assert_eq!(page.code, 200);
    // What GNU diff -u prints for the two configurations, below its head.
    has(
        &page,
        &[
            "from manifest-0001 to manifest-0002",
            "@@ -4,7 +4,7 @@\n - name: web\n   type: site.jinja\n   properties:\n-    replicas: 1\n+    replicas: 2\n \
             - name: db\n   type: Service\n outputs:\n",
            "@@ -1,5 +1,7 @@\n resources:\n - name: web-0\n   type: Pod\n+- name: web-1\n+  type: Pod\n - name: db\n   type: Service\n",
            "3 lines added, 1 removed",
        ],
    );
    assert!(
        page.text.contains("<ins>+    replicas: 2\n</ins>"),
        "{}",
        page.text
    );
    assert!(
        page.text.contains("<del>-    replicas: 1\n</del>"),
        "{}",
        page.text
    );
    let back = "/ui/deployments/web/manifests/diff?from=manifest-0002&to=manifest-0001";
    has(
        &site.get(back).await,
        &["+    replicas: 1", "1 line added, 3 removed"],
    );
    let same = "/ui/deployments/web/manifests/diff?from=manifest-0002&to=manifest-0002";
    has(&site.get(same).await, &["Nothing differs."]);
}

#[tokio::test]
async fn a_difference_is_bounded() {
    let site = Site::open().await;
    let many = |from: usize| {
        let lines: String = (from..from + 6_000)
            .map(|n| format!("# line {n}\n"))
            .collect();
        body("web", &(lines + "resources: []\n"), &[])
    };
    create(&site, "/deployments", &many(0)).await;
    update(&site, "/deployments/web", &many(10_000)).await;
    let page = site.get("/ui/deployments/web/manifests/diff").await;
    has(
        &page,
        &["6000 lines added, 6000 removed", "The rest is not shown"],
    );
    assert_eq!(page.text.matches("<del>").count(), 4_999);
}

#[tokio::test]
async fn a_long_text_is_cut() {
    let site = Site::open().await;
    let lines: String = (0..8_000).map(|n| format!("# line {n}\n")).collect();
    create(
        &site,
        "/deployments",
        &body("web", &(lines + "resources: []\n"), &[]),
    )
    .await;
    let page = site
        .get("/ui/deployments/web/manifests/manifest-0001")
        .await;
    has(&page, &["# line 1\n", "The rest is not shown."]);
    lacks(&page, &["# line 7999"]);
}

#[tokio::test]
async fn a_tree_is_bounded() {
    let site = Site::open().await;
    let create_many = web(1_500);
    create(&site, "/deployments", &create_many).await;
    let page = site
        .get("/ui/deployments/web/manifests/manifest-0001")
        .await;
    has(&page, &["1501 resources", "502 more are not shown."]);
    let node = site.get(&format!("{NODE}.resources%5B1499%5D")).await;
    has(&node, &["name: web-1499"]);
    has(
        &site.get("/ui/deployments/web").await,
        &["The first 200 are shown."],
    );
}

#[tokio::test]
async fn deep_templates_are_shown() {
    let site = Site::open().await;
    let chain = "resources:\n{% if properties['depth'] > 0 %}\n- name: n{{ properties['depth'] }}\n  type: chain.jinja\n  \
         properties:\n    depth: {{ properties['depth'] - 1 }}\n{% else %}\n- name: last\n  type: Pod\n{% endif %}\n";
    let content = "resources:\n- name: first\n  type: chain.jinja\n  properties:\n    depth: 20\n";
    create(
        &site,
        "/deployments",
        &body("web", content, &[("chain.jinja", chain)]),
    )
    .await;
    let page = site
        .get("/ui/deployments/web/manifests/manifest-0001")
        .await;
    assert_eq!(page.code, 200, "{}", page.text);
    has(&page, &["Resources of n1", "last Pod"]);
}

#[tokio::test]
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
        has(&page, &["There is nothing here"]);
    }
    let page = site.get("/ui/deployments/missing").await;
    has(&page, &["All deployments"]);
    let posted = site.post("/ui/deployments/web", &[("a", "b")]).await;
    assert_eq!(posted.code, 405);
}

#[tokio::test]
async fn a_form_in_a_namespace_called_deployments_opens() {
    let site = Site::open().await;
    let template = "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata:\n  name: web\nobjects: []\n";
    let path = "/apis/template.krm.dev/v1alpha1/namespaces/deployments/templates";
    site.store(path, template).await;
    let page = site.get("/ui/deployments/template.krm.dev/web").await;
    assert_eq!(page.code, 200);
    has(&page, &["This Template has no parameters."]);
}

#[tokio::test]
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
    update(
        &site,
        "/deployments/web",
        &body("web", "resources: []\n", &[]),
    )
    .await;
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

#[tokio::test]
async fn without_a_login_the_page_to_log_in_opens() {
    let site = Site::with_login().await;
    let page = site.get("/ui/deployments/web").await;
    assert_eq!(page.code, 303);
    assert_eq!(
        page.header("location"),
        "/ui/login?next=%2Fui%2Fdeployments%2Fweb"
    );
}

fn rights(paths: &[&str]) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: a\nrules:\n\
         - verbs: [get]\n  nonResourceURLs: {paths:?}\n\
         - verbs: [post, put]\n  nonResourceURLs: [/deployments, /deployments/*]\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata:\n  name: a\n\
         roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: a\n\
         subjects:\n- apiGroup: rbac.authorization.k8s.io\n  kind: User\n  name: ada\n"
    )
}

/// A site whose user may get some paths of the API, with a deployment of two manifests.
async fn restricted(paths: &[&str]) -> Site {
    let site = Site::with_rights(&rights(paths)).await;
    create(&site, "/deployments", &web(1)).await;
    update(&site, "/deployments/web", &web(2)).await;
    site
}

async fn seen(site: &Site, path: &str) -> Page {
    api(site, "GET", &format!("/ui/deployments{path}"), "").await
}

#[tokio::test]
async fn a_user_without_rights_sees_nothing() {
    let site = restricted(&["/healthz"]).await;
    for path in [
        "",
        "/web",
        "/missing",
        "/web/manifests/manifest-0001",
        "/web/manifests/manifest-0009",
        "/web/manifests/diff?from=manifest-0001&to=manifest-0002",
    ] {
        let page = seen(&site, path).await;
        assert_eq!(page.code, 403, "{path}");
        has(&page, &["You are not allowed to do this"]);
        lacks(&page, &["replicas", "expanded", "just now", "1 deployment"]);
    }
    // Without names, the page does not say which manifests there are.
    let page = seen(&site, "/web/manifests/diff").await;
    assert_eq!(page.code, 400);
    lacks(&page, &["manifest-000"]);
}

#[tokio::test]
async fn a_user_who_may_only_list_sees_names() {
    let site = restricted(&["/deployments"]).await;
    let page = seen(&site, "").await;
    assert_eq!(page.code, 200);
    has(&page, &["web", "You may not see it."]);
    lacks(
        &page,
        &["manifest-000", "expanded<", "just now", "&#x2f;web"],
    );
    assert_eq!(seen(&site, "/web").await.code, 403);
}

#[tokio::test]
async fn a_user_who_may_get_a_deployment_sees_neither_manifests_nor_operations() {
    let site = restricted(&["/deployments/web"]).await;
    assert_eq!(seen(&site, "").await.code, 403);
    let page = seen(&site, "/web").await;
    assert_eq!(page.code, 200);
    has(
        &page,
        &[
            "You may not list the manifests of this deployment.",
            "You may not see some operations.",
            "web-1 Pod",
        ],
    );
    lacks(&page, &["manifest-0001", "by ada"]);
    assert_eq!(seen(&site, "/web/manifests/manifest-0002").await.code, 403);
}

#[tokio::test]
async fn a_user_who_may_get_one_manifest_sees_no_other() {
    let one = "/deployments/web/manifests/manifest-0002";
    let site = restricted(&[one]).await;
    let page = seen(&site, "/web/manifests/manifest-0002").await;
    assert_eq!(page.code, 200);
    has(&page, &["replicas: 2"]);
    lacks(&page, &["manifest-0001"]);
    assert_eq!(seen(&site, "/web/manifests/manifest-0001").await.code, 403);
    let both = "/web/manifests/diff?from=manifest-0001&to=manifest-0002";
    assert_eq!(seen(&site, both).await.code, 403);
}

#[tokio::test]
async fn pages_link_templates_and_deployments() {
    let site = Site::open().await;
    let page = site.get("/ui/?namespace=shop").await;
    assert!(
        page.text
            .contains("href=\"/ui/deployments?namespace=shop\">Deployments</a>"),
        "{}",
        page.text
    );
    let page = site.get("/ui/deployments?namespace=shop").await;
    assert!(
        page.text
            .contains("href=\"/ui/?namespace=shop\">Templates</a>"),
        "{}",
        page.text
    );
    assert!(
        page.text
            .contains("href=\"/ui/deployments?namespace=shop\" aria-current=\"page\""),
        "{}",
        page.text
    );
    // The switch of the namespace stays in this list.
    assert!(
        page.text
            .contains("class=\"namespace\" method=\"get\" action=\"&#x2f;ui&#x2f;deployments\""),
        "{}",
        page.text
    );
}
