//! `krm-template export`: makes a Template from objects that exist.

mod kubectl;
mod secrets;

use std::borrow::Cow;
use std::sync::Arc;

use clap::builder::{PossibleValue, StringValueParser};
use clap::{Args, ValueEnum};

use crate::args::files::files_of;
use crate::args::suggested::Suggested;
use crate::commands::export::kubectl::Kubectl;
use krm_core::label_selector::LabelSelector;
use krm_core::names::check_object_name;
use krm_core::visible::on_one_line;
use krm_template_engine::{Dialect, OWN_GROUP};
use krm_template_exec::console::Console;
use krm_template_exec::interruption::Interruption;
use krm_template_exec::io;
use krm_template_exec::status::{FAILED, OK, USAGE};
use krm_template_export::{self as export, Exported, FieldPattern, Format, GROUPS, Options};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity, Way};
use krm_yaml::source::Source;

/// Make a Template from objects of files or of a cluster
///
/// Fields that the cluster and its tools set are dropped, and objects that the cluster creates are
/// left out. Names, images, replicas, hosts, storage, namespaces and secrets become parameters.
/// Standard error lists dropped fields, objects left out, and the parameters. Values of
/// Secrets are never in the Template. docs/export.md describes all of it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A file or directory with objects, in YAML or JSON; `-` for standard input, which is also
    /// read if there is neither this option nor `--from-cluster`
    #[arg(short, long = "filename", value_name = "FILE|DIR")]
    filenames: Vec<String>,

    /// Get objects of these kinds with kubectl; without kinds, those of most applications
    #[arg(
        long,
        value_name = "KIND,…",
        num_args = 0..=1,
        default_missing_value = kubectl::KINDS,
        hide_default_value = true,
        conflicts_with = "filenames"
    )]
    from_cluster: Option<String>,

    /// The context of kubectl for `--from-cluster`
    #[arg(long, value_name = "CONTEXT", requires = "from_cluster")]
    context: Option<String>,

    /// The namespace for `--from-cluster`
    #[arg(short, long, value_name = "NAMESPACE", requires = "from_cluster")]
    namespace: Option<String>,

    /// Export only the objects with these labels, as with `kubectl get -l`
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    selector: Option<String>,

    /// The name of the Template; by default the beginning that the names of all objects share
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The dialect of the Template
    #[arg(long, value_name = "DIALECT", default_value = "proposal")]
    dialect: DialectName,

    /// Drop only the fields that the cluster sets in every object, such as `status`
    #[arg(long)]
    exact: bool,

    /// The parameters to make, or `all` or `none`; separate them with commas. Values of Secrets
    /// always become parameters
    #[arg(
        long,
        value_name = "GROUP,…",
        default_value = "names,images,replicas,hosts,storage,namespace,secrets",
        hide_possible_values = true,
        value_delimiter = ',',
        value_parser = Suggested { parser: StringValueParser::new(), words: groups }
    )]
    parameterize: Vec<String>,

    /// Keep this field where it would be dropped: a field path, or its last keys, as `nodePort`
    #[arg(long, value_name = "FIELD")]
    keep: Vec<String>,

    /// Drop this field, too: a field path from the object down
    #[arg(long, value_name = "FIELD")]
    drop: Vec<String>,

    /// Whether to drop or to keep fields with the values that the API server fills in
    #[arg(long, value_name = "WHAT", default_value = "drop")]
    defaults: Defaults,

    /// Write the values of the secrets to this file, for `process -P`; only you can read it
    #[arg(long, value_name = "FILE")]
    secrets_to: Option<String>,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
    output: OutputFormat,
}

const EXAMPLES: &str = "\
Examples:
  kubectl get deploy,svc,cm,secret,pvc,ing -n shop -o json | krm-template export --name shop > template.yaml
  krm-template export --from-cluster -n shop --secrets-to secrets.yaml > template.yaml
  krm-template export -f manifests/ --parameterize names,images --dialect openshift

  # create the same objects under another name
  krm-template process -f template.yaml -P secrets.yaml -p NAME=test";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DialectName {
    Proposal,
    #[value(name = "openshift")]
    OpenShift,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Defaults {
    Drop,
    Keep,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OutputFormat {
    Yaml,
    Json,
}

/// The values of `--parameterize`.
fn groups() -> Vec<PossibleValue> {
    let names = GROUPS.iter().map(|(word, _)| *word);
    names.chain(["all", "none"]).map(PossibleValue::new).collect()
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let mut diagnostics = Diagnostics::new();
    let Some(options) = options(arguments, &mut diagnostics) else {
        console.report(&diagnostics);
        return Ok(USAGE);
    };
    let interruption = Interruption::listen();
    let sources = read(arguments, console, &interruption, &mut diagnostics);
    let mut exported = None;
    if !diagnostics.has_errors() {
        exported = export::of_texts(sources, &options, &mut diagnostics);
    }
    diagnostics.address(Way::Arguments);
    console.say_lines(&info_lines(&diagnostics));
    diagnostics.retain(|one| one.severity != Severity::Info);
    console.report(&diagnostics);
    interruption.obey();
    let Some(exported) = exported else {
        return Ok(FAILED);
    };
    let mut report = info_lines(&exported.report);
    for message in exported.parameters.iter() {
        add_line(&mut report, message);
    }
    if let Some(path) = &arguments.secrets_to {
        secrets::write(path, &krm_yaml::to_string(&exported.secrets))?;
    } else {
        report.push_str(&info_lines(&hint(&exported)));
    }
    io::print([exported.text.as_str()])?;
    console.say_lines(&report);
    Ok(OK)
}

/// The meaning of the options; `None` if one is invalid.
fn options(arguments: &Arguments, diagnostics: &mut Diagnostics) -> Option<Options> {
    let patterns = |texts: &[String], diagnostics: &mut Diagnostics| -> Vec<FieldPattern> {
        let patterns = texts.iter().map(|text| FieldPattern::parse(text));
        patterns.filter_map(|one| diagnostics.take(one)).collect()
    };
    let words = arguments.parameterize.iter().map(String::as_str);
    let groups = diagnostics.take(export::groups(words));
    let selector = LabelSelector::parse_each(arguments.selector.as_deref().unwrap_or_default());
    let selector = selector.map_err(|problem| Box::new(Diagnostic::error(problem)));
    let selector = diagnostics.take(selector);
    let name = arguments.name.as_deref();
    if let Some(problem) = name.and_then(|name| check_object_name(OWN_GROUP, "Template", name)) {
        diagnostics.push(problem);
    }
    let options = Options {
        name: arguments.name.clone(),
        dialect: match arguments.dialect {
            DialectName::Proposal => Dialect::Proposal,
            DialectName::OpenShift => Dialect::OpenShift,
        },
        groups: groups.unwrap_or_default(),
        exact: arguments.exact,
        keep: patterns(&arguments.keep, diagnostics),
        drop: patterns(&arguments.drop, diagnostics),
        keeps_defaults: arguments.defaults == Defaults::Keep,
        selector: selector.unwrap_or_default(),
        format: match arguments.output {
            OutputFormat::Yaml => Format::Yaml,
            OutputFormat::Json => Format::Json,
        },
    };
    (!diagnostics.has_errors()).then_some(options)
}

/// The texts of all inputs.
fn read(
    arguments: &Arguments,
    console: Console,
    interruption: &Interruption,
    diagnostics: &mut Diagnostics,
) -> Vec<Arc<Source>> {
    if let Some(kinds) = &arguments.from_cluster {
        let query = kubectl::Query {
            kinds,
            context: arguments.context.as_deref(),
            namespace: arguments.namespace.as_deref(),
            selector: arguments.selector.as_deref(),
        };
        let got = Kubectl::new(interruption).get(&query).map_err(hide);
        let got = diagnostics.take(got);
        let Some((source, said)) = got else {
            return Vec::new();
        };
        console.has_read(source.name(), source.text().len());
        if let Some(said) = said {
            diagnostics.push(Diagnostic::info("`kubectl get` succeeded").hint(said));
        }
        return vec![source];
    }
    let stdin = ["-".to_owned()];
    let paths = match arguments.filenames.as_slice() {
        [] => &stdin,
        paths => paths,
    };
    if diagnostics.take(io::check_stdin(paths.iter())).is_none() {
        return Vec::new();
    }
    let mut sources = Vec::new();
    for file in paths.iter().flat_map(|path| files_of(path, diagnostics)).collect::<Vec<_>>() {
        sources.extend(diagnostics.take(console.read(&file).map_err(hide)));
    }
    sources
}

/// An input that is not UTF-8 may have a secret next to the error.
fn hide(mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    error.conceals = true;
    error
}

/// The lines of all info messages.
fn info_lines(diagnostics: &Diagnostics) -> String {
    let mut lines = String::new();
    let all = diagnostics.iter();
    for message in all.filter(|one| one.severity == Severity::Info) {
        add_line(&mut lines, &message.message);
        for hint in &message.hints {
            let hint: Vec<Cow<'_, str>> = hint.lines().map(on_one_line).collect();
            lines.extend(["  help: ", &hint.join("\n        "), "\n"]);
        }
    }
    lines
}

/// Adds a line about a name of the input, which may have control characters.
fn add_line(lines: &mut String, line: &str) {
    lines.push_str(&on_one_line(line));
    lines.push('\n');
}

/// How to give values to the secrets.
fn hint(exported: &Exported) -> Diagnostics {
    let is_empty = exported.secrets.entries().is_none_or(<[_]>::is_empty);
    let hint = Diagnostic::info("the values of the secrets are not in the Template")
        .hint("`--secrets-to FILE` writes them to a file for `process -P`");
    if is_empty { Diagnostics::new() } else { hint.into() }
}
