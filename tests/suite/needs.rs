//! Tests that need programs or data that not every machine has. Without them they are ignored,
//! with the reason as their kind; `.ci/run` runs them with `--include-ignored`.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};

/// The variable with the path of the shared data.
const SHARED: &str = "KRM_TEMPLATE_SHARED";

/// A test of the shared data.
pub(crate) fn shared_data(
    name: impl Into<String>,
    test: impl FnOnce(&Path) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let folder = std::env::var_os(SHARED).filter(|value| !value.is_empty());
    let folder = folder.map(PathBuf::from);
    let reason = folder.is_none().then(|| format!("needs {SHARED}"));
    let trial = Trial::test(name, move || {
        let folder = folder.ok_or_else(|| format!("{SHARED} is not set"))?;
        test(&folder)
    });
    ignored(trial, reason)
}

/// The test, ignored if there is a reason to.
pub(crate) fn ignored(trial: Trial, reason: Option<String>) -> Trial {
    match reason {
        Some(reason) => trial.with_kind(reason).with_ignored_flag(true),
        None => trial,
    }
}

/// Whether the kernel keeps Python templates in a sandbox. The program is not asked, which may be
/// wrong.
pub(crate) fn has_landlock() -> bool {
    let version = "import ctypes; print(ctypes.CDLL(None).syscall(444, None, 0, 1))";
    let output = Command::new("python3").args(["-c", version]).output();
    let version = output.map(|output| output.stdout).unwrap_or_default();
    let version = String::from_utf8_lossy(&version);
    version.trim().parse::<i32>().is_ok_and(|version| version >= 1)
}

/// The option that runs Python templates on this machine.
pub(crate) fn allow_python() -> &'static str {
    if has_landlock() { "--allow-python" } else { "--allow-python=unconfined" }
}
