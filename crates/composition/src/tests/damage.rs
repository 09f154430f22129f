//! Transformers that leave no object behind. kustomize refuses them too, but for a name or kind that
//! is a number, and a missing `apiVersion`.

use super::transformed;

const INPUT: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data: {n: 5}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
  labels: {q: r}
";

/// The messages of a transformer of `a`.
#[track_caller]
fn check(config: &str, expected: &str) {
    let config = format!("{config}\nmetadata: {{name: p}}");
    let messages = transformed(&[&config], INPUT, &[]).unwrap_err();
    assert_eq!(messages, [expected], "{config}");
}

fn operation(operation: &str) -> String {
    format!("kind: PatchTransformer\ntarget: {{name: a}}\npatch: '[{operation}]'")
}

#[test]
fn a_patch_leaves_an_object() {
    let name =
        "PatchTransformer p: it makes `ConfigMap a` invalid: the object has no `metadata.name`";
    let kind = "PatchTransformer p: it makes `ConfigMap a` invalid: the object has no `kind`";
    for change in [
        "{op: remove, path: /metadata/name}",
        "{op: replace, path: /metadata/name, value: \"\"}",
        "{op: replace, path: /metadata/name, value: null}",
        "{op: replace, path: /metadata, value: 5}",
        "{op: remove, path: /metadata}",
    ] {
        check(&operation(change), name);
    }
    check(&operation("{op: remove, path: /kind}"), kind);
    check(&operation("{op: replace, path: /kind, value: \"\"}"), kind);
    check(
        &operation("{op: remove, path: /apiVersion}"),
        "PatchTransformer p: it makes `ConfigMap a` invalid: the object has no `apiVersion`",
    );
    for value in ["5", "true", "[a]", "{a: b}"] {
        check(
            &operation(&format!("{{op: replace, path: /metadata/name, value: {value}}}")),
            "PatchTransformer p: it makes `ConfigMap a` invalid: `metadata.name` must be a string",
        );
        check(
            &operation(&format!("{{op: replace, path: /kind, value: {value}}}")),
            "PatchTransformer p: it makes `ConfigMap a` invalid: `kind` must be a string",
        );
    }
    check(
        "kind: PatchTransformer\ntarget: {name: a}\noptions: {allowNameChange: true}\npatch: |\n  kind: ConfigMap\n  metadata: {name: null}",
        name,
    );
}

#[test]
fn a_replacement_leaves_an_object() {
    let replacement = |source: &str, target: &str| {
        format!(
            "kind: ReplacementTransformer\nreplacements: [{{source: {{name: b, fieldPath: {source}}}, targets: [{{select: {{name: a}}, fieldPaths: [{target}]}}]}}]"
        )
    };
    let replaced = "ReplacementTransformer p: it makes `ConfigMap a` invalid";
    check(
        &replacement("metadata.labels", "metadata.name"),
        &format!("{replaced}: `metadata.name` must be a string"),
    );
    check(&replacement("metadata.labels", "kind"), &format!("{replaced}: `kind` must be a string"));
    check(
        &replacement("metadata.name", "metadata"),
        &format!("{replaced}: the object has no `metadata.name`"),
    );
}

#[test]
fn an_object_that_was_none_before_may_be_changed() {
    let labels = "kind: AnnotationsTransformer\nannotations: {a: b}\nmetadata: {name: p}";
    for input in [
        "data: 1\n",
        "kind: A\nmetadata: {name: 5}\n",
        "apiVersion: v1\nkind: A\nmetadata: {generateName: a-}\n",
    ] {
        let made = transformed(&[labels], input, &[]).unwrap();
        assert!(made.contains("a: b"), "{made}");
    }
}
