//! The pages of deployments, for users with some of the permissions.

use crate::pages::deployments::{api, create, has, lacks, update, web};
use crate::pages::site::{ADMIN, Page, Site};

tests!(
    a_user_without_rights_sees_nothing,
    a_user_who_may_only_list_sees_names,
    a_user_who_may_get_a_deployment_sees_neither_manifests_nor_operations,
    a_user_who_may_get_one_manifest_sees_no_other,
    a_namespace_is_for_users_with_rights_in_it
);

fn rights(paths: &[&str]) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: a\nrules:\n\
         - verbs: [get]\n  nonResourceURLs: {paths:?}\n\
         - verbs: [post, put]\n  nonResourceURLs: [/deployments, /deployments/*]\n\
         - verbs: [\"*\"]\n  apiGroups: [template.krm.dev]\n  resources: [deployments]\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata:\n  name: a\n\
         roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: a\n\
         subjects:\n- apiGroup: rbac.authorization.k8s.io\n  kind: User\n  name: ada\n"
    )
}

/// Returns a site with a deployment of two manifests, whose user may get some paths of the API.
async fn restricted(paths: &[&str]) -> Site {
    let site = Site::with_rights(&rights(paths)).await;
    create(&site, "/deployments", &web(1)).await;
    update(&site, "/deployments/web", &web(2)).await;
    site
}

async fn seen(site: &Site, path: &str) -> Page {
    api(site, "GET", &format!("/ui/deployments{path}"), "").await
}

#[tokio::main(flavor = "current_thread")]
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
    // Without names, the page does not list the manifests.
    let page = seen(&site, "/web/manifests/diff").await;
    assert_eq!(page.code, 400);
    lacks(&page, &["manifest-000"]);
}

#[tokio::main(flavor = "current_thread")]
async fn a_user_who_may_only_list_sees_names() {
    let site = restricted(&["/deployments"]).await;
    let page = seen(&site, "").await;
    assert_eq!(page.code, 200);
    has(&page, &["web", "You are not allowed to see it."]);
    lacks(
        &page,
        &["manifest-000", "expanded<", "just now", "&#x2f;web"],
    );
    assert_eq!(seen(&site, "/web").await.code, 403);
}

#[tokio::main(flavor = "current_thread")]
async fn a_user_who_may_get_a_deployment_sees_neither_manifests_nor_operations() {
    let site = restricted(&["/deployments/web"]).await;
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
    lacks(&page, &["manifest-0001", "by ada"]);
    assert_eq!(seen(&site, "/web/manifests/manifest-0002").await.code, 403);
}

#[tokio::main(flavor = "current_thread")]
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

/// All paths are allowed, but deployments only in the namespace `shop`.
const IN_SHOP: &str = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: paths}\n\
    rules:\n- {nonResourceURLs: [\"*\"], verbs: [\"*\"]}\n---\n\
    apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: paths}\n\
    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: paths}\n\
    subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}]\n---\n\
    apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: all, namespace: shop}\n\
    rules:\n- {apiGroups: [template.krm.dev], resources: [deployments], verbs: [\"*\"]}\n---\n\
    apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: all, namespace: shop}\n\
    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: all}\n\
    subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}]\n";

#[tokio::main(flavor = "current_thread")]
async fn a_namespace_is_for_users_with_rights_in_it() {
    let site = Site::with_rights(IN_SHOP).await;
    let admin = format!("Bearer {ADMIN}");
    let admin = [
        ("content-type", "application/json"),
        ("authorization", &*admin),
    ];
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
        (
            "GET",
            "/ui/deployments/web/manifests/diff?from=manifest-0001&to=manifest-0001",
        ),
    ] {
        let and = if path.contains('?') { '&' } else { '?' };
        let of = |namespace| format!("{path}{and}namespace={namespace}");
        let page = api(&site, method, &of("prod"), &web(1)).await;
        assert_eq!(page.code, 403, "{method} {path}: {}", page.text);
        assert!(!page.text.contains("Pod"), "{method} {path}: {}", page.text);
        // The namespace `default` has no rights either.
        assert_eq!(
            api(&site, method, path, &web(1)).await.code,
            403,
            "{method} {path}"
        );
        if method != "DELETE" {
            let page = api(&site, method, &of("shop"), &web(1)).await;
            assert_ne!(page.code, 403, "{method} {path}: {}", page.text);
        }
    }
    // The page of all namespaces needs a right in all.
    assert_eq!(
        api(&site, "GET", "/ui/deployments?namespace=", "")
            .await
            .code,
        403
    );
    let [own, other] = &operations[..] else {
        panic!("{operations:?}")
    };
    assert_eq!(api(&site, "GET", own, "").await.code, 200);
    let page = api(&site, "GET", other, "").await;
    let missing = api(&site, "GET", "/operations/missing", "").await;
    assert_eq!((page.code, missing.code), (404, 404));
    let name = other.trim_start_matches("/operations/");
    assert_eq!(page.text.replace(name, "missing"), missing.text);
    // An expansion reads nothing that is stored.
    let page = api(&site, "POST", "/expand?namespace=prod", &web(1)).await;
    assert_eq!(page.code, 200, "{}", page.text);
}
