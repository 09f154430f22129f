//! Recorded requests to an OpenShift API server and a kube-apiserver, sent to this server.
//!
//! `corpus/template-api` and `corpus/template-instances/api` in `KRM_TEMPLATE_SHARED` contain the
//! requests and responses in their original order. Each of our responses must equal the recorded
//! one, or be listed in `tests/template-api/differences.txt` or `instances.txt` there with our
//! status code and a reason. Each run writes reports to `target`.
//!
//! | module | content |
//! |---|---|
//! | `recording` | the recorded exchanges, as files |
//! | `client` | one HTTP request and its response |
//! | `program` | the server under test |
//! | `known` | recorded values, mapped to ours |
//! | `comparison` | comparison of a response with the recorded one |
//! | `replay` | the order of requests, and unrecorded requests |
//! | `listed` | the list of differences |
//! | `requests` | parsing of the recorded requests |

mod client;
mod comparison;
mod known;
mod listed;
mod program;
mod recording;
mod replay;
mod requests;
mod tables;

use std::path::Path;

use libtest_mimic::{Failed, Trial};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = tables::trials();
    for (what, corpus) in [("", &replay::TEMPLATES), ("about_instances_", &replay::INSTANCES)] {
        let name = format!("exchanges/recorded_answers_{what}are_ours_or_listed");
        trials.push(crate::needs_data(Trial::test(name, || exchanges(corpus))));
    }
    trials.push(crate::needs_data(Trial::test(
        "exchanges/every_recorded_request_is_read_as_it_was",
        || {
            let shared = crate::shared().ok_or("KRM_TEMPLATE_SHARED is not set")?;
            let folder = shared.join("corpus/template-api");
            requests::every_recorded_request_is_read_as_it_was(&recording::all(&folder)?)
        },
    )));
    trials
}

/// Replays all exchanges and compares them with the list of differences.
fn exchanges(corpus: &replay::Corpus) -> Result<(), Failed> {
    let shared = crate::shared().ok_or("KRM_TEMPLATE_SHARED is not set")?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let recorded = recording::all(&shared.join(corpus.folder))?;
    let listed = listed::read(&root.join("tests/template-api").join(corpus.differences))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = program::Server::start()?;
    let outcomes = runtime.block_on(replay::run(corpus, &recorded, &listed, server.address()))?;
    drop(server);
    std::fs::write(root.join("target").join(corpus.report), listed::report(&outcomes))?;
    let wrong = listed::wrong(&outcomes, &listed);
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{} exchanges:\n{}", wrong.len(), wrong.join("\n")).into())
    }
}
