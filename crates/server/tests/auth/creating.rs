//! Requests that create an object need the verb `create`, whatever their method is.

use crate::pages::site::{ADMIN, Page, Site, TOKEN};

tests!(an_apply_that_creates_needs_the_verb_create, other_changes_create_nothing);

const TEMPLATES: &str = "/apis/template.krm.dev/v1alpha1/namespaces/shop/templates";
const TEMPLATE: &str = r#"{"apiVersion":"template.krm.dev/v1alpha1","kind":"Template","metadata":{"name":"web"},"objects":[]}"#;
const APPLY: &str = "application/apply-patch+yaml";

/// Returns a server whose user may do everything with `verbs` in the namespace `shop`.
async fn with_verbs(verbs: &str) -> Site {
    Site::with_rights(&format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: a, namespace: shop}}\n\
         rules:\n- {{apiGroups: [template.krm.dev], resources: ['*'], verbs: [{verbs}]}}\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {{name: a, namespace: shop}}\n\
         roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: a}}\n\
         subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}}]\n"
    ))
    .await
}

async fn send(site: &Site, token: &str, method: &str, query: &str, kind: &str, body: &str) -> Page {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str()), ("content-type", kind)];
    let path = format!("{TEMPLATES}/web{query}");
    site.send(method, &path, &headers, body).await
}

#[tokio::main(flavor = "current_thread")]
async fn an_apply_that_creates_needs_the_verb_create() {
    let site = with_verbs("get, patch, update").await;
    for query in ["?fieldManager=a", "?fieldManager=a&dryRun=All", "?fieldManager=a&force=true"] {
        let page = send(&site, TOKEN, "PATCH", query, APPLY, TEMPLATE).await;
        assert_eq!(page.code, 403, "{query}: {}", page.text);
        assert_eq!(
            page.json()["message"],
            "templates.template.krm.dev \"web\" is forbidden: User \"ada\" cannot create resource \
             \"templates\" in API group \"template.krm.dev\" in the namespace \"shop\""
        );
    }
    let query = "?fieldManager=a";
    let page = send(&site, ADMIN, "PATCH", query, APPLY, TEMPLATE).await;
    assert_eq!(page.code, 201, "{}", page.text);
    let page = send(&site, TOKEN, "PATCH", query, APPLY, TEMPLATE).await;
    assert_eq!(page.code, 200, "the object exists: {}", page.text);

    let site = with_verbs("create, patch").await;
    let page = send(&site, TOKEN, "PATCH", query, APPLY, TEMPLATE).await;
    assert_eq!(page.code, 201, "{}", page.text);
}

#[tokio::main(flavor = "current_thread")]
async fn other_changes_create_nothing() {
    let site = with_verbs("'*'").await;
    for (method, kind, body) in [
        ("PUT", "application/json", TEMPLATE),
        ("PATCH", "application/merge-patch+json", TEMPLATE),
        ("PATCH", "application/json-patch+json", "[]"),
    ] {
        let page = send(&site, TOKEN, method, "", kind, body).await;
        assert_eq!(page.code, 404, "{method} {kind}: {}", page.text);
    }
}
