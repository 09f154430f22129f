//! Manifests: the tree of a layout with its nodes, and the differences between two manifests.

use crate::pages::deployments::{body, create, has, lacks, update, web};
use crate::pages::site::Site;

tests!(
    a_node_of_the_tree_has_its_resource_and_its_template,
    a_template_that_creates_nothing_takes_no_resource_of_another,
    the_difference_is_a_unified_diff_with_signs,
    a_difference_is_bounded,
    a_long_text_is_cut,
    a_tree_is_bounded,
    deep_templates_are_shown
);

const NODE: &str = "/ui/deployments/web/manifests/manifest-0001?node=%24.resources%5B0%5D";

#[tokio::main(flavor = "current_thread")]
async fn a_node_of_the_tree_has_its_resource_and_its_template() {
    let site = Site::open().await;
    create(&site, "/deployments", &web(2)).await;
    let root = site.get("/ui/deployments/web/manifests/manifest-0001").await;
    assert_eq!(root.code, 200);
    has(&root, &["manifest-0001 newest", "3 resources", "Resources of web", "web-1 Pod"]);
    has(&root, &["imports:\n- path: site.jinja", "Outputs", "value: web-0"]);
    let template = site.get(NODE).await;
    has(&template, &["Properties", "replicas: 2", "Template site.jinja", "{% for i in range"]);
    let pod = site.get(&format!("{NODE}.resources%5B1%5D")).await;
    has(
        &pod,
        &[
            "$.resources[0].resources[1] · from site.jinja",
            "Resourcename: web-1\ntype: Pod",
            "Template that created it site.jinja",
        ],
    );
    let tree = pod.text.split_once("class=\"tree\"").unwrap().1;
    assert_eq!(tree.matches("aria-current").count(), 1);
    let top =
        site.get("/ui/deployments/web/manifests/manifest-0001?node=%24.resources%5B1%5D").await;
    has(
        &top,
        &[
            "· from configuration",
            "Resourcename: db\ntype: Service",
            "Configuration that contains it",
        ],
    );
}

#[tokio::main(flavor = "current_thread")]
async fn a_template_that_creates_nothing_takes_no_resource_of_another() {
    let site = Site::open().await;
    let content = "resources:\n- name: web\n  type: none.jinja\n- name: db\n  type: Pod\n";
    let imports = [("none.jinja", "resources: []\n")];
    create(&site, "/deployments", &body("web", content, &imports)).await;
    let template = site.get(NODE).await;
    has(&template, &["Template none.jinja"]);
    lacks(&template, &["<span class=\"kind\">Resource</span>"]);
    let pod =
        site.get("/ui/deployments/web/manifests/manifest-0001?node=%24.resources%5B1%5D").await;
    has(&pod, &["Resourcename: db\ntype: Pod"]);
}

#[tokio::main(flavor = "current_thread")]
async fn the_difference_is_a_unified_diff_with_signs() {
    let site = Site::open().await;
    create(&site, "/deployments", &web(1)).await;
    update(&site, "/deployments/web", &web(2)).await;
    let page = site.get("/ui/deployments/web/manifests/diff").await;
    assert_eq!(page.code, 200);
    // The output of GNU diff -u for the two configurations, without its header.
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
    assert!(page.text.contains("<ins>+    replicas: 2\n</ins>"), "{}", page.text);
    assert!(page.text.contains("<del>-    replicas: 1\n</del>"), "{}", page.text);
    let back = "/ui/deployments/web/manifests/diff?from=manifest-0002&to=manifest-0001";
    has(&site.get(back).await, &["+    replicas: 1", "1 line added, 3 removed"]);
    let same = "/ui/deployments/web/manifests/diff?from=manifest-0002&to=manifest-0002";
    has(&site.get(same).await, &["No differences."]);
}

#[tokio::main(flavor = "current_thread")]
async fn a_difference_is_bounded() {
    let site = Site::open().await;
    let many = |from: usize| {
        let lines: String =
            (from..from + 6_000).map(|n| ["# line ", &n.to_string(), "\n"].concat()).collect();
        body("web", &(lines + "resources: []\n"), &[])
    };
    create(&site, "/deployments", &many(0)).await;
    update(&site, "/deployments/web", &many(10_000)).await;
    let page = site.get("/ui/deployments/web/manifests/diff").await;
    has(&page, &["6000 lines added, 6000 removed", "The rest is not shown"]);
    assert_eq!(page.text.matches("<del>").count(), 4_999);
}

#[tokio::main(flavor = "current_thread")]
async fn a_long_text_is_cut() {
    let site = Site::open().await;
    let lines: String = (0..8_000).map(|n| ["# line ", &n.to_string(), "\n"].concat()).collect();
    create(&site, "/deployments", &body("web", &(lines + "resources: []\n"), &[])).await;
    let page = site.get("/ui/deployments/web/manifests/manifest-0001").await;
    has(&page, &["# line 1\n", "The rest is not shown."]);
    lacks(&page, &["# line 7999"]);
}

#[tokio::main(flavor = "current_thread")]
async fn a_tree_is_bounded() {
    let site = Site::open().await;
    let create_many = web(1_500);
    create(&site, "/deployments", &create_many).await;
    let page = site.get("/ui/deployments/web/manifests/manifest-0001").await;
    has(&page, &["1501 resources", "502 more are not shown."]);
    let node = site.get(&format!("{NODE}.resources%5B1499%5D")).await;
    has(&node, &["name: web-1499"]);
    has(&site.get("/ui/deployments/web").await, &["Only the first 200 are shown."]);
}

#[tokio::main(flavor = "current_thread")]
async fn deep_templates_are_shown() {
    let site = Site::open().await;
    let chain = "resources:\n{% if properties['depth'] > 0 %}\n- name: n{{ properties['depth'] }}\n  type: chain.jinja\n  \
         properties:\n    depth: {{ properties['depth'] - 1 }}\n{% else %}\n- name: last\n  type: Pod\n{% endif %}\n";
    let content = "resources:\n- name: first\n  type: chain.jinja\n  properties:\n    depth: 20\n";
    create(&site, "/deployments", &body("web", content, &[("chain.jinja", chain)])).await;
    let page = site.get("/ui/deployments/web/manifests/manifest-0001").await;
    assert_eq!(page.code, 200, "{}", page.text);
    has(&page, &["Resources of n1", "last Pod"]);
}
