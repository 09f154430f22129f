//! Every test from the outside, in one binary.
//!
//! `cargo test --test suite -- FILTER` runs those whose name contains `FILTER`; with `UPDATE=1`
//! expected files are rewritten instead of compared.
#![expect(
    clippy::disallowed_methods,
    reason = "tests read their own files and environment"
)]

mod architecture;
mod cases;
mod diff;
mod documents;
mod examples;
mod kudo;
mod manners;
mod markdown;
mod parameters;
mod program;
mod rules;
mod schema;
mod selection;
mod source_map;
mod transformers;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials: Vec<Trial> = [
        architecture::trials(),
        cases::trials(),
        examples::trials(),
        documents::trials(),
        kudo::trials(),
        manners::trials(),
        parameters::trials(),
        rules::trials(),
        selection::trials(),
        schema::trials(),
        source_map::trials(),
        transformers::trials(),
    ]
    .into_iter()
    .flatten()
    .collect();
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
