//! The stores: a suite and a model for all stores, then tests of single stores.
//!
//! ```text
//! cargo test -p krm-template-server --test store
//! cargo test -p krm-template-server --test store --features etcd
//! ```
//!
//! By default, the long tests run in a short form. The long form takes minutes:
//!
//! ```text
//! KRM_TEMPLATE_KILL_ROUNDS=50 cargo test -p krm-template-server --test store --features etcd -- kill::
//! KRM_TEMPLATE_HISTORY_ROUNDS=20 cargo test -p krm-template-server --test store --features etcd -- histories
//! ```

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod dumps;
#[cfg(feature = "etcd")]
mod etcd;
mod file;
mod kill;
#[cfg(feature = "etcd")]
mod linear;
mod model;
mod suite;

use std::process::ExitCode;
use std::time::Duration;

use krm_template_server::store::Store;
use libtest_mimic::{Arguments, Trial};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// The timeout of a test.
const PATIENCE: Duration = Duration::from_mins(1);

fn main() -> ExitCode {
    if let Some(code) = kill::child() {
        return code;
    }
    let mut arguments = Arguments::from_args();
    // Most tests wait for a disk or for etcd.
    arguments.test_threads.get_or_insert(4);
    let mut trials = vec![];
    for (name, check) in suite::CHECKS {
        trials.push(trial(format!("memory::{name}"), move || {
            run(check(Store::memory()));
        }));
        trials.push(trial(format!("file::{name}"), move || {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::file(&folder.path().join("store.redb")).unwrap();
            run(check(store));
        }));
    }
    trials.push(waiting("memory::an_idle_watch_tells_how_far_it_is", || {
        suite::an_idle_watch_tells_how_far_it_is(Store::memory())
    }));
    trials.push(trial("memory::follows_the_model", model::memory));
    trials.push(trial("file::follows_the_model", model::file));
    trials.extend(dumps::trials());
    trials.extend(file::trials());
    trials.extend(kill::trials());
    #[cfg(feature = "etcd")]
    trials.extend(etcd::trials());
    let conclusion = libtest_mimic::run(&arguments, trials);
    #[cfg(feature = "etcd")]
    etcd::stop();
    conclusion.exit_code()
}

fn trial(name: impl Into<String>, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

/// Returns an asynchronous test.
fn waiting<F: Future<Output = ()>>(
    name: impl Into<String>,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    trial(name, move || run(test()))
}

fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
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
    if rustix::process::geteuid().is_root() {
        trial
    } else {
        trial.with_kind("needs root").with_ignored_flag(true)
    }
}
