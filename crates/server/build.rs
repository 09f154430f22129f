//! Passes the commit to the program if it is known.
#![expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script what is wanted by its environment"
)]

#[path = "../../build/commit.rs"]
mod commit;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../../build/commit.rs");
    if let Some(commit) = commit::pass("../..") {
        println!("cargo:rustc-env=KRM_TEMPLATE_COMMIT={commit}");
    }
}
