//! Recorded requests to an OpenShift API server and a kube-apiserver, sent to this server.
//!
//! `corpus/template-api` below `KRM_TEMPLATE_SHARED` holds the requests and the answers, in the
//! order in which they were made. Each answer of ours is equal to the recorded one, or listed in
//! `tests/template-api/differences.txt` with our status code and a reason. The report of a run is
//! in `target/template-api-report.txt`.
//!
//! | module | content |
//! |---|---|
//! | `recording` | the recorded exchanges, as files |
//! | `client` | one HTTP request and its answer |
//! | `program` | the server under test |
//! | `known` | values of a recording and ours in their place |
//! | `comparison` | an answer beside the recorded one |
//! | `replay` | the order of requests, and those that were not recorded |
//! | `listed` | the list of differences |
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "tests read their own files and environment, and fail by a panic"
)]

mod client;
mod comparison;
mod known;
mod listed;
mod program;
mod recording;
mod replay;
mod tables;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let shared = std::env::var_os("KRM_TEMPLATE_SHARED").map(PathBuf::from);
    let mut trials = tables::trials();
    let recorded = shared.clone();
    trials.push(
        Trial::test("exchanges/recorded_answers_are_ours_or_listed", move || {
            exchanges(&recorded.unwrap().join("corpus/template-api"))
        })
        .with_ignored_flag(shared.is_none()),
    );
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Replays all exchanges and compares them with the list of differences.
fn exchanges(folder: &Path) -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let recorded = recording::all(folder)?;
    let listed = listed::read(&root.join("tests/template-api/differences.txt"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let server = program::Server::start()?;
    let outcomes = runtime.block_on(replay::run(&recorded, &listed, server.address()))?;
    drop(server);
    std::fs::write(
        root.join("target/template-api-report.txt"),
        listed::report(&outcomes),
    )?;
    let wrong = listed::wrong(&outcomes, &listed);
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{} exchanges:\n{}", wrong.len(), wrong.join("\n")).into())
    }
}
