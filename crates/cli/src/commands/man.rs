//! `krm-template man`: the manual pages.

use std::path::Path;

use anyhow::Context as _;
use clap::{Args, Command};

use krm_template_exec::io;
use krm_template_exec::status::OK;

/// Write the manual pages, one for each command
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The directory to write them to; created if it does not exist
    #[arg(long, value_name = "DIR")]
    output_dir: String,
}

const EXAMPLES: &str = "\
Example:
  krm-template man --output-dir /usr/share/man/man1";

pub(crate) fn run(arguments: &Arguments, program: Command) -> anyhow::Result<u8> {
    let folder = &arguments.output_dir;
    io::make_folder(Path::new(folder))?;
    clap_mangen::generate_to(program, folder)
        .with_context(|| format!("the manual pages cannot be written to `{folder}`"))?;
    Ok(OK)
}
