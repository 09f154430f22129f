//! All tests of the server besides the unit tests, in one program.
//!
//! ```text
//! cargo test -p krm-template-server --test suite -- store/
//! cargo test -p krm-template-server --test suite --features etcd -- store/
//! ```
//!
//! By default, the long tests of the stores run in a short form. The long form takes minutes:
//!
//! ```text
//! KRM_TEMPLATE_KILL_ROUNDS=50 cargo test -p krm-template-server --test suite --features etcd -- store/kill
//! KRM_TEMPLATE_HISTORY_ROUNDS=20 cargo test -p krm-template-server --test suite --features etcd -- histories
//! ```
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::too_many_lines,
    clippy::format_push_string,
    clippy::format_collect,
    reason = "tests"
)]

use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// Lists the tests of a module, which `#[test]` does not do here; those after `shared data:` need
/// it.
macro_rules! tests {
    ($($test:ident),* $(; shared data: $($shared:ident),+)?) => {
        pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
            vec![
                $(crate::trial(crate::name(module_path!(), stringify!($test)), $test),)*
                $($(crate::needs_data(crate::trial(
                    crate::name(module_path!(), stringify!($shared)),
                    $shared,
                )),)+)?
            ]
        }
    };
}

/// Lists the tests of a module as `tests!` does, and each again with YAML whose lines end with CRLF.
macro_rules! tests_and_crlf {
    ($($test:ident),* $(; shared data: $($shared:ident),+)?) => {
        pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
            vec![
                $(
                    crate::trial(crate::name(module_path!(), stringify!($test)), $test),
                    crate::trial(
                        crate::name(module_path!(), concat!("crlf/", stringify!($test))),
                        || crate::crlf::with($test),
                    ),
                )*
                $($(crate::needs_data(crate::trial(
                    crate::name(module_path!(), stringify!($shared)),
                    $shared,
                )),)+)?
            ]
        }
    };
}

mod apply;
mod auth;
mod crlf;
mod deploy;
mod deployments;
mod exchanges;
mod http;
mod instances;
mod object;
mod pages;
mod patch;
mod process;
mod store;
mod words;

/// The groups of tests of which each is a file of the shared folder.
const OF_FILES: [&str; 3] = ["object/", "process/real/", "process/recorded/"];

/// Returns a test that a group has tests: a list that became empty would pass in silence.
fn has_tests(group: &str, trials: &[Trial]) -> Trial {
    let has_tests = trials.iter().any(|trial| trial.name().starts_with(group));
    needs_data(Trial::test(format!("groups/{group}has_tests"), move || {
        if has_tests { Ok(()) } else { Err("the list of its tests is empty".into()) }
    }))
}

fn main() -> ExitCode {
    if let Some(code) = store::child() {
        return code;
    }
    let mut arguments = Arguments::from_args();
    // Many tests wait: for a disk, for etcd, for the end of a program.
    arguments.test_threads.get_or_insert(4);
    let trials = [
        // First, because one of them waits for half a minute.
        deployments::trials(),
        apply::trials(),
        auth::trials(),
        deploy::trials(),
        exchanges::trials(),
        http::trials(),
        instances::trials(),
        object::trials(),
        pages::trials(),
        patch::trials(),
        process::trials(),
        store::trials(),
    ];
    let mut trials: Vec<Trial> = trials.into_iter().flatten().collect();
    let groups = OF_FILES.map(|group| has_tests(group, &trials));
    trials.extend(groups);
    let conclusion = libtest_mimic::run(&arguments, trials);
    store::end();
    conclusion.exit_code()
}

/// Returns the name of a test: `AREA/MODULE/FUNCTION`.
fn name(module: &str, function: &str) -> String {
    let module = module.trim_start_matches("suite::").replace("::", "/");
    format!("{module}/{function}")
}

fn trial(name: impl Into<String>, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

/// Returns the shared folder, if there is one.
fn shared() -> Option<PathBuf> {
    std::env::var_os("KRM_TEMPLATE_SHARED").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Returns a test that is ignored without the shared folder.
fn needs_data(trial: Trial) -> Trial {
    needs("KRM_TEMPLATE_SHARED", shared().is_some(), trial)
}

/// Returns a placeholder for the tests whose names are in the shared folder.
fn without_data(name: &str) -> Vec<Trial> {
    let missing = || Err("KRM_TEMPLATE_SHARED is not set".into());
    vec![needs("KRM_TEMPLATE_SHARED", false, Trial::test(name, missing))]
}

/// Returns a test that is ignored if a requirement is missing.
fn needs(what: &str, is_there: bool, trial: Trial) -> Trial {
    if is_there { trial } else { trial.with_kind(format!("needs {what}")).with_ignored_flag(true) }
}
