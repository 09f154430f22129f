//! Uploaded Templates.

use crate::pages::site::Site;

tests_and_crlf!(
    an_uploaded_template_is_a_form_and_not_stored,
    a_template_is_stored_if_that_is_asked_for,
    a_template_of_v1_has_the_group_of_its_dialect,
    what_is_no_template_is_said_and_kept,
    a_file_is_the_value_of_a_base64_parameter,
    a_form_that_cannot_be_read_is_refused
);

const WEB: &str = "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nmetadata:\n  name: web\n\
                   parameters:\n- name: NAME\n- name: DATA\n  type: base64\nobjects:\n- apiVersion: v1\n  \
                   kind: ConfigMap\n  metadata:\n    name: $(NAME)\n  binaryData:\n    a: $(DATA)\n";

#[tokio::main(flavor = "current_thread")]
async fn an_uploaded_template_is_a_form_and_not_stored() {
    let site = Site::open().await;
    let parts = [("file", Some("web.yaml"), WEB), ("text", None, "")];
    let page = site.post_parts("/ui/upload", &[], &parts).await;
    assert_eq!(page.code, 200, "{}", page.text);
    assert!(page.text.contains("name=\"p.NAME\""), "{}", page.text);
    assert!(page.text.contains("This Template is not stored."), "{}", page.text);
    let fields = [("template", WEB), ("p.NAME", "a"), ("action", "download")];
    let page = site.post("/ui/upload", &fields).await;
    assert!(page.text.contains("name: a\n"), "{}", page.text);
    assert!(site.get("/ui/").await.text.contains("0 Templates"));
}

#[tokio::main(flavor = "current_thread")]
async fn a_template_is_stored_if_that_is_asked_for() {
    let site = Site::open().await;
    let fields = [("text", WEB), ("namespace", "shop"), ("store", "1")];
    let page = site.post("/ui/upload", &fields).await;
    assert_eq!((page.code, page.header("location")), (303, "/ui/shop/template.krm.dev/web"));
    assert_eq!(site.get(page.header("location")).await.code, 200);
    let page = site.post("/ui/upload", &fields).await;
    assert_eq!(page.code, 409);
    assert!(
        page.text.contains("already exists") && page.text.contains("name: web"),
        "{}",
        page.text
    );
}

#[tokio::main(flavor = "current_thread")]
async fn a_template_of_v1_has_the_group_of_its_dialect() {
    let site = Site::open().await;
    let template = "apiVersion: v1\nkind: Template\nmetadata:\n  name: old\nobjects: []\n";
    let ours = format!("{template}message: $(NAME)\nparameters:\n- name: NAME\n");
    for (template, address) in [
        (template, "/ui/default/template.openshift.io/old"),
        (&ours, "/ui/default/template.krm.dev/old"),
    ] {
        let page = site.post("/ui/upload", &[("text", template), ("store", "1")]).await;
        assert_eq!(page.header("location"), address);
        let page = site.get(address).await;
        assert_eq!(page.code, 200, "{}", page.text);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn what_is_no_template_is_said_and_kept() {
    let site = Site::open().await;
    for (text, code, message) in [
        ("", 422, "Choose a file, or enter its text."),
        ("a: [", 422, "cannot be read as YAML or JSON"),
        ("apiVersion: v2\nkind: Template\n", 422, "The <code>apiVersion</code> must be"),
        (
            "apiVersion: template.krm.dev/v1alpha1\nkind: Template\nparameters: 1\nobjects: []\n",
            422,
            "must be a list",
        ),
    ] {
        let page = site.post("/ui/upload", &[("text", text)]).await;
        assert_eq!(page.code, code, "{text}");
        assert!(page.text.contains(message), "{text}: {}", page.text);
        let kept = format!("{}</textarea>", text.replace('/', "&#x2f;"));
        assert!(page.text.contains(&kept), "{text}: {}", page.text);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn a_file_is_the_value_of_a_base64_parameter() {
    let site = Site::open().await;
    let parts = [
        ("template", None, WEB),
        ("p.NAME", None, "a"),
        ("p.DATA", None, ""),
        ("f.DATA", Some("a.bin"), "hello"),
        ("action", None, "download"),
    ];
    let page = site.post_parts("/ui/upload", &[], &parts).await;
    assert!(page.text.contains("a: aGVsbG8="), "{}", page.text);
}

#[tokio::main(flavor = "current_thread")]
async fn a_form_that_cannot_be_read_is_refused() {
    let site = Site::open().await;
    let own = ("sec-fetch-site", "same-origin");
    for (kind, body, code) in [
        ("text/plain", "a", 415),
        ("multipart/form-data", "a", 400),
        ("multipart/form-data; boundary=limit", "--limit\r\nbroken", 400),
    ] {
        let page = site.send("POST", "/ui/upload", &[own, ("content-type", kind)], body).await;
        assert_eq!(page.code, code, "{kind}: {}", page.text);
    }
    let small = Site::with(
        |_| krm_template_server_core::auth::Args::default(),
        &["--max-body-bytes", "10"],
    )
    .await;
    let page = small.post("/ui/upload", &[("text", "more than ten bytes")]).await;
    assert_eq!(page.code, 413);
    assert!(page.text.contains("This is too large"), "{}", page.text);
}
