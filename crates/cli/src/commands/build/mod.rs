//! `krm-template build`: builds the resources of a Composition or Kustomization.

mod arguments;
mod output;
mod stats;

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use self::arguments::Arguments;
use crate::args::environment::environment;
use crate::args::files::parse_all;
use crate::output::destination::Output;
use crate::output::diff;
use crate::output::mask::Secrets;
use crate::programs::Programs;
use crate::programs::clones::Git;
use crate::programs::containers::Roots;
use krm_core::files::join;
use krm_template_composition::chain::Stat;
use krm_template_composition::{self as composition, KUSTOMIZATIONS, Resource, Step};
use krm_template_exec::console::Console;
use krm_template_exec::disk::{Disk, WAY_OUT};
use krm_template_exec::interruption::Interruption;
use krm_template_exec::io;
use krm_template_exec::status::{FAILED, OK, USAGE};
#[cfg(feature = "deployment-manager")]
use krm_template_function::Environment;
use krm_template_object_check::Checker;
use krm_template_workspace::build::{Builder, Built};
use krm_yaml::Document;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};

/// The output, and what to know about it.
struct BuildResult {
    output: Output,
    stats: Vec<Stat>,
    /// The secrets to mask in a diff.
    secrets: Secrets,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    if let Err(misused) = arguments.check() {
        console.report(&misused.into());
        return Ok(USAGE);
    }
    let mut diagnostics = Diagnostics::new();
    let interruption = Interruption::listen();
    let programs = programs(arguments, console, &interruption)?;
    let mut checker = arguments.objects.checker(console, &mut diagnostics);
    let made = build(arguments, checker.as_mut(), &programs, &mut diagnostics)?;
    // A Composition that is imported twice is reported once.
    diagnostics.dedup();
    if let Some(git) = &programs.git {
        diagnostics = git.with_repository_urls(diagnostics);
    }
    drop(programs);
    arguments.fail_on.apply(&mut diagnostics);
    let made = made.filter(|_| !diagnostics.has_errors());
    if let Some(path) = &arguments.diff_against {
        let diff = made.and_then(|made| {
            diff::against(path, &made.output, &made.secrets, console, &mut diagnostics)
        });
        console.report(&diagnostics);
        interruption.obey();
        return diff.map_or(Ok(USAGE), |diff| diff::show(&diff));
    }
    let status = publish(arguments, made, diagnostics, console, &interruption)?;
    if status == OK
        && let Some(text) = checker.and_then(|checker| checker.not_checked())
    {
        console.say(&text);
    }
    Ok(status)
}

/// Builds what the arguments name. Reports errors.
fn build(
    arguments: &Arguments,
    checker: Option<&mut Checker>,
    programs: &Programs,
    diagnostics: &mut Diagnostics,
) -> std::io::Result<Option<BuildResult>> {
    let (path, given) = arguments.inputs();
    let Some(path) = &diagnostics.take(root(path, programs)) else {
        return Ok(None);
    };
    let disk = Disk {
        console: programs.console,
        restrictor: arguments.load_restrictor,
        owner: owner(path),
        way_out: WAY_OUT,
        clones: programs.git.as_ref().map(Git::directory).transpose()?,
    };
    let documents = parse_all(given, programs.console, diagnostics);
    let ending = arguments.ending();
    let mut list = composition::consolidate_root(&disk, path, &ending, diagnostics);
    if list.is_empty() && given.is_empty() && !diagnostics.has_errors() {
        let problem = format!("the Composition `{path}` has no transformers and creates nothing");
        diagnostics.push(Diagnostic::warning(problem));
    }
    if diagnostics.has_errors() {
        return Ok(None);
    }
    if arguments.show_consolidated {
        return Ok(consolidated(&list, path, diagnostics));
    }
    let given = objects(&documents, diagnostics);
    Ok(make(arguments, checker, &mut list, given, &disk, programs, diagnostics))
}

/// The runner of other programs, as far as the arguments allow it.
fn programs(
    arguments: &Arguments,
    console: Console,
    interruption: &Interruption,
) -> std::io::Result<Programs> {
    let git = || Git::new(interruption);
    Ok(Programs {
        containers: arguments.enable_alpha_plugins,
        options: arguments.containers.clone(),
        roots: Roots::default(),
        executables: arguments.enable_exec,
        helm: arguments.helm.clone(),
        git: arguments.enable_git.then(git).transpose()?,
        limit: Duration::from_secs(arguments.function_timeout),
        console,
        interruption: interruption.clone(),
        started: Cell::new(0),
    })
}

/// The directory to build: the path, or the one in a copy of the repository that it is the URL of.
fn root(path: &str, programs: &Programs) -> Result<String> {
    if io::is_there(path) {
        return Ok(path.to_owned());
    }
    let cloned = programs.cloned(path, ".")?;
    Ok(cloned.map_or_else(|| path.to_owned(), |clone| join(&clone.directory, &clone.path)))
}

/// The transformers of the Composition at a path, as text.
fn consolidated(list: &[Step], path: &str, diagnostics: &mut Diagnostics) -> Option<BuildResult> {
    if list.iter().any(Step::is_of_kustomization) {
        let problem = "`--show-consolidated` shows the transformers of a Composition";
        let wrong = Diagnostic::error(problem);
        diagnostics.push(wrong.hint(format!("`{path}` holds a Kustomization")));
        return None;
    }
    let text = diagnostics.take(composition::show(list))?;
    Some(BuildResult {
        output: Output::Text(vec![text]),
        stats: Vec::new(),
        secrets: Secrets::default(),
    })
}

/// The kind of file that is built in a directory, in messages.
fn owner(directory: &str) -> &'static str {
    let mut files = KUSTOMIZATIONS.iter().map(|name| join(directory, name));
    if files.any(|file| io::is_there(&file)) { "the Kustomization" } else { "the Composition" }
}

/// Prints the output, or writes its files. Returns the exit status.
fn publish(
    arguments: &Arguments,
    made: Option<BuildResult>,
    mut diagnostics: Diagnostics,
    console: Console,
    interruption: &Interruption,
) -> anyhow::Result<u8> {
    let mut stats = Vec::new();
    let mut prepared = None;
    if let Some(made) = made {
        prepared = match arguments.output_path() {
            Some(path) => Some(made.output.prepare_at(path)?),
            None => arguments.directory.prepare(made.output, &mut diagnostics)?,
        };
        stats = made.stats;
    }
    let Some(prepared) = prepared else {
        diagnostics.drop_success();
        console.report(&diagnostics);
        interruption.obey();
        return Ok(FAILED);
    };
    let printed = prepared.finish();
    if printed.is_err() {
        diagnostics.drop_success();
    }
    console.report(&diagnostics);
    if arguments.stats {
        console.say(stats::table(&stats).trim_end());
    }
    interruption.obey();
    if let Some(summary) = printed? {
        console.say(&summary);
    }
    Ok(OK)
}

/// The resources in these files.
fn objects<'d>(documents: &'d [Arc<Document>], diagnostics: &mut Diagnostics) -> Vec<Resource<'d>> {
    let mut all = Vec::new();
    for document in documents {
        all.append(&mut composition::objects(document, None, diagnostics));
    }
    all
}

/// Runs the transformers on the given resources. Returns the output.
fn make<'d>(
    arguments: &Arguments,
    checker: Option<&mut Checker>,
    list: &'d mut [Step],
    given: Vec<Resource<'d>>,
    disk: &Disk,
    programs: &Programs,
    diagnostics: &mut Diagnostics,
) -> Option<BuildResult> {
    let environment = environment(disk, &arguments.seed_scope);
    #[cfg(feature = "deployment-manager")]
    let environment = Environment {
        python: Some(arguments.python.interpreters(&programs.interruption)),
        ..environment
    };
    let builder = Builder {
        environment: &environment,
        functions: programs,
        keeps_history: false,
        traces: arguments.diff_against.is_some() || checker.is_some(),
    };
    let built = builder.run(list, given, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    if let Some(checker) = checker {
        built.check(checker, diagnostics);
    }
    let secrets = Secrets::of(&built.traced);
    let Built { resources, stats, .. } = built;
    let output = output::of(&resources, arguments, diagnostics)?;
    // The program ends here, so freeing all resources would be wasted time.
    std::mem::forget(resources);
    Some(BuildResult { output, stats, secrets })
}
