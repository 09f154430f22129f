//! The API paths, with the bodies of the design document.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::deployments::{body, trial};
use crate::http::program::{Program, Response, until};

pub(crate) const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];

/// A template with one parameter, and a configuration that uses it.
pub(crate) const TEMPLATE: (&str, &str) = (
    "site.jinja",
    "resources:\n{% for i in range(properties['replicas']) %}\n- name: {{ env['name'] }}-{{ i }}\n  \
     type: Pod\n{% endfor %}\n",
);

pub(crate) fn config(replicas: usize) -> String {
    format!(
        "imports:\n- path: site.jinja\nresources:\n- name: web\n  type: site.jinja\n  properties:\n    \
         replicas: {replicas}\n- name: db\n  type: Service\n"
    )
}

pub(crate) fn site(name: &str, replicas: usize) -> Vec<u8> {
    body(name, &config(replicas), &[TEMPLATE])
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("paths/a_deployment_lives_as_the_design_says", lives),
        trial("paths/types_and_instances_follow_the_newest_manifests", types),
        trial("paths/a_namespace_is_part_of_the_key", namespaces),
        trial("paths/an_answer_at_once_names_the_operation", at_once),
        trial("paths/the_last_twenty_manifests_are_kept", twenty),
        trial("paths/an_update_that_fails_changes_nothing", failed_update),
        trial("paths/what_is_not_there_is_404_and_what_is_wrong_400", wrong),
        trial("paths/answers_are_yaml_for_those_who_ask", yaml),
        trial("paths/rights_are_those_of_the_resource", rights),
        trial("paths/manifests_need_a_right_of_their_own", manifests_need_a_right_of_their_own),
        trial("paths/a_change_is_audited_and_counted", observed),
    ]
}

pub(crate) fn names(program: &Program, path: &str) -> Vec<String> {
    let answer = program.get(path);
    assert_eq!(answer.code, 200, "{path}: {answer:?}");
    serde_json::from_slice(&answer.body).unwrap()
}

fn post(program: &Program, path: &str, body: &[u8]) -> Response {
    program.send("POST", path, &JSON, body)
}

fn lives() {
    let program = Program::start(&[]);
    let created = post(&program, "/deployments", &site("web", 2));
    assert_eq!(created.code, 201, "{created:?}");
    let created = created.json();
    assert_eq!(created["name"], "web");
    assert_eq!(created["namespace"], "default");
    assert_eq!(created["state"], "expanded");
    assert_eq!(created["message"], "expanded only: nothing was applied to a cluster");
    assert_eq!(created["latestManifest"], "manifest-0001");
    let manifest = &created["manifests"]["manifest-0001"];
    assert_eq!(
        *manifest,
        json!({
            "name": "manifest-0001",
            "deployment": "web",
            "inputConfig": {
                "name": "config",
                "content": config(2),
                "imports": [{"name": "site.jinja", "path": "site.jinja", "content": TEMPLATE.1}],
            },
            "expandedConfig": {"resources": [
                {"name": "web-0", "type": "Pod"},
                {"name": "web-1", "type": "Pod"},
                {"name": "db", "type": "Service"},
            ]},
            "layout": {"resources": [
                {"name": "web", "type": "site.jinja", "properties": {"replicas": 2}, "resources": [
                    {"name": "web-0", "type": "Pod"},
                    {"name": "web-1", "type": "Pod"},
                ]},
                {"name": "db", "type": "Service"},
            ]},
        })
    );
    assert_eq!(program.get("/deployments/web").json(), created);
    assert_eq!(post(&program, "/deployments", &site("web", 2)).code, 409);
    let updated = program.send("PUT", "/deployments/web", &JSON, &site("web", 1));
    assert_eq!(updated.code, 200);
    assert_eq!(updated.json()["latestManifest"], "manifest-0002");
    assert_eq!(names(&program, "/deployments/web/manifests"), ["manifest-0001", "manifest-0002"]);
    let old = program.get("/deployments/web/manifests/manifest-0001");
    assert_eq!(old.json(), *manifest);
    let deleted = program.send("DELETE", "/deployments/web", &[], b"");
    assert_eq!(deleted.code, 200);
    let deleted = deleted.json();
    assert_eq!(deleted["state"], "deleted");
    let empty = &deleted["manifests"]["manifest-0003"];
    assert_eq!(empty["expandedConfig"], json!({"resources": []}));
    assert_eq!(program.get("/deployments/web").code, 404);
    assert_eq!(names(&program, "/deployments"), [""; 0]);
    // It can be created again.
    let again = post(&program, "/deployments", &site("web", 1));
    assert_eq!(again.json()["latestManifest"], "manifest-0001");
}

fn types() {
    let program = Program::start(&[]);
    for (name, replicas) in [("a", 1), ("b", 2)] {
        assert_eq!(post(&program, "/deployments", &site(name, replicas)).code, 201);
    }
    let updated = program.send("PUT", "/deployments/b", &JSON, &site("b", 0));
    assert_eq!(updated.code, 200);
    assert_eq!(names(&program, "/types"), ["Pod", "Service", "site.jinja"]);
    let pods = program.get("/types/Pod/instances").json();
    assert_eq!(
        pods,
        json!([{"name": "web-0", "type": "Pod", "deployment": "a", "manifest": "manifest-0001",
            "path": "$.resources[0].resources[0]"}])
    );
    let all = program.get("/types/all/instances").json();
    assert_eq!(all.as_array().unwrap().len(), 5);
    assert_eq!(program.get("/types/None/instances").json(), json!([]));
    let address = "resources:\n- name: x\n  type: https://example.com/a/vm.jinja\n";
    assert_eq!(post(&program, "/deployments", &body("c", address, &[])).code, 201);
    for path in [
        "/types/https%3A%2F%2Fexample.com%2Fa%2Fvm.jinja/instances",
        "/types/https://example.com/a/vm.jinja/instances",
    ] {
        assert_eq!(program.get(path).json()[0]["deployment"], "c", "{path}");
    }
}

fn namespaces() {
    let program = Program::start(&[]);
    assert_eq!(post(&program, "/deployments?namespace=shop", &site("web", 1)).code, 201);
    assert_eq!(post(&program, "/deployments", &site("web", 2)).code, 201);
    assert_eq!(names(&program, "/deployments?namespace=shop"), ["web"]);
    assert_eq!(names(&program, "/deployments?namespace=sho"), [""; 0]);
    let pods = program.get("/types/Pod/instances?namespace=shop").json();
    assert_eq!(pods.as_array().unwrap().len(), 1);
    let deleted = program.send("DELETE", "/deployments/web?namespace=shop", &[], b"");
    assert_eq!(deleted.code, 200);
    assert_eq!(program.get("/deployments/web").code, 200);
    assert_eq!(program.get("/deployments?namespace=a/b").code, 400);
}

fn at_once() {
    let program = Program::start(&[]);
    let prefer = [JSON[0], ("Prefer", "wait=5, respond-async")];
    let answers = [
        post(&program, "/deployments?async=true", &site("a", 1)),
        program.send("POST", "/deployments", &prefer, &site("b", 1)),
    ];
    assert_eq!(answers[1].header("Preference-Applied"), Some("respond-async"));
    for (answer, name) in answers.iter().zip(["a", "b"]) {
        assert_eq!(answer.code, 202, "{answer:?}");
        let path = answer.header("Location").unwrap().to_owned();
        let mut operation = Value::Null;
        until("the operation is done", || {
            operation = program.get(&path).json();
            (operation["state"] == "done").then_some(())
        });
        assert_eq!(operation["type"], "create");
        assert_eq!(operation["deployment"], name);
        assert_eq!(operation["manifest"], "manifest-0001");
        assert_eq!(program.get(&format!("/deployments/{name}")).code, 200);
    }
    // A failure is reported, too.
    let wrong = body("c", "resources:\n- name: x\n", &[]);
    let answer = post(&program, "/deployments?async=true", &wrong);
    assert_eq!(answer.code, 202);
    let path = answer.header("Location").unwrap();
    let mut operation = Value::Null;
    until("the operation has failed", || {
        operation = program.get(path).json();
        (operation["state"] == "failed").then_some(())
    });
    assert_eq!(operation["error"]["code"], 400);
    let error = operation["errors"][0].as_str().unwrap();
    assert!(error.starts_with("config:2:3: resource `x` has no `type`; "), "{error}");
    assert_eq!(program.get("/deployments/c").code, 404);
}

fn twenty() {
    let program = Program::start(&[]);
    assert_eq!(post(&program, "/deployments", &site("web", 1)).code, 201);
    for _ in 0..21 {
        let updated = program.send("PUT", "/deployments/web", &JSON, &site("web", 1));
        assert_eq!(updated.code, 200);
    }
    let kept = names(&program, "/deployments/web/manifests");
    assert_eq!(kept.len(), 20);
    assert_eq!((kept[0].as_str(), kept[19].as_str()), ("manifest-0003", "manifest-0022"));
    for (manifest, code) in [("manifest-0002", 404), ("manifest-0003", 200)] {
        let path = format!("/deployments/web/manifests/{manifest}");
        assert_eq!(program.get(&path).code, code, "{path}");
    }
}

fn failed_update() {
    let program = Program::start(&[]);
    assert_eq!(post(&program, "/deployments", &site("web", 1)).code, 201);
    let before = program.get("/deployments/web").json();
    let wrong = body("web", "resources:\n- name: x\n", &[]);
    let updated = program.send("PUT", "/deployments/web", &JSON, &wrong);
    updated.is_status(400);
    let path = updated.header("Location").unwrap();
    assert_eq!(program.get(path).json()["state"], "failed");
    assert_eq!(program.get("/deployments/web").json(), before);
    assert_eq!(names(&program, "/deployments/web/manifests"), ["manifest-0001"]);
}

fn wrong() {
    let program = Program::start(&[]);
    assert_eq!(post(&program, "/deployments", &site("web", 1)).code, 201);
    let cases: &[(&str, &str, &[u8], u16)] = &[
        ("GET", "/deployments/none", b"", 404),
        ("GET", "/deployments/none/manifests", b"", 404),
        ("GET", "/deployments/web/manifests/manifest-0002", b"", 404),
        ("GET", "/deployments/web/manifests/..", b"", 404),
        ("GET", "/deployments/A%00B", b"", 404),
        ("GET", "/operations/none", b"", 404),
        ("GET", "/operations/a%2Fb", b"", 404),
        ("GET", "/deployments/web/other", b"", 404),
        ("PUT", "/deployments/none", &site("none", 1), 404),
        ("PUT", "/deployments/web", &site("other", 1), 400),
        ("DELETE", "/deployments/none", b"", 404),
        ("PATCH", "/deployments/web", b"{}", 405),
        ("POST", "/deployments/web", b"{}", 405),
        ("DELETE", "/deployments", b"", 405),
        ("GET", "/expand", b"", 405),
        ("POST", "/types", b"{}", 405),
        ("POST", "/deployments", &site("Web_1", 1), 400),
        ("POST", "/deployments", &site("../web", 1), 400),
        ("POST", "/deployments", b"{\"content\": \"resources: []\"}", 400),
        ("POST", "/deployments", b"{\"name\": \"a\"}", 400),
        ("POST", "/deployments", b"{\"name\": \"a\", \"configuration\": \"x\"}", 400),
        ("POST", "/deployments", b"not: [json", 400),
        ("POST", "/deployments", b"", 400),
        ("POST", "/expand", b"{\"content\": \"a: b: c\"}", 400),
        ("POST", "/deployments?namespace=UPPER", &site("a", 1), 400),
        ("POST", "/deployments?dryRun=All", &site("a", 1), 400),
        ("DELETE", "/deployments/web?prune=some", b"", 400),
    ];
    for (method, path, body, code) in cases {
        program.send(method, path, &JSON, body).is_status(*code);
    }
    let text = [("Content-Type", "text/plain")];
    program.send("POST", "/expand", &text, b"x").is_status(415);
    assert_eq!(names(&program, "/deployments"), ["web"]);
}

fn yaml() {
    let program = Program::start(&[]);
    let headers = [("Content-Type", "application/yaml"), ("Accept", "application/yaml")];
    let body =
        "name: web\nconfiguration:\n  content: |\n    resources:\n    - {name: a, type: A}\n";
    let created = program.send("POST", "/deployments", &headers, body.as_bytes());
    assert_eq!(created.code, 201, "{created:?}");
    assert_eq!(created.header("Content-Type"), Some("application/yaml"));
    let text = String::from_utf8(created.body).unwrap();
    assert!(text.starts_with("name: web\nnamespace: default\nstate: expanded\n"), "{text}");
}

const RBAC: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
- apiGroups: [template.krm.dev]
  resources: [deployments]
  verbs: [get, list]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: writer}
rules:
- apiGroups: [template.krm.dev]
  resources: [deployments, deployments/manifests, deployments/operations]
  verbs: [create, delete, get, list]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: paths}
rules:
- nonResourceURLs: ['*']
  verbs: ['*']
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: paths}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: paths}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: old}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: writer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: writer}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: writer}]
";

fn rights() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rbac.yaml"), RBAC).unwrap();
    std::fs::write(folder.path().join("tokens"), "r,reader,1\nw,writer,2\no,old,3\n").unwrap();
    let arguments = ["--auth", "tokens=tokens", "--rbac", "rbac.yaml"];
    let program = Program::start_in(folder, &arguments);
    let send = |token: &str, method: &str, path: &str, body: &[u8]| {
        let bearer = format!("Bearer {token}");
        let headers = [JSON[0], ("Authorization", bearer.as_str())];
        program.send(method, path, &headers, body)
    };
    let web = site("web", 1);
    for (token, method, path, code) in [
        ("x", "GET", "/deployments", 401),
        ("r", "POST", "/deployments", 403),
        ("w", "POST", "/deployments", 201),
        ("r", "GET", "/deployments", 200),
        ("r", "GET", "/deployments/web", 200),
        ("r", "GET", "/deployments/web/manifests", 403),
        ("r", "GET", "/deployments/web/manifests/manifest-0001", 403),
        ("r", "GET", "/types", 200),
        ("r", "GET", "/types/Pod/instances", 200),
        ("r", "POST", "/expand", 403),
        ("w", "GET", "/deployments/web/manifests", 200),
        ("w", "GET", "/deployments/web/manifests/manifest-0001", 200),
        ("w", "PUT", "/deployments/web", 403),
        ("w", "POST", "/expand", 200),
        // Rights to paths, which have no namespace, allow nothing.
        ("o", "GET", "/deployments", 403),
        ("o", "GET", "/deployments/web", 403),
        ("o", "GET", "/deployments/web/manifests/manifest-0001", 403),
        ("o", "POST", "/deployments", 403),
        ("o", "POST", "/expand", 403),
        ("o", "GET", "/types", 403),
        ("r", "DELETE", "/deployments/web", 403),
        ("w", "DELETE", "/deployments/web", 200),
    ] {
        assert_eq!(send(token, method, path, &web).code, code, "{token} {method} {path}");
    }
}

/// A manifest has all values, so those who may not read it do not see it in the deployment either.
fn manifests_need_a_right_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rbac.yaml"), RBAC).unwrap();
    std::fs::write(folder.path().join("tokens"), "r,reader,1\nw,writer,2\n").unwrap();
    let arguments = ["--auth", "tokens=tokens", "--rbac", "rbac.yaml"];
    let program = Program::start_in(folder, &arguments);
    let send = |token: &str, method: &str, path: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [JSON[0], ("Authorization", bearer.as_str())];
        program.send(method, path, &headers, &site("web", 1))
    };
    let created = send("w", "POST", "/deployments");
    let operation = created.header("Location").unwrap().to_owned();
    let whole = send("w", "GET", "/deployments/web").json();
    assert!(whole["manifests"]["manifest-0001"]["layout"].is_object(), "{whole}");
    let mut seen = send("r", "GET", "/deployments/web").json();
    assert_eq!(seen["manifests"], serde_json::Value::Null);
    seen["manifests"] = whole["manifests"].clone();
    assert_eq!(seen, whole);
    assert_eq!(send("w", "GET", &operation).code, 200);
    assert_eq!(send("r", "GET", &operation).code, 404);
}

fn observed() {
    let program = Program::start(&[]);
    assert_eq!(post(&program, "/deployments?namespace=shop", &site("web", 1)).code, 201);
    let metrics = program.get("/metrics");
    let metrics = String::from_utf8(metrics.body).unwrap();
    let expansions =
        "krm_template_expansions_total{dialect=\"deployment-manager\",outcome=\"ok\"} 1";
    assert!(metrics.contains(expansions), "{metrics}");
    let line = "\"verb\":\"post\",\"path\":\"/deployments\"";
    until("the audit line is there", || program.output().contains(line).then_some(()));
    let output = program.output();
    assert!(!output.contains("site.jinja"), "{output}");
}
