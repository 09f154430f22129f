//! Cases of kustomize's built-in plugins: one transformer, its input and its output.

use serde::Deserialize;

use super::{difference, judge, shared, transformed};
use crate::composition::transformers::BUILTINS;

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
        "ImageTagTransformer/TestImageTagTransformerEmptyContainers",
        "a null where a list should be becomes an empty list; here what needs no change stays",
    ),
    (
        "ReplicaCountTransformer/TestMatchesCurrentID",
        "two transformers, of which the case has the configuration of the first only; \
         `names::replicas_are_set_by_former_names` has both",
    ),
    (
        "SecretGenerator/TestSecretGenerator",
        "only makes the Secret; as part of a build, kustomize too refuses to merge into what is \
         not there",
    ),
    (
        "HashTransformer/TestHashTransformer",
        "its configuration has fields of a ConfigMapGenerator, which say nothing; unknown fields \
         are refused here",
    ),
];

#[test]
fn plugins() {
    let Some(text) = shared("corpus/kustomize/plugin_builtin_cases.json") else {
        return;
    };
    let cases: Vec<Case> = serde_json::from_str(&text).unwrap();
    let is_known = |case: &&Case| {
        let mut kinds = BUILTINS.iter().flat_map(|builtin| builtin.kinds);
        kinds.any(|kind| *kind == case.builtin)
    };
    let outcomes = cases.iter().filter(is_known).map(|case| {
        let outcome = transformed(&[case.config.as_str()], &case.input, &case.files);
        let expected = case
            .expected
            .as_deref()
            .ok_or(case.error_contains.as_slice());
        let name = format!("{}/{}", case.builtin, case.test);
        (name, difference(outcome, expected))
    });
    judge(outcomes, EXCEPTIONS);
}
