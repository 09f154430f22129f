//! Cases of kustomize's prototype of Composition: what is made of a directory, what is wrong with
//! one, and what `transformerOrder` comes to.

use std::path::Path;

use serde::Deserialize;

use super::{NoFunctions, difference, judge, shared, shared_folder};
use crate::engine::transformer::TransformerId;
use crate::read::model::{self, Order, TransformerEntry};
use crate::read::order::sort;
use crate::run::chain::Build;
use crate::run::steps::consolidate;
use crate::{Format, builtin, print};
use krm_core::files::{Files as _, InMemory};
use krm_yaml::Document;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::{Place, Source};

/// Cases in which something else comes out here, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("fn_plugins", "this program does not run Starlark"),
    ("module_order/single_layer", "this program does not run Starlark"),
];

/// The errors of the cases that are wrong, in our words.
const ERRORS: &[(&str, &[&str])] = &[
    (
        "duplicate_transformers",
        &["duplicate transformer `LabelTransformer top-labeller` in `composition.yaml`"],
    ),
    (
        "import_collision",
        &[
            "duplicate transformer `LabelTransformer environment-label`, in `base/composition.yaml` and `composition.yaml`",
        ],
    ),
    (
        "invalid_composition/overrides_invalid_fields",
        &[
            "a transformer has an empty `kind`",
            "cannot override `tester test`: it was not imported",
        ],
    ),
    ("invalid_composition/overrides_missing_fields", &["a transformer has no `kind`"]),
    ("invalid_composition/overrides_only", &["a transformer has no `kind`"]),
    (
        "invalid_composition/root_unrecognized_fields",
        &[
            "unknown field `extraField` of a Composition",
            "Kubeval validator: there is no built-in transformer of this kind",
        ],
    ),
    (
        "invalid_composition/transformersFrom_empty_path",
        &["an entry of `transformersFrom` has an empty `path`"],
    ),
    ("invalid_composition/transformersFrom_invalid_mode", &["unknown import mode `insert`"]),
    (
        "invalid_composition/transformersFrom_missing_fields",
        &["an entry of `transformersFrom` has no `path`"],
    ),
    (
        "invalid_composition/transformersFrom_unrecognized_fields",
        &[
            "unknown field `invalid` of an entry of `transformersFrom`",
            "there is no `base/composition.yaml`",
        ],
    ),
    (
        "invalid_composition/transformers_invalid_fields",
        &[
            "a transformer has an empty `kind`",
            "tester test: expected a mapping with `image`, found the boolean `true`",
        ],
    ),
    ("invalid_composition/transformers_missing_fields", &["a transformer has no `kind`"]),
    (
        "override_misnamed",
        &["cannot override `ResourceGenerator local-resources-oops`: it was not imported"],
    ),
    (
        "override_version_conflict",
        &["cannot override `ResourceGenerator.builtin-next local-resources`: it was not imported"],
    ),
];

/// The directories below a folder that hold `mark`, and the files in each.
fn cases(folder: &str, mark: &str) -> Vec<(String, InMemory)> {
    let root = shared_folder().join(folder);
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(&root).sort_by_file_name() {
        let entry = entry.unwrap();
        if entry.file_name() == mark {
            let directory = entry.path().parent().unwrap();
            let name = directory.strip_prefix(&root).unwrap();
            found.push((name.display().to_string(), files(directory)));
        }
    }
    assert!(!found.is_empty(), "there are no cases in {folder}");
    found
}

#[expect(clippy::disallowed_methods, reason = "tests have no `files::Files`")]
fn files(directory: &Path) -> InMemory {
    let entries = walkdir::WalkDir::new(directory).into_iter().flatten();
    let files = entries.filter(|entry| entry.file_type().is_file());
    InMemory::new(files.map(|entry| {
        let path = entry.path().strip_prefix(directory).unwrap();
        let bytes = std::fs::read(entry.path()).unwrap();
        (path.display().to_string(), bytes)
    }))
}

/// The output of the Composition in `files`, or the messages of the errors.
fn built(files: &InMemory) -> Result<String, Vec<String>> {
    let mut diagnostics = Diagnostics::new();
    let mut list = consolidate(files, ".", &mut diagnostics);
    let mut text = None;
    if !diagnostics.has_errors() {
        let build = Build::new(files, &NoFunctions);
        let resources = build.run(&mut list, Vec::new(), &mut diagnostics).resources;
        text = print(&resources, Format::Yaml, &mut diagnostics);
    }
    match text {
        Some(text) if !diagnostics.has_errors() => Ok(text.concat()),
        _ => Err(diagnostics.iter().map(|one| one.message.clone()).collect()),
    }
}

/// Whether all built-in transformers that a case names are there.
fn is_ready(files: &InMemory) -> bool {
    let mut unheard = Diagnostics::new();
    let paths = ["composition.yaml", "base/composition.yaml"];
    let paths = paths.iter().filter_map(|path| files.source(path, ".").ok());
    let documents: Vec<_> =
        paths.filter_map(|source| Document::parse(&source).ok()).map(std::sync::Arc::new).collect();
    documents.iter().all(|document| {
        let composition = model::read_file(document, &mut unheard).unwrap_or_default();
        let mut all = composition.transformers.iter();
        all.all(|one| match one {
            TransformerEntry::Declared(one) => {
                !one.id.is_builtin() || builtin::table::find(&one.id).is_some()
            }
            TransformerEntry::File(_) => true,
        })
    })
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn compositions_build_as_upstream() {
    let cases = cases("corpus/composition/success", "expected.yaml");
    let outcomes = cases.iter().filter(|(_, files)| is_ready(files)).map(|(name, files)| {
        let expected = files.source("expected.yaml", ".").unwrap();
        let outcome = built(files);
        assert_eq!(outcome, built(files), "{name}: twice is not the same");
        (name.clone(), difference(outcome, Ok(expected.text())))
    });
    judge(outcomes, EXCEPTIONS);
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn wrong_compositions_are_refused() {
    for (name, files) in cases("corpus/composition/error", "errors.txt") {
        let known = ERRORS.iter().find(|(known, _)| *known == name);
        let (_, expected) = known.unwrap_or_else(|| panic!("{name} is not listed"));
        let mut found = built(&files).unwrap_err();
        // Of transformers that are not there yet.
        found.retain(|message| {
            !message.ends_with("there is no built-in transformer of this kind")
                || expected.contains(&message.as_str())
        });
        assert_eq!(found, *expected, "{name}");
    }
}

#[derive(Deserialize)]
struct SortCase {
    name: String,
    transformers: Vec<Named>,
    ordering: Vec<serde_json::Value>,
    expected: Option<Vec<Named>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    name: String,
    api_version: String,
    kind: String,
}

impl Named {
    fn id(&self) -> TransformerId {
        let (group, version) = model::split(&self.api_version);
        TransformerId {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: self.kind.clone(),
            namespace: String::new(),
            name: self.name.clone(),
        }
    }
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn transformers_are_put_in_order() {
    let text = shared("corpus/composition/sort_cases.json");
    let cases: Vec<SortCase> = serde_json::from_str(&text).unwrap();
    assert!(!cases.is_empty(), "there are no cases");
    for case in cases {
        let mut diagnostics = Diagnostics::new();
        let text = serde_json::Value::from(case.ordering).to_string();
        let source = Source::new("order", text);
        let document = Document::parse(&source).unwrap();
        let list = document.roots().next().unwrap();
        let entries = list.children();
        let entries = entries.filter_map(|entry| model::entry(entry, "entry", &mut diagnostics));
        let order = Order {
            is_whole: true,
            entries: entries.collect(),
            place: Place { source, range: 0..0 },
        };
        let ids = case.transformers.iter().map(Named::id).collect();
        let sorted = sort(ids, &order, |id: &TransformerId| id, &mut diagnostics);
        let outcome = (!diagnostics.has_errors()).then_some(sorted);
        let expected = case.expected.as_ref();
        let expected: Option<Vec<_>> = expected.map(|ids| ids.iter().map(Named::id).collect());
        assert_eq!(outcome, expected, "{}", case.name);
    }
}
