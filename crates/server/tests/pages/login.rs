//! Login, logout and permissions.

use crate::pages::site::{COOKIES, Site, TOKEN, cookie, hidden_texts};

tests_and_crlf!(
    without_a_login_a_page_is_the_one_to_log_in,
    a_login_is_a_cookie_that_no_script_and_no_other_site_has,
    the_api_takes_no_cookie,
    a_wrong_token_is_said_and_not_kept,
    an_expired_login_keeps_what_was_typed_and_goes_on,
    an_expired_login_keeps_the_content_of_files,
    an_expired_login_keeps_an_uploaded_template,
    without_a_login_only_small_forms_are_read,
    forms_without_a_login_take_no_place_of_users,
    after_a_login_no_other_site_is_opened,
    logging_out_ends_the_session_and_needs_a_form,
    a_session_ends_with_its_token_and_with_the_next_login,
    without_users_there_is_no_login,
    a_page_needs_the_rights_of_the_api
);

const TEMPLATES: &str = "/apis/template.krm.dev/v1alpha1/namespaces/shop/templates";
const FORM: &str = "/ui/shop/template.krm.dev/web";
const WEB: &str = "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata:\n  name: web\n\
                   parameters:\n- name: NAME\nobjects:\n- apiVersion: v1\n  kind: Service\n  metadata:\n    \
                   name: $(NAME)\n";

async fn login(site: &Site) -> String {
    let page = site.post("/ui/login", &[("token", TOKEN), ("next", FORM)]).await;
    assert_eq!((page.code, page.header("location")), (303, FORM));
    cookie(&page)
}

#[tokio::main(flavor = "current_thread")]
async fn without_a_login_a_page_is_the_one_to_log_in() {
    let site = Site::with_login().await;
    let page = site.get(FORM).await;
    assert_eq!(page.code, 303);
    assert_eq!(page.header("location"), "/ui/login?next=%2Fui%2Fshop%2Ftemplate.krm.dev%2Fweb");
    let page = site.get(page.header("location")).await;
    assert_eq!(page.code, 200);
    assert!(page.text.contains("name=\"next\" value=\"&#x2f;ui&#x2f;shop"), "{}", page.text);
    let page = site.send("GET", FORM, &[("accept", "application/json")], "").await;
    assert_eq!(page.code, 401);
    assert!(page.json()["login"].as_str().unwrap().starts_with("/ui/login?next="));
}

#[tokio::main(flavor = "current_thread")]
async fn a_login_is_a_cookie_that_no_script_and_no_other_site_has() {
    let site = Site::with_login().await;
    site.store(TEMPLATES, WEB).await;
    let page = site.post("/ui/login", &[("token", TOKEN)]).await;
    let set = page.header("set-cookie");
    // A connection without TLS, from this machine.
    assert!(set.starts_with("krm="), "{set}");
    assert!(set.ends_with("; Path=/; Max-Age=28800; HttpOnly; SameSite=Strict"), "{set}");
    let page = site.send("GET", FORM, &[(COOKIES, &cookie(&page))], "").await;
    assert_eq!(page.code, 200);
    assert!(page.text.contains("<span>ada</span>"), "{}", page.text);
}

#[tokio::main(flavor = "current_thread")]
async fn the_api_takes_no_cookie() {
    let site = Site::with_login().await;
    site.store(TEMPLATES, WEB).await;
    let cookie = login(&site).await;
    for target in [TEMPLATES, "/templates", "/apis", "/metrics", "/"] {
        let page = site.send("GET", target, &[(COOKIES, &cookie)], "").await;
        assert_eq!(page.code, 401, "{target}");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn a_wrong_token_is_said_and_not_kept() {
    let site = Site::with_login().await;
    for token in ["", "wrong", "a b", "\u{fc}", &format!("{TOKEN} x")] {
        let page = site.post("/ui/login", &[("token", token)]).await;
        assert_eq!(page.code, 401, "{token}");
        assert_eq!(page.header("set-cookie"), "", "{token}");
        assert!(page.text.contains("This token is not valid"), "{}", page.text);
    }
    assert!(!site.audit().contains("wrong"));
}

#[tokio::main(flavor = "current_thread")]
async fn an_expired_login_keeps_what_was_typed_and_goes_on() {
    let site = Site::with_login().await;
    site.store(TEMPLATES, WEB).await;
    let fields = [("p.NAME", "typed"), ("action", "show")];
    let page = site.post(FORM, &fields).await;
    assert_eq!(page.code, 401);
    assert!(page.text.contains("name=\"p.NAME\" hidden"), "{}", page.text);
    assert!(page.text.contains("\ntyped</textarea>"), "{}", page.text);
    let all = [&fields[..], &[("token", TOKEN), ("next", FORM)]].concat();
    let page = site.post("/ui/login", &all).await;
    // The browser sends the same form to its original page.
    assert_eq!((page.code, page.header("location")), (307, FORM));
    let page = site.post_with(FORM, &[(COOKIES, &cookie(&page))], &all).await;
    assert_eq!(page.code, 200);
    assert!(page.text.contains(">typed</a>"), "{}", page.text);
    assert!(!page.text.contains(TOKEN));
}

#[tokio::main(flavor = "current_thread")]
async fn an_expired_login_keeps_the_content_of_files() {
    let site = Site::with_login().await;
    let template = WEB.replace("- name: NAME\n", "- name: NAME\n- name: DATA\n  type: base64\n");
    let template = template + "  spec:\n    data: $(DATA)\n    lines: $(LINES)\n";
    let template =
        template.replace("objects:", "- name: LINES\n  value: |\n    a\n    b\nobjects:");
    site.store(TEMPLATES, &template).await;
    let parts = [
        ("p.NAME", None, "typed"),
        ("p.LINES", None, "one\r\ntwo"),
        ("p.DATA", None, "b3RoZXI="),
        ("f.DATA", Some("a.bin"), "hello"),
        ("action", None, "show"),
    ];
    let page = site.post_parts(FORM, &[], &parts).await;
    assert_eq!(page.code, 401);
    let kept = hidden_texts(&page);
    let login: Vec<(&str, &str)> = kept
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .chain([("token", TOKEN), ("next", FORM)])
        .collect();
    // A wrong token does not lose the form either.
    let wrong: Vec<(&str, &str)> = login
        .iter()
        .map(|(name, value)| (*name, if *name == "token" { "wrong" } else { value }))
        .collect();
    let again = site.post("/ui/login", &wrong).await;
    assert_eq!((again.code, hidden_texts(&again)), (401, kept.clone()));
    let page = site.post("/ui/login", &login).await;
    assert_eq!((page.code, page.header("location")), (307, FORM));
    let page = site.post_with(FORM, &[(COOKIES, &cookie(&page))], &login).await;
    assert_eq!(page.code, 200, "{}", page.text);
    for field in [
        "id=\"p-NAME\" name=\"p.NAME\" aria-describedby=\"error-NAME\" value=\"typed\"",
        ">\naGVsbG8=</textarea>",
        ">\none\ntwo</textarea>",
    ] {
        assert!(page.text.contains(field), "{field}: {}", page.text);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn an_expired_login_keeps_an_uploaded_template() {
    let site = Site::with_login().await;
    let parts = [
        ("file", Some("web.yaml"), WEB),
        ("text", None, ""),
        ("namespace", None, "shop"),
        ("store", None, "1"),
    ];
    let page = site.post_parts("/ui/upload", &[], &parts).await;
    assert_eq!(page.code, 401);
    let kept = hidden_texts(&page);
    let mut login: Vec<(&str, &str)> =
        kept.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    login.extend([("token", TOKEN), ("next", "/ui/upload")]);
    let page = site.post("/ui/login", &login).await;
    assert_eq!((page.code, page.header("location")), (307, "/ui/upload"));
    let page = site.post_with("/ui/upload", &[(COOKIES, &cookie(&page))], &login).await;
    assert_eq!((page.code, page.header("location")), (303, FORM));
}

#[tokio::main(flavor = "current_thread")]
async fn without_a_login_only_small_forms_are_read() {
    let site = Site::with_login().await;
    let login = "/ui/login?next=%2Fui%2Fupload";
    for (letter, length, code) in [("x", 40 << 10, 401), ("x", 60 << 10, 303), ("é", 10 << 10, 303)]
    {
        let text = letter.repeat(length);
        let page = site.post("/ui/upload", &[("text", &text)]).await;
        assert_eq!(page.code, code, "{letter} {length}");
        if code == 303 {
            assert_eq!(page.header("location"), login);
        }
    }
    let text = "x".repeat(64 << 10);
    let page = site.post("/ui/login", &[("token", TOKEN), ("text", &text)]).await;
    assert_eq!(page.code, 413);
    // A form of a user who is logged in may be larger.
    let cookie = self::login(&site).await;
    let page = site.post_with("/ui/upload", &[(COOKIES, &cookie)], &[("text", &text)]).await;
    assert_eq!(page.code, 422, "{}", page.text);
}

/// A request whose body never ends takes no place of the users.
#[tokio::main(flavor = "current_thread")]
async fn forms_without_a_login_take_no_place_of_users() {
    let site = Site::with_login_and(&["--max-writes", "1"]).await;
    tokio::select! {
        biased;
        () = site.begin("/ui/upload") => panic!("the body has no end"),
        () = site.store(TEMPLATES, WEB) => {}
    }
}

#[tokio::main(flavor = "current_thread")]
async fn after_a_login_no_other_site_is_opened() {
    let site = Site::with_login().await;
    for next in [
        "https://elsewhere.example",
        "//elsewhere.example",
        "/\\elsewhere",
        "/apis",
        "/ui/\r\nx: y",
    ] {
        let page = site.post("/ui/login", &[("token", TOKEN), ("next", next)]).await;
        assert_eq!((page.code, page.header("location")), (303, "/ui/"), "{next}");
    }
}

async fn form_code(site: &Site, cookie: &str) -> u16 {
    let page = site.send("GET", FORM, &[(COOKIES, cookie)], "").await;
    page.code
}

#[tokio::main(flavor = "current_thread")]
async fn logging_out_ends_the_session_and_needs_a_form() {
    let site = Site::with_login().await;
    site.store(TEMPLATES, WEB).await;
    let (first, second) = (login(&site).await, login(&site).await);
    let page = site.get("/ui/logout").await;
    assert_eq!(page.header("set-cookie"), "");
    assert_eq!(form_code(&site, &first).await, 200);
    let page = site.post_with("/ui/logout", &[(COOKIES, &first)], &[]).await;
    assert_eq!((page.code, page.header("location")), (303, "/ui/login"));
    assert!(page.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(form_code(&site, &first).await, 303);
    assert_eq!(form_code(&site, &second).await, 200);
}

#[tokio::main(flavor = "current_thread")]
async fn a_session_ends_with_its_token_and_with_the_next_login() {
    let site = Site::with_login().await;
    site.store(TEMPLATES, WEB).await;
    let first = login(&site).await;
    // The cookie says nothing about the token.
    let (_, id) = first.split_once('=').unwrap();
    assert_eq!(id.len(), 43);
    let encoded = base64::Engine::encode(&base64::prelude::BASE64_URL_SAFE_NO_PAD, TOKEN);
    for other in [TOKEN, encoded.as_str(), &id[1..]] {
        assert_eq!(form_code(&site, &format!("krm={other}")).await, 303);
    }
    let token = [("token", TOKEN)];
    let page = site.post_with("/ui/login", &[(COOKIES, &first)], &token).await;
    let second = cookie(&page);
    assert_eq!(form_code(&site, &first).await, 303);
    assert_eq!(form_code(&site, &second).await, 200);
    site.set_tokens("other,ada,1\n");
    assert_eq!(form_code(&site, &second).await, 303);
}

#[tokio::main(flavor = "current_thread")]
async fn without_users_there_is_no_login() {
    let site = Site::open().await;
    let page = site.get("/ui/").await;
    assert!(!page.text.contains("Log out") && !page.text.contains("login"), "{}", page.text);
    let page = site.get("/ui/login").await;
    assert_eq!((page.code, page.header("location")), (303, "/ui/"));
}

#[tokio::main(flavor = "current_thread")]
async fn a_page_needs_the_rights_of_the_api() {
    let rights = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: read, namespace: shop}\n\
        rules:\n- {apiGroups: [template.krm.dev], resources: [templates], verbs: [get, list]}\n---\n\
        apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: read, namespace: shop}\n\
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: read}\n\
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}]\n";
    let site = Site::with_rights(rights).await;
    let cookie = login(&site).await;
    let cookies = [(COOKIES, cookie.as_str())];
    for (target, code) in [
        ("/ui/?namespace=shop", 200),
        ("/ui/", 403),
        ("/ui/?namespace=other", 403),
        // The user has permission, but there is no Template.
        (FORM, 404),
        ("/ui/other/template.krm.dev/web", 403),
        ("/ui/shop/template.openshift.io/web", 403),
    ] {
        let page = site.send("GET", target, &cookies, "").await;
        assert_eq!(page.code, code, "{target}: {}", page.text);
    }
    let text = [("text", WEB), ("namespace", "shop")];
    let page = site.post_with("/ui/upload", &cookies, &text).await;
    assert_eq!(page.code, 403, "{}", page.text);
    let store = [("text", WEB), ("namespace", "shop"), ("store", "1")];
    let page = site.post_with("/ui/upload", &cookies, &store).await;
    assert_eq!(page.code, 403, "{}", page.text);
}
