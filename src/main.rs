//! The program.

use std::process::ExitCode;

/// The version, with the commit if it is known.
const LONG_VERSION: &str = match option_env!("KRM_TEMPLATE_LONG_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

fn main() -> ExitCode {
    krm_template::cli::main(LONG_VERSION)
}
