//! Applying and deleting objects, against the fake cluster in `tests/server/cluster`. The fake
//! cluster is compared with recorded responses of a real one.
//!
//! Without `python3` the tests are ignored; the comparison also needs PyYAML and the shared data.

mod applying;
mod away;
mod deleting;
mod order;
mod recorded;
mod rights;
mod support;

use std::process::Command;

use libtest_mimic::Trial;
use tokio::runtime::Builder;

/// The name of a test that needs only `python3`, and its function.
type Test = (&'static str, fn() -> support::Future);

pub(crate) fn trials() -> Vec<Trial> {
    let python = Command::new("python3").arg("--version").output();
    let missing = python.is_err().then_some("needs python3");
    let tests = [applying::TESTS, away::TESTS, deleting::TESTS, order::TESTS, rights::TESTS];
    let mut trials: Vec<Trial> = tests
        .into_iter()
        .flatten()
        .map(|(name, test)| {
            let trial = Trial::test(format!("apply/{name}"), move || {
                let runtime = Builder::new_current_thread().enable_all().build()?;
                runtime.block_on(test());
                Ok(())
            });
            ignored(trial, missing)
        })
        .collect();
    trials.push(ignored(recorded::trial(), missing.or(recorded::missing())));
    trials
}

fn ignored(trial: Trial, reason: Option<&str>) -> Trial {
    match reason {
        Some(reason) => trial.with_kind(reason).with_ignored_flag(true),
        None => trial,
    }
}
