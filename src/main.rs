//! The program.

use std::process::ExitCode;

fn main() -> ExitCode {
    krm_template::cli::main()
}
