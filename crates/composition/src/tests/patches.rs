//! Cases of kustomize's filters for patches and replacements, and what becomes of comments and order.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::{Expect, expect};
use serde::Deserialize;

use super::{NoFunctions, difference, judge, shared, transformed, transformer};
use crate::resources::resource::Resource;
use crate::run::chain::Build;
use crate::run::runner::step;
use krm_core::files::InMemory;
use krm_yaml::Document;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;

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
    let text = shared("corpus/kustomize/filter_cases.json");
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
    ("replacement json field with source from separate configmap", ORDER),
    ("replacement json complex nested structure", ORDER),
    ("replacement yaml field in configmap", LAYOUT),
    ("replacement json field in annotations", LAYOUT),
    ("replacement yaml flow style (kyaml) field", LAYOUT),
];

const ORDER: &str = "JSON in a text keeps the order of its keys; kustomize sorts them";
const LAYOUT: &str = "YAML or JSON in a text keeps its layout; kustomize prints it anew";

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn replacements() {
    let outcomes = cases("api/filters/replacement/replacement_test.go").into_iter().map(|case| {
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
    ("nullMapEntry1", "spec: {bar: {C: Z, D: W}, baz: {hello: world}}"),
    ("nullMapEntry2", "spec: {bar: {B: null, C: Z}}"),
    ("simple patch", "metadata: {name: yourDeploy}"),
    ("container patch", "spec: {template: {spec: {containers: [{name: foo0}]}}}"),
    ("volumes patch", "spec: {template: {spec: {volumes: [{name: foo0}]}}}"),
    ("nested patch", "spec: {containers: [{name: nginx, args: [def]}]}"),
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
    ("list map keys - protocol only present on some ports", "metadata: {labels: {test: label}}"),
    (
        "should retain existing null values in targets",
        "spec: {values: {deepgram-api: {some: value}}}",
    ),
    ("support numeric keys", "data: {6443: barfoo, 9110: foo-foo}"),
    ("honor different key style one", "data: {\"6443\": barfoo, 9110: foo-foo}"),
    ("honor different key style two", "data: {6443: barfoo, '9110': foo-foo}"),
    ("different key types", "data: {6443: key-int}"),
];

/// Patches of which something else comes out here, and why.
const MERGES: &[(&str, &str)] = &[(
    "nullMapEntry1",
    "a key without a value that the patch does not name stays: a patch changes what it names",
)];

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
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

/// The output of a patch of all objects.
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
fn items_are_removed_with_their_comments() {
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
fn equal_replaced_values_keep_their_text() {
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
fn directives_of_kubectl_work() {
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
fn replacements_in_strings_keep_comments() {
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
    "#]]
    .assert_eq(&text);
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
    "#]]
    .assert_eq(&text);
}

/// The errors of a configuration, each with its place, field and hints.
fn report(config: &str) -> String {
    let mut diagnostics = Diagnostics::new();
    let document = Document::parse(&Source::new("input.yaml", DEPLOYMENT)).unwrap();
    let document = Arc::new(document);
    let root = document.roots().next().unwrap().id();
    let resource = Resource::read(&document, root, &mut diagnostics).unwrap();
    Build::new(&InMemory::default(), &NoFunctions).run(
        &mut [step(transformer(config), &Arc::default()).unwrap()],
        vec![resource],
        &mut diagnostics,
    );
    let mut out = String::new();
    for one in &diagnostics {
        let place = one.place.as_ref().unwrap();
        let (line, column) = place.line_column();
        let field = one.field.as_deref().unwrap_or_default();
        let (name, message) = (place.source.name(), &one.message);
        let _ = writeln!(out, "{name}:{line}:{column}: [{field}] {message}");
        for hint in &one.hints {
            let _ = writeln!(out, "  hint: {hint}");
        }
    }
    out
}

#[track_caller]
fn check_error(config: &str, expected: &Expect) {
    let head = "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\n";
    expected.assert_eq(&report(&format!("{head}{config}")));
}

#[test]
fn says_where_a_merge_patch_is_wrong() {
    let merge = |patch: &str| {
        format!(
            "patch: |\n  apiVersion: apps/v1\n  kind: Deployment\n  metadata: {{name: web}}\n  {patch}\n"
        )
    };
    check_error(
        &merge("spec: []"),
        &expect![[r#"
            config.yaml:8:9: [spec] PatchTransformer x: expected a mapping, as in the object, found a list
              hint: to change the type of a field, remove it first with `null` in another patch
        "#]],
    );
    check_error(
        &merge("spec: {$patch: remove}"),
        &expect![[r#"
            config.yaml:8:18: [spec.$patch] PatchTransformer x: `$patch` cannot be `remove`
              hint: it is `merge`, `replace` or `delete`
        "#]],
    );
    check_error(
        &merge("spec: {template: {spec: {containers: [{image: a}]}}}"),
        &expect![[r#"
            config.yaml:8:41: [spec.template.spec.containers[0]] PatchTransformer x: this item has no `name`
              hint: items of this list are merged by `name`
        "#]],
    );
    check_error(
        &merge("x: [").replace("x:", "spec:"),
        &expect![[r#"
            config.yaml:8:9: [] not valid YAML: unclosed bracket '['
              hint: each `[` needs its `]`, each `{` its `}`; text that begins with one needs quotes
        "#]],
    );
    let named = "patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: wep}}'\n";
    check_error(
        named,
        &expect![[r#"
            config.yaml:4:66: [patch] PatchTransformer x: the object of the patch, `Deployment.apps wep`, does not exist
              hint: did you mean `Deployment.apps web`?
        "#]],
    );
    let version = named.replace("v1", "v1beta1").replace("wep", "web");
    check_error(
        &version,
        &expect![[r#"
            config.yaml:4:71: [patch] PatchTransformer x: the object of the patch, `Deployment.apps web`, does not exist
              hint: its apiVersion is `apps/v1`, not `apps/v1beta1`
        "#]],
    );
    check_error(
        "path: missing.yaml\n",
        &expect![[r#"
        config.yaml:4:7: [] `missing.yaml` cannot be read: no such file
    "#]],
    );
}

#[test]
fn says_where_a_json_patch_is_wrong() {
    let of = |name: &str, operation: &str| {
        format!(
            "target: {{name: {name}}}\npatch: |\n  - op: test\n    path: /kind\n    value: Deployment\n  - {operation}\n"
        )
    };
    check_error(
        &of("web", "{op: remove, path: /spec/x}"),
        &expect![[r#"
            config.yaml:9:24: [patch] PatchTransformer x: `/spec/x`: there is nothing to remove
        "#]],
    );
    check_error(
        &of("web", "{op: delete, path: /spec/x}"),
        &expect![[r#"
            config.yaml:9:10: [patch] PatchTransformer x: `delete` is not an operation of a JSON patch
              hint: it is one of `add`, `copy`, `move`, `remove`, `replace`, `test`
        "#]],
    );
    check_error(
        &of("web", "{op: add, path: /spce/x, value: 1}"),
        &expect![[r#"
            config.yaml:9:21: [patch] PatchTransformer x: `/spce/x`: there is no `spce`, only `spec`
        "#]],
    );
    check_error(
        &of("'('", "{op: remove, path: /spec}"),
        &expect![[r#"
        config.yaml:4:16: [target.name] PatchTransformer x: `(` is not a regular expression: found open group without closing ')'
    "#]],
    );
    check_error(
        &of("wep", "{op: remove, path: /spec}"),
        &expect![[r#"
        config.yaml:4:9: [target] PatchTransformer x: `target` selects nothing
          hint: did you mean `name: web`?
    "#]],
    );
    check_error(
        "patch: '[{op: remove, path: /spec}]'\n",
        &expect![[r#"
        config.yaml:4:8: [patch] PatchTransformer x: a JSON patch needs a `target`
          hint: it does not name its object, as a strategic merge patch does
    "#]],
    );
}

#[test]
fn says_where_a_replacement_is_wrong() {
    let check = |replacement: &str, expected: &Expect| {
        let head = "apiVersion: builtin\nkind: ReplacementTransformer\nmetadata: {name: x}\n";
        expected.assert_eq(&report(&format!("{head}replacements:\n- {replacement}\n")));
    };
    let targets = "targets: [{select: {name: web}, fieldPaths: [spec.replicas]}]";
    check(
        &format!("source: {{kind: Deploymet}}\n  {targets}"),
        &expect![[r#"
        config.yaml:5:11: [replacements[0].source] ReplacementTransformer x: the source does not exist
          hint: did you mean `kind: Deployment`?
    "#]],
    );
    check(
        &format!("source: {{fieldPath: spec.templat}}\n  {targets}"),
        &expect![[r#"
        config.yaml:5:23: [replacements[0].source.fieldPath] ReplacementTransformer x: the source has no `spec.templat`
          hint: did you mean `template`?
    "#]],
    );
    check(
        &format!("source: {{kind: Deployment}}\n  {targets}"),
        &expect![[r#"
        config.yaml:6:48: [replacements[0].targets[0].fieldPaths[0]] ReplacementTransformer x: the target has no `spec.replicas`
          hint: to add it, use `options: {create: true}`
    "#]],
    );
    check(
        &format!(
            "sourceValue: a\n  {}",
            targets.replace("spec.replicas", "spec.template.spec.containers.7")
        ),
        &expect![[r#"
        config.yaml:6:48: [replacements[0].targets[0].fieldPaths[0]] ReplacementTransformer x: `spec.template.spec.containers.7`: item 7 does not exist: the list has 2 items
    "#]],
    );
    check(
        "source: {kind: Deployment}",
        &expect![[r#"
        config.yaml:5:3: [replacements[0]] ReplacementTransformer x: the replacement has no `targets`
    "#]],
    );
}
