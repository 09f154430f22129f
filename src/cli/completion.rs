//! `krm-template completion`: what a shell needs to complete our arguments.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::cli::{OK, io};

/// Prints what a shell needs to complete the arguments of krm-template
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  # in ~/.bashrc
  source <(krm-template completion bash)

  # in ~/.zshrc, below `compinit`
  source <(krm-template completion zsh)

  # once
  krm-template completion fish > ~/.config/fish/completions/krm-template.fish";

pub(super) fn run(arguments: &Arguments, mut program: Command) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    let name = program.get_name().to_owned();
    clap_complete::generate(arguments.shell, &mut program, name.as_str(), &mut script);
    let script = String::from_utf8_lossy(&script);
    io::print([mended(&script, &name).as_str()])?;
    Ok(OK)
}

/// The script for bash has two spellings of a name with a hyphen, and so would complete no options
/// of subcommands: <https://github.com/clap-rs/clap/issues/6421>.
fn mended(script: &str, name: &str) -> String {
    script.replace(&name.replace('-', "__subcmd__"), &name.replace('-', "__"))
}
