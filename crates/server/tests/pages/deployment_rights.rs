//! The pages of deployments, for users with some of the permissions.

use crate::pages::deployments::{api, has, lacks, web};
use crate::pages::site::{ADMIN, Page, Site};

tests!(
    a_user_without_rights_sees_nothing,
    a_user_who_may_only_list_sees_names,
    a_user_who_may_get_a_deployment_sees_neither_manifests_nor_operations,
    a_user_who_may_get_manifests_sees_them,
    a_namespace_is_for_users_with_rights_in_it
);

/// Returns the rules for a user with some rights: verbs and a resource.
pub(super) fn rules(rights: &[(&str, &str)]) -> String {
    let rule = |(verbs, resource): &(&str, &str)| {
        format!("- {{apiGroups: [template.krm.dev], resources: [{resource}], verbs: [{verbs}]}}\n")
    };
    let rules: String = rights.iter().map(rule).collect();
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: a}}\n\
         rules:\n{rules}- {{nonResourceURLs: [\"*\"], verbs: [\"*\"]}}\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n\
         metadata: {{name: a}}\n\
         roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: a}}\n\
         subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}}]\n"
    )
}

/// Returns a site with a deployment of two manifests, whose user has some rights.
async fn restricted(rights: &[(&str, &str)]) -> Site {
    let site = Site::with_rights(&rules(rights)).await;
    let admin = admin();
    let admin = [("content-type", "application/json"), ("authorization", &*admin)];
    for (method, path, count) in [("POST", "/deployments", 1), ("PUT", "/deployments/web", 2)] {
        let page = site.send(method, path, &admin, &web(count)).await;
        assert!(matches!(page.code, 200 | 201), "{}", page.text);
    }
    site
}

/// Returns the `Authorization` header of the administrator.
pub(super) fn admin() -> String {
    format!("Bearer {ADMIN}")
}

async fn seen(site: &Site, path: &str) -> Page {
    api(site, "GET", &format!("/ui/deployments{path}"), "").await
}

#[tokio::main(flavor = "current_thread")]
async fn a_user_without_rights_sees_nothing() {
    let site = restricted(&[]).await;
    for path in [
        "",
        "/web",
        "/missing",
        "/web/manifests/manifest-0001",
        "/web/manifests/manifest-0009",
        "/web/manifests/diff?from=manifest-0001&to=manifest-0002",
        "/web/manifests/diff",
    ] {
        let page = seen(&site, path).await;
        assert_eq!(page.code, 403, "{path}");
        has(&page, &["You are not allowed to do this"]);
        lacks(&page, &["replicas", "expanded", "just now", "1 deployment", "manifest-000"]);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn a_user_who_may_only_list_sees_names() {
    let site = restricted(&[("list", "deployments")]).await;
    let page = seen(&site, "").await;
    assert_eq!(page.code, 200);
    has(&page, &["web", "You are not allowed to see it."]);
    lacks(&page, &["manifest-000", "expanded<", "just now", "&#x2f;web"]);
    assert_eq!(seen(&site, "/web").await.code, 403);
}

#[tokio::main(flavor = "current_thread")]
async fn a_user_who_may_get_a_deployment_sees_neither_manifests_nor_operations() {
    let site = restricted(&[("get", "deployments")]).await;
    assert_eq!(seen(&site, "").await.code, 403);
    let page = seen(&site, "/web").await;
    assert_eq!(page.code, 200);
    has(
        &page,
        &[
            "You are not allowed to list the manifests of this deployment.",
            "You are not allowed to see some operations.",
            "web-1 Pod",
        ],
    );
    lacks(&page, &["manifest-0001", "by ada", "by root"]);
    assert_eq!(seen(&site, "/web/manifests/manifest-0002").await.code, 403);
}

#[tokio::main(flavor = "current_thread")]
async fn a_user_who_may_get_manifests_sees_them() {
    let site = restricted(&[("get", "deployments/manifests")]).await;
    let page = seen(&site, "/web/manifests/manifest-0002").await;
    assert_eq!(page.code, 200);
    has(&page, &["replicas: 2"]);
    lacks(&page, &["manifest-0001"]);
    let both = "/web/manifests/diff?from=manifest-0001&to=manifest-0002";
    assert_eq!(seen(&site, both).await.code, 200);
    // The names of the manifests are another right.
    assert_eq!(seen(&site, "/web/manifests/diff").await.code, 400);
    assert_eq!(seen(&site, "/web").await.code, 403);
}

/// All paths are allowed, but deployments only in the namespace `shop`.
const IN_SHOP: &str = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: paths}\n\
    rules:\n- {nonResourceURLs: [\"*\"], verbs: [\"*\"]}\n---\n\
    apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: paths}\n\
    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: paths}\n\
    subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}]\n---\n\
    apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: all, namespace: shop}\n\
    rules:\n- {apiGroups: [template.krm.dev], resources: [deployments, deployments/manifests, deployments/operations], verbs: [\"*\"]}\n---\n\
    apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: all, namespace: shop}\n\
    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: all}\n\
    subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}]\n";

#[tokio::main(flavor = "current_thread")]
async fn a_namespace_is_for_users_with_rights_in_it() {
    let site = Site::with_rights(IN_SHOP).await;
    let admin = admin();
    let admin = [("content-type", "application/json"), ("authorization", &*admin)];
    let mut operations = Vec::new();
    for namespace in ["shop", "prod"] {
        let path = format!("/deployments?namespace={namespace}");
        let page = site.send("POST", &path, &admin, &web(1)).await;
        assert_eq!(page.code, 201, "{}", page.text);
        operations.push(page.header("location").to_owned());
    }
    for (method, path) in [
        ("GET", "/deployments"),
        ("GET", "/deployments/web"),
        ("GET", "/deployments/missing"),
        ("GET", "/deployments/web/manifests"),
        ("GET", "/deployments/web/manifests/manifest-0001"),
        ("GET", "/types"),
        ("GET", "/types/all/instances"),
        ("GET", "/types/Pod/instances"),
        ("POST", "/deployments"),
        ("PUT", "/deployments/web"),
        ("DELETE", "/deployments/web"),
        ("GET", "/ui/deployments"),
        ("GET", "/ui/deployments/web"),
        ("GET", "/ui/deployments/web/manifests/manifest-0001"),
        ("GET", "/ui/deployments/web/manifests/diff?from=manifest-0001&to=manifest-0001"),
    ] {
        let and = if path.contains('?') { '&' } else { '?' };
        let of = |namespace| format!("{path}{and}namespace={namespace}");
        let page = api(&site, method, &of("prod"), &web(1)).await;
        assert_eq!(page.code, 403, "{method} {path}: {}", page.text);
        assert!(!page.text.contains("Pod"), "{method} {path}: {}", page.text);
        // The namespace `default` has no rights either. The page shows all namespaces.
        let page = api(&site, method, path, &web(1)).await;
        let code = if path == "/ui/deployments" { 200 } else { 403 };
        assert_eq!(page.code, code, "{method} {path}");
        if method != "DELETE" {
            let page = api(&site, method, &of("shop"), &web(1)).await;
            assert_ne!(page.code, 403, "{method} {path}: {}", page.text);
        }
    }
    // The page of all namespaces shows those with a right.
    let page = api(&site, "GET", "/ui/deployments?namespace=", "").await;
    assert_eq!(page.code, 200);
    has(&page, &["1 deployment", "shop"]);
    lacks(&page, &["namespace=prod"]);
    let [own, other] = &operations[..] else { panic!("{operations:?}") };
    assert_eq!(api(&site, "GET", own, "").await.code, 200);
    let page = api(&site, "GET", other, "").await;
    let missing = api(&site, "GET", "/operations/missing", "").await;
    assert_eq!((page.code, missing.code), (404, 404));
    let name = other.trim_start_matches("/operations/");
    assert_eq!(page.text.replace(name, "missing"), missing.text);
    // As a dry run, an expansion needs the right to create.
    for (namespace, code) in [("shop", 200), ("prod", 403)] {
        let path = format!("/expand?namespace={namespace}");
        assert_eq!(api(&site, "POST", &path, &web(1)).await.code, code);
    }
}
