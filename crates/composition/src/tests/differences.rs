//! Where a Composition and kustomize once came out differently: the corpus of these, and cases for
//! each. What is expected was printed by `kubectl kustomize` (kustomize 5.8.1).

use super::builds::made;
use super::{difference, judge, shared, transformed};
use krm_core::files::InMemory;

/// Folders of the corpus in which something else comes out here, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("jp", "RFC 6902 has a copy from a path that is not there fail; kustomize makes null of it"),
    (
        "lb",
        "fractions keep their text; kustomize's transformers round them, and it refuses them elsewhere",
    ),
    (
        "rt",
        "labels, and those and annotations of templates, are texts: Kubernetes takes nothing else",
    ),
];

/// Folders of the corpus, and what their Compositions have that the Kustomizations have not.
const FOLDERS: &[(&str, &str)] = &[
    ("an", ""),
    ("hy", ""),
    ("ja", "- {kind: PrefixTransformer, prefix: p-}\n"),
    ("jn", ""),
    ("jp", ""),
    ("lb", " i: 100000000000000000000000,"),
    ("ny", ""),
    ("ra", ""),
    ("rp", ""),
    ("rr", ""),
    ("rr3", ""),
    ("rr4", ""),
    ("rt", ""),
    ("ry", ""),
    ("so", ""),
    ("yn", ""),
];

/// The Composition for the folder that has none.
const AN: &str = "kind: Composition
transformers:
- {kind: ResourceAccumulator, paths: [r.yaml]}
- kind: PatchTransformer
  patch: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: b, annotations: null}
";

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn the_corpus_comes_out_as_in_kustomize() {
    let read =
        |folder: &str, path: &str| shared(&format!("corpus/kustomize-differences/{folder}/{path}"));
    let mut outcomes = Vec::new();
    for (folder, excess) in FOLDERS {
        let expected = read(folder, "expected.yaml");
        let composition = match *folder {
            "an" => AN.to_owned(),
            folder => read(folder, "c/composition.yaml"),
        };
        assert!(composition.contains(excess), "{folder}");
        let composition = composition.replace(excess, "");
        let resources = read(folder, "c/r.yaml");
        let files = [("composition.yaml", composition), ("r.yaml", resources)];
        let files = files.map(|(path, text)| (path.to_owned(), text.into_bytes()));
        let outcome = made(&InMemory::new(files), ".");
        outcomes.push(((*folder).to_owned(), difference(outcome, Ok(&expected))));
    }
    judge(outcomes, EXCEPTIONS);
}

#[track_caller]
fn check(configs: &[&str], input: &str, expected: &str) {
    let outcome = transformed(configs, input, &[]);
    if let Some(difference) = difference(outcome, Ok(expected)) {
        panic!("{difference}");
    }
}

#[track_caller]
fn fails(configs: &[&str], input: &str, expected: &str) {
    match transformed(configs, input, &[]) {
        Ok(text) => panic!("{text}"),
        Err(messages) => assert_eq!(messages.join("\n"), expected),
    }
}

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: c}
spec: {template: {spec: {}}}
";

#[test]
fn a_json_patch_makes_annotations_and_labels() {
    let patch = |op: &str, path: &str| {
        format!(
            "{{kind: PatchTransformer, target: {{kind: Deployment}}, \
             patch: '[{{op: {op}, path: {path}, value: v}}]'}}"
        )
    };
    let expected = |key: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: c, {key}: {{x: v}}}}\n\
             spec: {{template: {{spec: {{}}}}}}\n"
        )
    };
    for op in ["add", "replace"] {
        for key in ["annotations", "labels"] {
            let field = format!("/metadata/{key}/x");
            check(&[&patch(op, &field)], DEPLOYMENT, &expected(key));
            let empty = DEPLOYMENT.replace("name: c", &format!("name: c, {key}: null"));
            check(&[&patch(op, &field)], &empty, &expected(key));
        }
    }
    let inner = "/spec/template/metadata/annotations/x";
    let problem = format!("PatchTransformer : `{inner}`: there is no `metadata`");
    fails(&[&patch("add", inner)], DEPLOYMENT, &problem);
}

#[test]
fn annotations_and_labels_of_patches_are_strings() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {z: '1'}\n";
    let merge = "kind: PatchTransformer
patch: |
  apiVersion: v1
  kind: ConfigMap
  metadata:
    name: c
    annotations: {a: 1e3, b: 1.10, c: 010, d: 0x1f, e: true, y: on, n: 5}
    labels: {l: 5}
  data: {k1: no, y: on, n: 5, v: 1.5, w: true}
";
    let expected = "apiVersion: v1
kind: ConfigMap
metadata:
  name: c
  annotations: {a: '1e3', b: '1.10', c: '010', d: '0x1f', e: 'true', 'y': 'on', 'n': '5'}
  labels: {l: '5'}
data: {z: '1', k1: 'no', 'y': 'on', 'n': 5, v: 1.5, w: true}
";
    check(&[merge], map, expected);
    // A JSON patch is JSON to kustomize, in which numbers have the spelling of Go.
    let json = "kind: PatchTransformer
target: {kind: ConfigMap}
patch: |
  - {op: add, path: /metadata/annotations/a, value: 1e3}
  - {op: add, path: /metadata/annotations/b, value: 1.10}
  - {op: add, path: /metadata/labels, value: {l: true}}
  - {op: add, path: /data/no, value: no}
";
    let expected = "apiVersion: v1
kind: ConfigMap
metadata:
  name: c
  annotations: {a: '1000', b: '1.1'}
  labels: {l: 'true'}
data: {z: '1', 'no': false}
";
    check(&[json], map, expected);
}

#[test]
fn replacements_write_texts_as_they_are_written() {
    let input = "apiVersion: v1
kind: ConfigMap
metadata: {name: c}
---
apiVersion: e.com/v1
kind: X
metadata: {name: d}
spec: {o: 010, h: 0x1f, y: yes, t: '1.10'}
";
    let fields = ["o", "h", "y", "t"].map(|field| {
        format!(
            "- {{source: {{kind: X, fieldPath: spec.{field}}}, targets: [{{select: {{kind: ConfigMap}}, \
             fieldPaths: [metadata.annotations.{field}, data.{field}], options: {{create: true}}}}]}}\n"
        )
    });
    let config = format!("kind: ReplacementTransformer\nreplacements:\n{}", fields.join(""));
    let expected = "apiVersion: v1
kind: ConfigMap
metadata: {name: c, annotations: {o: '010', h: '0x1f', 'y': 'yes', t: '1.10'}}
data: {o: 8, h: 31, 'y': 'yes', t: 1.10}
---
apiVersion: e.com/v1
kind: X
metadata: {name: d}
spec: {o: 8, h: 31, 'y': 'yes', t: '1.10'}
";
    check(&[&config], input, expected);
}

#[test]
fn a_replacement_selects_the_namespace_that_is_written() {
    let input = "apiVersion: v1
kind: ConfigMap
metadata: {name: b}
data: {k: v}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: default}
data: {k: v}
";
    let config = "{kind: ReplacementTransformer, replacements: [{sourceValue: sv, targets: \
                  [{select: {namespace: default}, fieldPaths: [data.k]}]}]}";
    let expected = input.replace("default}\ndata: {k: v}", "default}\ndata: {k: sv}");
    check(&[config], input, &expected);
    let rejects = "{kind: ReplacementTransformer, replacements: [{sourceValue: sv, targets: \
                   [{select: {kind: ConfigMap}, reject: [{namespace: default}], fieldPaths: [data.k]}]}]}";
    let expected = input.replace("b}\ndata: {k: v}", "b}\ndata: {k: sv}");
    check(&[rejects], input, &expected);
    let moved = input.replace("name: b}", "name: b, namespace: shop}");
    let moved = moved.replace("namespace: default", "namespace: shop").replace("k: v", "k: sv");
    let transformer = "{kind: NamespaceTransformer, metadata: {namespace: shop}}";
    check(&[transformer, config], input, &moved);
}

#[test]
fn a_value_replaces_a_namespace() {
    for position in 0..3 {
        let config = format!(
            "{{kind: ValueAddTransformer, value: XX, targets: \
             [{{fieldPath: metadata/namespace, filePathPosition: {position}}}]}}"
        );
        let input = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: default}\n";
        check(&[&config], input, &input.replace("default", "XX"));
    }
}

#[test]
fn a_replacement_does_not_make_one_object_of_two() {
    let input = "apiVersion: v1
kind: ConfigMap
metadata: {name: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
";
    let config = "{kind: ReplacementTransformer, replacements: [{sourceValue: c, targets: [{select: {name: b}}]}]}";
    let problem = "ReplacementTransformer : two objects become ConfigMap c";
    fails(&[config], input, problem);
}

#[test]
fn namespaces_are_sorted_as_other_kinds_where_none_is_named() {
    let object = |api_version: &str, kind: &str, name: &str| {
        format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}}}\n")
    };
    let map = object("v1", "ConfigMap", "b");
    let namespace = object("v1", "Namespace", "nn");
    let deployment = object("apps/v1", "Deployment", "d");
    let sort = |kinds: &str| {
        format!(
            "{{kind: SortOrderTransformer, sortOptions: {{order: legacy, legacySortOptions: {kinds}}}}}"
        )
    };
    let stream = |objects: &[&String]| {
        let objects = objects.iter().map(|one| one.as_str());
        objects.collect::<Vec<_>>().join("---\n")
    };
    let input = stream(&[&map, &namespace, &deployment]);
    let others = sort("{orderFirst: [Pod], orderLast: [Job]}");
    check(&[&others], &input, &stream(&[&deployment, &map, &namespace]));
    let first = sort("{orderFirst: [Namespace]}");
    check(&[&first], &input, &stream(&[&namespace, &deployment, &map]));
    let last = sort("{orderFirst: [ConfigMap], orderLast: [Namespace]}");
    check(&[&last], &input, &stream(&[&map, &deployment, &namespace]));
    let legacy = "{kind: LegacyOrderTransformer}";
    check(&[legacy], &input, &stream(&[&namespace, &map, &deployment]));
}
