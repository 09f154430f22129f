//! The commit from which a program is built.
//!
//! `KRM_TEMPLATE_COMMIT` sets the commit for builds without a repository; if it is empty, the program
//! names no commit. Otherwise git is asked, if the folder is a repository. The same sources make the
//! same program, whatever the clock or the machine.

use std::path::Path;
use std::process::Command;

/// How many digits of a commit are named: enough in any repository.
const DIGITS: usize = 12;

/// Returns the commit of the folder at the top, and passes it to the program with its version.
pub(crate) fn pass(top: &str) -> Option<String> {
    println!("cargo:rerun-if-env-changed=KRM_TEMPLATE_COMMIT");
    let commit = match std::env::var("KRM_TEMPLATE_COMMIT") {
        Ok(commit) => Some(commit).filter(|commit| !commit.is_empty()),
        // A `.git` further up is that of another project.
        Err(_) if Path::new(top).join(".git").exists() => of_repository(),
        Err(_) => None,
    }?;
    let digits = commit.chars().filter(char::is_ascii_alphanumeric);
    let commit: String = digits.take(DIGITS).collect();
    let version = env!("CARGO_PKG_VERSION");
    println!("cargo:rustc-env=KRM_TEMPLATE_LONG_VERSION={version} ({commit})");
    Some(commit)
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
