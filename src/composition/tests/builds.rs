//! Kustomize's whole builds: each Kustomization is written as a Composition, which is then built.

mod kustomization;
mod left_out;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use super::{NoFunctions, judge, shared, values};
use crate::composition::chain;
use crate::composition::consolidate::consolidate;
use crate::composition::resource::{Documents, Resource};
use crate::diagnostic::Diagnostics;
use crate::files::{InMemory, join};
use crate::yaml::Position;
use kustomization::Translation;
use left_out::{EXCEPTIONS, LEFT_OUT};

#[derive(Deserialize)]
struct Case {
    test: String,
    /// How a file is written, its path and its text.
    files: Vec<(String, String, String)>,
    run: String,
    expected: String,
}

/// What comes out of a build, or the messages of the errors.
type Outcome = Result<String, Vec<String>>;

#[test]
fn builds() {
    let Some(text) = shared("corpus/kustomize/krusty_cases.json") else {
        return;
    };
    let cases: Vec<Case> = serde_json::from_str(&text).unwrap();
    let mut left_out: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut outcomes = Vec::new();
    for case in &cases {
        match build(case) {
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
        Ok(text) if objects(&text) == objects(&case.expected) => None,
        Ok(text) => Some(format!("expected\n{}\nfound\n{text}", case.expected)),
        Err(messages) => Some(format!("fails: {}", messages.join("\n"))),
    }
}

/// What a case comes to; what it needs, if no Composition has that.
fn build(case: &Case) -> Result<Outcome, String> {
    let files = case.files.iter().map(|(how, path, text)| {
        let path = join(".", path.trim_start_matches('/'));
        let path = match how.as_str() {
            "WriteF" => path,
            _ => join(&path, "kustomization.yaml"),
        };
        (path, text.clone())
    });
    let mut translation = Translation::new(files);
    let directory = join(".", case.run.trim_start_matches('/'));
    translation.directory(&directory)?;
    // What kustomize does once, when all else is done.
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
    Ok(made(&translation.files(), "root"))
}

/// What the Composition in a directory makes.
fn made(files: &InMemory, directory: &str) -> Outcome {
    let mut diagnostics = Diagnostics::new();
    let documents = Documents::default();
    let transformers = consolidate(files, directory, &mut diagnostics);
    let mut texts = Vec::new();
    if !diagnostics.has_errors() {
        let none: Vec<Resource<'_>> = Vec::new();
        let run = chain::run(
            &transformers,
            none,
            files,
            &NoFunctions,
            &documents,
            &mut diagnostics,
        );
        let resources = run.0.iter();
        texts.extend(resources.map(|resource| resource.text(Position::Document).unwrap()));
    }
    if diagnostics.has_errors() {
        let errors = diagnostics.iter().map(|one| one.message.clone());
        return Err(errors.collect());
    }
    Ok(texts.join("---\n"))
}

/// The objects as JSON with sorted keys.
fn objects(text: &str) -> Vec<String> {
    let objects = values(text).into_iter().map(|object| {
        let mut json: serde_json::Value = serde_json::from_str(&object.to_json()).unwrap();
        json.sort_all_objects();
        json.to_string()
    });
    objects.collect()
}
