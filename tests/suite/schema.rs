//! The schema files in `functionconfig/` are current, and agree with the program on the Templates
//! of this repository.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use jsonschema::Validator;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Source;
use krm_yaml::{Document, DuplicateKeys};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::cases::{self, Case, Files};
use crate::diff::diff;
use crate::program;

mod files;
mod kind;
mod kinds;
mod kustomization;
mod kustomize;
mod structural;

use files::File;

/// The folder that all of the files stand in.
const FOLDER: &str = "functionconfig";
/// Where one of them is copied: kustomize reads no file outside of a kustomization's folder.
const COPY: (&str, &str) = ("openapi.json", "examples/kustomize/overlay/template");

/// Cases that the program takes and the schemas do not: a null passed over, values sent as a
/// Template without objects, OpenShift's own TemplateInstance, a warning that is not printed, an object
/// of Flux.
const LENIENT: &[&str] = &[
    "function/a-template-with-a-tilde-for-its-objects-creates-none",
    "instances/a-template-with-nothing-but-data-gives-values",
    "instances/openshifts-own-kind-is-accepted",
    "manners/quiet-prints-no-warnings",
    "openshift/null-objects-make-an-empty-list",
    "parameters/empty-entries",
    "validate/a-kustomization-of-flux-is-another-kind",
];

/// Cases whose error or warning a schema can also find.
const REFUSED: &[&str] = &[
    "build/a-composition-has-no-other-fields",
    "errors/a-template-without-objects",
    "errors/an-unknown-template-version",
    "errors/objects-that-are-not-a-list",
    "errors/objects-that-are-not-mappings",
    "labels/a-label-that-is-not-a-string-fails",
    "labels/a-list-of-labels-fails",
    "openshift/an-unknown-generator-fails",
    "openshift/unknown-fields-warn",
    "parameters/a-parameter-without-name-fails",
    "parameters/an-unknown-type-fails",
    "parameters/flags-of-a-parameter-must-be-bools",
    "parameters/unknown-fields-of-a-parameter-warn",
];

pub(crate) fn trials() -> Vec<Trial> {
    let current = files::files()
        .into_iter()
        .map(|file| Trial::test(format!("schema/{}", file.name), move || is_current(&file)));
    let agreeing = [
        Trial::test("schema/holds_for_functionconfig", || {
            all_hold(&cases::files(&crate::root().join(FOLDER)), 4)
        }),
        Trial::test("schema/holds_for_the_examples", || {
            let mut files = cases::files(&crate::root().join("examples"));
            files.retain(|name, _| !is_patch(Path::new(name)));
            all_hold(&files, 11)
        }),
        Trial::test("schema/holds_for_what_the_program_takes", || all_hold(&valid_cases(), 50)),
        Trial::test("schema/every_schema_is_printed", printed),
        Trial::test("schema/refuses_what_the_program_complains_about", refuses),
        Trial::test(
            "schema/kinds_have_the_fields_that_are_read",
            files::have_the_fields_that_are_read,
        ),
        Trial::test(
            "schema/all_fields_of_a_kustomization_are_described",
            kustomization::all_fields_are_described,
        ),
        Trial::test("schema/every_kind_is_structural", || {
            structural::every_kind_is_structural();
            Ok(())
        }),
    ];
    current.chain(agreeing).collect()
}

fn is_current(file: &File) -> Result<(), Failed> {
    let copy = Some(COPY.1).filter(|_| file.name == COPY.0);
    for folder in [FOLDER].into_iter().chain(copy) {
        is_current_in(folder, file)?;
    }
    Ok(())
}

fn is_current_in(folder: &str, file: &File) -> Result<(), Failed> {
    let path = crate::root().join(folder).join(&file.name);
    if crate::update() {
        return Ok(fs::write(path, &file.text)?);
    }
    let found = fs::read(&path).unwrap_or_default();
    match diff(&found, file.text.as_bytes()) {
        None => Ok(()),
        Some(diff) => Err(format!("{folder}: {diff}(UPDATE=1 writes it anew)").into()),
    }
}

/// Whether the kustomization beside a file lays it over another: then it is part of an object.
fn is_patch(file: &Path) -> bool {
    let kustomization = fs::read_to_string(file.with_file_name("kustomization.yaml"));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    kustomization.is_ok_and(|text| text.contains(&format!("- path: {name}\n")))
}

/// Holds every object of our kinds in `files` against its schema; there are at least `least`.
fn all_hold(files: &Files, least: usize) -> Result<(), Failed> {
    let schemas = Schemas::load()?;
    let (mut checked, mut problems) = (0, Vec::new());
    for (name, text) in files {
        for object in objects(name, text)? {
            let Some(found) = schemas.problems(&object) else {
                continue;
            };
            checked += 1;
            problems.extend(found.iter().map(|what| format!("{name}: {what}")));
        }
    }
    if checked < least {
        problems.push(format!("{checked} objects were checked, expected {least}"));
    }
    match problems.as_slice() {
        [] => Ok(()),
        problems => Err(problems.join("\n").into()),
    }
}

fn refuses() -> Result<(), Failed> {
    let schemas = Schemas::load()?;
    for case in REFUSED.iter().chain(LENIENT) {
        let mut found = Vec::new();
        for (name, text) in &Case::named(case).files {
            for object in objects(name, text)? {
                found.extend(schemas.problems(&object).unwrap_or_default());
            }
        }
        if found.is_empty() {
            return Err(format!("{case} passes").into());
        }
    }
    Ok(())
}

/// The files of the cases that end well and without a warning.
fn valid_cases() -> Files {
    let warned = |case: &Case| {
        let stderr = String::from_utf8_lossy(case.get("stderr.txt").unwrap_or_default());
        stderr.contains("warning:")
    };
    let cases = cases::all().into_iter().filter(|case| {
        !warned(case) && case.get("exit").is_none() && !LENIENT.contains(&case.name.as_str())
    });
    cases.flat_map(Case::into_files).collect()
}

/// The objects in a YAML file, or the functionConfig of a `ResourceList`.
fn objects(name: &str, text: &[u8]) -> Result<Vec<Value>, Failed> {
    let text = str::from_utf8(text)
        .ok()
        .filter(|_| Path::new(name).extension().is_some_and(|end| end == "yaml"));
    let Ok(document) = Document::parse(&Source::new("file", text.unwrap_or_default())) else {
        return Ok(Vec::new());
    };
    let mut objects = Vec::new();
    for root in document.roots() {
        let root = root.get("functionConfig").unwrap_or(root);
        if let Some(value) = root.value(DuplicateKeys::LastWins, &mut Diagnostics::new()) {
            objects.push(serde_json::from_str(&value.to_json())?);
        }
    }
    Ok(objects)
}

/// `krm-template schema` prints each schema of `functionconfig/`, and names its kind.
fn printed() -> Result<(), Failed> {
    let run = |arguments: &[&str]| {
        let output = program::run(program::command(crate::root()).args(arguments), Vec::new())?;
        Ok::<_, Failed>(String::from_utf8(output.stdout)?)
    };
    let names = run(&["schema"])?;
    let mut printed = BTreeMap::new();
    for name in names.lines() {
        let file = format!("{}.schema.json", name.to_lowercase());
        printed.insert(file, run(&["schema", name])?);
    }
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(crate::root().join(FOLDER))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".schema.json") {
            files.insert(name, fs::read_to_string(entry.path())?);
        }
    }
    if printed == files {
        return Ok(());
    }
    let names: Vec<&String> = files.keys().collect();
    Err(format!("{names:?} and what is printed for {names:?} differ").into())
}

/// The schemas of `functionconfig/`, as they stand there.
struct Schemas(Vec<(String, Validator)>);

impl Schemas {
    fn load() -> Result<Self, Failed> {
        let mut schemas = Vec::new();
        for kind in
            ["Template", "TemplateInstance", "ParameterValues", "Composition", "Kustomization"]
        {
            let name = format!("{}.schema.json", kind.to_lowercase());
            let text = fs::read_to_string(crate::root().join(FOLDER).join(name))?;
            let schema = serde_json::from_str(&text)?;
            schemas.push((kind.to_owned(), jsonschema::draft202012::new(&schema)?));
        }
        Ok(Self(schemas))
    }

    /// What is wrong with an object; none if it is of another kind.
    fn problems(&self, object: &Value) -> Option<Vec<String>> {
        let kind = object.get("kind")?.as_str()?;
        let (_, schema) = self.0.iter().find(|(name, _)| name == kind)?;
        let problems = schema.iter_errors(object);
        Some(problems.map(|problem| format!("{}: {problem}", problem.instance_path())).collect())
    }
}
