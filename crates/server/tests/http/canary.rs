//! No output of the program contains values or credentials, at any log level.

use serde_json::Value;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use crate::http::program::{PROCESS, Program, TEMPLATES, until};
use crate::http::two;

tests!(values_and_credentials_are_never_said);

/// The secret value, in each place where a value can be.
const CANARY: &str = "canary4711";

const INSTANCES: &str = "/apis/template.krm.dev/v1alpha1/namespaces/shop/templateinstances";

const OPENSHIFT: &str = "/apis/template.openshift.io/v1/namespaces/shop";

/// Returns requests with the value in each place: method, path, content type and body.
fn requests() -> Vec<(&'static str, String, &'static str, String)> {
    let template = |version: &str, reference: &str, parameter: &str| {
        format!(
            "{{\"apiVersion\":\"{version}\",\"kind\":\"Template\",\"metadata\":{{\"name\":\"web\"}},\
             \"message\":\"{CANARY}\",\"parameters\":[{parameter}],\"objects\":[{{\
             \"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{{\"name\":\"web\"}},\
             \"stringData\":{{\"a\":\"{reference}\",\"b\":\"{CANARY}\"}}}}]}}"
        )
    };
    let ours = |parameter: &str| template("template.krm.dev/v1alpha1", "$(P)", parameter);
    let theirs = |parameter: &str| template("template.openshift.io/v1", "${P}", parameter);
    let value = format!("{{\"name\":\"P\",\"value\":\"{CANARY}\"}}");
    let secret = format!("{{\"name\":\"P\",\"type\":\"secret\",\"value\":\"{CANARY}\"}}");
    let number = format!("{{\"name\":\"P\",\"type\":\"int\",\"value\":\"{CANARY}\"}}");
    let from = format!("{{\"name\":\"P\",\"generate\":\"expression\",\"from\":\"[{CANARY}\"}}");
    let json = "application/json";
    let process = || PROCESS.to_owned();
    let stored = format!("{TEMPLATES}/web");
    let values = |values: &str| format!("{{\"kind\":\"Parameters\",\"values\":{values}}}");
    let instance = |version: &str, name: &str, template: &str| {
        format!(
            "{{\"apiVersion\":\"{version}\",\"kind\":\"TemplateInstance\",\"metadata\":{{\
             \"name\":\"{name}\"}},\"spec\":{{\"parameters\":{{\"P\":\"{CANARY}\"}},\
             \"template\":{template}}}}}"
        )
    };
    let mut all = Vec::new();
    for (name, parameter) in [("ok", &secret), ("wrong", &number), ("from", &from)] {
        let body = instance("template.krm.dev/v1alpha1", name, &ours(parameter));
        all.push(("POST", INSTANCES.to_owned(), json, body));
        let preview = format!("{INSTANCES}/{name}/preview");
        all.push(("POST", preview, json, format!("{{\"spec\":\"{CANARY}\"}}")));
        let body = instance("template.openshift.io/v1", name, &theirs(parameter));
        all.push(("POST", format!("{OPENSHIFT}/templateinstances"), json, body));
    }
    for parameter in [&value, &secret, &number, &from] {
        all.push(("POST", process(), json, ours(parameter)));
        all.push(("POST", format!("{OPENSHIFT}/processedtemplates"), json, theirs(parameter)));
        all.push(("POST", process(), "application/yaml", ours(parameter)));
    }
    let given = ours("{\"name\":\"P\",\"type\":\"secret\"}");
    let given = given.replacen('{', &format!("{{\"values\":{{\"P\":\"{CANARY}\"}},"), 1);
    all.push(("POST", process(), json, given));
    all.extend([
        ("POST", process(), json, format!("{{\"parameters\":{CANARY}")),
        ("POST", process(), "application/yaml", format!("parameters: [{CANARY}")),
        ("POST", process(), "application/yaml", format!("a: &x {CANARY}\na: *y")),
        ("POST", process(), "text/html", CANARY.to_owned()),
        ("POST", TEMPLATES.to_owned(), json, ours(&value)),
        ("POST", TEMPLATES.to_owned(), json, ours(&value)),
        ("PUT", stored.clone(), json, ours(&value)),
        ("PUT", stored.clone(), json, ours(&number)),
        ("GET", stored.clone(), "", String::new()),
        (
            "PATCH",
            stored.clone(),
            "application/merge-patch+json",
            format!("{{\"message\":\"{CANARY}2\"}}"),
        ),
        (
            "PATCH",
            stored.clone(),
            "application/json-patch+json",
            format!("[{{\"op\":\"test\",\"path\":\"/message\",\"value\":\"{CANARY}\"}}]"),
        ),
        (
            "PATCH",
            format!("{stored}?fieldManager=other"),
            "application/apply-patch+yaml",
            ours(&value),
        ),
        ("POST", format!("{stored}/processed"), json, values(&format!("{{\"P\":\"{CANARY}\"}}"))),
        ("POST", format!("{stored}/processed"), json, values(&format!("{{\"Q\":\"{CANARY}\"}}"))),
        ("POST", format!("{stored}/processed"), json, values(&format!("\"{CANARY}\""))),
        (
            "POST",
            format!("{stored}/processed"),
            "application/yaml",
            format!("values: {{P: {CANARY}, P: x}}"),
        ),
        (
            "POST",
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews".to_owned(),
            "application/vnd.kubernetes.protobuf",
            format!("k8s\0\n{CANARY}"),
        ),
        (
            "GET",
            format!("{TEMPLATES}?watch=true&timeoutSeconds=1&resourceVersion=0"),
            "",
            String::new(),
        ),
        ("GET", format!("/version?token={CANARY}"), "", String::new()),
        ("DELETE", stored, json, String::new()),
    ]);
    all
}

fn values_and_credentials_are_never_said() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = format!("{CANARY}-token,jane,1,\"system:masters\"\n");
    std::fs::write(folder.path().join("tokens.csv"), tokens).unwrap();
    let certificate = two::certificate(folder.path());
    let common = ["--log-level", "trace", "--auth", "tokens=tokens.csv", "--shutdown-delay", "0s"];
    let plain = Program::start_in(folder, &common);
    let tls = ["--tls-cert", "tls.crt", "--tls-key", "tls.key", "--log-format", "json"];
    let folder = tempfile::tempdir().unwrap();
    for file in ["tokens.csv", "tls.crt", "tls.key"] {
        std::fs::copy(plain.folder().join(file), folder.path().join(file)).unwrap();
    }
    let encrypted = Program::start_in(folder, &[&common[..], &tls].concat());

    let bearer = format!("Bearer {CANARY}-token");
    let mut codes = Vec::new();
    for (method, path, content_type, body) in requests() {
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Cookie", &format!("session={CANARY}")),
            ("Content-Type", content_type),
        ];
        let answer = plain.send(method, &path, &headers, body.as_bytes());
        assert_ne!(answer.code, 401, "{method} {path}");
        assert_ne!(answer.code, 500, "{method} {path}");
        codes.push(answer.code);
    }
    // The requests reach the intended code paths.
    for code in [200, 201, 400, 409, 415, 422] {
        assert!(codes.contains(&code), "{code} {codes:?}");
    }
    let headers = [("Authorization", bearer.as_str())];
    for instances in [INSTANCES, &format!("{OPENSHIFT}/templateinstances")] {
        for name in ["ok", "wrong", "from"] {
            let path = format!("{instances}/{name}");
            until("conditions", || {
                let answer = plain.send("GET", &path, &headers, b"");
                let found: Value = serde_json::from_slice(&answer.body).unwrap();
                // One with such a Template is refused.
                if answer.code != 404 {
                    found["status"].get("conditions")?;
                }
                let status = found["status"].to_string();
                assert!(!status.contains(CANARY), "{status}");
                Some(())
            });
        }
    }
    let wrong = format!("Bearer {CANARY}-wrong");
    plain.send("GET", "/api", &[("Authorization", &wrong)], b"").is_status(401);
    let basic = format!("Basic {CANARY}");
    plain.send("GET", "/api", &[("Authorization", &basic)], b"").is_status(401);
    Runtime::new().unwrap().block_on(async {
        let two = two::over(TcpStream::connect(plain.address()).await.unwrap()).await;
        let tls = two::over_tls(encrypted.address(), &certificate).await;
        for mut sender in [two, tls] {
            for (token, code) in [("token", 200), ("wrong", 401)] {
                let token = format!("{CANARY}-{token}");
                let path = format!("/version?token={CANARY}");
                let answer = two::get(&mut sender, &path, &token).await;
                assert_eq!(answer.status(), code);
            }
        }
    });
    let headers = [("Authorization", bearer.as_str())];
    let metrics = plain.send("GET", "/metrics", &headers, b"");
    assert_eq!(metrics.code, 200);
    let mut said = String::from_utf8(metrics.body).unwrap();
    for program in [plain, encrypted] {
        program.signal("TERM");
        let (status, output) = program.end();
        assert!(status.success());
        assert!(output.contains("\"verb\":\"get\""), "an audit log: {output}");
        said += &output;
    }
    assert!(said.contains("TRACE"), "{said}");
    let found: Vec<&str> = said.lines().filter(|line| line.contains(CANARY)).collect();
    assert!(found.is_empty(), "{found:#?}");
}
