//! The program: parse the arguments, do what they say, exit.

use std::process::ExitCode;

use clap::Parser;
use krm_template::cli::Cli;

fn main() -> ExitCode {
    Cli::parse().run()
}
