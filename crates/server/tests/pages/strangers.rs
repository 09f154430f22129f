//! Requests that the pages of other sites send to a server, by the API and by forms.

use krm_template_server_core::auth::Args;

use crate::pages::deployments::web;
use crate::pages::site::{COOKIES, Page, Site, TOKEN, cookie};

tests!(
    without_users_no_other_site_is_served,
    without_users_only_own_and_allowed_hosts_are_served,
    a_body_needs_a_type_that_no_other_site_can_omit,
    a_session_counts_for_its_own_site_only,
    wrong_tokens_are_slowed_down_and_right_ones_are_not
);

const TEMPLATES: &str = "/apis/template.krm.dev/v1alpha1/namespaces/shop/templates";
const WEB: &str = "/apis/template.krm.dev/v1alpha1/namespaces/shop/templates/web";
const TEMPLATE: &str = r#"{"apiVersion":"template.krm.dev/v1alpha1","kind":"Template","metadata":{"name":"web"},"objects":[]}"#;
const OTHER: &str = r#"{"apiVersion":"template.krm.dev/v1alpha1","kind":"Template","metadata":{"name":"other"},"objects":[]}"#;
const JSON: (&str, &str) = ("content-type", "application/json");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

type Headers<'h> = &'h [(&'h str, &'h str)];

/// Requests that read, expand and change, with their type and body.
fn requests() -> Vec<(&'static str, &'static str, (&'static str, &'static str), String)> {
    let store = format!("text={OTHER}&namespace=shop&store=1");
    let get = |path| ("GET", path, ("accept", "*/*"), String::new());
    vec![
        get("/"),
        get("/apis"),
        get("/openapi/v3"),
        get("/version"),
        get("/metrics"),
        get(TEMPLATES),
        get(WEB),
        get("/templates"),
        get("/deployments"),
        get("/types"),
        get("/ui/"),
        get("/ui/upload"),
        get("/ui/deployments"),
        get("/ui/shop/template.krm.dev/web"),
        ("POST", TEMPLATES, JSON, OTHER.to_owned()),
        ("POST", "/templates", JSON, OTHER.to_owned()),
        ("POST", "/processedtemplates", JSON, TEMPLATE.to_owned()),
        ("PUT", WEB, JSON, TEMPLATE.to_owned()),
        ("DELETE", WEB, JSON, String::new()),
        ("POST", "/expand", JSON, web(1)),
        ("POST", "/deployments", JSON, web(1)),
        ("POST", "/ui/upload", FORM, store),
    ]
}

async fn stored() -> Site {
    let site = Site::open().await;
    site.store(TEMPLATES, TEMPLATE).await;
    site
}

/// Sends all requests with more headers, and checks that none is served or changes anything.
async fn check_refused(site: &Site, host: &str, more: Headers<'_>) {
    for (method, path, kind, body) in requests() {
        let headers = [&[("host", host), kind], more].concat();
        let page = site.send(method, path, &headers, &body).await;
        assert_eq!(page.code, 403, "{method} {path} {host} {more:?}: {}", page.text);
        if method == "GET" {
            assert!(!page.text.contains("objects"), "{}", page.text);
        }
    }
    let names = site.get("/templates?namespace=shop").await.json();
    assert_eq!(names["items"].as_array().unwrap().len(), 1);
    assert_eq!(names["items"][0]["metadata"]["name"], "web");
    assert_eq!(site.get("/deployments").await.text, "[]\n");
}

#[tokio::main(flavor = "current_thread")]
async fn without_users_no_other_site_is_served() {
    let site = stored().await;
    for more in [
        &[("origin", "http://evil.example")][..],
        &[("origin", "http://localhost:9090")],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site"), ("origin", "http://localhost:9090")],
        &[("sec-fetch-site", "cross-site"), ("origin", "http://evil.example")],
    ] {
        check_refused(&site, "localhost:8080", more).await;
    }
    assert_eq!(site.send("GET", "/readyz", &[("host", "10.0.0.7:8080")], "").await.code, 200);
    for more in [
        &[][..],
        &[("sec-fetch-site", "none")],
        &[("sec-fetch-site", "same-origin"), ("origin", "http://localhost:8080")],
        &[("origin", "http://localhost:8080")],
    ] {
        for path in [WEB, "/ui/shop/template.krm.dev/web", "/deployments", "/metrics"] {
            assert_eq!(site.send("GET", path, more, "").await.code, 200, "{path} {more:?}");
        }
        let sent = [&[JSON], more].concat();
        let page = site.send("POST", "/processedtemplates", &sent, TEMPLATE).await;
        assert_eq!(page.code, 201, "{more:?}: {}", page.text);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn without_users_only_own_and_allowed_hosts_are_served() {
    let site = stored().await;
    for host in ["evil.example:8080", "evil.example", "localhost:9090", "0.0.0.0:8080"] {
        // For a browser, the page has the same origin.
        let origin = format!("http://{host}");
        check_refused(&site, host, &[("origin", &origin)]).await;
        check_refused(&site, host, &[]).await;
    }
    let page = site.send("GET", WEB, &[("host", "evil.example:8080")], "").await;
    assert!(page.text.contains("--allow-host evil.example:8080"), "{}", page.text);
    // HTTP/2, and an absolute target in HTTP/1.1.
    let target = format!("http://evil.example:8080{WEB}");
    assert_eq!(site.get(&target).await.code, 403);
    let target = format!("http://127.0.0.1:8080{WEB}");
    let page = site.send("GET", &target, &[("host", "evil.example")], "").await;
    assert_eq!(page.code, 200);

    let args = |_: &std::path::Path| Args {
        allow_hosts: vec!["templates.example.com".parse().unwrap()],
        ..Args::default()
    };
    let site = Site::with(args, &[]).await;
    for (host, code) in [
        ("templates.example.com", 200),
        ("templates.example.com:8443", 200),
        ("[::1]:8080", 200),
        ("evil.example:8080", 403),
    ] {
        let page = site.send("GET", "/templates", &[("host", host)], "").await;
        assert_eq!(page.code, code, "{host}");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn a_body_needs_a_type_that_no_other_site_can_omit() {
    let site = stored().await;
    let review = r#"{"spec":{"resourceAttributes":{"verb":"get","resource":"templates"}}}"#;
    let reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let processed = "/templates/web/processed?namespace=shop";
    let cases = [
        ("POST", TEMPLATES, OTHER),
        ("POST", "/templates", OTHER),
        ("POST", "/processedtemplates", TEMPLATE),
        ("POST", processed, "{}"),
        ("PUT", WEB, TEMPLATE),
        ("PATCH", WEB, "{}"),
        ("DELETE", WEB, "{}"),
        ("DELETE", TEMPLATES, "{}"),
        ("POST", reviews, review),
        ("POST", "/expand", "{}"),
        ("POST", "/deployments", "{}"),
        ("PUT", "/deployments/web", "{}"),
        ("POST", "/ui/upload", "text=a"),
    ];
    let own = ("sec-fetch-site", "same-origin");
    for (method, path, body) in cases {
        for kind in [None, Some(""), Some("text/plain"), Some("application/x-unknown")] {
            let kind = kind.map(|kind| ("content-type", kind));
            let headers: Vec<_> = kind.into_iter().chain([own]).collect();
            let page = site.send(method, path, &headers, body).await;
            assert_eq!(page.code, 415, "{method} {path} {kind:?}: {}", page.text);
        }
    }
    assert_eq!(site.get(WEB).await.code, 200);
    // `kubectl create --raw` sends no type, and `curl -X POST` no body.
    let kubectl = [("kubectl-command", "kubectl create")];
    assert_eq!(site.send("POST", TEMPLATES, &kubectl, OTHER).await.code, 201);
    assert_ne!(site.send("POST", processed, &[], "").await.code, 415);
    assert_eq!(site.send("DELETE", WEB, &[], "").await.code, 200);
}

#[tokio::main(flavor = "current_thread")]
async fn a_session_counts_for_its_own_site_only() {
    let site = Site::with_login().await;
    site.store(TEMPLATES, TEMPLATE).await;
    let page = site.post("/ui/login", &[("token", TOKEN)]).await;
    let session = cookie(&page);
    let form = "/ui/shop/template.krm.dev/web";
    let get = async |more: Headers<'_>| {
        let headers = [&[(COOKIES, session.as_str())], more].concat();
        site.send("GET", form, &headers, "").await.code
    };
    assert_eq!(get(&[]).await, 200);
    assert_eq!(get(&[("sec-fetch-site", "cross-site")]).await, 200, "a link");
    assert_eq!(get(&[("origin", "http://localhost:8080")]).await, 200);
    assert_eq!(get(&[("origin", "http://evil.example")]).await, 403);
    // With a token, the sender is known.
    let bearer = format!("Bearer {TOKEN}");
    let sent = [("authorization", bearer.as_str()), ("origin", "http://evil.example")];
    assert_eq!(site.send("GET", WEB, &sent, "").await.code, 200);
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn wrong_tokens_are_slowed_down_and_right_ones_are_not() {
    let site = Site::with_login().await;
    let start = tokio::time::Instant::now();
    let seconds = || start.elapsed().as_secs();
    let get = async |path: &str, token: &str| -> Page {
        let bearer = format!("Bearer {token}");
        site.send("GET", path, &[("authorization", &bearer)], "").await
    };
    for number in 0..20 {
        let path = if number % 2 == 0 { "/apis" } else { "/ui/" };
        assert_eq!(get(path, "guess").await.code, 401);
        assert_eq!(get(path, TOKEN).await.code, 200);
    }
    assert_eq!(seconds(), 10);
    for _ in 0..20 {
        assert_eq!(site.post("/ui/login", &[("token", "guess")]).await.code, 401);
    }
    assert_eq!(seconds(), 30);
    assert_eq!(site.post("/ui/login", &[("token", TOKEN)]).await.code, 303);
    assert_eq!(get("/apis", TOKEN).await.code, 200);
    for _ in 0..20 {
        assert_eq!(site.get("/apis").await.code, 401, "no token");
        assert_eq!(site.get("/ui/").await.code, 303);
    }
    assert_eq!(seconds(), 30);
}
