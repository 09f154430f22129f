//! Cases of kustomize's built-in plugins: one transformer, its input and its output.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{difference, judge, shared, transformed};
use crate::builtin::table::BUILTINS;

#[derive(Deserialize)]
struct Case {
    builtin: String,
    test: String,
    files: Vec<(String, String)>,
    config: String,
    #[serde(default)]
    input: String,
    expected: Option<String>,
    #[serde(default)]
    error_contains: Vec<String>,
}

/// Cases in which something else comes out here, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "ImageTagTransformer/TestImageTagTransformerEmptyContainers 1",
        "a null where a list should be becomes an empty list; here what needs no change stays",
    ),
    (
        "ReplicaCountTransformer/TestMatchesCurrentID 1",
        "two transformers, of which the case has the configuration of the first only; \
         `names::replicas_are_set_by_former_names` has both",
    ),
    (
        "SecretGenerator/TestSecretGenerator 1",
        "only makes the Secret; as part of a build, kustomize too refuses to merge into what is \
         not there",
    ),
    (
        "HashTransformer/TestHashTransformer 1",
        "its configuration has fields of a ConfigMapGenerator, which say nothing; unknown fields \
         are refused here",
    ),
    (
        "PatchTransformer/TestMultipleSMPatchesWithFilePath 1",
        "fields are spelled as they are documented, so not `Path`; and the corpus leaves out the file",
    ),
    (
        "PatchTransformer/TestPatchTransformerNotAllowedMultipleJsonPatches 1",
        "the second document is an error; kustomize does only what the first one says",
    ),
    ("PatchTransformer/TestPatchTransformerPatchEmpty 1", EMPTY),
    ("PatchTransformer/TestPatchTransformerPatchEmptyOnlyComments 1", EMPTY),
    (
        "PatchTransformer/TestPatchTransformerSimilarArrays 1",
        "a list that the patch does not name stays; kustomize loses the first of two equal ports",
    ),
];

const EMPTY: &str = "an empty patch does nothing, as in kustomize's own build \
     `TestEmptyPatchFilesShouldBeIgnored`; the corpus takes the check that there is no error for one";

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn plugins() {
    let text = shared("corpus/kustomize/plugin_builtin_cases.json");
    let cases: Vec<Case> = serde_json::from_str(&text).unwrap();
    let is_known = |case: &&Case| {
        // Helm makes its objects: `tests/clients/kustomizations.py`.
        if case.builtin == "HelmChartInflationGenerator" {
            return false;
        }
        let mut kinds = BUILTINS.iter().flat_map(|builtin| builtin.kinds);
        kinds.any(|kind| *kind == case.builtin)
    };
    let mut counts = BTreeMap::new();
    let outcomes = cases.iter().filter(is_known).map(|case| {
        // The corpus' root is where the configuration is.
        let files = case.files.iter().map(|(path, text)| {
            let path = path.trim_start_matches('/').to_owned();
            (path, text.clone())
        });
        let files: Vec<_> = files.collect();
        let outcome = transformed(&[case.config.as_str()], &case.input, &files);
        let expected = case.expected.as_deref().ok_or(case.error_contains.as_slice());
        // A test that has several cases has one name for them.
        let name = format!("{}/{}", case.builtin, case.test);
        let count = counts.entry(name.clone()).or_insert(0);
        *count += 1;
        let name = format!("{name} {count}");
        (name, difference(outcome, expected))
    });
    judge(outcomes, EXCEPTIONS);
}
