//! Kustomize's whole builds: each Kustomization is written as a Composition, which is then built.

mod kustomization;
mod left_out;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use super::{NoFunctions, judge, shared};
use crate::run::chain::Build;
use crate::run::steps::consolidate;
use krm_core::files::{Entry, Files, InMemory, directory_of, join};
use krm_yaml::Position;
use krm_yaml::diagnostic::{Diagnostics, Result as Read};
use kustomization::{Translation, objects};
use left_out::{EXCEPTIONS, LEFT_OUT};

#[derive(Deserialize)]
struct Case {
    test: String,
    /// How a file is written, its path and its text.
    files: Vec<(String, String, String)>,
    run: String,
    expected: String,
}

/// Files that tests write with functions of their own, and that the corpus leaves out.
#[derive(Deserialize)]
struct Helper {
    tests: String,
    /// The objects in each file.
    files: BTreeMap<String, Vec<serde_json::Value>>,
}

/// The output of a build, or the messages of the errors.
type Outcome = Result<String, Vec<String>>;

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn builds() {
    let text = shared("corpus/kustomize/krusty_cases.json");
    let cases: Vec<Case> = serde_json::from_str(&text).unwrap();
    let helpers = objects(include_str!("builds/helpers.yaml")).remove(0);
    let helpers: Vec<Helper> = serde_json::from_value(helpers).unwrap();
    let mut left_out: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut outcomes = Vec::new();
    for case in &cases {
        match build(case, &helpers) {
            Ok(outcome) => outcomes.push((case.test.clone(), difference(outcome, case))),
            Err(need) => left_out.entry(need).or_default().push(&case.test),
        }
    }
    println!("{} of {} builds", outcomes.len(), cases.len());
    judge(outcomes, EXCEPTIONS);
    for (need, reason, tests) in LEFT_OUT {
        let tests = tests.split_whitespace().collect();
        assert_eq!(left_out.remove(*need), Some(tests), "{need}: {reason}");
    }
    assert!(left_out.is_empty(), "{left_out:#?}");
}

fn difference(outcome: Outcome, case: &Case) -> Option<String> {
    match outcome {
        Ok(text) if sorted(&text) == sorted(&case.expected) => None,
        Ok(text) => Some(format!("expected\n{}\nfound\n{text}", case.expected)),
        Err(messages) => Some(format!("fails: {}", messages.join("\n"))),
    }
}

impl Case {
    fn files(&self) -> impl Iterator<Item = (String, String)> {
        self.files.iter().map(|(how, path, text)| {
            let path = join(".", path.trim_start_matches('/'));
            let path = match how.as_str() {
                "WriteF" => path,
                _ => join(&path, "kustomization.yaml"),
            };
            (path, text.clone())
        })
    }
}

impl Helper {
    fn is_for(&self, case: &Case) -> bool {
        let mut tests = self.tests.split_whitespace();
        tests.any(|test| test == case.test)
    }

    fn files(&self) -> impl Iterator<Item = (String, String)> {
        self.files.iter().map(|(path, objects)| {
            let texts = objects.iter().map(ToString::to_string);
            (path.clone(), texts.collect::<Vec<_>>().join("\n---\n"))
        })
    }
}

/// The outcome of a case; the feature it needs, if no Composition has that.
fn build(case: &Case, helpers: &[Helper]) -> Result<Outcome, String> {
    let helpers = helpers.iter().filter(|helper| helper.is_for(case));
    let files = helpers.flat_map(Helper::files).chain(case.files());
    let mut translation = Translation::new(files);
    let directory = join(".", case.run.trim_start_matches('/'));
    translation.directory(&directory)?;
    // Steps that kustomize runs once, after all others.
    let root = json!([
        {"kind": "ResourceAccumulator", "paths": [join("..", &directory)]},
        {"kind": "HashTransformer"},
        {
            "kind": "PatchTransformer",
            "target": {"annotationSelector": "config.kubernetes.io/local-config"},
            "patch": "$patch: delete",
        },
    ]);
    translation.write("root", &root);
    let files = translation.files();
    if UNRESTRICTED.contains(&case.test.as_str()) {
        let problems = made(&files, "root").unwrap_err().concat();
        assert!(problems.contains("is not in or below"), "{problems}");
        return Ok(made(&Unrestricted(files), "root"));
    }
    Ok(made(&files, "root"))
}

/// Cases that kustomize runs with `LoadRestrictionsNone`.
const UNRESTRICTED: [&str; 2] =
    ["TestSharedPatchAllowed", "TestComplexComposition_Prod_SuccessWithRawTransformers"];

/// Files that may be read from anywhere.
pub(super) struct Unrestricted(pub(super) InMemory);

impl Files for Unrestricted {
    fn entry(&self, path: &str) -> Option<Entry> {
        self.0.entry(path)
    }

    fn check(&self, _: &str, _: &str) -> Read<()> {
        Ok(())
    }

    fn read(&self, path: &str, _: &str) -> Read<Vec<u8>> {
        self.0.read(path, directory_of(path))
    }
}

/// The output of the Composition in a directory.
pub(super) fn made(files: &dyn Files, directory: &str) -> Outcome {
    let mut diagnostics = Diagnostics::new();
    let mut transformers = consolidate(files, directory, &mut diagnostics);
    let mut texts = Vec::new();
    if !diagnostics.has_errors() {
        let build = Build::new(files, &NoFunctions);
        let made = build.run(&mut transformers, Vec::new(), &mut diagnostics);
        texts.extend(
            made.resources.iter().map(|resource| resource.text(Position::Document).unwrap()),
        );
    }
    if diagnostics.has_errors() {
        let errors = diagnostics.iter().map(|one| one.message.clone());
        return Err(errors.collect());
    }
    Ok(texts.join("---\n"))
}

/// The objects of a stream, with sorted keys.
fn sorted(text: &str) -> Vec<String> {
    let objects = objects(text).into_iter().map(|mut object| {
        object.sort_all_objects();
        object.to_string()
    });
    objects.collect()
}
