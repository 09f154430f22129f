//! Compares expansions with those of the original service, which `KRM_TEMPLATE_SHARED` has in
//! `corpus/deployment-manager`. Each test prints how many of its cases are equal.
//!
//! Tests of Python templates need python3 with PyYAML and six.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "tests read their own files and environment")]

#[path = "deployment-manager/command.rs"]
mod command;
#[path = "deployment-manager/compare.rs"]
mod compare;
#[path = "suite/needs.rs"]
mod needs;
#[path = "deployment-manager/python.rs"]
mod python;
#[path = "deployment-manager/sandbox.rs"]
mod sandbox;
#[path = "deployment-manager/templates.rs"]
mod templates;
#[path = "deployment-manager/unit.rs"]
mod unit;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use krm_template::deployment_manager::error::ExpandError;
use krm_template::deployment_manager::expand::expand;
use krm_template::deployment_manager::expansion::Expansion;
use krm_template::deployment_manager::model::{Options, Request};
use krm_template::deployment_manager::request;
use krm_yaml::source::Source;
use libtest_mimic::{Arguments, Failed, Trial};

use compare::{Order, canonical};

/// The options of the corpus.
const OPTIONS: Options = Options { validate_schema: true, strict_schemas: true, outputs: false };

fn main() -> ExitCode {
    if let Some(code) = krm_template_exec::python::enter_sandbox() {
        return code;
    }
    let arguments = Arguments::from_args();
    let mut trials = vec![
        needs::shared_data("jinja/expansions", |shared| expansions(shared, "jinja", 235)),
        needs::shared_data("jinja/errors", |shared| errors(shared, "jinja", 13)),
        needs::shared_data("jinja/unit_expansions", |shared| unit::expansions(shared, false, 32)),
        needs::shared_data("jinja/unit_validations", |shared| unit::validations(shared, 144)),
        with_python("python/both_expansions", |shared| expansions(shared, "jinja+py", 11)),
        with_python("python/expansions", |shared| expansions(shared, "py", 72)),
        with_python("python/both_errors", |shared| errors(shared, "jinja+py", 1)),
        with_python("python/errors", |shared| errors(shared, "py", 18)),
        with_python("python/unit_expansions", |shared| unit::expansions(shared, true, 12)),
    ];
    trials.extend(command::trials());
    trials.extend(templates::trials());
    trials.extend(sandbox::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A test of the shared data that runs Python templates.
fn with_python(
    name: &str,
    test: impl FnOnce(&Path) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let trial = needs::shared_data(name, test);
    if python::is_there() {
        trial
    } else {
        needs::ignored(trial, Some("needs python3 with PyYAML and six".to_owned()))
    }
}

/// Fails unless all cases are as expected, and there are as many as wanted.
pub(crate) fn report(
    results: Vec<(String, Result<(), String>)>,
    wanted: usize,
) -> Result<(), Failed> {
    let total = results.len();
    let failed: Vec<String> = results
        .into_iter()
        .filter_map(|(name, result)| Some(format!("{name}: {}", result.err()?)))
        .collect();
    let reached = total - failed.len();
    println!("{reached} of {total}");
    if failed.is_empty() && total == wanted {
        return Ok(());
    }
    Err(format!("{reached} of {total}, wanted {wanted}\n{}", failed.join("\n")).into())
}

/// Expands a request with Python.
pub(crate) fn run(request: &Request) -> Result<Expansion<'_>, ExpandError> {
    expand(request, python::interpreter().as_mut())
}

/// A folder of `expand/`.
struct Case {
    name: String,
    request: Request,
    order: Order,
    expected: Result<String, String>,
}

/// The cases whose templates are of these languages; with an expansion, or with an error.
fn cases(shared: &Path, kinds: &str, is_error: bool) -> Result<Vec<Case>, Failed> {
    let folder = shared.join("corpus/deployment-manager/expand");
    let mut folders: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    folders.sort_by_key(fs::DirEntry::file_name);
    let mut cases = Vec::new();
    for entry in folders {
        let path = entry.path();
        let meta: serde_json::Value = serde_json::from_slice(&fs::read(path.join("meta.json"))?)?;
        let error = path.join("expected_error.txt");
        if meta["template_kinds"] != kinds || error.exists() != is_error {
            continue;
        }
        let input = fs::read_to_string(path.join("input.json"))?;
        let request = request::read(&Source::new("input.json", input), OPTIONS)
            .map_err(|errors| format!("{errors:?}"))?;
        cases.push(Case {
            name: entry.file_name().to_string_lossy().into_owned(),
            request,
            order: if meta["py2_py3_equal"] == true { Order::Kept } else { Order::OfPython2 },
            expected: if is_error {
                Err(fs::read_to_string(error)?)
            } else {
                Ok(fs::read_to_string(path.join("expected.yaml"))?)
            },
        });
    }
    Ok(cases)
}

fn expansions(shared: &Path, kinds: &str, wanted: usize) -> Result<(), Failed> {
    let cases = cases(shared, kinds, false)?;
    let results = cases.into_iter().map(|case| {
        let expected = case.expected.unwrap_or_default();
        (case.name, equal(&case.request, &expected, case.order))
    });
    report(results.collect(), wanted)
}

/// Whether a request expands to the expected text.
pub(crate) fn equal(request: &Request, expected: &str, order: Order) -> Result<(), String> {
    let expansion = run(request).map_err(|error| format!("{error:?}"))?;
    let found = canonical(&expansion.into_value(), order);
    let expected = canonical(&compare::read(expected)?, order);
    if found == expected {
        return Ok(());
    }
    Err(compare::first_difference(&found, &expected))
}

fn errors(shared: &Path, kinds: &str, wanted: usize) -> Result<(), Failed> {
    let cases = cases(shared, kinds, true)?;
    let results = cases.into_iter().map(|case| {
        let expected = case.expected.err().unwrap_or_default();
        (case.name, same_error(&case.request, &expected))
    });
    report(results.collect(), wanted)
}

/// Whether a request fails as expected: with the same resource or the same template.
fn same_error(request: &Request, expected: &str) -> Result<(), String> {
    let expected = expected.split("=====PY3=====").next().unwrap_or_default();
    match run(request) {
        Ok(_) => Err("it is expanded".to_owned()),
        Err(error) => compare::same_error(&error.diagnostics, expected),
    }
}
