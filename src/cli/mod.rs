//! The command line: arguments, files, standard streams and exit codes.

mod build;
mod completion;
mod console;
mod deferred;
#[cfg(feature = "deployment-manager")]
mod deployment;
mod disk;
mod expansion;
mod explain;
mod export;
mod first_root;
mod function;
mod group;
mod interruption;
mod io;
mod kustomization;
mod man;
mod merge;
mod parameters;
mod process;
#[cfg(feature = "deployment-manager")]
mod python;
mod reason;
mod reference;
mod slips;
mod staged;
mod status;
mod subprocess;
mod suggested;
mod table;
mod validate;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser, Subcommand};

use console::Console;
use deferred::Deferred;
use status::{FAILED, OK, USAGE};

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
  KRM_TEMPLATE_SEED  the secret seed from which a function derives `generate: expression` values
  NO_COLOR           if set, messages are not coloured
  CLICOLOR_FORCE     if set, messages and diffs are coloured even if they do not go to a terminal

Exit status: 0 success, 1 invalid input, 2 invalid arguments.";

/// The version, with the commit if it is known.
const LONG_VERSION: &str = match option_env!("KRM_TEMPLATE_LONG_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// The arguments of the program.
#[derive(Debug, Parser)]
#[command(
    name = "krm-template",
    version,
    long_version = LONG_VERSION,
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
    /// Expand the Template in a file and print its objects
    ///
    /// Works like `oc process --local`, for any cluster. It never connects to a cluster.
    Process(Deferred<process::Arguments>),
    /// Show where an object or one of its fields comes from
    ///
    /// For each field, prints the value, the source line, and the parameters used, with their
    /// values and sources. Takes the same options for values as `process`. Secrets are masked.
    Explain(Deferred<explain::Arguments>),
    /// Build the resources of a Composition and print them
    ///
    /// A Composition (KEP-2299) lists transformers that generate and change resources in order. It
    /// can import, override and reorder the transformers of other Compositions. docs/composition.md
    /// describes it. Built-in transformers and Templates run inside this program. Nothing is
    /// printed unless all transformers succeed.
    Build(Deferred<build::Arguments>),
    /// Make a Template from objects of files or of a cluster
    ///
    /// Fields that the cluster and its tools set are dropped, and objects that the cluster creates
    /// are left out. Names, images, replicas, hosts, storage, namespaces and secrets become
    /// parameters. Standard error lists dropped fields, objects left out, and the parameters.
    /// Values of Secrets are never in the Template. docs/export.md describes all of it.
    Export(Deferred<export::Arguments>),
    /// List the parameters of the Template in a file
    ///
    /// Prints a table, data for other programs, a JSON Schema for forms and editors, or a values
    /// file for you to fill in. Never shows the values of secrets, of parameters of type `base64`,
    /// or of parameters with `generate`.
    #[command(alias = "params")]
    Parameters(Deferred<parameters::Arguments>),
    /// Merge several Templates into one
    ///
    /// The objects and parameters of all Templates keep their text, with comments, in the order of
    /// the files. A parameter that several Templates declare in the same way becomes one. Different
    /// parameters with one name are errors, and so are different objects with one name; --prefix,
    /// --rename, --share and --prefer resolve conflicts between parameters. docs/merge.md has the
    /// rules. These options name a Template by its `metadata.name` or by its file.
    Merge(Deferred<merge::Arguments>),
    /// Find mistakes in Templates, without values and without a cluster
    ///
    /// Also checks TemplateInstances, values files and Compositions against the Templates among the
    /// files, and expands DeploymentConfigurations. Runs no functions and no Python. A parameter
    /// has its default value; without a default, only mistakes that no value can correct are
    /// reported. docs/rules.md describes the rules. To disable rules for one Template, list them in
    /// its annotation `template.krm.dev/disable-rules`, as `RULE, RULE`.
    #[command(visible_alias = "lint")]
    Validate(Deferred<validate::Arguments>),
    /// Expand Deployment Manager configurations, offline
    ///
    /// Reads configurations of `name`, `type` and `properties`, with templates in Jinja or Python
    /// and their schemas, and expands them with the result of the original service.
    #[cfg(feature = "deployment-manager")]
    #[command(visible_alias = "dm")]
    Deployment(deployment::Arguments),
    /// Print a completion script for a shell
    Completion(Deferred<completion::Arguments>),
    /// Write the manual pages, one for each command
    Man(Deferred<man::Arguments>),
}

/// Parses the arguments and runs the command.
#[must_use]
pub fn main() -> ExitCode {
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
    match Cli::try_parse() {
        Ok(cli) => cli.run(),
        Err(error) => refuse(error),
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
    if let Some(tip) = slips::tip(&error) {
        let tip = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    match error.print() {
        // A failure to print cannot be reported.
        _ if error.use_stderr() => ExitCode::from(USAGE),
        Ok(()) => finish(io::flush().map(|()| OK)),
        Err(error) => finish(io::unless_gone(&error).map(|()| OK)),
    }
}

/// All commands and options, as the Markdown of `docs/reference.md`.
#[must_use]
pub fn reference() -> String {
    reference::markdown(Cli::command())
}

impl Cli {
    fn run(self) -> ExitCode {
        let outcome = match self.command {
            None => function::run(self.console),
            Some(Command::Process(Deferred(arguments))) => process::run(&arguments, self.console),
            Some(Command::Explain(Deferred(arguments))) => explain::run(&arguments, self.console),
            Some(Command::Build(Deferred(arguments))) => build::run(&arguments, self.console),
            Some(Command::Export(Deferred(arguments))) => export::run(&arguments, self.console),
            Some(Command::Parameters(Deferred(arguments))) => {
                parameters::run(&arguments, self.console)
            }
            Some(Command::Merge(Deferred(arguments))) => merge::run(&arguments, self.console),
            Some(Command::Validate(Deferred(arguments))) => validate::run(&arguments, self.console),
            #[cfg(feature = "deployment-manager")]
            Some(Command::Deployment(arguments)) => deployment::run(&arguments, self.console),
            Some(Command::Completion(Deferred(arguments))) => {
                completion::run(&arguments, Self::command())
            }
            Some(Command::Man(Deferred(arguments))) => man::run(&arguments, Self::command()),
        };
        finish(outcome)
    }
}
