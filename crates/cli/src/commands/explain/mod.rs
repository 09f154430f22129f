//! `krm-template explain`: the origin of an object or one of its fields.

mod built;
mod object;
mod template;
mod trail;

use clap::Args;

use self::object::{Candidate, Query};
use self::template::{candidate, hidden};
use crate::commands::expansion::{self, Expansions};
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_template_exec::status::{FAILED, OK, USAGE};
use krm_yaml::diagnostic::Diagnostics;

/// Show where an object or one of its fields comes from
///
/// For each field, prints the value, the source line, and the parameters used, with their values and
/// sources. Takes the same options for values as `process`. With `-k`, prints for each field of a
/// built object the transformer that has set it, or the file. Secrets are masked.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("filename", |file| file.required(false).required_unless_present("kustomize"))
)]
pub(crate) struct Arguments {
    /// The object, or one field of it: `deployment/web.spec.replicas`
    ///
    /// Write the kind as for kubectl: `deployment`, `deployments`, `deploy` or `deployment.apps`. If
    /// several objects have the same name, add the namespace: `configmap/shop/web`.
    #[arg(value_name = "KIND/NAME[.FIELD]")]
    object: String,

    /// The directory of a Kustomization or Composition that builds the object
    #[arg(short, long, value_name = "DIR", conflicts_with_all = OF_TEMPLATES)]
    kustomize: Option<String>,

    #[command(flatten)]
    expansion: expansion::Arguments,
}

/// The arguments for files with Templates.
const OF_TEMPLATES: [&str; 13] = [
    "filename",
    "values",
    "assignments",
    "parameter_files",
    "env_files",
    "env",
    "value_files",
    "labels",
    "labels_without_selector",
    "namespace",
    "keep_namespace",
    "instance",
    "ignore_unknown_parameters",
];

const EXAMPLES: &str = "\
Examples:
  krm-template explain deployment/web -f template.yaml -p NAME=web
  krm-template explain deployment/web.spec.replicas -f template.yaml -P production.yaml
  krm-template explain 'deploy/web.spec.template.spec.containers[0].image' -f template.yaml
  krm-template explain 'svc/web.metadata.annotations[example.com/owner]' -f template.yaml
  krm-template explain deployment/web.spec.replicas -k overlays/production";

pub(crate) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let mut misused = arguments.expansion.check();
    let command = match arguments.kustomize {
        Some(_) => "build",
        None => "process",
    };
    let query = misused.take(Query::parse(&arguments.object, command));
    let Some(query) = query.filter(|_| !misused.has_errors()) else {
        console.report(&misused);
        return Ok(USAGE);
    };
    let mut diagnostics = Diagnostics::new();
    let text = if let Some(directory) = &arguments.kustomize {
        let scope = &arguments.expansion.seed_scope;
        let text = built::explain(&query, directory, scope, console, &mut diagnostics);
        arguments.expansion.fail_on.apply(&mut diagnostics);
        text.filter(|_| !diagnostics.has_errors())
    } else {
        let read =
            arguments.expansion.read(&[], console, &mut diagnostics, &|expansions, diagnostics| {
                explain(&query, expansions, diagnostics)
            });
        read.flatten()
    };
    console.report(&diagnostics);
    let Some(text) = text else {
        return Ok(FAILED);
    };
    io::print_text(&text)?;
    Ok(OK)
}

/// The explanation of the requested object or field, unless there is an error.
fn explain(
    query: &Query,
    expansions: &Expansions<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let mut traces = Vec::new();
    expansions.each(diagnostics, |expansion, found| {
        let trace = expansion.trace(found);
        traces.extend(trace.map(|trace| (expansion, trace)));
    });
    if diagnostics.has_errors() {
        return None;
    }
    let hidden = hidden(&traces);
    let objects = traces.iter().flat_map(|(expansion, trace)| {
        let objects = trace.objects.iter();
        objects.map(move |object| (expansion, trace, object))
    });
    let objects: Vec<_> = objects.collect();
    let candidates = objects.iter().map(|(expansion, _, object)| candidate(expansion, object));
    let candidates: Vec<Candidate<'_>> = candidates.collect();
    let (index, path) = diagnostics.take(query.find(&candidates))?;
    let (expansion, trace, object) = objects.get(index)?;
    let trail = template::trail(expansion, trace, object, &hidden);
    let text = diagnostics.take(trail::explain(&trail, &path));
    diagnostics.conceal(&hidden);
    text
}
