//! TemplateInstances of a server without a cluster: who their requester is, what is valid, and what
//! their conditions say. `tests/server/instances` has those that are installed.

use serde_json::{Value, json};

use crate::http::program::{Program, until};

tests!(
    nobody_becomes_somebody_else,
    all_verbs_of_one_namespace_name_nobody,
    the_requester_of_ours_is_who_changed_the_spec,
    a_service_account_needs_permission,
    templates_are_those_of_the_request,
    automatic_upgrades_need_permission,
    nothing_is_installed_without_a_cluster,
    all_that_is_wrong_is_said_at_once,
    a_status_is_written_through_its_path,
    a_namespace_has_so_many_instances
);

const TOKENS: &str = "token-of-jane,jane,1,\"editors\"\ntoken-of-bob,bob,2,\"editors\"\n\
    token-of-root,root,3,\"system:masters\"\n";

const RBAC: &str = "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: editors}
rules:
- {apiGroups: [template.krm.dev, template.openshift.io], resources: [templateinstances, templateinstances/status], verbs: ['*']}
- {apiGroups: [''], resources: [groups], resourceNames: [testers], verbs: [impersonate]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: editors}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: editors}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: editors}
";

const KRM: &str = "template.krm.dev/v1alpha1";
const OPENSHIFT: &str = "template.openshift.io/v1";

fn start(arguments: &[&str]) -> Program {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tokens.csv"), TOKENS).unwrap();
    std::fs::write(folder.path().join("rbac.yaml"), RBAC).unwrap();
    let auth = ["--auth", "tokens=tokens.csv", "--rbac", "rbac.yaml"];
    Program::start_in(folder, &[&auth, arguments].concat())
}

fn path(version: &str, rest: &str) -> String {
    format!("/apis/{version}/namespaces/shop/templateinstances{rest}")
}

/// Sends a request, and returns the code and the body of its response.
fn ask(program: &Program, user: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let token = format!("Bearer token-of-{user}");
    let headers = [("Authorization", token.as_str()), ("Content-Type", "application/json")];
    let text = if body.is_null() { String::new() } else { body.to_string() };
    let response = program.send(method, path, &headers, text.as_bytes());
    let body = serde_json::from_slice(&response.body).unwrap_or_default();
    (response.code, body)
}

fn instance(version: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": version, "kind": "TemplateInstance", "metadata": {"name": name},
        "spec": spec})
}

fn template(version: &str) -> Value {
    json!({"apiVersion": version, "kind": "Template", "metadata": {"name": "t"}, "objects": [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}]})
}

/// Returns the fields of the causes of an error.
fn fields(status: &Value) -> Vec<&str> {
    let causes = status["details"]["causes"].as_array().unwrap().iter();
    causes.map(|cause| cause["field"].as_str().unwrap()).collect()
}

fn nobody_becomes_somebody_else() {
    let program = start(&["--no-instances"]);
    let mut number = 0;
    let mut create = |requester: Value| {
        number += 1;
        let spec = json!({"template": template(OPENSHIFT), "requester": requester});
        let body = instance(OPENSHIFT, &format!("i{number}"), &spec);
        ask(&program, "jane", "POST", &path(OPENSHIFT, ""), &body)
    };
    // The user as it is, and with groups that it may impersonate.
    for own in [
        json!(null),
        json!({"username": "jane", "uid": "1", "groups": ["editors", "system:authenticated"]}),
        json!({"username": "jane", "groups": ["testers"]}),
    ] {
        let (code, answer) = create(own);
        assert_eq!(code, 201, "{answer}");
    }
    for (field, other) in [
        ("groups", json!({"username": "jane", "groups": ["system:masters"]})),
        ("uid", json!({"username": "jane", "uid": "3"})),
        ("extra", json!({"username": "jane", "extra": {"scopes": ["all"]}})),
    ] {
        let (code, answer) = create(other);
        assert_eq!(code, 422, "{answer}");
        assert_eq!(fields(&answer), [format!("spec.requester.{field}")]);
    }
    // Whoever may assign a requester still cannot invent its groups.
    let (code, answer) = create(json!({"username": "bob", "groups": ["system:masters"]}));
    assert_eq!(
        (code, fields(&answer)),
        (422, vec!["spec.requester.username", "spec.requester.groups"])
    );
}

/// With OpenShift's verb `assign` alone, a tenant would act as any user, everywhere.
fn all_verbs_of_one_namespace_name_nobody() {
    const TENANT: &str = "apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: all, namespace: shop}
rules:
- {apiGroups: ['*'], resources: ['*'], verbs: ['*']}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: all, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: all}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: helper}
rules:
- {apiGroups: [template.openshift.io], resources: [templateinstances], verbs: [create]}
- {apiGroups: [template.openshift.io], resources: [templateinstances], verbs: [assign], resourceNames: [a1, a2, a3, a4, a5, a6]}
- {apiGroups: [''], resources: [users], resourceNames: [ada, 'system:serviceaccount:a:b:c'], verbs: [impersonate]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: helper}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: helper}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}]
";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tokens.csv"), TOKENS).unwrap();
    std::fs::write(folder.path().join("rbac.yaml"), TENANT).unwrap();
    let auth = ["--auth", "tokens=tokens.csv", "--rbac", "rbac.yaml", "--no-instances"];
    let program = Program::start_in(folder, &auth);
    let create = |user: &str, name: &str, requester: Value| {
        let spec = json!({"template": template(OPENSHIFT), "requester": requester});
        let body = instance(OPENSHIFT, name, &spec);
        let (code, answer) = ask(&program, user, "POST", &path(OPENSHIFT, ""), &body);
        let causes = answer["details"]["causes"].as_array().into_iter().flatten();
        let field = |cause: &Value| cause["field"].as_str().unwrap().to_owned();
        (code, causes.map(field).collect::<Vec<String>>().join(" "))
    };
    let name = || "spec.requester.username".to_owned();
    // The namespace of the tenant is `shop`: in it, all may be impersonated that is in it.
    for (number, (requester, expected)) in [
        (json!({"username": "root"}), name()),
        (json!({"username": "system:serviceaccount:other:robot"}), name()),
        (json!({"username": "system:serviceaccount:shop:"}), name()),
        (json!({"username": "system:serviceaccount:shop:a:b"}), name()),
        (json!({"username": "system:serviceaccount:shop:robot"}), String::new()),
        // The groups of the account come with it; no others do.
        (
            json!({"username": "system:serviceaccount:shop:robot", "groups": [
                "system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"]}),
            String::new(),
        ),
        (
            json!({"username": "system:serviceaccount:shop:robot",
                "groups": ["system:serviceaccounts:other"]}),
            "spec.requester.groups".to_owned(),
        ),
        // A mixed identity: the name is refused, whatever the groups are.
        (json!({"username": "root", "groups": ["editors"]}), name()),
        (json!({"username": "root", "uid": "1"}), name()),
        (
            json!({"username": "jane", "groups": ["system:serviceaccounts"]}),
            "spec.requester.groups".to_owned(),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let (code, fields) = create("jane", &format!("j{number}"), requester.clone());
        let expected_code = if expected.is_empty() { 201 } else { 422 };
        assert_eq!((code, fields), (expected_code, expected), "{requester}");
    }
    for (own, requester, expected) in [
        ("a1", json!({"username": "ada"}), ""),
        ("a2", json!({"username": "ada", "groups": ["system:authenticated", "editors"]}), ""),
        ("a3", json!({"username": "eve"}), "spec.requester.username"),
        // No service account has this name, so the rule about users counts.
        ("a4", json!({"username": "system:serviceaccount:a:b:c"}), ""),
        // The permission to impersonate does not replace `assign`.
        ("b1", json!({"username": "ada"}), "spec.requester.username"),
    ] {
        let (code, fields) = create("bob", own, requester);
        let code_expected = if expected.is_empty() { 201 } else { 422 };
        assert_eq!((code, fields.as_str()), (code_expected, expected), "{own}");
    }
}

fn the_requester_of_ours_is_who_changed_the_spec() {
    let program = start(&["--no-instances"]);
    let spec = json!({"template": template(KRM), "requester": {"username": "root"}});
    let body = instance(KRM, "web", &spec);
    let (code, created) = ask(&program, "jane", "POST", &path(KRM, ""), &body);
    let name = |instance: &Value| instance["spec"]["requester"]["username"].clone();
    assert_eq!((code, name(&created)), (201, json!("jane")));
    let web = path(KRM, "/web");
    let mut labelled = created;
    labelled["metadata"]["labels"] = json!({"a": "b"});
    labelled["spec"]["requester"] = json!({"username": "root"});
    let (code, mut labelled) = ask(&program, "bob", "PUT", &web, &labelled);
    assert_eq!((code, name(&labelled)), (200, json!("jane")));
    assert_eq!(labelled["metadata"]["generation"], 1);
    // Records of a generation count until the spec changes, whatever else does.
    labelled["other"] = json!(1);
    let (code, mut labelled) = ask(&program, "bob", "PUT", &web, &labelled);
    assert_eq!((code, name(&labelled)), (200, json!("jane")));
    assert_eq!(labelled["metadata"]["generation"], 1);
    labelled["spec"]["suspend"] = json!(true);
    let (code, changed) = ask(&program, "bob", "PUT", &web, &labelled);
    assert_eq!((code, name(&changed)), (200, json!("bob")));
    assert_eq!(changed["metadata"]["generation"], 2);
}

fn a_service_account_needs_permission() {
    let program = start(&["--no-instances"]);
    let spec = json!({"template": template(KRM), "serviceAccountName": "deployer"});
    let body = instance(KRM, "web", &spec);
    let (code, answer) = ask(&program, "jane", "POST", &path(KRM, ""), &body);
    assert_eq!((code, fields(&answer)), (422, vec!["spec.serviceAccountName"]));
    let (code, mut created) = ask(&program, "root", "POST", &path(KRM, ""), &body);
    assert_eq!(code, 201, "{created}");
    // Another Template would be installed with the rights of the ServiceAccount.
    created["spec"]["template"]["objects"] = json!([]);
    let (code, answer) = ask(&program, "jane", "PUT", &path(KRM, "/web"), &created);
    assert_eq!((code, fields(&answer)), (422, vec!["spec.serviceAccountName"]));
}

fn templates_are_those_of_the_request() {
    let program = start(&["--no-instances"]);
    let version = |instance: &Value| -> u64 {
        let version = instance["spec"]["templateVersion"].as_str();
        version.expect("a version").parse().unwrap()
    };
    let spec = json!({"templateRef": {"name": "t"}, "templateVersion": "999999"});
    let body = instance(KRM, "web", &spec);
    let (code, created) = ask(&program, "jane", "POST", &path(KRM, ""), &body);
    assert_eq!(code, 201, "{created}");
    let stored = created["metadata"]["resourceVersion"].as_str().unwrap();
    let first = version(&created);
    assert!(first < stored.parse().unwrap(), "{created}");
    // Whoever does not change the spec changes neither the version nor the requester.
    let web = path(KRM, "/web");
    let mut labelled = created;
    labelled["metadata"]["labels"] = json!({"a": "b"});
    labelled["spec"]["templateVersion"] = json!("999999");
    let (code, mut labelled) = ask(&program, "bob", "PUT", &web, &labelled);
    assert_eq!((code, version(&labelled)), (200, first), "{labelled}");
    assert_eq!(labelled["metadata"]["generation"], 1);
    labelled["spec"]["requestedAt"] = json!("2026-11-29T18:00:00Z");
    let (code, upgraded) = ask(&program, "bob", "PUT", &web, &labelled);
    assert_eq!(code, 200, "{upgraded}");
    assert!(version(&upgraded) > first);
    assert_eq!(upgraded["spec"]["requester"]["username"], "bob");
    assert_eq!(upgraded["metadata"]["generation"], 2);
    let body = instance(KRM, "inline", &json!({"template": template(KRM)}));
    let (_, inline) = ask(&program, "jane", "POST", &path(KRM, ""), &body);
    assert_eq!(inline["spec"].get("templateVersion"), None);
}

fn automatic_upgrades_need_permission() {
    let program = start(&["--no-instances"]);
    let spec = json!({"upgrades": "Automatic", "instances": [
        {"name": "a", "templateRef": {"name": "t"}}, {"name": "b", "templateRef": {"name": "u"}}]});
    let body = instance(KRM, "web", &spec);
    let (code, answer) = ask(&program, "jane", "POST", &path(KRM, ""), &body);
    assert_eq!(code, 422, "{answer}");
    assert_eq!(fields(&answer), ["spec.upgrades", "spec.upgrades"]);
    let (code, mut created) = ask(&program, "root", "POST", &path(KRM, ""), &body);
    assert_eq!(code, 201, "{created}");
    created["spec"]["wait"] = json!("None");
    let (code, answer) = ask(&program, "jane", "PUT", &path(KRM, "/web"), &created);
    assert_eq!(code, 422, "{answer}");
    created["spec"]["upgrades"] = json!("Manual");
    let (code, answer) = ask(&program, "jane", "PUT", &path(KRM, "/web"), &created);
    assert_eq!(code, 200, "{answer}");
    created = answer;
    created["spec"]["upgrades"] = json!("Sometimes");
    let (code, answer) = ask(&program, "jane", "PUT", &path(KRM, "/web"), &created);
    assert_eq!((code, fields(&answer)), (422, vec!["spec.upgrades"]));
}

/// Waits for the reason of a condition.
fn reached(program: &Program, version: &str, name: &str, reason: &str) -> Value {
    let path = path(version, &format!("/{name}"));
    let mut reached = Value::Null;
    until(&format!("{name} is {reason}"), || {
        let (_, found) = ask(program, "jane", "GET", &path, &Value::Null);
        let conditions = found["status"]["conditions"].as_array()?;
        let ready = conditions.iter().find(|one| one["type"] == "Ready")?;
        let is_reached = ready["reason"] == reason;
        reached.clone_from(&found);
        is_reached.then_some(())
    });
    reached
}

fn nothing_is_installed_without_a_cluster() {
    let program = start(&[]);
    for version in [KRM, OPENSHIFT] {
        let body = instance(version, "web", &json!({"template": template(version)}));
        let (code, created) = ask(&program, "jane", "POST", &path(version, ""), &body);
        assert_eq!(code, 201, "{created}");
        assert_eq!(created["metadata"].get("finalizers"), None);
        let found = reached(&program, version, "web", "ValidatedOnly");
        assert!(found.to_string().contains("runs without --apply"), "{found}");
        let (code, _) = ask(&program, "jane", "DELETE", &path(version, "/web"), &Value::Null);
        assert_eq!(code, 200);
    }
    let mut wrong = template(OPENSHIFT);
    wrong["parameters"] = json!([{"name": "A", "required": true}]);
    let body = instance(OPENSHIFT, "wrong", &json!({"template": wrong}));
    ask(&program, "jane", "POST", &path(OPENSHIFT, ""), &body);
    let found = reached(&program, OPENSHIFT, "wrong", "Failed");
    let failure = &found["status"]["conditions"][0];
    assert_eq!(failure["type"], "InstantiateFailure");
    let message = failure["message"].as_str().unwrap();
    assert!(message.starts_with("unable to process Template objects: "), "{message}");
    // Only who may read Templates learns that there is none.
    for (user, reason) in [("root", "TemplateNotFound"), ("jane", "Forbidden")] {
        let body = instance(KRM, user, &json!({"templateRef": {"name": "nope"}}));
        ask(&program, user, "POST", &path(KRM, ""), &body);
        reached(&program, KRM, user, reason);
    }
}

fn all_that_is_wrong_is_said_at_once() {
    let program = start(&["--no-instances"]);
    let spec = json!({"template": template(KRM), "templateRef": {"name": "t"}, "prune": "Some",
        "timeout": "long", "revisionHistoryLimit": 1000, "namespace": "A_b"});
    let body = instance(KRM, "web", &spec);
    let (code, answer) = ask(&program, "jane", "POST", &path(KRM, ""), &body);
    assert_eq!(code, 422, "{answer}");
    let expected = [
        "spec.template",
        "spec.prune",
        "spec.timeout",
        "spec.revisionHistoryLimit",
        "spec.namespace",
    ];
    assert_eq!(fields(&answer), expected);
    let body = instance(KRM, "web", &json!({}));
    let (code, answer) = ask(&program, "jane", "POST", &path(KRM, ""), &body);
    assert_eq!((code, fields(&answer)), (422, vec!["spec.templateRef"]));
}

fn a_status_is_written_through_its_path() {
    let program = start(&["--no-instances"]);
    let mut body = instance(KRM, "web", &json!({"template": template(KRM)}));
    body["status"] = json!({"revision": 7});
    let (_, mut created) = ask(&program, "jane", "POST", &path(KRM, ""), &body);
    assert_eq!(created["status"], json!({}));
    created["status"] = json!({"revision": 7});
    created["spec"]["suspend"] = json!(true);
    let (code, written) = ask(&program, "jane", "PUT", &path(KRM, "/web/status"), &created);
    assert_eq!(code, 200, "{written}");
    assert_eq!(written["status"], json!({"revision": 7}));
    assert_eq!(written["spec"].get("suspend"), None);
    assert_eq!(written["metadata"]["generation"], 1);
    let (code, list) = ask(&program, "jane", "GET", &path(KRM, "/web/revisions"), &Value::Null);
    // The subresource has a permission of its own.
    assert_eq!((code, &list["reason"]), (403, &json!("Forbidden")));
}

fn a_namespace_has_so_many_instances() {
    let program = start(&["--no-instances", "--max-instances-per-namespace", "2"]);
    let create = |version: &str, name: &str| {
        let body = instance(version, name, &json!({"template": template(version)}));
        ask(&program, "jane", "POST", &path(version, ""), &body)
    };
    assert_eq!(create(KRM, "a").0, 201);
    assert_eq!(create(OPENSHIFT, "b").0, 201);
    for version in [KRM, OPENSHIFT] {
        let (code, refused) = create(version, "c");
        assert_eq!((code, &refused["reason"]), (403, &json!("Forbidden")));
        let message = refused["message"].as_str().unwrap();
        let expected = "the namespace \"shop\" has 2 TemplateInstances, and \
            --max-instances-per-namespace is 2; delete some that are not needed";
        assert!(message.ends_with(expected), "{message}");
    }
    // Neither by a server-side apply.
    let body = instance(KRM, "c", &json!({"template": template(KRM)})).to_string();
    let apply = path(KRM, "/c?fieldManager=test");
    let headers = [
        ("Authorization", "Bearer token-of-jane"),
        ("Content-Type", "application/apply-patch+yaml"),
    ];
    let response = program.send("PATCH", &apply, &headers, body.as_bytes());
    assert_eq!(response.code, 403);
    // Those that exist can be changed and deleted.
    let (_, mut a) = ask(&program, "jane", "GET", &path(KRM, "/a"), &Value::Null);
    a["spec"]["suspend"] = json!(true);
    assert_eq!(ask(&program, "jane", "PUT", &path(KRM, "/a"), &a).0, 200);
    let delete = ask(&program, "jane", "DELETE", &path(KRM, "/a"), &Value::Null);
    assert_eq!(delete.0, 200);
    assert_eq!(create(OPENSHIFT, "c").0, 201);
}
