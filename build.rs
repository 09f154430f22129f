//! Passes the commit to the program if it is known, and the options of a static program to the linker.
#![expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script what is wanted by its environment"
)]

#[path = "build/commit.rs"]
mod commit;

use std::path::Path;

/// A linker script that leaves out the tables for unwinding, except those that the C runtime
/// registers.
const WITHOUT_UNWINDING: &str = "SECTIONS { /DISCARD/ : { \
    *(EXCLUDE_FILE(*crtbegin*.o *crtend*.o) .eh_frame) } } INSERT BEFORE .text;";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build/commit.rs");
    commit::pass(".");
    fix_address();
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
