//! Passes the commit to the program if it is known.
//!
//! `KRM_TEMPLATE_COMMIT` sets the commit for builds without a repository; if it is empty, the program
//! names no commit. Otherwise git is asked, if this folder is a repository. The same sources make
//! the same program, whatever the clock or the machine.
#![expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script what is wanted by its environment"
)]

use std::path::Path;
use std::process::Command;

/// How many digits of a commit are named: enough in any repository.
const DIGITS: usize = 12;

/// A linker script that leaves out the tables for unwinding, except those that the C runtime
/// registers.
const WITHOUT_UNWINDING: &str = "SECTIONS { /DISCARD/ : { \
    *(EXCLUDE_FILE(*crtbegin*.o *crtend*.o) .eh_frame) } } INSERT BEFORE .text;";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=KRM_TEMPLATE_COMMIT");
    fix_address();
    let commit = match std::env::var("KRM_TEMPLATE_COMMIT") {
        Ok(commit) => Some(commit).filter(|commit| !commit.is_empty()),
        // A `.git` further up is that of another project.
        Err(_) if Path::new(".git").exists() => of_repository(),
        Err(_) => None,
    };
    if let Some(commit) = commit {
        let digits = commit.chars().filter(char::is_ascii_alphanumeric);
        let commit: String = digits.take(DIGITS).collect();
        let version = env!("CARGO_PKG_VERSION");
        println!("cargo:rustc-env=KRM_TEMPLATE_LONG_VERSION={version} ({commit})");
    }
}

/// A static program that may be loaded anywhere adapts thousands of addresses each time it starts,
/// which takes longer than a small expansion. So it is loaded at a fixed address.
fn fix_address() {
    let of_target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}"));
    let features = of_target("FEATURE").unwrap_or_default();
    let is_static = features.split(',').any(|feature| feature == "crt-static");
    let is_gnu_linux =
        of_target("OS").as_deref() == Ok("linux") && of_target("ENV").as_deref() == Ok("gnu");
    if is_static && is_gnu_linux {
        println!("cargo:rustc-link-arg-bins=-static");
        println!("cargo:rustc-link-arg-bins=-no-pie");
        leave_out_unwinding();
    }
}

/// The static program ends at a panic, so the tables for unwinding, 0.6 MB, have no use.
fn leave_out_unwinding() {
    let Some(folder) = std::env::var_os("OUT_DIR") else {
        return;
    };
    let script = Path::new(&folder).join("without-unwinding.ld");
    if std::fs::write(&script, WITHOUT_UNWINDING).is_ok() {
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{}", script.display());
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
