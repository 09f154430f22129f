//! Transformers that rename, move and generate: the references that follow, and the fields that
//! stay as they are written.

use expect_test::{Expect, expect};

use super::transformed;

/// Runs transformers with two files at hand.
#[track_caller]
fn check(configs: &[&str], input: &str, expected: &Expect) {
    let files = [("a.env", "# Colors\nCOLOR=red\n"), ("b.txt", "one\ntwo\n")];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    match transformed(configs, input, &files) {
        Ok(text) => expected.assert_eq(&text),
        Err(messages) => expected.assert_eq(&messages.join("\n")),
    }
}

const WEB: &str = "\
# The web server.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web   # short
spec:
  # Two are enough.
  replicas: 2
  template:
    spec:
      volumes:
      - configMap: {name: settings} # in one line
        name: settings
      containers:
      - name: web
        image: \"registry:5000/web:1\"
        envFrom:
        - secretRef:
            name: other
---
# What it is told.
kind: ConfigMap
apiVersion: v1
metadata:
  name: 'settings'
data:
  # The last letter.
  z: \"1\" # one
  a: >-
    folded
    text
";

#[test]
fn references_are_updated_and_all_else_stays() {
    check(
        &[
            "kind: PrefixTransformer\nprefix: dev-\n",
            "kind: SuffixTransformer\nsuffix: '-1'\n",
            "kind: NamespaceTransformer\nmetadata: {namespace: dev}\n",
            "kind: ReplicaCountTransformer\nreplica: {name: web, count: 3}\n",
            "kind: ImageTagTransformer\nimageTag: {name: 'registry:5000/web', newTag: '2'}\n",
            "kind: LabelTransformer\nlabels: {tier: front}\n\
             fieldSpecs: [{path: metadata/labels, create: true}]\n",
        ],
        WEB,
        &expect![[r##"
            # The web server.
            apiVersion: apps/v1
            kind: Deployment
            metadata:
              name: dev-web-1   # short
              namespace: dev
              labels:
                tier: front
            spec:
              # Two are enough.
              replicas: 3
              template:
                spec:
                  volumes:
                  - configMap: {name: dev-settings-1} # in one line
                    name: settings
                  containers:
                  - name: web
                    image: "registry:5000/web:2"
                    envFrom:
                    - secretRef:
                        name: other
            ---
            # What it is told.
            kind: ConfigMap
            apiVersion: v1
            metadata:
              name: 'dev-settings-1'
              namespace: dev
              labels:
                tier: front
            data:
              # The last letter.
              z: "1" # one
              a: >-
                folded
                text
        "##]],
    );
}

#[test]
fn replicas_are_set_by_former_names() {
    check(
        &[
            "kind: PrefixSuffixTransformer\nsuffix: -test\n",
            "kind: ReplicaCountTransformer\nreplica: {name: deployment, count: 23}\n",
        ],
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: deployment\n",
        &expect![[r#"
            apiVersion: apps/v1
            kind: Deployment
            metadata:
              name: deployment-test
            spec:
              replicas: 23
        "#]],
    );
}

#[test]
fn says_which_name_has_no_replicas() {
    check(
        &["kind: ReplicaCountTransformer\nreplica: {name: wep, count: 3}\n"],
        WEB,
        &expect!["ReplicaCountTransformer : no object with replicas is named `wep`"],
    );
}

const GENERATOR: &str = "\
kind: ConfigMapGenerator
metadata: {name: settings}
envs: [a.env]
files: [b.txt]
literals: [FRUIT=apple]
";

#[test]
fn references_to_generated_objects_get_the_hash() {
    let pod = "\
kind: Pod
apiVersion: v1
metadata: {name: web}
spec:
  containers:
  - envFrom: [{configMapRef: {name: settings}}] # all
";
    check(
        &[GENERATOR, "kind: HashTransformer\n"],
        pod,
        &expect![[r#"
            kind: Pod
            apiVersion: v1
            metadata: {name: web}
            spec:
              containers:
              - envFrom: [{configMapRef: {name: settings-bdhmb5t29k}}] # all
            ---
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: settings-bdhmb5t29k
            data:
              COLOR: red
              FRUIT: apple
              b.txt: |
                one
                two
        "#]],
    );
}

/// As `kubectl kustomize` makes them.
#[test]
fn generated_objects_have_the_hash_of_kustomize() {
    check(
        &[
            "kind: SecretGenerator\nname: s\ntype: a/b\n\
             literals: [x=1, 'long=The quick brown fox jumps over the lazy dog, again and again.']\n",
            "kind: ConfigMapGenerator\nname: c\nliterals: ['A=<&>', 'B= \\ \"x']\n",
            "kind: HashTransformer\n",
        ],
        "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n",
        &expect![[r#"
            apiVersion: v1
            kind: Service
            metadata: {name: a}
            ---
            apiVersion: v1
            kind: Secret
            metadata:
              name: s-g559d6hg8d
            type: a/b
            data:
              long: |
                VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZywgYWdhaW4gYW
                5kIGFnYWluLg==
              x: MQ==
            ---
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: c-t6t7tgcc29
            data:
              A: <&>
              B: ' \ "x'
        "#]],
    );
}

#[test]
fn merging_changes_only_new_entries() {
    check(
        &[&format!("{GENERATOR}behavior: merge\noptions: {{labels: {{a: b}}, immutable: true}}\n")],
        WEB.split("---\n").nth(1).unwrap(),
        &expect![[r##"
            # What it is told.
            kind: ConfigMap
            apiVersion: v1
            metadata:
              name: 'settings'
              labels:
                a: b
            data:
              # The last letter.
              z: "1" # one
              a: >-
                folded
                text
              COLOR: red
              FRUIT: apple
              b.txt: |
                one
                two
            immutable: true
        "##]],
    );
}

#[test]
fn replacing_keeps_comments_and_layout_of_the_rest() {
    check(
        &["kind: ConfigMapGenerator\nname: settings\nbehavior: replace\n\
           literals: ['z=1', 'b=2']\n"],
        WEB.split("---\n").nth(1).unwrap(),
        &expect![[r##"
            # What it is told.
            kind: ConfigMap
            apiVersion: v1
            metadata:
              name: 'settings'
            data:
              b: "2"
              # The last letter.
              z: "1" # one
        "##]],
    );
}

#[test]
fn generators_refuse() {
    for (config, expected) in [
        (
            GENERATOR.to_owned(),
            &expect!["ConfigMapGenerator settings: ConfigMap settings already exists"],
        ),
        (
            GENERATOR.replace("{name: settings}", "{name: a}") + "behavior: merge\n",
            &expect!["ConfigMapGenerator a: ConfigMap a does not exist, so it cannot be changed"],
        ),
        (
            GENERATOR.to_owned() + "type: Opaque\n",
            &expect!["ConfigMapGenerator settings: a ConfigMap has no type"],
        ),
        (
            GENERATOR.replace("FRUIT=", "COLOR="),
            &expect!["ConfigMapGenerator settings: duplicate key `COLOR`"],
        ),
        (
            GENERATOR.replace("FRUIT=", "="),
            &expect!["ConfigMapGenerator settings: a literal without a key"],
        ),
        (
            GENERATOR.replace("FRUIT=", "A B="),
            &expect![
                "ConfigMapGenerator settings: the key `A…` may only have letters, digits, `-`, `_` and `.`"
            ],
        ),
        (
            GENERATOR.replace("b.txt", "c.txt"),
            &expect!["ConfigMapGenerator settings: `c.txt` cannot be read: no such file"],
        ),
        (
            GENERATOR.replace("b.txt", "a=b=c"),
            &expect!["ConfigMapGenerator settings: `a=b=c` does not name a file"],
        ),
    ] {
        check(&[&config], WEB, expected);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one list of objects, before and after")]
fn references_with_a_namespace_are_updated() {
    let input = "\
apiVersion: v1
kind: Namespace
metadata:
  name: old
---
apiVersion: v1
kind: Service
metadata:
  name: hook
  namespace: old
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: robot
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: robots
subjects:
- kind: ServiceAccount # ours
  name: robot
- {kind: ServiceAccount, name: default}
- {kind: ServiceAccount, name: robot, namespace: elsewhere}
- {kind: User, name: robot}
- {kind: Group, name: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: robot}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: hooks
webhooks:
- name: a
  clientConfig:
    service:
      name: hook
      namespace: old
- name: b
  clientConfig: {service: {name: hook, namespace: other}}
";
    check(
        &[
            "kind: NamespaceTransformer\nmetadata: {namespace: new}\n",
            "kind: PrefixTransformer\nprefix: p-\n",
        ],
        input,
        &expect![[r#"
            apiVersion: v1
            kind: Namespace
            metadata:
              name: new
            ---
            apiVersion: v1
            kind: Service
            metadata:
              name: p-hook
              namespace: new
            ---
            apiVersion: v1
            kind: ServiceAccount
            metadata:
              name: p-robot
              namespace: new
            ---
            apiVersion: rbac.authorization.k8s.io/v1
            kind: ClusterRoleBinding
            metadata:
              name: p-robots
            subjects:
            - kind: ServiceAccount # ours
              name: p-robot
              namespace: new
            - {kind: ServiceAccount, name: default, namespace: new}
            - {kind: ServiceAccount, name: robot, namespace: elsewhere}
            - {kind: User, name: robot}
            - {kind: Group, name: default}
            roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: robot}
            ---
            apiVersion: admissionregistration.k8s.io/v1
            kind: ValidatingWebhookConfiguration
            metadata:
              name: p-hooks
            webhooks:
            - name: a
              clientConfig:
                service:
                  name: p-hook
                  namespace: new
            - name: b
              clientConfig: {service: {name: hook, namespace: other}}
        "#]],
    );
}

#[test]
fn moving_refuses_two_objects_that_become_one() {
    check(
        &["kind: NamespaceTransformer\nmetadata: {namespace: new}\n"],
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\n\
         apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\n",
        &expect!["NamespaceTransformer new/: two objects become Secret new/a"],
    );
    check(
        &["kind: NamespaceTransformer\n"],
        WEB,
        &expect!["NamespaceTransformer : `metadata.namespace` is missing"],
    );
}

#[test]
fn renaming_refuses_two_objects_that_become_one() {
    check(
        &["kind: PatchTransformer\ntarget: {kind: Secret}\npatch: |\n  \
           - {op: replace, path: /metadata/name, value: b}\n"],
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\n\
         apiVersion: v1\nkind: Secret\nmetadata: {name: b}\n",
        &expect!["PatchTransformer : two objects become Secret b"],
    );
    // Objects that had the same identity before are left alone, as in a package of several stages.
    check(
        &["kind: PrefixTransformer\nprefix: p-\n"],
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\n\
         apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n",
        &expect![[r#"
            apiVersion: v1
            kind: Secret
            metadata: {name: p-a}
            ---
            apiVersion: v1
            kind: Secret
            metadata: {name: p-a}
        "#]],
    );
}

#[test]
fn a_name_that_may_mean_two_objects_is_refused() {
    let generator = |namespace: &str| {
        format!(
            "kind: ConfigMapGenerator\nname: s\nnamespace: {namespace}\n\
             literals: [in={namespace}]\n"
        )
    };
    check(
        &[&generator("a"), &generator("b"), "kind: HashTransformer\n"],
        "\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
- resources: [configmaps]
  resourceNames: [s]
",
        &expect![
            "HashTransformer : `rules/resourceNames`: `s` may mean any of these: ConfigMap a/s-7c7742m75k, ConfigMap b/s-hdh86ttfm6"
        ],
    );
}

#[test]
fn a_tag_suffix_is_added_once() {
    let config = "kind: ImageTagTransformer\nimageTag: {name: web, tagSuffix: -slim}\n";
    check(
        &[config, config],
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - image: web:1\n",
        &expect![[r#"
            apiVersion: v1
            kind: Pod
            metadata: {name: a}
            spec:
              containers:
              - image: web:1-slim
        "#]],
    );
    check(
        &["kind: ImageTagTransformer\nimageTag: {name: 'web(', newTag: '1'}\n"],
        WEB,
        &expect![
            "ImageTagTransformer : `web(` is not a regular expression: found open group without closing ')'"
        ],
    );
}

#[test]
fn subjects_are_updated_in_former_namespaces_of_others() {
    check(
        &[
            "kind: SuffixTransformer\nsuffix: -a\n",
            "kind: NamespaceTransformer\nmetadata: {namespace: dev}\n",
            "kind: PrefixTransformer\nprefix: b-\n",
        ],
        "\
apiVersion: v1
kind: ServiceAccount
metadata: {name: bot, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: bot}
subjects:
- {kind: ServiceAccount, name: bot}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: dev}
",
        &expect![[r#"
            apiVersion: v1
            kind: ServiceAccount
            metadata: {name: b-bot-a, namespace: dev}
            ---
            apiVersion: rbac.authorization.k8s.io/v1
            kind: RoleBinding
            metadata: {name: b-bot-a, namespace: dev}
            subjects:
            - {kind: ServiceAccount, name: b-bot-a, namespace: dev}
            ---
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: b-other-a, namespace: dev}
        "#]],
    );
}
