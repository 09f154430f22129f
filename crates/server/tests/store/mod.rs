//! The stores: a suite and a model for all stores, then tests of single stores.

mod damage;
mod dumps;
#[cfg(feature = "etcd")]
mod etcd;
mod file;
mod kill;
#[cfg(feature = "etcd")]
mod linear;
mod model;
mod suite;

use std::time::Duration;

use krm_template_server_core::Store;
use libtest_mimic::Trial;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

pub(crate) use self::kill::child;

/// The timeout of a test.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![];
    for (name, check) in suite::CHECKS {
        trials.push(trial(format!("memory/{name}"), move || {
            run(check(Store::memory()));
        }));
        trials.push(trial(format!("file/{name}"), move || {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::file(&folder.path().join("store.redb")).unwrap();
            run(check(store));
        }));
    }
    trials.push(waiting("memory/an_idle_watch_tells_how_far_it_is", || {
        suite::an_idle_watch_tells_how_far_it_is(Store::memory())
    }));
    trials.push(trial("memory/follows_the_model", model::memory));
    trials.push(trial("file/follows_the_model", model::file));
    trials.extend(damage::trials());
    trials.extend(dumps::trials());
    trials.extend(file::trials());
    trials.extend(kill::trials());
    #[cfg(feature = "etcd")]
    trials.extend(etcd::trials());
    trials
}

/// Stops what the tests started.
pub(crate) fn end() {
    #[cfg(feature = "etcd")]
    etcd::stop();
}

fn trial(name: impl AsRef<str>, test: impl FnOnce() + Send + 'static) -> Trial {
    crate::trial(format!("store/{}", name.as_ref()), test)
}

/// Returns an asynchronous test.
fn waiting<F: Future<Output = ()>>(
    name: impl AsRef<str>,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    trial(name, move || run(test()))
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Runs a future with a timeout.
fn run<T>(test: impl Future<Output = T>) -> T {
    runtime().block_on(async { timeout(PATIENCE, test).await.expect("the test hangs") })
}

/// Returns a number from the environment, or a default.
fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var_os(name).and_then(|value| value.into_string().ok());
    value.map_or(default, |value| value.parse().expect("a number"))
}

/// Ignores a test unless the user is root, who can mount file systems and create network
/// namespaces.
fn needs_root(trial: Trial) -> Trial {
    crate::needs("root", rustix::process::geteuid().is_root(), trial)
}
