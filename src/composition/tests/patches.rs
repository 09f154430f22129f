//! Cases of kustomize's filters for patches and replacements, and what becomes of comments and order.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use serde::Deserialize;

use super::{difference, judge, shared, transformed};

#[derive(Deserialize)]
struct Case {
    name: String,
    input: String,
    #[serde(default)]
    replacements: String,
    expected: Option<String>,
    #[serde(default, rename = "expectedErr")]
    expected_err: String,
}

fn cases(filter: &str) -> Vec<Case> {
    let Some(text) = shared("corpus/kustomize/filter_cases.json") else {
        return Vec::new();
    };
    let mut all: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    serde_json::from_value(all.remove(filter).unwrap()).unwrap()
}

/// Replacements in which something else comes out here, and why.
const REPLACEMENTS: &[(&str, &str)] = &[
    (
        "using a previous ID",
        "annotations that are kustomize's own hold the old name; ours is kept elsewhere, see below",
    ),
    ("replacement contain jsonfield", ORDER),
    (
        "replacement json field with source from separate configmap",
        ORDER,
    ),
    ("replacement json complex nested structure", ORDER),
    ("replacement yaml field in configmap", LAYOUT),
    ("replacement json field in annotations", LAYOUT),
    ("replacement yaml flow style (kyaml) field", LAYOUT),
];

const ORDER: &str = "JSON in a text keeps the order of its keys; kustomize sorts them";
const LAYOUT: &str = "YAML or JSON in a text keeps its layout; kustomize prints it anew";

#[test]
fn replacements() {
    let outcomes = cases("api/filters/replacement/replacement_test.go")
        .into_iter()
        .map(|case| {
            let head = "apiVersion: builtin\nkind: ReplacementTransformer\nmetadata: {name: x}\n";
            let config = format!("{head}{}", case.replacements);
            let outcome = transformed(&[config.as_str()], &case.input, &[]);
            let errors = [case.expected_err];
            let expected = case.expected.as_deref().filter(|_| errors[0].is_empty());
            let expected = expected.ok_or(errors.as_slice());
            (case.name, difference(outcome, expected))
        });
    judge(outcomes, REPLACEMENTS);
}

/// The patches of the cases, which the corpus leaves out.
const PATCHES: &[(&str, &str)] = &[
    ("simple", "spec: {numReplicas: 999}"),
    (
        "nullMapEntry1",
        "spec: {bar: {C: Z, D: W}, baz: {hello: world}}",
    ),
    ("nullMapEntry2", "spec: {bar: {B: null, C: Z}}"),
    ("simple patch", "metadata: {name: yourDeploy}"),
    (
        "container patch",
        "spec: {template: {spec: {containers: [{name: foo0}]}}}",
    ),
    (
        "volumes patch",
        "spec: {template: {spec: {volumes: [{name: foo0}]}}}",
    ),
    (
        "nested patch",
        "spec: {containers: [{name: nginx, args: [def]}]}",
    ),
    (
        "remove mapping - directive",
        "spec: {template: {spec: {containers: [{name: test, image: test, $patch: delete}]}}}",
    ),
    (
        "replace mapping - directive",
        "spec: {template: {spec: {$patch: replace, containers: [{name: new}]}}}",
    ),
    (
        "merge mapping - directive",
        "spec: {template: {spec: {containers: [{name: test, image: test1, $patch: merge}]}}}",
    ),
    (
        "remove list - directive",
        "spec: {template: {spec: {containers: [whatever, {$patch: delete}]}}}",
    ),
    (
        "replace list - directive",
        "spec: {template: {spec: {containers: [{name: replace, image: replace}, {$patch: replace}]}}}",
    ),
    (
        "merge list - directive",
        "spec: {template: {spec: {containers: [{name: test2, image: test2}, {$patch: merge}]}}}",
    ),
    (
        "list map keys - add a port, no names",
        "spec: {template: {spec: {containers: [{image: test-image, name: test-deployment, ports: [{containerPort: 8080, protocol: UDP}, {containerPort: 80, protocol: UDP}]}]}}}",
    ),
    (
        "list map keys - add name to port",
        "spec: {template: {spec: {containers: [{name: test-deployment, ports: [{containerPort: 8080, protocol: UDP, name: UDP-name-patch}]}]}}}",
    ),
    (
        "list map keys - replace port name",
        "spec: {template: {spec: {containers: [{name: test-deployment, ports: [{containerPort: 8080, protocol: UDP, name: UDP-name-patch}]}]}}}",
    ),
    (
        "list map keys - add a port, no protocol",
        "spec: {template: {spec: {containers: [{name: test-deployment, ports: [{containerPort: 80}]}]}}}",
    ),
    (
        "list map keys - protocol only present on some ports",
        "metadata: {labels: {test: label}}",
    ),
    (
        "should retain existing null values in targets",
        "spec: {values: {deepgram-api: {some: value}}}",
    ),
    (
        "support numeric keys",
        "data: {6443: barfoo, 9110: foo-foo}",
    ),
    (
        "honor different key style one",
        "data: {\"6443\": barfoo, 9110: foo-foo}",
    ),
    (
        "honor different key style two",
        "data: {6443: barfoo, '9110': foo-foo}",
    ),
    ("different key types", "data: {6443: key-int}"),
];

/// Patches of which something else comes out here, and why.
const MERGES: &[(&str, &str)] = &[(
    "nullMapEntry1",
    "a key without a value that the patch does not name stays: a patch changes what it names",
)];

#[test]
fn strategic_merges() {
    let outcomes = cases("api/filters/patchstrategicmerge/patchstrategicmerge_test.go")
        .into_iter()
        .map(|case| {
            let mut patches = PATCHES.iter();
            let (_, patch) = patches.find(|(name, _)| *name == case.name).unwrap();
            let outcome = patched(&case.input, patch, "options: {allowNameChange: true}");
            let expected = case.expected.as_deref().ok_or([].as_slice());
            (case.name, difference(outcome, expected))
        });
    judge(outcomes, MERGES);
}

/// What comes out of a patch of all objects.
fn patched(input: &str, patch: &str, more: &str) -> Result<String, Vec<String>> {
    let patch = serde_json::Value::from(patch);
    let config = format!(
        "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {{name: x}}\ntarget: {{}}\npatch: {patch}\n{more}\n"
    );
    transformed(&[&config], input, &[])
}

#[track_caller]
fn check(input: &str, patch: &str, expected: &Expect) {
    let text = match patched(input, patch, "") {
        Ok(text) => text,
        Err(messages) => messages.join("\n"),
    };
    expected.assert_eq(&text);
}

const DEPLOYMENT: &str = "\
# The web server.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # as the service
  labels: {app: web}
spec:
  template:
    spec:
      # Order matters.
      containers:
        # Logs.
        - name: sidecar
          image: 'logs:1' # pinned

        # The server itself.
        - image: web:1 # before the name
          name: web
          env:
            # First.
            - name: A
              value: \"1\"
            # Second.
            - name: B
              value: \"2\" # two
          args: [ -v, -x ]
";

#[test]
fn a_merge_keeps_comments_and_order_of_the_rest() {
    check(
        DEPLOYMENT,
        "spec: {replicas: 2, template: {spec: {containers: [{name: web, image: web:2, env: [{name: C, value: x}, {name: B, value: null}]}]}}}",
        &expect![[r##"
            # The web server.
            apiVersion: apps/v1
            kind: Deployment
            metadata:
              name: web # as the service
              labels: {app: web}
            spec:
              template:
                spec:
                  # Order matters.
                  containers:

                    # The server itself.
                    - image: web:2 # before the name
                      name: web
                      env:
                        - name: C
                          value: x
                        # Second.
                        - name: B
                        # First.
                        - name: A
                          value: "1"
                      args: [ -v, -x ]
                    # Logs.
                    - name: sidecar
                      image: 'logs:1' # pinned
              replicas: 2
        "##]],
    );
}

#[test]
fn items_are_taken_out_with_their_comments() {
    check(
        DEPLOYMENT,
        "{metadata: {labels: null}, spec: {template: {spec: {containers: [{name: sidecar, $patch: delete}]}}}}",
        &expect![[r##"
            # The web server.
            apiVersion: apps/v1
            kind: Deployment
            metadata:
              name: web # as the service
            spec:
              template:
                spec:
                  # Order matters.
                  containers:

                    # The server itself.
                    - image: web:1 # before the name
                      name: web
                      env:
                        # First.
                        - name: A
                          value: "1"
                        # Second.
                        - name: B
                          value: "2" # two
                      args: [ -v, -x ]
        "##]],
    );
}

#[test]
fn what_is_replaced_and_is_the_same_stays_as_it_is_written() {
    check(
        DEPLOYMENT,
        "spec: {template: {spec: {$patch: replace, containers: [{name: web, image: web:1, args: [-v, -y]}]}}}",
        &expect![[r#"
            # The web server.
            apiVersion: apps/v1
            kind: Deployment
            metadata:
              name: web # as the service
              labels: {app: web}
            spec:
              template:
                spec:
                  # Order matters.
                  containers:

                    # The server itself.
                    - image: web:1 # before the name
                      name: web
                      args: [ -v, '-y' ]
        "#]],
    );
}

#[test]
fn operations_keep_comments_and_order_of_the_rest() {
    check(
        DEPLOYMENT,
        "- {op: replace, path: /spec/template/spec/containers/1/image, value: web:2}\n\
         - {op: remove, path: /spec/template/spec/containers/1/env/0}\n\
         - {op: add, path: /spec/template/spec/containers/0, value: {name: new}}\n\
         - {op: move, from: /metadata/labels, path: /metadata/annotations}\n",
        &expect![[r##"
            # The web server.
            apiVersion: apps/v1
            kind: Deployment
            metadata:
              name: web # as the service
              annotations: {app: web}
            spec:
              template:
                spec:
                  # Order matters.
                  containers:
                    - name: new
                    # Logs.
                    - name: sidecar
                      image: 'logs:1' # pinned

                    # The server itself.
                    - image: web:2 # before the name
                      name: web
                      env:
                        # Second.
                        - name: B
                          value: "2" # two
                      args: [ -v, -x ]
        "##]],
    );
}

#[test]
fn directives_of_kubectl_do_what_they_do_there() {
    check(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  finalizers: [a, b, c]\nspec:\n  strategy: {type: A, rolling: {}}\n  containers:\n  - name: a # one\n  - name: b # two\n",
        "metadata: {$deleteFromPrimitiveList/finalizers: [b]}\nspec:\n  $setElementOrder/containers: [{name: b}, {name: a}]\n  strategy: {$retainKeys: [type], type: B}",
        &expect![[r#"
            apiVersion: v1
            kind: Pod
            metadata:
              name: a
              finalizers: [a, c]
            spec:
              strategy: {type: B}
              containers:
              - name: b # two
              - name: a # one
        "#]],
    );
}

#[test]
fn replacements_go_into_text_and_keep_comments() {
    let config = "apiVersion: builtin\nkind: ReplacementTransformer\nmetadata: {name: x}\nreplacements:\n- sourceValue: example.com\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [data.config\\.yaml.server.host, data.plain]\n    options: {create: true}\n";
    let input = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  # The file.\n  config.yaml: |\n    # Who listens.\n    server:\n        host: localhost # for now\n        port: 80\n";
    let text = transformed(&[config], input, &[]).unwrap();
    expect![[r#"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: a
        data:
          # The file.
          config.yaml: |
            # Who listens.
            server:
                host: example.com # for now
                port: 80
          plain: example.com
    "#]].assert_eq(&text);
}

#[test]
fn a_replacement_knows_the_old_name_of_a_renamed_object() {
    let rename = "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\ntarget: {name: web}\npatch: '{metadata: {name: new}}'\noptions: {allowNameChange: true}\n";
    let copy = "apiVersion: builtin\nkind: ReplacementTransformer\nmetadata: {name: x}\nreplacements:\n- source: {name: web, fieldPath: metadata.name}\n  targets:\n  - select: {name: web}\n    fieldPaths: [metadata.labels.app]\n";
    let input =
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: web # old\n  labels: {app: web}\n";
    let text = transformed(&[rename, copy], input, &[]).unwrap();
    expect![[r#"
        apiVersion: v1
        kind: Service
        metadata:
          name: new # old
          labels: {app: new}
    "#]].assert_eq(&text);
}

#[test]
fn json_and_merge_patches_name_what_they_select_nothing_for() {
    let patch = "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npatch: |\n  apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: wep}\n";
    check_error(patch, &expect!["PatchTransformer x: there is no `Deployment.apps wep`, which the patch is for"]);
}

#[track_caller]
fn check_error(config: &str, expected: &Expect) {
    let messages = transformed(&[config], DEPLOYMENT, &[]).unwrap_err();
    expected.assert_eq(&messages.join("\n"));
}

#[test]
fn says_what_is_wrong() {
    let head = "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\n";
    let merge = |patch: &str| {
        format!(
            "{head}patch: |\n  apiVersion: apps/v1\n  kind: Deployment\n  metadata: {{name: web}}\n  {patch}\n"
        )
    };
    check_error(&merge("spec: []"), &expect!["PatchTransformer x: expected a mapping, as in the object, found a list"]);
    check_error(&merge("spec: {$patch: remove}"), &expect!["PatchTransformer x: `$patch` cannot be `remove`"]);
    check_error(
        &merge("spec: {template: {spec: {containers: [{image: a}]}}}"),
        &expect!["PatchTransformer x: this item has no `name`"],
    );
    check_error(
        &format!(
            "{head}patch: '{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: wep}}}}'\n"
        ),
        &expect!["PatchTransformer x: there is no `Deployment.apps wep`, which the patch is for"],
    );
    check_error(
        &format!("{head}target: {{name: '('}}\npatch: '[{{op: remove, path: /spec}}]'\n"),
        &expect!["PatchTransformer x: `(` is no regular expression: found open group without closing ')'"],
    );
    check_error(
        &format!("{head}target: {{name: web}}\npatch: '[{{op: remove, path: /spec/x}}]'\n"),
        &expect!["PatchTransformer x: `/spec/x`: there is nothing at `/spec/x`"],
    );
}
