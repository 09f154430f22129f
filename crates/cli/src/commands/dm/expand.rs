//! `krm-template dm expand`: prints an expanded configuration.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};

use crate::commands::dm::input::Input;
use crate::output::destination::{Directory, Output};
use crate::output::directory;
use krm_core::scope::set_namespace;
use krm_core::visible::on_one_line;
use krm_template_deployment_manager::expansion::Expansion;
use krm_template_deployment_manager::instances::{manifest, type_instances};
use krm_template_deployment_manager::model::Request;
use krm_template_deployment_manager::objects;
use krm_template_engine::{Format, Object, Printer};
use krm_template_exec::console::Console;
use krm_template_exec::status::{FAILED, OK};
use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};

/// Expand a configuration
///
/// Prints the resources that its templates create. Imports are collected from files as gcloud does;
/// nothing is fetched.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("output_dir", |directory| directory.requires("objects"))
)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,

    /// Print the layout, with the template of each resource
    #[arg(long, group = "printed")]
    layout: bool,

    /// Print the expanded configuration and the layout
    #[arg(long, group = "printed")]
    all: bool,

    /// Print a manifest: the request, the expanded configuration and the layout
    #[arg(long, group = "printed")]
    manifest: bool,

    #[command(flatten)]
    kubernetes: Objects,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
    output: OutputFormat,
}

/// The options for objects of Kubernetes.
#[derive(Debug, Args)]
struct Objects {
    /// Print objects of Kubernetes
    #[arg(long = "objects", id = "objects", group = "printed")]
    is_wanted: bool,

    /// Leave out resources that are not objects of Kubernetes
    #[arg(long, requires = "objects")]
    skip_others: bool,

    /// Set the namespace of namespaced objects that have none
    #[arg(
        short,
        long,
        requires = "objects",
        value_parser = NonEmptyStringValueParser::new()
    )]
    namespace: Option<String>,

    #[command(flatten)]
    directory: Directory,
}

const EXAMPLES: &str = "\
Examples:
  krm-template dm expand config.yaml --project my-project
  krm-template dm expand config.yaml --all --allow-python

  # a template on its own
  krm-template dm expand --template vm.jinja --properties zone:us-central1-a";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// YAML
    Yaml,
    /// JSON
    Json,
    /// A line `TYPE/NAME` for each resource
    Name,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let output = arguments.input.expand(console, |request, expansion, diagnostics| {
        arguments.output(request, expansion, diagnostics)
    });
    let output = match output {
        Err(status) => return Ok(status),
        Ok(output) => output,
    };
    let mut found = Diagnostics::new();
    let prepared = arguments.kubernetes.directory.prepare(output, &mut found)?;
    console.report(&found);
    let Some(prepared) = prepared else {
        return Ok(FAILED);
    };
    if let Some(summary) = prepared.finish()? {
        console.say(&summary);
    }
    Ok(OK)
}

impl Objects {
    /// The objects as text or as files.
    fn output(
        &self,
        expansion: &Expansion<'_>,
        output: OutputFormat,
        diagnostics: &mut Diagnostics,
    ) -> Option<Output> {
        let options =
            objects::Options { skip_others: self.skip_others, ..objects::Options::default() };
        let made = objects::objects(expansion, options, diagnostics)?;
        let made = made.iter().map(|made| {
            let mut value = made.value.clone();
            if let Some(namespace) = &self.namespace {
                set_namespace(&mut value, namespace);
            }
            Object { value, document: &made.document, field: String::new() }
        });
        let format = match output {
            OutputFormat::Yaml => Format::Yaml,
            OutputFormat::Json => Format::Json,
            OutputFormat::Name => Format::Name,
        };
        let mut found = Diagnostics::new();
        let output = if self.directory.output_dir.is_some() {
            let files = made.filter_map(|object| directory::file(&object, format, &mut found));
            let files = files.collect::<Vec<_>>();
            directory::check(&files, &mut found);
            Output::Files(files)
        } else {
            let mut printer = Printer::new(format);
            printer.objects(made, &mut found);
            Output::Text(printer.finish())
        };
        let is_sound = !found.has_errors();
        diagnostics.append(found);
        is_sound.then_some(output)
    }
}

impl Arguments {
    fn output(
        &self,
        request: &Request,
        expansion: Expansion<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Output> {
        if self.kubernetes.is_wanted {
            return self.kubernetes.output(&expansion, self.output, diagnostics);
        }
        let text = diagnostics.take(self.text(request, expansion))?;
        Some(Output::Text(vec![text]))
    }

    fn text(&self, request: &Request, expansion: Expansion<'_>) -> Result<String> {
        let is_empty = expansion.text.as_deref() == Some("");
        if is_empty && !self.manifest {
            return Ok(String::new());
        }
        if self.output == OutputFormat::Name {
            return Ok(self.names(request, &expansion));
        }
        let value = self.value(request, expansion);
        if self.output != OutputFormat::Json {
            return Ok(krm_yaml::to_string(&value));
        }
        if let Some(digits) = value.non_finite() {
            let problem = format!("`{digits}` is a number that JSON cannot hold");
            let hint = "put it in quotes in the configuration or the template, or print YAML";
            return Err(Diagnostic::error(problem).hint(hint).into());
        }
        Ok(krm_yaml::render_json(&value, Some(2))? + "\n")
    }

    fn value<'r>(&self, request: &Request, expansion: Expansion<'r>) -> Value<'r> {
        if self.manifest {
            let name = format!("manifest-{}", request.name);
            manifest(&name, request, expansion)
        } else if self.all {
            expansion.into_value()
        } else if self.layout {
            expansion.layout.to_value()
        } else {
            expansion.into_config_value()
        }
    }

    /// A line for each resource; with `--layout`, for each template, too.
    fn names(&self, request: &Request, expansion: &Expansion<'_>) -> String {
        let instances = type_instances(&expansion.layout, &request.name, "");
        let made = expansion.config.iter();
        let made = made.map(|one| (one.kind().unwrap_or_default(), one.name().unwrap_or_default()));
        let all = instances.iter().map(|one| (one.kind.as_str(), one.name.as_str()));
        let names: Vec<(&str, &str)> = if self.layout { all.collect() } else { made.collect() };
        let lines = names
            .into_iter()
            .map(|(kind, name)| format!("{}/{}\n", on_one_line(kind), on_one_line(name)));
        lines.collect()
    }
}
