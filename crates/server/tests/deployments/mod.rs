//! Deployments with the real program: the corpus of the original, restarts, several servers, and
//! hostile requests.

mod client;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../../../../tests/deployment-manager/compare.rs"]
mod compare;
mod corpus;
mod hostile;
pub(crate) mod paths;
#[cfg(feature = "etcd")]
mod replicas;
mod restart;

use libtest_mimic::{Failed, Trial};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    #[cfg(feature = "etcd")]
    trials.extend(replicas::trials());
    trials.extend(client::trials());
    trials.extend(corpus::trials());
    trials.extend(paths::trials());
    trials.extend(restart::trials());
    trials.extend(hostile::trials());
    trials
}

fn trial(name: &str, test: fn()) -> Trial {
    crate::trial(format!("deployments/{name}"), test)
}

/// Returns a test that is ignored if a requirement is missing.
fn needs(
    what: &str,
    is_there: bool,
    name: &str,
    test: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let trial = Trial::test(format!("deployments/{name}"), test);
    crate::needs(what, is_there, trial)
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
