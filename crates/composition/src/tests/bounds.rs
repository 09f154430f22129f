//! Compositions that share imports or bases end soon, however many ways lead to these.

use super::builds::made;
use crate::read::nesting::MAX_NESTING;
use krm_core::files::InMemory;

/// Compositions `d0` to `d40`, each with `uses` of the next one, written as `NEXT`; `last` is the
/// last one.
fn lattice(uses: &str, last: &str) -> InMemory {
    let depth = 40;
    assert!(depth < MAX_NESTING);
    let files = (0..depth).map(|index| {
        let next = format!("../d{}", index + 1);
        (index, format!("kind: Composition\n{}", uses.replace("NEXT", &next)))
    });
    let files = files.chain([(depth, format!("kind: Composition\n{last}"))]);
    InMemory::new(
        files.map(|(index, text)| (format!("d{index}/composition.yaml"), text.into_bytes())),
    )
}

const TWO_IMPORTS: &str = "transformersFrom:\n- {path: NEXT}\n- {path: NEXT}\n";

#[test]
fn an_import_that_fails_is_read_once() {
    let last = "transformers:\n- {kind: NamespaceTransformer, metadata: {namespace: x}}\n";
    let errors = made(&lattice(TWO_IMPORTS, last), "d0").unwrap_err();
    let [error] = errors.as_slice() else {
        panic!("{errors:?}");
    };
    assert!(error.contains("is imported twice"), "{error}");
}

#[test]
fn empty_imports_are_bounded() {
    let uses = format!(
        "{TWO_IMPORTS}transformerOverrides:\n- {{apiVersion: a/v1, kind: A, metadata: {{name: a}}, $patch: delete}}\n\
         transformers:\n- {{apiVersion: a/v1, kind: B, metadata: {{name: NEXT}}}}\n"
    );
    made(&lattice(&uses, "transformers: []\n"), "d0").unwrap_err();
}

#[test]
fn nested_builds_are_bounded() {
    let uses = "transformers:\n- {kind: ResourceAccumulator, paths: [NEXT, NEXT]}\n";
    let errors = made(&lattice(uses, "transformers: []\n"), "d0").unwrap_err();
    let expected = "more than 10000 Compositions and Kustomizations are built within others";
    assert!(errors.iter().any(|error| error == expected), "{errors:?}");
}

#[test]
fn objects_of_nested_builds_are_bounded() {
    let kustomization = |index: usize, paths: &str| {
        let text = format!("namePrefix: d{index}-\nresources: [{paths}]\n");
        (format!("{index}/kustomization.yaml"), text.into_bytes())
    };
    // Each directory has the objects of the one before twice, with different names.
    let doubled = (1..30).flat_map(|level: usize| {
        let before = format!("../{}", 3 * level - 3);
        let both = format!("../{}, ../{}", 3 * level + 1, 3 * level + 2);
        [
            kustomization(3 * level, &both),
            kustomization(3 * level + 1, &before),
            kustomization(3 * level + 2, &before),
        ]
    });
    let objects: Vec<String> =
        (0..200).map(|index| format!("kind: A\nmetadata: {{name: a{index}}}\n---\n")).collect();
    let objects = objects.concat();
    let last = [kustomization(0, "a.yaml"), ("0/a.yaml".to_owned(), objects.into_bytes())];
    let root = "kind: Composition\ntransformers:\n- {kind: ResourceAccumulator, paths: [../87]}\n";
    let root = [("d/composition.yaml".to_owned(), root.as_bytes().to_vec())];
    let files = InMemory::new(doubled.chain(last).chain(root));
    let errors = made(&files, "d").unwrap_err();
    assert_eq!(errors, ["the build has more than 100000 objects"]);
}

/// Builds a Composition with one resource and this file.
fn with_file(name: &str, field: &str, text: String) -> Result<String, Vec<String>> {
    let composition = format!(
        "kind: Composition\n{field}\ntransformers:\n\
         - {{kind: ResourceAccumulator, paths: [old.yaml]}}\n\
         - {{kind: PatchTransformer, patch: \"{{apiVersion: example.com/v1, kind: App, metadata: {{name: a}}, list: [{{name: a, b: 2}}]}}\"}}\n"
    );
    let old =
        "apiVersion: example.com/v1\nkind: App\nmetadata: {name: a}\nlist: [{name: a, a: 1}]\n";
    let files = [("composition.yaml", composition), ("old.yaml", old.to_owned()), (name, text)];
    let files = files.map(|(name, text)| (format!("d/{name}"), text.into_bytes()));
    made(&InMemory::new(files), "d")
}

#[test]
fn fields_of_types_are_bounded() {
    let types = |count: usize| {
        let fields: Vec<String> = (3..count).map(|index| format!(", f{index}: {{}}")).collect();
        let fields = fields.concat();
        format!(
            "a.App: {{Schema: {{properties: {{kind: {{}}, apiVersion: {{}}, metadata: {{}}{fields}}}}}}}\n"
        )
    };
    with_file("crds.yaml", "crds: [crds.yaml]", types(10_000)).unwrap();
    let errors = with_file("crds.yaml", "crds: [crds.yaml]", types(10_001)).unwrap_err();
    assert_eq!(errors, ["`crds.yaml` has more than 10000 fields"]);
}

#[test]
fn entries_of_tables_are_bounded() {
    let tables = |count: usize| {
        let fields = (0..count).map(|index| format!("- {{kind: K{index}, path: spec/a}}\n"));
        format!("namespace:\n{}", fields.collect::<String>())
    };
    with_file("table.yaml", "configurations: [table.yaml]", tables(10_000)).unwrap();
    let errors = with_file("table.yaml", "configurations: [table.yaml, table.yaml]", tables(5_001));
    let problem = "`table.yaml` has more than 10000 fields, with the files above it";
    assert_eq!(errors.unwrap_err(), [problem]);
}

#[test]
fn references_of_a_schema_are_bounded() {
    let schema = |count: usize| {
        let list =
            "{type: array, x-kubernetes-patch-strategy: merge, x-kubernetes-patch-merge-key: name}";
        let references: Vec<String> = (1..count)
            .map(|index| format!("  r{index}: {{$ref: \"#/definitions/r{}\"}}\n", index + 1))
            .collect();
        let references = references.concat();
        format!(
            "definitions:\n  app:\n    x-kubernetes-group-version-kind: [{{group: example.com, version: v1, kind: App}}]\n    \
             properties: {{list: {{$ref: \"#/definitions/r1\"}}}}\n{references}  r{count}: {list}\n"
        )
    };
    let is_merged = |count| {
        let built = with_file("schema.yaml", "openapi: {path: schema.yaml}", schema(count));
        built.unwrap().contains("a: 1")
    };
    assert!(is_merged(63));
    assert!(!is_merged(64));
}
