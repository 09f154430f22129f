//! Forms of stored Templates.

use crate::pages::site::{Site, unescaped};

tests_and_crlf!(
    the_list_has_each_template_with_a_link_to_its_form,
    a_browser_at_the_root_is_sent_to_the_list,
    pages_load_nothing_from_elsewhere_and_are_not_kept,
    the_addresses_of_styles_and_script_never_change_their_content,
    no_secret_is_in_a_form_or_its_result_until_it_is_asked_for,
    a_typed_secret_is_blank_in_what_is_to_be_copied,
    each_mistake_is_at_its_field_and_in_the_summary,
    the_script_gets_the_result_of_the_page,
    a_download_has_the_objects_with_the_generated_values_of_the_page,
    values_that_are_as_they_were_at_first_are_not_given,
    a_template_that_is_gone_is_said_and_what_was_typed_can_be_sent_again,
    another_site_cannot_send_a_form,
    texts_of_templates_are_text,
    the_page_of_openshifts_group_has_a_line_for_oc,
    many_templates_are_on_several_pages,
    the_list_is_in_the_order_of_namespaces_and_names,
    objects_that_are_too_large_for_a_page_can_be_downloaded,
    a_file_is_the_value_of_its_parameter,
    a_page_is_logged_and_counted_as_the_api_is
);

const TEMPLATES: &str = "/apis/template.krm.dev/v1alpha1/namespaces/shop/templates";
const FORM: &str = "/ui/shop/template.krm.dev/web";

const WEB: &str = r#"apiVersion: template.krm.dev/v1alpha1
kind: Template
metadata:
  name: web
message: $(NAME) has $(REPLICAS) pods, and the password $(PASSWORD)
parameters:
- name: NAME
  required: true
- name: REPLICAS
  type: int
  value: "2"
  maximum: 9
- name: PASSWORD
  secret: true
  value: canary-default
- name: KEY
  generate: expression
  from: "[a-z]{12}"
objects:
- apiVersion: v1
  kind: Secret
  metadata:
    name: $(NAME)
  stringData:
    password: $(PASSWORD) # of the database
    key: $(KEY)
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: $(NAME)
  spec:
    replicas: $((REPLICAS))
    password: $(PASSWORD)
"#;

async fn web() -> Site {
    let site = Site::open().await;
    site.store(TEMPLATES, WEB).await;
    site
}

#[tokio::main(flavor = "current_thread")]
async fn the_list_has_each_template_with_a_link_to_its_form() {
    let site = web().await;
    let page = site.get("/ui/").await;
    assert_eq!(page.code, 200);
    assert!(page.text.contains("4 parameters, 1 required"), "{}", page.text);
    let href = FORM.replace('/', "&#x2f;");
    assert!(page.text.contains(&format!("href=\"{href}\"")), "{}", page.text);
    for (query, count) in
        [("q=web", "1 Template"), ("q=nothing", "0 Templates"), ("namespace=b", "0 Templates")]
    {
        let page = site.get(&format!("/ui/?{query}")).await;
        assert!(page.text.contains(&format!(">{count}<")), "{query}: {}", page.text);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn a_browser_at_the_root_is_sent_to_the_list() {
    let site = Site::open().await;
    let page = site.send("GET", "/", &[("accept", "text/html,*/*")], "").await;
    assert_eq!((page.code, page.header("location")), (303, "/ui/"));
    let page = site.get("/").await;
    assert_eq!((page.code, page.header("content-type")), (200, "application/json"));
}

#[tokio::main(flavor = "current_thread")]
async fn pages_load_nothing_from_elsewhere_and_are_not_kept() {
    let site = web().await;
    for target in ["/ui/", FORM, "/ui/upload", "/ui/shop/template.krm.dev/none"] {
        let page = site.get(target).await;
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{target}");
        assert_eq!(page.header("referrer-policy"), "no-referrer", "{target}");
        assert_eq!(page.header("x-content-type-options"), "nosniff", "{target}");
        assert_eq!(page.header("cache-control"), "no-store", "{target}");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn the_addresses_of_styles_and_script_never_change_their_content() {
    let site = Site::open().await;
    let page = site.get("/ui/upload").await;
    let mut found = 0;
    for part in page.text.split('"').filter(|part| part.starts_with("/ui/assets/")) {
        let asset = site.get(part).await;
        assert_eq!(asset.code, 200, "{part}");
        assert!(asset.header("cache-control").contains("immutable"), "{part}");
        let (plain, _) = part.split_once('?').unwrap();
        let asset = site.get(&format!("{plain}?v=other")).await;
        assert_eq!(asset.header("cache-control"), "no-store", "{plain}");
        found += 1;
    }
    assert_eq!(found, 4);
    assert_eq!(site.get("/ui/assets/other.js").await.code, 404);
}

#[tokio::main(flavor = "current_thread")]
async fn no_secret_is_in_a_form_or_its_result_until_it_is_asked_for() {
    let site = web().await;
    let page = site.get(FORM).await;
    assert_eq!(page.code, 200);
    assert!(!page.text.contains("canary-default"), "{}", page.text);

    let fields = [("p.NAME", "shop"), ("p.PASSWORD", ""), ("action", "show")];
    let page = site.post(FORM, &fields).await;
    assert_eq!(page.code, 200, "{}", page.text);
    assert!(!page.text.contains("canary-default"), "{}", page.text);
    assert!(page.text.contains(">***<"), "{}", page.text);
    let message = "shop has 2 pods, and the password ***";
    assert!(page.text.contains(message), "{}", page.text);

    let fields = [("p.NAME", "shop"), ("p.PASSWORD", ""), ("action", "reveal")];
    let page = site.post(FORM, &fields).await;
    let message = "shop has 2 pods, and the password canary-default";
    assert!(page.text.contains(message), "{}", page.text);
    assert!(page.text.contains(">canary-default<"), "{}", page.text);
    assert!(!site.audit().contains("canary"));
}

#[tokio::main(flavor = "current_thread")]
async fn a_typed_secret_is_blank_in_what_is_to_be_copied() {
    let site = web().await;
    let fields = [("p.NAME", "it's"), ("p.PASSWORD", "typed-secret"), ("action", "show")];
    let page = site.post(FORM, &fields).await;
    let (_, uses) = page.text.split_once("id=\"use\"").unwrap();
    assert!(!uses.contains("typed-secret"), "{uses}");
    assert!(uses.contains("-p &#x27;PASSWORD=&lt;PASSWORD&gt;&#x27;"), "{uses}");
    assert!(uses.contains(r"-p &#x27;NAME=it&#x27;\&#x27;&#x27;s&#x27;"), "{uses}");
    assert!(uses.contains("kind: ParameterValues") && uses.contains("kind: TemplateInstance"));
    assert!(!uses.contains("oc process"));
}

#[tokio::main(flavor = "current_thread")]
async fn each_mistake_is_at_its_field_and_in_the_summary() {
    let site = web().await;
    let fields = [("p.NAME", ""), ("p.REPLICAS", "10"), ("action", "show")];
    let page = site.post(FORM, &fields).await;
    assert_eq!(page.code, 422);
    for (name, message) in [
        ("NAME", "Parameter <code>NAME</code> is required and has no value."),
        ("REPLICAS", "Parameter <code>REPLICAS</code> must be at most 9."),
    ] {
        let at_field = format!("<p class=\"error\" id=\"error-{name}\">{message}</p>");
        assert!(page.text.contains(&at_field), "{name}: {}", page.text);
        let in_summary = format!("<a href=\"#p-{name}\">{message}</a>");
        assert!(page.text.contains(&in_summary), "{name}: {}", page.text);
    }
    assert!(page.text.contains("name=\"p.REPLICAS\" aria-describedby=\"help-REPLICAS error-REPLICAS\" aria-invalid=\"true\""));
    assert!(page.text.contains("value=\"10\""), "what was typed is kept");

    let json = [("accept", "application/json")];
    let page = site.post_with(FORM, &json, &fields).await;
    assert_eq!(page.code, 422);
    let answer = page.json();
    assert_eq!(answer["errors"].as_array().unwrap().len(), 2, "{answer}");
    assert_eq!(answer["errors"][1]["parameter"], "REPLICAS");
    assert_eq!(answer["result"], serde_json::Value::Null);
}

#[tokio::main(flavor = "current_thread")]
async fn the_script_gets_the_result_of_the_page() {
    let site = web().await;
    let fields = [("p.NAME", "shop"), ("action", "check"), ("seed", &"07".repeat(32))];
    let page = site.post(FORM, &fields).await;
    let answer = site.post_with(FORM, &[("accept", "application/json")], &fields).await;
    assert_eq!(answer.code, 200);
    let answer = answer.json();
    assert_eq!(answer["errors"], serde_json::json!([]));
    let result = answer["result"].as_str().unwrap();
    assert!(result.contains("<section id=\"result\""), "{result}");
    assert!(page.text.contains(result), "{result}\n{}", page.text);
}

#[tokio::main(flavor = "current_thread")]
async fn a_download_has_the_objects_with_the_generated_values_of_the_page() {
    let site = web().await;
    let seed = "0a".repeat(32);
    let fields = |action| [("p.NAME", "shop"), ("seed", seed.as_str()), ("action", action)];
    let file = site.post(FORM, &fields("download")).await;
    assert_eq!(file.header("content-type"), "application/yaml");
    assert_eq!(file.header("content-disposition"), "attachment; filename=\"web.yaml\"");
    let text = file.text.replace('\r', "");
    for part in ["password: canary-default # of the database\n", "---\napiVersion: apps/v1\n"] {
        assert!(text.contains(part), "{text}");
    }
    let (_, key) = file.text.split_once("key: ").unwrap();
    let key = key.lines().next().unwrap();
    assert_eq!(key.len(), 12);
    let page = site.post(FORM, &fields("reveal")).await;
    assert!(page.text.contains(&format!(">{key}<")), "{key}: {}", page.text);
}

#[tokio::main(flavor = "current_thread")]
async fn values_that_are_as_they_were_at_first_are_not_given() {
    let site = web().await;
    let fields = [("p.NAME", "shop"), ("p.REPLICAS", "2"), ("p.KEY", ""), ("action", "show")];
    let page = site.post(FORM, &fields).await;
    assert_eq!(page.code, 200, "{}", page.text);
    assert!(!page.text.contains("REPLICAS=2"), "{}", page.text);
    assert!(page.text.contains("replicas ← REPLICAS (default 2)"), "{}", page.text);
}

#[tokio::main(flavor = "current_thread")]
async fn a_template_that_is_gone_is_said_and_what_was_typed_can_be_sent_again() {
    let site = web().await;
    let page = site.send("DELETE", &format!("{TEMPLATES}/web"), &[], "").await;
    assert_eq!(page.code, 200);
    let page = site.post(FORM, &[("p.NAME", "typed"), ("action", "show")]).await;
    assert_eq!(page.code, 404);
    assert!(page.text.contains("not found"), "{}", page.text);
    assert!(page.text.contains("typed</textarea>"), "{}", page.text);
}

#[tokio::main(flavor = "current_thread")]
async fn another_site_cannot_send_a_form() {
    let site = web().await;
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let refused: [&[(&str, &str)]; 5] = [
        &[],
        &[("origin", "https://elsewhere.example")],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site"), ("origin", "http://localhost:8080")],
        &[("sec-fetch-site", "same-site")],
    ];
    for headers in refused {
        for target in [FORM, "/ui/upload", "/ui/login", "/ui/logout"] {
            let page = site.send("POST", target, &[&[kind], headers].concat(), "p.NAME=a").await;
            assert_eq!(page.code, 403, "{target} {headers:?}");
        }
    }
    let taken: [&[(&str, &str)]; 3] = [
        &[("origin", "http://localhost:8080")],
        &[("sec-fetch-site", "none")],
        &[("sec-fetch-site", "same-origin"), ("origin", "null")],
    ];
    for headers in taken {
        let page = site.send("POST", FORM, &[&[kind], headers].concat(), "p.NAME=a").await;
        assert_eq!(page.code, 200, "{headers:?}");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn texts_of_templates_are_text() {
    const CANARY: &str = "<script>alert(1)</script>\\\"'><img src=x onerror=alert(1)>";
    let template = format!(
        "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata:\n  name: evil\n  annotations:\n    \
         openshift.io/display-name: \"{CANARY}\"\n    description: \"{CANARY}\"\n    tags: \"{CANARY}\"\n    \
         iconClass: \"{CANARY}\"\n    openshift.io/provider-display-name: \"{CANARY}\"\n    \
         openshift.io/documentation-url: \"javascript:alert(1)\"\nmessage: \"{CANARY}\"\nparameters:\n\
         - name: A\n  displayName: \"{CANARY}\"\n  description: \"{CANARY}\"\n  value: \"{CANARY}\"\n  \
         group: \"{CANARY}\"\n- name: B\n  enum: [\"{CANARY}\", b]\n  value: b\n- name: C\n  \
         pattern: \"{CANARY}|\"\n- name: D\n  generate: expression\n  from: \"{CANARY}[a-z]{{3}}\"\nobjects:\n\
         - apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: evil # {CANARY}\n  data:\n    \
         \"{CANARY}\": \"{CANARY} $(A) $(B) $(C) $(D)\"\n"
    );
    let site = Site::open().await;
    site.store(TEMPLATES, &template).await;
    let form = "/ui/shop/template.krm.dev/evil";
    let fields = [("p.A", "<script>a</script>"), ("p.B", "<script>b</script>"), ("action", "show")];
    let pages = [
        site.get("/ui/").await,
        site.get("/ui/?q=%3Cscript%3E&tag=%3Cscript%3E&namespace=%3Cscript%3E").await,
        site.get(form).await,
        site.post(form, &fields).await,
        site.post(form, &[("p.A", "<script>a</script>"), ("action", "show")]).await,
        site.post("/ui/upload", &[("text", &template)]).await,
        site.post("/ui/upload", &[("text", "<script>a</script>")]).await,
        site.get("/ui/%3Cscript%3E/template.krm.dev/%3Cscript%3E").await,
    ];
    for (index, page) in pages.iter().enumerate() {
        let text = page
            .text
            .replace("<script type=\"module\" src=\"/ui/assets/page.js", "")
            .replace("<script src=\"/ui/assets/controls.js", "");
        assert!(text.contains("</main>"), "{index}: {text}");
        for markup in ["<script", "<img", "href=\"javascript"] {
            assert!(!text.contains(markup), "{index} {markup}: {text}");
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn the_page_of_openshifts_group_has_a_line_for_oc() {
    let site = Site::open().await;
    let template = "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata:\n  name: web\n\
                    parameters:\n- name: NAME\n  required: true\nobjects:\n- apiVersion: v1\n  \
                    kind: Service\n  metadata:\n    name: ${NAME}\n";
    site.store("/apis/template.openshift.io/v1/namespaces/shop/templates", template).await;
    let form = "/ui/shop/template.openshift.io/web";
    let page = site.post(form, &[("p.NAME", "a"), ("action", "show")]).await;
    assert_eq!(page.code, 200, "{}", page.text);
    assert!(page.text.contains("oc process -n shop web \\\n  -p NAME=a</pre>"), "{}", page.text);
    let page = site.post(form, &[("p.NAME", ""), ("action", "show")]).await;
    assert_eq!(page.code, 422);
    assert!(
        page.text.contains("id=\"error-NAME\">Parameter <code>NAME</code> is required"),
        "{}",
        page.text
    );
}

#[tokio::main(flavor = "current_thread")]
async fn many_templates_are_on_several_pages() {
    let site = Site::open().await;
    for number in 0..101 {
        let template = format!(
            "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata:\n  name: t{number:03}\nobjects: []\n"
        );
        site.store(TEMPLATES, &template).await;
    }
    let page = site.get("/ui/?namespace=shop").await;
    assert_eq!(page.text.matches("class=\"row\"").count(), 100);
    let (_, next) = page.text.split_once("aria-label=\"Pages\"><a href=\"").unwrap();
    let next = next.split('"').next().unwrap();
    let next = next.replace("&#x2f;", "/").replace("&amp;", "&");
    let page = site.get(&next).await;
    assert_eq!(page.text.matches("class=\"row\"").count(), 1, "{next}");
    assert!(page.text.contains("t100"), "{}", page.text);
}

#[tokio::main(flavor = "current_thread")]
async fn the_list_is_in_the_order_of_namespaces_and_names() {
    let site = Site::open().await;
    let mut stored = Vec::new();
    for (namespace, group, letter, numbers) in [
        ("b", "template.krm.dev/v1alpha1", "n", 0..40),
        ("a", "template.openshift.io/v1", "m", 0..70),
        ("b", "template.openshift.io/v1", "n", 20..60),
        ("c", "template.krm.dev/v1alpha1", "n", 0..10),
    ] {
        for number in numbers {
            let name = format!("{letter}{number:02}");
            let template = format!(
                "apiVersion: {group}\nkind: Template\nmetadata:\n  name: {name}\nobjects: []\n"
            );
            let path = format!("/apis/{group}/namespaces/{namespace}/templates");
            site.store(&path, &template).await;
            stored.push(format!("{namespace}/{name}"));
        }
    }
    stored.sort();
    let (mut listed, mut pages) = (Vec::new(), 0);
    let mut next = Some("/ui/".to_owned());
    while let Some(target) = next {
        let page = site.get(&target).await;
        pages += 1;
        let codes = page.text.split("<span class=\"name\">").skip(1);
        listed.extend(codes.map(|rest| {
            let (_, rest) = rest.split_once("<code>").unwrap();
            unescaped(rest.split_once("</code>").unwrap().0)
        }));
        next = page
            .text
            .split_once("aria-label=\"Pages\"><a href=\"")
            .map(|(_, rest)| unescaped(rest.split_once('"').unwrap().0));
    }
    assert_eq!(listed, stored);
    assert_eq!(pages, 2);
}

#[tokio::main(flavor = "current_thread")]
async fn objects_that_are_too_large_for_a_page_can_be_downloaded() {
    let site = Site::open().await;
    let template = "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata:\n  name: web\n\
                    parameters:\n- name: TEXT\nobjects:\n- apiVersion: v1\n  kind: ConfigMap\n  \
                    metadata:\n    name: web\n  data:\n    a: $(TEXT)\n    b: $(TEXT)\n    c: $(TEXT)\n    d: $(TEXT)\n";
    site.store(TEMPLATES, template).await;
    let text = "x".repeat(300_000);
    let fields = |action| [("p.TEXT", text.as_str()), ("action", action)];
    let page = site.post(FORM, &fields("show")).await;
    assert_eq!(page.code, 200, "{}", page.text);
    let notice =
        "<li>The objects have 1171 KiB, which is too much for a page. Download them instead.</li>";
    assert!(page.text.contains(notice), "{}", page.text);
    assert!(page.text.contains(">1 object<"), "{}", page.text);
    assert!(!page.text.contains("class=\"object\""), "{}", page.text);
    let json = [("accept", "application/json")];
    let answer = site.post_with(FORM, &json, &fields("check")).await.json();
    assert_eq!(answer["form"], serde_json::json!([]));
    assert!(answer["result"].as_str().unwrap().contains(notice), "{answer}");
    let file = site.post(FORM, &fields("download")).await;
    assert_eq!((file.code, file.header("content-type")), (200, "application/yaml"));
    assert_eq!(file.text.matches(&text).count(), 4);
}

#[tokio::main(flavor = "current_thread")]
async fn a_file_is_the_value_of_its_parameter() {
    let site = Site::open().await;
    let template = "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata:\n  name: web\n\
                    parameters:\n- name: DATA\n  type: base64\n  value: ZGVmYXVsdA==\nobjects:\n- apiVersion: v1\n  \
                    kind: ConfigMap\n  metadata:\n    name: web\n  binaryData:\n    a: $(DATA)\n";
    site.store(TEMPLATES, template).await;
    let page = site.get(FORM).await;
    assert!(page.text.contains(" enctype=\"multipart/form-data\""), "{}", page.text);
    for (typed, name, content, expected) in [
        ("", "a.bin", "hello\0\u{1}", "aGVsbG8AAQ=="),
        // The file takes precedence.
        ("dHlwZWQ=", "a.bin", "hello", "aGVsbG8="),
        // A browser sends an empty file if no file is selected.
        ("dHlwZWQ=", "", "", "dHlwZWQ="),
        ("", "", "", "ZGVmYXVsdA=="),
    ] {
        let mut parts = vec![
            ("p.DATA", None, typed),
            ("f.DATA", Some(name), content),
            ("action", None, "download"),
        ];
        let file = site.post_parts(FORM, &[], &parts).await;
        assert!(
            file.text.lines().any(|line| line.trim() == format!("a: {expected}")),
            "{expected}: {}",
            file.text
        );
        parts[2].2 = "show";
        let page = site.post_parts(FORM, &[], &parts).await;
        assert_eq!(page.code, 200);
        // The returned form needs no file.
        let kept = if expected == "ZGVmYXVsdA==" { "" } else { expected };
        assert!(page.text.contains(&format!(">\n{kept}</textarea>")), "{expected}: {}", page.text);
    }
    let wrong = [("p.DATA", None, "not base64"), ("f.DATA", Some(""), "")];
    let page = site.post_parts(FORM, &[("accept", "application/json")], &wrong).await;
    assert_eq!((page.code, &page.json()["errors"][0]["parameter"]), (422, &"DATA".into()));
}

#[tokio::main(flavor = "current_thread")]
async fn a_page_is_logged_and_counted_as_the_api_is() {
    let site = web().await;
    site.post(FORM, &[("p.NAME", "a"), ("action", "show")]).await;
    let metrics = site.get("/metrics").await.text;
    assert!(
        metrics.contains("resource=\"templates\",subresource=\"processed\",code=\"200\""),
        "{metrics}"
    );
    let log = site.audit();
    let line = log.lines().find(|line| line.contains("\"processed\"")).unwrap();
    assert!(line.contains("\"verb\":\"create\"") && line.contains("\"name\":\"web\""), "{line}");
}
