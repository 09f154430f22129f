//! Deployments with the real program: the corpus of the original, restarts, several servers, and
//! hostile requests.
//!
//! ```text
//! cargo test -p krm-template-server --test deployments
//! cargo test -p krm-template-server --test deployments --features etcd
//! ```

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::format_collect,
    clippy::print_stdout,
    reason = "tests"
)]

mod client;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../../../../tests/deployment-manager/compare.rs"]
mod compare;
mod corpus;
mod hostile;
mod paths;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../http/program.rs"]
mod program;
#[cfg(feature = "etcd")]
mod replicas;
mod restart;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    // First, because one of them waits for half a minute.
    #[cfg(feature = "etcd")]
    trials.extend(replicas::trials());
    trials.extend(client::trials());
    trials.extend(corpus::trials());
    trials.extend(paths::trials());
    trials.extend(restart::trials());
    trials.extend(hostile::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(name: &str, test: fn()) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

/// Returns a test that is ignored if a requirement is missing.
fn needs(
    what: &str,
    is_there: bool,
    name: &str,
    test: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let trial = Trial::test(name, test);
    if is_there {
        trial
    } else {
        trial
            .with_kind(format!("needs {what}"))
            .with_ignored_flag(true)
    }
}

/// Returns a request body with a configuration and its imports.
fn body(name: &str, content: &str, imports: &[(&str, &str)]) -> Vec<u8> {
    let imports: Vec<_> = imports
        .iter()
        .map(|(name, content)| serde_json::json!({"name": name, "path": name, "content": content}))
        .collect();
    let configuration = serde_json::json!({"content": content, "imports": imports});
    let body = serde_json::json!({"name": name, "configuration": configuration});
    body.to_string().into_bytes()
}
