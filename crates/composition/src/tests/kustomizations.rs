//! Kustomizations and what kustomize makes of them: its own cases, small ones for each rule, and
//! those of public repositories.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use flate2::read::GzDecoder;
use serde_json::Value as Json;
use walkdir::WalkDir;

use super::builds::Unrestricted;
use super::{judge, shared, shared_folder};
use crate::engine::functions::{FunctionOutput, Functions};
use crate::engine::program::Program;
use crate::engine::transformer::Transformer;
use crate::kustomization::finalize::Ending;
use crate::resources::print::{Format, print};
use crate::run::chain::Build;
use crate::run::steps::consolidate_root;
use krm_core::files::{Files, InMemory};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result as Checked};
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys, Words};

/// Cases that come out differently: the class in `docs/kustomization.md`, and their names.
const DIFFERENCES: &[(&str, &str)] = &[
    (
        "folded text",
        "traps/folded-text-with-indented-lines
        grafana/grafana-operator/config/samples
        grafana/grafana-operator/docs/blog/flux-gitops/grafana
        openshift/microshift/assets/components/multus",
    ),
    (
        "null for a label or annotation",
        "traps/patch-null-annotation-psm traps/patch-null-annotation-target",
    ),
    (
        "`$patch` and items without a key",
        "traps/patch-item-without-its-key traps/patch-directives traps/patch-replace-root
        traps/patch-replace-root-psm",
    ),
    ("empty fields", "traps/patch-drops-empty-fields"),
    ("numbers, dates and texts", "traps/json-patch-drops-style traps/yaml-1-1-words traps/vars"),
    ("JSON patches", "traps/json-patch-flow-yaml-rejected traps/json-patch-add-to-missing-parent"),
    ("generators that change an object", "traps/secret-merge-type"),
    ("`tagSuffix`", "traps/images"),
    (
        "namespaces",
        "traps/namespace-subjects traps/namespace-subjects-without-namespaced-account
        blankvalues/BlankNamespace4240 kubernetes-sigs/kueue/config/visibility-apf",
    ),
    (
        "shared labels",
        "traps/label-nodes-shared traps/label-nodes-shared-patched traps/annotation-nodes-shared
        traps/component-order-and-common-labels",
    ),
    (
        "input that is refused by only one of the two",
        "traps/infinity traps/integer-keys traps/kustomization-yaml-1-1-key
        traps/generator-sources sortordertransformer/SortOrderGivenAsTransformer",
    ),
    (
        "`managedByLabel`",
        "traps/build-metadata managedbylabel/AddManagedbyLabel
        managedbylabel/AddManagedbyLabel-2",
    ),
];

/// The flags that a build of the tests has.
const FLAGS: [&str; 6] = [
    "--reorder",
    "none",
    "legacy",
    "--load-restrictor",
    "LoadRestrictionsNone",
    "--enable-managedby-label",
];

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn kustomizations_come_out_as_in_kustomize() {
    let folder = shared_folder().join("corpus/kustomization/cases");
    let mut outcomes = Vec::new();
    for entry in WalkDir::new(&folder).sort_by_file_name() {
        let entry = entry.unwrap();
        if entry.file_name() == "meta.json"
            && let Some(outcome) = case(entry.path().parent().unwrap(), &folder)
        {
            outcomes.push(outcome);
        }
    }
    check(outcomes);
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn kustomizations_of_repositories_come_out_as_in_kustomize() {
    let folder = shared_folder().join("corpus/kustomization/real-dev");
    let index = shared("corpus/kustomization/real-dev/index.tsv");
    let mut read: BTreeMap<String, InMemory> = BTreeMap::new();
    let mut outcomes = Vec::new();
    for line in index.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [repository, _, root, _, _, _, _, expected, ..] = columns.as_slice() else {
            panic!("{line}");
        };
        let own = repository.replace('/', "+");
        let files =
            read.entry(own.clone()).or_insert_with(|| files(&folder.join("repos").join(own)));
        let expected = Ok(text(&folder.join(expected)));
        let built = build(files, root, &Ending::default());
        outcomes.push((format!("{repository}/{root}"), difference(built, expected)));
    }
    check(outcomes);
}

#[test]
#[ignore = "needs KRM_TEMPLATE_SHARED"]
fn the_style_of_kustomize_is_that_of_its_output() {
    let folder = shared_folder().join("corpus/kustomization/real-dev");
    let index = shared("corpus/kustomization/real-dev/index.tsv");
    let (mut all, mut others) = (0, Vec::new());
    for line in index.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [repository, _, root, _, _, _, _, expected, ..] = columns.as_slice() else {
            panic!("{line}");
        };
        let files = files(&folder.join("repos").join(repository.replace('/', "+")));
        let built = build_in(Format::KustomizeStyle, &files, root, &Ending::default());
        all += 1;
        if built.ok() != Some(text(&folder.join(expected))) {
            others.push(format!("{repository}/{root}"));
        }
    }
    assert!(all >= 270, "{all} builds");
    // The one that is left has a cluster-scoped kind that kustomize gives a namespace.
    assert_eq!(others, ["kubernetes-sigs/kueue/config/visibility-apf"]);
}

/// Compares with the part of the table of differences that names these.
fn check(outcomes: Vec<(String, Option<String>)>) {
    let names: Vec<String> = outcomes.iter().map(|(name, _)| name.clone()).collect();
    println!("{} builds", names.len());
    let all = DIFFERENCES.iter().flat_map(|(class, names)| {
        let names = names.split_whitespace();
        names.map(|name| (name, *class))
    });
    let exceptions: Vec<(&str, &str)> =
        all.filter(|(name, _)| names.iter().any(|known| known == name)).collect();
    judge(outcomes, &exceptions);
}

/// The outcome of a case; none if it needs other programs or a network.
fn case(folder: &Path, all: &Path) -> Option<(String, Option<String>)> {
    let meta: Json = serde_json::from_str(&text(&folder.join("meta.json"))).unwrap();
    let flags = meta["flags"].as_array().unwrap();
    let flags: Vec<&str> = flags.iter().map(|flag| flag.as_str().unwrap()).collect();
    let is_out = !meta["needs"].as_array().unwrap().is_empty()
        || meta["status"].as_str().unwrap().contains("in-memory");
    if is_out || !flags.iter().all(|flag| FLAGS.contains(flag)) {
        return None;
    }
    let name = folder.strip_prefix(all).unwrap().display().to_string();
    let ending = Ending {
        keeps_order: flags.contains(&"none"),
        labels: flags.contains(&"--enable-managedby-label"),
        ..Ending::default()
    };
    let files = files(&folder.join("input"));
    let root = meta["root"].as_str().unwrap();
    let built = if flags.contains(&"LoadRestrictionsNone") {
        build(&Unrestricted(files), root, &ending)
    } else {
        build(&files, root, &ending)
    };
    let path = folder.join("expected.yaml");
    let expected = path.is_file().then(|| text(&path)).ok_or(());
    Some((name, difference(built, expected)))
}

/// A text, also of a compressed file.
#[expect(clippy::disallowed_methods, reason = "tests have no `files::Files`")]
fn text(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap();
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut text = String::new();
        GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
        return text;
    }
    String::from_utf8(bytes).unwrap()
}

/// The files below a folder.
#[expect(clippy::disallowed_methods, reason = "tests have no `files::Files`")]
fn files(folder: &Path) -> InMemory {
    let entries = WalkDir::new(folder).follow_links(true).into_iter();
    let files = entries.filter_map(|entry| {
        let entry = entry.ok().filter(|entry| entry.file_type().is_file())?;
        let path = entry.path().strip_prefix(folder).unwrap();
        Some((path.display().to_string(), std::fs::read(entry.path()).unwrap()))
    });
    InMemory::new(files)
}

fn build(files: &dyn Files, root: &str, ending: &Ending) -> Result<String, String> {
    build_in(Format::Yaml, files, root, ending)
}

fn build_in(
    format: Format,
    files: &dyn Files,
    root: &str,
    ending: &Ending,
) -> Result<String, String> {
    let mut diagnostics = Diagnostics::new();
    let mut steps = consolidate_root(files, root, ending, &mut diagnostics);
    let mut texts = Vec::new();
    if !diagnostics.has_errors() {
        let build = Build::new(files, &Forbidden);
        let made = build.run(&mut steps, Vec::new(), &mut diagnostics);
        texts.extend(print(&made.resources, format, &mut diagnostics).unwrap_or_default());
    }
    if diagnostics.has_errors() {
        let errors = diagnostics.errors();
        let errors = errors.iter().map(|one| one.message.clone());
        return Err(errors.collect::<Vec<_>>().join("\n"));
    }
    Ok(texts.concat())
}

/// Runs no programs.
struct Forbidden;

impl Functions for Forbidden {
    fn check(&self, transformer: &Transformer, _: &Program) -> Checked<()> {
        Err(Diagnostic::error(format!("{} is a program", transformer.id)).into())
    }

    fn run(&self, transformer: &Transformer, _: &Program, _: &Arc<Source>) -> FunctionOutput {
        unreachable!("{} was refused", transformer.id)
    }
}

/// The difference from what kustomize prints, or from its failure.
fn difference(built: Result<String, String>, expected: Result<String, ()>) -> Option<String> {
    match (built, expected) {
        (Ok(built), Ok(expected)) => {
            let (found, wanted) = (objects(&built), objects(&expected));
            if found.len() != wanted.len() {
                return Some(format!("{} objects, expected {}", found.len(), wanted.len()));
            }
            let mut pairs = found.iter().zip(&wanted);
            let (found, wanted) = pairs.find(|(found, wanted)| found != wanted)?;
            Some(format!("expected\n{wanted}\nfound\n{found}"))
        }
        (Err(messages), Ok(_)) => Some(format!("fails: {messages}")),
        (Ok(built), Err(())) => Some(format!("should fail, is\n{built}")),
        (Err(_), Err(())) => None,
    }
}

/// The objects of a stream, as Go reads them.
fn objects(text: &str) -> Vec<Json> {
    let document = Document::parse(&Source::new("objects", text)).unwrap();
    let roots = document.roots().filter(|root| !root.is_null());
    let values = roots.map(|root| {
        let diagnostics = &mut Diagnostics::new();
        let value = root.value_with(DuplicateKeys::LastWins, Words::Texts, diagnostics);
        let mut json = serde_json::from_str(&value.unwrap().to_json()).unwrap();
        normalize(&mut json);
        json
    });
    values.collect()
}

/// Writes numbers that are the same in one way.
fn normalize(value: &mut Json) {
    match value {
        Json::Number(number) => {
            let float = number.as_f64().filter(|_| !number.is_i64() && !number.is_u64());
            if let Some(float) = float {
                *value = if float.fract() == 0.0 && float.abs() < 1e15 {
                    Json::from(format!("{float:.0}").parse::<i64>().unwrap())
                } else {
                    Json::from(float)
                };
            }
        }
        Json::Array(items) => items.iter_mut().for_each(normalize),
        Json::Object(entries) => entries.values_mut().for_each(normalize),
        _ => {}
    }
}
