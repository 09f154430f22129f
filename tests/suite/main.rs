//! Every test from the outside, in one binary.
//!
//! `cargo test --test suite -- FILTER` runs those whose name contains `FILTER`; with `UPDATE=1`
//! expected files are rewritten instead of compared.
#![expect(clippy::disallowed_methods, reason = "tests read their own files and environment")]

mod agreement;
mod architecture;
mod bounds;
mod called;
mod canaries;
mod cases;
mod cost;
mod diff;
mod documents;
mod examples;
mod export;
mod figures;
mod functions;
mod git;
mod guestbook;
mod kubectl;
mod kudo;
mod limits;
mod manners;
mod markdown;
mod merge;
mod needs;
mod ownership;
mod parameters;
mod program;
mod programs;
mod readers;
mod reference;
mod refusals;
mod repetition;
mod restrictions;
mod rules;
mod schema;
mod secrets;
mod selection;
mod shared_builds;
mod source_map;
mod transformers;
mod troubleshooting;
mod writing;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// The name before the slash, and the function that lists the tests.
type Group = (&'static str, fn() -> Vec<Trial>);

fn main() -> ExitCode {
    if repetition::works() {
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let groups: [Group; 35] = [
        ("agreement", agreement::trials),
        ("architecture", architecture::trials),
        ("bounds", bounds::trials),
        ("called", called::trials),
        ("canaries", canaries::trials),
        ("cases", cases::trials),
        ("cost", cost::trials),
        ("examples", examples::trials),
        ("export", export::trials),
        ("documents", documents::trials),
        ("figures", figures::trials),
        ("functions", functions::trials),
        ("git", git::trials),
        ("guestbook", guestbook::trials),
        ("kubectl", kubectl::trials),
        ("kudo", kudo::trials),
        ("limits", limits::trials),
        ("manners", manners::trials),
        ("merge", merge::trials),
        ("ownership", ownership::trials),
        ("parameters", parameters::trials),
        ("programs", programs::trials),
        ("readers", readers::trials),
        ("repetition", repetition::trials),
        ("refusals", refusals::trials),
        ("restrictions", restrictions::trials),
        ("rules", rules::trials),
        ("secrets", secrets::trials),
        ("selection", selection::trials),
        ("schema", schema::trials),
        ("shared_builds", shared_builds::trials),
        ("source_map", source_map::trials),
        ("transformers", transformers::trials),
        ("troubleshooting", troubleshooting::trials),
        ("writing", writing::trials),
    ];
    let trials = groups.into_iter().flat_map(|(name, trials)| {
        let trials = trials();
        // A list that became empty would pass in silence.
        let is_empty = trials.is_empty();
        let has_tests = Trial::test(format!("groups/{name}_has_tests"), move || {
            if is_empty {
                return Err("the list of its tests is empty".into());
            }
            Ok(())
        });
        trials.into_iter().chain([has_tests])
    });
    let trials = trials.collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether expected files are to be rewritten.
fn update() -> bool {
    std::env::var_os("UPDATE").is_some_and(|value| value == "1")
}
