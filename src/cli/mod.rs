//! The command line: arguments, files, standard streams and exit codes, and nothing else.

mod function;
mod io;
mod process;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Everything went well.
const OK: u8 = 0;
/// The input is wrong; what is wrong was printed.
const FAILED: u8 = 1;
/// The arguments are wrong.
const USAGE: u8 = 2;

const ABOUT: &str =
    "Expands Templates into Kubernetes objects, and keeps your YAML as you wrote it";

const LONG_ABOUT: &str = "\
Expands Templates into Kubernetes objects, and keeps your YAML as you wrote it.

Without arguments this is a KRM function: it reads a ResourceList on standard input, expands the
Template that is its functionConfig, and writes the ResourceList with the objects to standard
output. `kustomize build --enable-alpha-plugins`, `kpt fn eval` and `kpt fn render` run it so.";

const AFTER_HELP: &str = "\
Examples:
  # as a function of a kpt package
  kpt fn eval PACKAGE --exec krm-template --fn-config template.yaml

  # on the command line
  krm-template process -f template.yaml -p NAME=web | kubectl apply -f -

A functionConfig:
  apiVersion: template.krm.dev/v1alpha1
  kind: Template
  metadata:
    name: web
  parameters:
  - name: NAME
    value: web
  - name: REPLICAS
    type: int
    value: \"3\"
  objects:
  - apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: $(NAME)
    spec:
      replicas: $((REPLICAS))

Environment:
  KRM_TEMPLATE_SEED  the secret that a function derives `generate: expression` values from
  NO_COLOR           if set, messages are not coloured

Exit status: 0 all is well, 1 the input is wrong, 2 the arguments are wrong.";

/// The arguments of the program.
#[derive(Debug, Parser)]
#[command(name = "krm-template", version, about = ABOUT, long_about = LONG_ABOUT, after_long_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Process(process::Arguments),
}

/// Parses the arguments and does what they say.
#[must_use]
pub fn main() -> ExitCode {
    Cli::parse().run()
}

impl Cli {
    fn run(self) -> ExitCode {
        let outcome = match self.command {
            None => function::run(),
            Some(Command::Process(arguments)) => process::run(&arguments),
        };
        match outcome {
            Ok(code) => ExitCode::from(code),
            Err(error) => {
                io::print_error(&format!("error: {error:#}\n"));
                ExitCode::from(FAILED)
            }
        }
    }
}
