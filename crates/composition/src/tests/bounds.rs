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
        (
            index,
            format!("kind: Composition\n{}", uses.replace("NEXT", &next)),
        )
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
    let expected = "more than 10000 Compositions are built within others";
    assert!(errors.iter().any(|error| error == expected), "{errors:?}");
}
