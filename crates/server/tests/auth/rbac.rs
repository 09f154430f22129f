//! Authorization by RBAC objects, compared with a simple model, and errors in files.

use std::collections::BTreeSet;

use krm_template_server_core::{Attributes, User, auth::rbac::Policy};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::auth::support::write;

tests!(
    allows_what_the_rules_say_multiplied_out,
    the_default_roles_are_for_templates,
    users_may_discover_and_ask_about_themselves_as_in_a_cluster,
    names_roles_that_are_missing_in_the_reason,
    says_where_a_file_is_wrong
);

const GROUP: &str = "rbac.authorization.k8s.io";
const VERBS: [&str; 3] = ["get", "list", "create"];
const GROUPS: [&str; 2] = ["", "template.krm.dev"];
const RESOURCES: [&str; 5] = ["a", "b", "a/s", "b/s", "b/t"];
const NAMES: [&str; 3] = ["", "x", "y"];
const NAMESPACES: [&str; 3] = ["", "shop", "prod"];
const PATHS: [&str; 4] = ["/m", "/m/n", "/mm", "/"];

/// A request without patterns.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wanted {
    Resource { verb: &'static str, group: &'static str, resource: &'static str, name: &'static str },
    Path { verb: &'static str, path: &'static str },
}

fn all_wanted() -> Vec<Wanted> {
    let mut all = Vec::new();
    for verb in VERBS {
        for group in GROUPS {
            for resource in RESOURCES {
                for name in NAMES {
                    all.push(Wanted::Resource { verb, group, resource, name });
                }
            }
        }
        all.extend(PATHS.map(|path| Wanted::Path { verb, path }));
    }
    all
}

/// Returns all values of a field that a pattern matches.
fn meant(pattern: &str, all: &[&'static str]) -> BTreeSet<&'static str> {
    let by_suffix = pattern.strip_prefix("*/");
    let by_prefix = pattern.strip_suffix('*');
    all.iter()
        .copied()
        .filter(|text| match (pattern, by_suffix, by_prefix) {
            ("*", ..) => true,
            (_, Some(suffix), _) => text.split_once('/').is_some_and(|(_, sub)| sub == suffix),
            (_, _, Some(prefix)) if prefix.starts_with('/') => text.starts_with(prefix),
            _ => *text == pattern,
        })
        .collect()
}

fn texts(rule: &Value, key: &str) -> Vec<String> {
    let list = rule[key].as_array().cloned().unwrap_or_default();
    list.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Returns all requests that a rule allows, as the product of its fields.
fn allowed(rule: &Value) -> BTreeSet<Wanted> {
    let every = |key: &str, all: &[&'static str]| -> BTreeSet<&'static str> {
        texts(rule, key).iter().flat_map(|pattern| meant(pattern, all)).collect()
    };
    let names = match texts(rule, "resourceNames") {
        names if names.is_empty() => BTreeSet::from(NAMES),
        names => NAMES.into_iter().filter(|name| names.iter().any(|own| own == name)).collect(),
    };
    let mut allowed = BTreeSet::new();
    for verb in every("verbs", &VERBS) {
        for group in every("apiGroups", &GROUPS) {
            for resource in every("resources", &RESOURCES) {
                for name in &names {
                    allowed.insert(Wanted::Resource { verb, group, resource, name });
                }
            }
        }
        for path in every("nonResourceURLs", &PATHS) {
            allowed.insert(Wanted::Path { verb, path });
        }
    }
    allowed
}

fn some(of: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(of), 1..3)
}

fn resource_rule() -> impl Strategy<Value = Value> {
    (
        some(&["*", "get", "list", "create", "delete"]),
        some(&["*", "", "template.krm.dev", "other"]),
        some(&["*", "a", "b", "a/s", "*/s", "*/t", "b/*", "c"]),
        prop::collection::vec(prop::sample::select(&["x", "y", "z"][..]), 0..2),
    )
        .prop_map(|(verbs, groups, resources, names)| {
            json!({"verbs": verbs, "apiGroups": groups, "resources": resources, "resourceNames": names})
        })
}

fn path_rule() -> impl Strategy<Value = Value> {
    (some(&["*", "get"]), some(&["*", "/m", "/m/*", "/m*", "/"]))
        .prop_map(|(verbs, paths)| json!({"verbs": verbs, "nonResourceURLs": paths}))
}

/// A role of a namespace (1 and 2 of `NAMESPACES`) or of the cluster (0), and its bindings.
#[derive(Clone, Debug)]
struct Given {
    role_in: usize,
    rules: Vec<Value>,
    /// The namespaces of the bindings, and their subjects.
    bindings: Vec<(usize, usize)>,
}

const SUBJECTS: [(&str, &str); 5] = [
    ("User", "anna"),
    ("User", "devs"),
    ("Group", "devs"),
    ("Group", "anna"),
    ("ServiceAccount", "robot"),
];

fn given() -> impl Strategy<Value = Given> {
    let role = (0..3_usize).prop_flat_map(|role_in| {
        let rules = if role_in == 0 {
            prop::collection::vec(prop_oneof![resource_rule(), path_rule()], 0..3).boxed()
        } else {
            prop::collection::vec(resource_rule(), 0..3).boxed()
        };
        (Just(role_in), rules)
    });
    let bindings = prop::collection::vec((0..3_usize, 0..SUBJECTS.len()), 0..3);
    (role, bindings).prop_map(|((role_in, rules), bindings)| Given { role_in, rules, bindings })
}

fn metadata(namespace: &str, name: &str) -> Value {
    if namespace.is_empty() {
        json!({"name": name})
    } else {
        json!({"name": name, "namespace": namespace})
    }
}

/// The namespace, the subject and the rules of a binding.
type Rights = (&'static str, usize, Vec<Value>);

/// Returns the objects, and the rules that the bindings grant.
fn objects(given: &[Given]) -> (Vec<Value>, Vec<Rights>) {
    let mut objects = Vec::new();
    let mut rights = Vec::new();
    for (index, Given { role_in, rules, bindings }) in given.iter().enumerate() {
        let name = format!("role-{index}");
        let kind = if *role_in == 0 { "ClusterRole" } else { "Role" };
        objects.push(json!({"apiVersion": format!("{GROUP}/v1"), "kind": kind,
            "metadata": metadata(NAMESPACES[*role_in], &name), "rules": rules}));
        for (number, &(place, subject)) in bindings.iter().enumerate() {
            // A Role can be bound in its own namespace only.
            let place = if *role_in == 0 { place } else { *role_in };
            let namespace = NAMESPACES[place];
            let (subject_kind, subject_name) = SUBJECTS[subject];
            let mut of = json!({"kind": subject_kind, "name": subject_name});
            if subject_kind == "ServiceAccount" {
                of["namespace"] = json!("prod");
            }
            let binding = if place == 0 { "ClusterRoleBinding" } else { "RoleBinding" };
            objects.push(json!({"apiVersion": format!("{GROUP}/v1"), "kind": binding,
                "metadata": metadata(namespace, &format!("{name}-{number}")),
                "roleRef": {"apiGroup": GROUP, "kind": kind, "name": name},
                "subjects": [of]}));
            rights.push((namespace, subject, rules.clone()));
        }
    }
    (objects, rights)
}

fn user(name: &str, groups: &[&str]) -> User {
    let groups = groups.iter().map(|&group| group.to_owned()).collect();
    User { name: name.to_owned(), groups, ..User::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    fn allows_what_the_rules_say_multiplied_out(given in prop::collection::vec(given(), 0..5)) {
        let (objects, rights) = objects(&given);
        let folder = tempfile::tempdir().unwrap();
        let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
        let text = texts.join("\n---\n");
        let policy = Policy::open(write(folder.path(), "rbac.yaml", &text)).unwrap().get().unwrap();
        // Users, and their indexes in `SUBJECTS`.
        let users = [
            (user("anna", &["devs"]), vec![0, 2]),
            (user("devs", &["anna"]), vec![1, 3]),
            (user("system:serviceaccount:prod:robot", &[]), vec![4]),
            (user("system:serviceaccount:shop:robot", &[]), vec![]),
        ];
        for (user, subjects) in &users {
            let own: Vec<(&str, BTreeSet<Wanted>)> = rights
                .iter()
                .filter(|(_, subject, _)| subjects.contains(subject))
                .map(|(namespace, _, rules)| (*namespace, rules.iter().flat_map(allowed).collect()))
                .collect();
            for wanted in all_wanted() {
                for namespace in NAMESPACES {
                    let (attributes, is_path) = attributes(&wanted, namespace);
                    let expected = own.iter().any(|(place, allowed)| {
                        allowed.contains(&wanted)
                            && (place.is_empty() || (!is_path && *place == namespace))
                    });
                    let found = policy.decide(user, &attributes).is_ok();
                    prop_assert_eq!(found, expected, "{:?} {:?} {}", user.name, wanted, namespace);
                }
            }
        }
    }
}

fn attributes<'a>(wanted: &Wanted, namespace: &'a str) -> (Attributes<'a>, bool) {
    match *wanted {
        Wanted::Resource { verb, group, resource, name } => {
            let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
            let version = "v1";
            let path = None;
            let attributes =
                Attributes { verb, group, version, resource, subresource, namespace, name, path };
            (attributes, false)
        }
        Wanted::Path { verb, path } => {
            (Attributes { verb, path: Some(path), ..Attributes::default() }, true)
        }
    }
}

/// Parses a policy.
fn policy(text: &str) -> Result<Policy, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "rbac.yaml", text);
    let opened = Policy::open(path).map(|policy| (*policy.get().unwrap()).clone());
    let prefix = format!("{}/", folder.path().display());
    opened.map_err(|error| format!("{error:#}").replace("--rbac: ", "").replace(&prefix, ""))
}

fn may(policy: &Policy, user: &User, verb: &str, resource: &str) -> Result<(), String> {
    let group = "template.krm.dev";
    policy.decide(
        user,
        &Attributes { verb, group, resource, namespace: "shop", ..Attributes::default() },
    )
}

fn the_default_roles_are_for_templates() {
    let role = |name: &str| {
        let binding = "apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: a, namespace: shop}
subjects: [{kind: User, name: anna, apiGroup: rbac.authorization.k8s.io}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ROLE}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
";
        policy(&binding.replace("ROLE", name)).unwrap()
    };
    let anna = user("anna", &[]);
    for name in ["admin", "edit"] {
        assert!(may(&role(name), &anna, "get", "templates").is_ok(), "{name}");
        assert!(may(&role(name), &anna, "create", "templateinstances").is_ok(), "{name}");
        assert!(may(&role(name), &anna, "assign", "templateinstances").is_err(), "{name}");
    }
    assert!(may(&role("view"), &anna, "watch", "templates").is_ok());
    assert!(may(&role("view"), &anna, "create", "templates").is_err());
}

fn users_may_discover_and_ask_about_themselves_as_in_a_cluster() {
    let policy = policy("").unwrap();
    let anna = user("anna", &["system:authenticated"]);
    let path = |path| Attributes { verb: "get", path: Some(path), ..Attributes::default() };
    for discovery in ["/api", "/apis", "/apis/template.krm.dev/v1alpha1", "/openapi/v3", "/version"]
    {
        assert!(policy.decide(&anna, &path(discovery)).is_ok(), "{discovery}");
        assert!(policy.decide(&user("anna", &[]), &path(discovery)).is_err(), "{discovery}");
    }
    assert!(policy.decide(&anna, &path("/metrics")).is_err());
    let review = Attributes {
        verb: "create",
        group: "authorization.k8s.io",
        resource: "selfsubjectaccessreviews",
        ..Attributes::default()
    };
    assert!(policy.decide(&anna, &review).is_ok());
}

fn names_roles_that_are_missing_in_the_reason() {
    let policy = policy(
        "apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: a, namespace: shop}
roleRef: {kind: ClusterRole, name: gone}
subjects: [{kind: Group, name: devs}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b, namespace: shop}
roleRef: {kind: Role, name: away}
subjects: [{kind: User, name: anna}]
",
    )
    .unwrap();
    let reason = |user: &User| may(&policy, user, "get", "templates").unwrap_err();
    assert_eq!(reason(&user("bob", &[])), "");
    assert_eq!(
        reason(&user("bob", &["devs"])),
        "RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found"
    );
    assert_eq!(
        reason(&user("anna", &["devs"])),
        "RBAC: [clusterrole.rbac.authorization.k8s.io \"gone\" not found, \
         role.rbac.authorization.k8s.io \"away\" not found]"
    );
}

/// Returns a `ClusterRole` with one rule.
fn rule(text: &str) -> String {
    format!(
        "apiVersion: {GROUP}/v1\nkind: ClusterRole\nmetadata:\n  name: a\nrules:\n- verbs: [get]\n{text}"
    )
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn says_where_a_file_is_wrong() {
    let head = format!("apiVersion: {GROUP}/v1\n");
    let role_ref = "roleRef: {kind: ClusterRole, name: a}\n";
    let cases = [
        ("a: [".to_owned(), "rbac.yaml:1:"),
        (
            rule("  apiGroups: ['']\n  resources: [a]\n  resourceName: [x]\n"),
            "rbac.yaml:9:3: unknown field `resourceName`",
        ),
        (rule("  apiGroups: ['']\n"), "rbac.yaml:6:3: the rule has no `resources`"),
        (rule("  resources: [a]\n"), "rbac.yaml:6:3: the rule has no `apiGroups`"),
        (
            rule("  apiGroups: ['']\n  resources: a\n"),
            "rbac.yaml:8:14: `resources`: expected a list",
        ),
        (
            rule("  apiGroups: ['']\n  resources: [a, 1]\n"),
            "rbac.yaml:8:18: `resources`: expected a string",
        ),
        (
            rule("  nonResourceURLs: [/a]\n  apiGroups: ['']\n  resources: [a]\n"),
            "rbac.yaml:6:3: a rule has either resources or `nonResourceURLs`, not both",
        ),
        (
            format!(
                "{head}kind: Role\nmetadata: {{name: a, namespace: b}}\nrules:\n- verbs: [get]\n  nonResourceURLs: [/a]\n"
            ),
            "rbac.yaml:5:3: a `Role` cannot have `nonResourceURLs`",
        ),
        (
            format!("{head}kind: Role\nmetadata: {{name: a}}\n"),
            "rbac.yaml:3:11: `namespace` is missing",
        ),
        (format!("{head}kind: Roles\n"), "rbac.yaml:2:7: unknown kind `Roles`"),
        (
            format!("apiVersion: {GROUP}/v1beta1\nkind: Role\n"),
            "rbac.yaml:1:13: expected `rbac.authorization.k8s.io/v1`",
        ),
        (
            format!("{head}kind: ClusterRoleBinding\nmetadata: {{name: a}}\n"),
            "rbac.yaml:1:1: `roleRef` is missing",
        ),
        (
            format!(
                "{head}kind: ClusterRoleBinding\nmetadata: {{name: a}}\nroleRef: {{kind: Role, name: a}}\n"
            ),
            "rbac.yaml:4:17: a `ClusterRoleBinding` cannot refer to a `Role`",
        ),
        (
            format!(
                "{head}kind: ClusterRoleBinding\nmetadata: {{name: a}}\n{role_ref}subjects:\n- kind: ServiceAccount\n  name: a\n"
            ),
            "rbac.yaml:6:3: `namespace` is missing",
        ),
        (
            format!(
                "{head}kind: ClusterRoleBinding\nmetadata: {{name: a}}\n{role_ref}subjects:\n- kind: Users\n  name: a\n"
            ),
            "rbac.yaml:6:9: expected `User`, `Group` or `ServiceAccount`",
        ),
        (
            rule("  nonResourceURLs: [/a]\n---\n") + &rule("  nonResourceURLs: [/a]\n"),
            "rbac.yaml:9:1: a role with this name already exists",
        ),
        (rule("  nonResourceURLs: [/a]\n  verbs: [list]\n"), "rbac.yaml:8:3"),
        (
            format!(
                "{head}kind: ClusterRole\nmetadata: {{name: a}}\naggregationRule:\n  clusterRoleSelectors: []\n"
            ),
            "roles in files are not aggregated",
        ),
    ];
    for (text, expected) in cases {
        let error = policy(&text).unwrap_err();
        assert!(error.contains(expected), "{text}\n{error}");
    }
    let two = rule("  resources: [a]\n---\n") + "kind: Role\n";
    let lines = policy(&two).unwrap_err().lines().count();
    assert_eq!(lines, 2, "all mistakes are reported in one go");
}
