//! `krm-template build`: builds the resources of a Composition.

mod copy;
mod functions;
mod installed;
mod kustomize;
mod programs;
mod stats;

use std::cell::{Cell, OnceCell};
use std::time::Duration;

use clap::{Args, ValueEnum, value_parser};

use self::programs::Programs;
use crate::cli::environment::environment;
use crate::cli::fail_on::FailOn;
use crate::composition::chain::{self, Stat};
use crate::composition::{self, Format, Step};
#[cfg(feature = "deployment-manager")]
use crate::function::Environment;
use crate::function::InProcess;
use krm_template_exec::console::Console;
use krm_template_exec::disk::{Disk, LoadRestrictor, WAY_OUT};
use krm_template_exec::interruption::Interruption;
use krm_template_exec::io;
#[cfg(feature = "deployment-manager")]
use krm_template_exec::python::PythonArguments;
use krm_template_exec::status::{FAILED, OK};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};

/// The default time limit of a function in seconds, as in kpt.
const TIMEOUT: u64 = 300;

/// Build the resources of a Composition and print them
///
/// A Composition (KEP-2299) lists transformers that generate and change resources in order. It can
/// import, override and reorder the transformers of other Compositions. docs/composition.md
/// describes it. Built-in transformers and Templates run inside this program. Nothing is printed
/// unless all transformers succeed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option, and they are independent"
)]
pub(super) struct Arguments {
    /// The directory with `composition.yaml`, or the file itself
    #[arg(value_name = "DIR|FILE", default_value = ".")]
    path: String,

    /// Output format: `yaml` for a stream of documents, `resourcelist` for a ResourceList
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
    output: OutputFormat,

    /// Print the transformers after all imports and overrides, with the origin of each part as
    /// comments, and exit
    #[arg(long)]
    show_consolidated: bool,

    /// Print how long each transformer takes to standard error
    #[arg(long)]
    stats: bool,

    /// Allow container functions, run by `docker`, `podman` or `nerdctl` without network access and
    /// as user nobody
    #[arg(long)]
    enable_alpha_plugins: bool,

    /// Allow functions that are local executables
    #[arg(long)]
    enable_exec: bool,

    /// Allow Helm charts, for which kustomize calls helm
    #[arg(long)]
    enable_helm: bool,

    /// Which files a Composition may name, as in kustomize
    #[arg(
        long,
        value_name = "RESTRICTION",
        default_value = "LoadRestrictionsRootOnly"
    )]
    load_restrictor: LoadRestrictor,

    /// Accepted for compatibility with kustomize; has no effect, because Starlark is not supported
    #[arg(long)]
    enable_star: bool,

    /// Stop a function that runs longer than this
    #[arg(long, value_name = "SECONDS", default_value_t = TIMEOUT, value_parser = value_parser!(u64).range(1..))]
    function_timeout: u64,

    #[command(flatten)]
    fail_on: FailOn,

    #[cfg(feature = "deployment-manager")]
    #[command(flatten)]
    python: PythonArguments,
}

const EXAMPLES: &str = "\
Examples:
  krm-template build
  krm-template build staging | kubectl apply -f -
  krm-template build staging --show-consolidated
  krm-template build --stats --enable-exec staging/composition.yaml > resources.yaml

Environment:
  KRM_FN_RUNTIME  the container engine; by default the first found of docker, podman, nerdctl";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    Yaml,
    #[value(name = "resourcelist")]
    ResourceList,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let disk = Disk {
        console,
        restrictor: arguments.load_restrictor,
        owner: "the Composition",
        way_out: WAY_OUT,
    };
    let mut diagnostics = Diagnostics::new();
    let path = arguments.path.as_str();
    let mut list = composition::consolidate(&disk, path, &mut diagnostics);
    if list.is_empty() && !diagnostics.has_errors() {
        let problem = format!("the Composition `{path}` has no transformers and creates nothing");
        diagnostics.push(Diagnostic::warning(problem));
    }
    let interruption = Interruption::listen();
    let mut made = None;
    if !diagnostics.has_errors() {
        made = if arguments.show_consolidated {
            let text = diagnostics.take(composition::show(&list));
            text.map(|text| (vec![text], Vec::new()))
        } else {
            make(arguments, &mut list, &disk, &interruption, &mut diagnostics)
        };
    }
    // A Composition that is imported twice is reported once.
    diagnostics.dedup();
    arguments.fail_on.apply(&mut diagnostics);
    let Some((pieces, stats)) = made.filter(|_| !diagnostics.has_errors()) else {
        diagnostics.drop_success();
        console.report(&diagnostics);
        interruption.obey();
        return Ok(FAILED);
    };
    let printed = io::print(pieces.iter().map(String::as_str));
    if printed.is_err() {
        diagnostics.drop_success();
    }
    console.report(&diagnostics);
    if arguments.stats {
        console.say(stats::table(&stats).trim_end());
    }
    interruption.obey();
    printed?;
    Ok(OK)
}

/// Runs the transformers on an empty list. Returns the text of the resources.
fn make(
    arguments: &Arguments,
    list: &mut [Step],
    disk: &Disk,
    interruption: &Interruption,
    diagnostics: &mut Diagnostics,
) -> Option<(Vec<String>, Vec<Stat>)> {
    let programs = Programs {
        containers: arguments.enable_alpha_plugins,
        executables: arguments.enable_exec,
        helm: arguments.enable_helm,
        restrictor: arguments.load_restrictor,
        limit: Duration::from_secs(arguments.function_timeout),
        console: disk.console,
        interruption: interruption.clone(),
        started: Cell::new(0),
        kustomize: OnceCell::new(),
    };
    let environment = environment(disk);
    #[cfg(feature = "deployment-manager")]
    let environment = Environment {
        python: Some(arguments.python.interpreters(interruption)),
        ..environment
    };
    let functions = InProcess::new(&environment, &programs);
    let (mut resources, stats) = chain::run(list, Vec::new(), disk, &functions, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    resources.retain(|resource| !resource.is_local());
    let format = match arguments.output {
        OutputFormat::Yaml => Format::Yaml,
        OutputFormat::ResourceList => Format::ResourceList,
    };
    let pieces = composition::print(&resources, format, diagnostics)?;
    // The program ends here, so freeing all resources would be wasted time.
    std::mem::forget(resources);
    Some((pieces, stats))
}
