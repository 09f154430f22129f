//! Nobody learns what exists without the right to read it: each request of such a user has the same
//! answer, whether its object exists or not.

use std::collections::BTreeSet;

use http::Method;
use krm_template_server::request::{DeploymentPath, Handler, Path, Query, Review, path, resources};
use serde_json::{Value, json};

use crate::deployments::paths::site;
use crate::http::program::{Program, Response, TEMPLATES, until};

tests!(no_answer_tells_what_exists, no_condition_tells_which_templates_exist);

/// The name of what exists in the namespace `shop`, and one of the same length that does not.
const NAMES: [&str; 2] = ["web", "wob"];

const KRM: &str = "template.krm.dev/v1alpha1";
const OPENSHIFT: &str = "template.openshift.io/v1";

/// `nil` may do nothing, `oso` everything with OpenShift's group, which has no objects; `new` may
/// create instances, and `own` also read Templates of our group.
const TOKENS: &str = "token-of-root,root,1,system:masters\ntoken-of-nil,nil,2,\n\
    token-of-oso,oso,3,\ntoken-of-new,new,4,\ntoken-of-own,own,5,\n";

const RBAC: &str = "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: oso}
rules:
- {apiGroups: [template.openshift.io], resources: ['*'], verbs: ['*']}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: oso}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: oso}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: oso}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: new}
rules:
- {apiGroups: ['*'], resources: [templateinstances], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: new}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: new}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: new}
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: own}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: own}
rules:
- {apiGroups: [template.krm.dev], resources: [templates], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: own}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: own}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: own}]
";

fn send(
    program: &Program,
    user: &str,
    (method, path): (&str, &str),
    content_type: &str,
    body: &str,
) -> Response {
    let token = format!("Bearer token-of-{user}");
    let headers = [
        ("Authorization", token.as_str()),
        ("Content-Type", content_type),
        ("Sec-Fetch-Site", "same-origin"),
        ("Accept", if path.starts_with("/ui") { "text/html" } else { "application/json" }),
    ];
    program.send(method, path, &headers, body.as_bytes())
}

fn create(program: &Program, user: &str, path: &str, object: &Value) -> Response {
    let created = send(program, user, ("POST", path), "application/json", &object.to_string());
    assert!(matches!(created.code, 200 | 201), "{created:?}");
    created
}

fn template(version: &str, name: &str) -> Value {
    json!({"apiVersion": version, "kind": "Template", "metadata": {"name": name},
        "objects": [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}]})
}

fn instance(version: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": version, "kind": "TemplateInstance", "metadata": {"name": name},
        "spec": spec})
}

/// Starts the program with objects of our group, and a deployment. Returns its operation, too.
fn start() -> (Program, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tokens.csv"), TOKENS).unwrap();
    std::fs::write(folder.path().join("rbac.yaml"), RBAC).unwrap();
    let auth = ["--auth", "tokens=tokens.csv", "--rbac", "rbac.yaml"];
    let program = Program::start_in(folder, &auth);
    create(&program, "root", TEMPLATES, &template(KRM, NAMES[0]));
    let instances = format!("/apis/{KRM}/namespaces/shop/templateinstances");
    let spec = json!({"template": template(KRM, "t")});
    create(&program, "root", &instances, &instance(KRM, NAMES[0], &spec));
    let body = site(NAMES[0], 1);
    let path = "/deployments?namespace=shop";
    let made = send(&program, "root", ("POST", path), "application/json", &text(&body));
    assert_eq!(made.code, 201, "{made:?}");
    let operation = made.header("Location").unwrap().to_owned();
    (program, operation)
}

fn text(body: &[u8]) -> String {
    String::from_utf8(body.to_vec()).unwrap()
}

/// Returns the paths in the documents of the program, with `{name}` for a name.
fn documented(program: &Program) -> Vec<String> {
    let get = |path: &str| send(program, "root", ("GET", path), "application/json", "").json();
    let index = get("/openapi/v3");
    let documents = index["paths"].as_object().unwrap().values();
    let urls = documents.map(|one| one["serverRelativeURL"].as_str().unwrap().to_owned());
    let documents: Vec<Value> = urls.map(|url| get(&url)).collect();
    let paths = documents.iter().flat_map(|one| one["paths"].as_object().unwrap().keys());
    paths.map(|path| path.replace("{namespace}", "shop")).collect()
}

/// The other paths: those of the proposal, of watches, of deployments, and the pages.
const OTHERS: [&str; 29] = [
    "/templates?namespace=shop",
    "/templates/{name}?namespace=shop",
    "/templates/{name}/processed?namespace=shop",
    "/processedtemplates?namespace=shop",
    "/api/v1/namespaces/{name}",
    "/apis/template.krm.dev/v1alpha1/namespaces/shop/templates?fieldSelector=metadata.name%3D{name}",
    "/apis/template.krm.dev/v1alpha1/namespaces/shop/templates?watch=1",
    "/apis/template.krm.dev/v1alpha1/templates",
    "/apis/template.krm.dev/v1alpha1/namespaces/shop/templateinstances/{name}/preview",
    "/apis/template.krm.dev/v1alpha1/namespaces/shop/templateinstances/{name}/revisions",
    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
    "/deployments?namespace=shop",
    "/deployments/{name}?namespace=shop",
    "/deployments/{name}/manifests?namespace=shop",
    "/deployments/{name}/manifests/manifest-0001?namespace=shop",
    "/types?namespace=shop",
    "/types/all/instances?namespace=shop",
    "/expand?namespace=shop",
    "/ui/",
    "/ui/shop/template.krm.dev/{name}",
    "/ui/shop/template.openshift.io/{name}",
    "/ui/instances/{name}?namespace=shop",
    "/ui/instances?namespace=shop",
    "/ui/deployments/{name}?namespace=shop",
    "/ui/deployments/{name}/manifests/manifest-0001?namespace=shop",
    "/ui/deployments/{name}/manifests/diff?namespace=shop",
    "/store/dump",
];

/// The kinds of paths and endpoints that can tell of stored objects.
const KINDS: [&str; 17] = [
    "process",
    "processed",
    "schema",
    "objects",
    "revisions",
    "preview",
    "review",
    "namespace",
    "dump",
    "page",
    "deployments",
    "deployment",
    "manifests",
    "manifest",
    "types",
    "instances",
    "expand",
];

/// Returns the kind of a request, or an empty text if it cannot tell of stored objects. A new kind
/// of path or endpoint needs an answer here.
fn kind(method: &str, target: &str) -> &'static str {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let query = Query::parse(query).unwrap();
    match path::parse(&method.parse::<Method>().unwrap(), path, &query) {
        Path::Resource(resource) => match resources::of(&resource, true) {
            Ok((handler, _)) => match handler {
                Handler::Process => "process",
                Handler::ProcessStored => "processed",
                Handler::Schema => "schema",
                Handler::Objects | Handler::Status => "objects",
                Handler::Revisions => "revisions",
                Handler::Preview => "preview",
                Handler::Review(Review::Access | Review::Rules | Review::Subject) => "review",
                Handler::Namespace => "namespace",
            },
            Err(_) => "",
        },
        Path::Deployments(path) => match path {
            DeploymentPath::Deployments => "deployments",
            DeploymentPath::Deployment(_) => "deployment",
            DeploymentPath::Manifests(_) => "manifests",
            DeploymentPath::Manifest(..) => "manifest",
            DeploymentPath::Types => "types",
            DeploymentPath::Instances(_) => "instances",
            DeploymentPath::Expand => "expand",
            // Its names are random; below.
            DeploymentPath::Operation(_) => "",
        },
        Path::StoreDump => "dump",
        Path::Ui(_) => "page",
        Path::Root
        | Path::Api
        | Path::Apis
        | Path::Group(_)
        | Path::GroupVersion(..)
        | Path::OpenApiV2
        | Path::OpenApiV3Index
        | Path::OpenApiV3(_)
        | Path::Version
        | Path::Health(..)
        | Path::Metrics
        | Path::Other(_) => "",
    }
}

/// Returns the body of a request for a name, and its type.
fn body(method: &str, path: &str, name: &str) -> (&'static str, String) {
    const JSON: &str = "application/json";
    let version = if path.contains(OPENSHIFT) { OPENSHIFT } else { KRM };
    match method {
        "GET" | "DELETE" => (JSON, String::new()),
        _ if path.starts_with("/ui/") => {
            ("application/x-www-form-urlencoded", "action=preview".to_owned())
        }
        "PATCH" => ("application/merge-patch+json", r#"{"message":"x"}"#.to_owned()),
        _ if path.contains("templateinstances") => {
            let spec = json!({"template": template(version, "t")});
            (JSON, instance(version, name, &spec).to_string())
        }
        _ if path.starts_with("/deployments") || path.starts_with("/expand") => {
            (JSON, text(&site(name, 1)))
        }
        _ if path.starts_with("/apis/auth") => (JSON, json!({"spec": {}}).to_string()),
        _ if path.ends_with("/processed") || path.contains("/processed?") => {
            (JSON, json!({"values": {}}).to_string())
        }
        _ => (JSON, template(version, name).to_string()),
    }
}

/// Returns an answer without what is new in each.
fn told(response: &Response, name: &str) -> String {
    // Whoever may create an object sees what is new in it.
    if response.code < 300 {
        return response.code.to_string();
    }
    let lines = response.head.lines().filter(|line| {
        let line = line.to_ascii_lowercase();
        !line.starts_with("audit-id:") && !line.starts_with("date:")
    });
    let head: Vec<&str> = lines.collect();
    let body = String::from_utf8_lossy(&response.body);
    format!("{}\n\n{body}", head.join("\n")).replace(name, "NAME")
}

fn no_answer_tells_what_exists() {
    let (program, operation) = start();
    let mut paths = documented(&program);
    assert!(paths.len() > 20, "{paths:?}");
    paths.extend(OTHERS.map(str::to_owned));
    let mut seen = BTreeSet::new();
    for path in &paths {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let found = kind(method, &path.replace("{name}", "web"));
            assert!(found.is_empty() || KINDS.contains(&found), "{found}");
            seen.insert(found);
            for user in ["nil", "oso"] {
                // Objects of OpenShift's group are for all to see who may.
                if user == "oso" && path.contains(OPENSHIFT) {
                    continue;
                }
                let [exists, not] = NAMES.map(|name| {
                    let target = path.replace("{name}", name);
                    assert!(!target.contains('{'), "{target}");
                    let (content_type, body) = body(method, path, name);
                    told(&send(&program, user, (method, &target), content_type, &body), name)
                });
                assert_eq!(exists, not, "{user}: {method} {path}");
            }
        }
    }
    seen.remove("");
    assert_eq!(seen, BTreeSet::from(KINDS), "a kind of requests has no path here");
    // The body is not empty where a request was refused, so something was compared.
    let refused =
        send(&program, "nil", ("GET", &format!("{TEMPLATES}/web")), "application/json", "");
    refused.is_status(403);
    let (start, end) = operation.split_at(operation.len() - 4);
    let other = format!("{start}{}", if end == "0000" { "1111" } else { "0000" });
    let [exists, not] = [&operation, &other].map(|path| {
        let name = path.rsplit('/').next().unwrap();
        told(&send(&program, "nil", ("GET", path), "application/json", ""), name)
    });
    assert_eq!(exists, not, "operations");
    // Users with the right to read still see the objects.
    for path in [format!("{TEMPLATES}/web"), "/deployments/web?namespace=shop".to_owned()] {
        let found = send(&program, "root", ("GET", &path), "application/json", "");
        assert_eq!(found.code, 200, "{path}");
    }
}

/// The server reads the Templates of an instance as its requester.
fn no_condition_tells_which_templates_exist() {
    let (program, _) = start();
    let condition = |user: &str, version: &str, name: &str| {
        let instances = format!("/apis/{version}/namespaces/shop/templateinstances");
        let own = format!("{user}-{name}");
        let spec = json!({"templateRef": {"name": name}});
        create(&program, user, &instances, &instance(version, &own, &spec));
        let mut told = String::new();
        until(&own, || {
            let path = format!("{instances}/{own}");
            let found = send(&program, "root", ("GET", &path), "application/json", "").json();
            let conditions = found["status"]["conditions"].as_array()?.iter();
            let reasons = conditions.map(|one| format!("{} {}\n", one["reason"], one["message"]));
            told = reasons.collect::<String>().replace(name, "NAME");
            Some(())
        });
        told
    };
    let [exists, not] = NAMES.map(|name| condition("new", KRM, name));
    assert_eq!(exists, not);
    assert!(exists.contains("\"Forbidden\""), "{exists}");
    let [exists, not] = NAMES.map(|name| condition("own", KRM, name));
    assert!(exists.contains("ValidatedOnly"), "{exists}");
    assert!(not.contains("TemplateNotFound"), "{not}");
}
