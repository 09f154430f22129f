//! Passes the commit to the program if it is known, and tells the tests whether they have the shared
//! data.
//!
//! The commit is that of `KRM_TEMPLATE_COMMIT`, else of git, as for the program `krm-template`.
#![expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script what is wanted by its environment"
)]

use std::path::Path;
use std::process::Command;

/// How many digits of a commit are named: enough in any repository.
const DIGITS: usize = 12;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=KRM_TEMPLATE_COMMIT");
    shared_data();
    let commit = match std::env::var("KRM_TEMPLATE_COMMIT") {
        Ok(commit) => Some(commit).filter(|commit| !commit.is_empty()),
        // A `.git` further up is that of another project.
        Err(_) if Path::new("../../.git").exists() => of_repository(),
        Err(_) => None,
    };
    if let Some(commit) = commit {
        let digits = commit.chars().filter(char::is_ascii_alphanumeric);
        let commit: String = digits.take(DIGITS).collect();
        let version = env!("CARGO_PKG_VERSION");
        println!("cargo:rustc-env=KRM_TEMPLATE_COMMIT={commit}");
        println!("cargo:rustc-env=KRM_TEMPLATE_LONG_VERSION={version} ({commit})");
    }
}

/// Sets the cfg `shared_data` if `KRM_TEMPLATE_SHARED` names a folder. Only tests use it: without
/// the folder, those that read it are ignored.
fn shared_data() {
    println!("cargo:rerun-if-env-changed=KRM_TEMPLATE_SHARED");
    println!("cargo:rustc-check-cfg=cfg(shared_data)");
    if std::env::var_os("KRM_TEMPLATE_SHARED").is_some_and(|path| !path.is_empty()) {
        println!("cargo:rustc-cfg=shared_data");
    }
}

fn of_repository() -> Option<String> {
    // The log of HEAD changes with every commit and checkout.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        if Path::new(&path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "HEAD"])
}

/// One line of output of git; `None` if git is missing or fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
