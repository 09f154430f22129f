//! The program called as `kustomize`, by a link of this name: its `build`, `edit` and `version`.

use std::ffi::OsString;
use std::path::Path;

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::commands::{build, edit};
use crate::tips::suggestions;
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_template_exec::status::OK;

/// The version of kustomize whose commands these are.
const VERSION: &str = "v5.8.1";

const NAME: &str = "kustomize";

/// The commands of kustomize, by krm-template
#[derive(Debug, Parser)]
#[command(name = NAME, args_override_self = true)]
struct Kustomize {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    console: Console,

    /// Accepted for compatibility with kustomize; has no effect, because messages name places in
    /// files
    #[arg(long, global = true, hide = true)]
    stack_trace: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Build(Box<build::Arguments>),
    Edit(edit::Arguments),
    Version(Version),
}

/// Print the version of kustomize whose commands these are
#[derive(Debug, clap::Args)]
struct Version {
    /// Print it in braces, as older versions of kustomize
    #[arg(long)]
    short: bool,

    /// Output format
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<VersionFormat>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum VersionFormat {
    Json,
    Yaml,
}

/// Whether the program is called by this name.
pub(crate) fn is_kustomize() -> bool {
    let name = std::env::args_os().next();
    let name = name.as_deref().map(Path::new).and_then(Path::file_stem);
    name.is_some_and(|name| name == NAME)
}

pub(crate) fn run() -> anyhow::Result<u8> {
    match Kustomize::try_parse_from(std::env::args_os().filter_map(without_bool)) {
        Ok(kustomize) => kustomize.run(),
        Err(mut error) => {
            suggestions::advise(&mut error, Kustomize::command());
            io::refuse(&error)
        }
    }
}

/// An option such as `--enable-helm=true` as the option alone; none if it is false.
fn without_bool(word: OsString) -> Option<OsString> {
    let Some((name, value)) = word.to_str().and_then(|word| word.split_once('=')) else {
        return Some(word);
    };
    match value {
        "true" if name.starts_with("--") => Some(name.into()),
        "false" if name.starts_with("--") => None,
        _ => Some(word),
    }
}

impl Kustomize {
    fn run(self) -> anyhow::Result<u8> {
        match self.command {
            Command::Build(arguments) => build::run(&arguments, self.console),
            Command::Edit(arguments) => edit::run(&arguments, self.console),
            Command::Version(arguments) => {
                io::print([arguments.text().as_str()])?;
                Ok(OK)
            }
        }
    }
}

impl Version {
    fn text(&self) -> String {
        let commit = concat!("krm-template v", env!("CARGO_PKG_VERSION"));
        match self.output {
            Some(VersionFormat::Json) => {
                format!("{{\n  \"version\": \"{VERSION}\",\n  \"gitCommit\": \"{commit}\"\n}}\n")
            }
            Some(VersionFormat::Yaml) => format!("gitCommit: {commit}\nversion: {VERSION}\n"),
            None if self.short => format!("{{{NAME}/{VERSION}    }}\n"),
            None => format!("{VERSION}\n"),
        }
    }
}
