//! The command line: arguments, files, standard streams and exit codes.

mod args;
mod commands;
mod output;
mod programs;
mod tips;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use self::args::deferred::Deferred;
#[cfg(feature = "deployment-manager")]
use self::commands::dm;
#[cfg(feature = "form")]
use self::commands::form;
use self::commands::{
    build, completion, edit, explain, export, function, man, merge, parameters, process, schema,
    validate,
};
use self::tips::{kustomize_alias, suggestions};
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_template_exec::status::FAILED;

const ABOUT: &str = "Expand Templates into Kubernetes objects and keep your YAML as you wrote it";

const LONG_ABOUT: &str = "\
Expand Templates into Kubernetes objects and keep your YAML as you wrote it.

Without arguments, krm-template is a KRM function. It reads a ResourceList from standard input,
expands the Template in its functionConfig (or the Templates that a TemplateInstance names), and
writes the ResourceList with the objects to standard output. `kpt fn eval`, `kpt fn render` and
`kustomize build --enable-alpha-plugins` run it this way.";

const AFTER_HELP: &str = "\
Examples:
  # run it as a function on a kpt package
  kpt fn eval PACKAGE --exec krm-template --fn-config template.yaml

  # run it on the command line
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
  KRM_TEMPLATE_SEED        the secret from which a function derives generated values
  KRM_TEMPLATE_SEED_SCOPE  the default of `--seed-scope`, also for a function
  NO_COLOR                 if set, messages are not coloured
  CLICOLOR_FORCE           if set, messages and diffs are coloured even without a terminal

Exit status: 0 success, 1 invalid input, 2 invalid arguments.";

/// The arguments of the program.
#[derive(Debug, Parser)]
#[command(
    name = "krm-template",
    version,
    about = ABOUT,
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    // As with kubectl, the last one wins.
    args_override_self = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    console: Console,
}

#[derive(Debug, Subcommand)]
enum Command {
    Process(Box<process::Arguments>),
    Explain(Box<explain::Arguments>),
    /// Build the resources of a Kustomization or Composition and print them
    Build(Box<Deferred<build::Arguments>>),
    /// Edit the kustomization file of the current directory
    Edit(Deferred<edit::Arguments>),
    /// Make a Template from objects of files or of a cluster
    Export(Box<Deferred<export::Arguments>>),
    #[command(alias = "params")]
    Parameters(parameters::Arguments),
    #[cfg(feature = "form")]
    Form(form::Arguments),
    Merge(merge::Arguments),
    #[command(visible_alias = "lint")]
    Validate(Box<validate::Arguments>),
    #[cfg(feature = "deployment-manager")]
    /// Expand Deployment Manager configurations, offline
    #[command(name = "dm", alias = "deployment")]
    Deployment(Deferred<dm::Arguments>),
    Schema(schema::Arguments),
    Completion(completion::Arguments),
    Man(man::Arguments),
}

/// Parses the arguments and runs the command. The long version names the commit, if it is known.
pub fn main(long_version: &'static str) -> ExitCode {
    #[cfg(feature = "deployment-manager")]
    if let Some(code) = krm_template_exec::python::enter_sandbox() {
        return code;
    }
    if kustomize_alias::is_kustomize() {
        return finish(kustomize_alias::run());
    }
    // Without arguments there is nothing to parse, so the function starts faster.
    if std::env::args_os().nth(1).is_none() {
        return finish(function::run(Console::default()));
    }
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    if let [command, option, words @ ..] = arguments.as_slice()
        && command == "completion"
        && option == completion::NAMES
    {
        return finish(completion::names(words));
    }
    // It is not taken apart: it lasts as long as the program.
    let command = Box::leak(Box::new(Cli::command().long_version(long_version)));
    let matches = command.try_get_matches_from_mut(std::env::args_os());
    match matches.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches)) {
        Ok(cli) => cli.run(long_version),
        Err(error) => refuse(error.format(command)),
    }
}

/// The exit status of a command.
fn finish(outcome: anyhow::Result<u8>) -> ExitCode {
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            io::print_error(&format!("error: {error:#}\n"));
            ExitCode::from(FAILED)
        }
    }
}

/// Reports invalid arguments, or prints the help or the version.
fn refuse(mut error: clap::Error) -> ExitCode {
    suggestions::advise(&mut error, Cli::command());
    finish(io::refuse(&error))
}

/// All commands and options.
pub fn command() -> clap::Command {
    Cli::command()
}

impl Cli {
    fn run(self, long_version: &'static str) -> ExitCode {
        let outcome = match self.command {
            None => function::run(self.console),
            Some(Command::Process(arguments)) => process::run(&arguments, self.console),
            Some(Command::Explain(arguments)) => explain::run(&arguments, self.console),
            Some(Command::Build(arguments)) => build::run(&arguments.0, self.console),
            Some(Command::Edit(arguments)) => edit::run(&arguments.0, self.console),
            Some(Command::Export(arguments)) => export::run(&arguments.0, self.console),
            Some(Command::Parameters(arguments)) => parameters::run(&arguments, self.console),
            #[cfg(feature = "form")]
            Some(Command::Form(arguments)) => form::run(&arguments, self.console),
            Some(Command::Merge(arguments)) => merge::run(&arguments, self.console),
            Some(Command::Validate(arguments)) => validate::run(&arguments, self.console),
            #[cfg(feature = "deployment-manager")]
            Some(Command::Deployment(arguments)) => dm::run(&arguments.0, self.console),
            Some(Command::Schema(arguments)) => schema::run(&arguments),
            Some(Command::Completion(arguments)) => completion::run(&arguments, Self::command()),
            Some(Command::Man(arguments)) => {
                man::run(&arguments, Self::command().long_version(long_version))
            }
        };
        finish(outcome)
    }
}
