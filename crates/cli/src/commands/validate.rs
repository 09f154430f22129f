//! `krm-template validate`: finds mistakes in Templates and Kustomizations.

use clap::builder::{PossibleValue, StringValueParser};
use clap::{Args, ValueEnum};

use crate::args::environment::{SeedScope, disk, environment};
use crate::args::fail_on::FailOn;
use crate::args::object_check;
use crate::args::suggested::Suggested;
use crate::programs::no_exec::NoPrograms;
use krm_core::report::{self, SarifRule};
use krm_core::visible::counted;
use krm_template_authoring::lint;
use krm_template_composition::{KUSTOMIZATIONS, is_kustomization};
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_template_exec::status::{FAILED, OK, USAGE};
use krm_template_object_check::Checker;
use krm_template_workspace::check::{Checked, File, Machine, check};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};

/// Find mistakes in Templates and Kustomizations, without values and without a cluster
///
/// Also checks TemplateInstances, values files and Compositions against the Templates among the
/// files, expands DeploymentConfigurations and builds Kustomizations. Runs no functions of others
/// and no Python. A parameter has its default value; without a default, only mistakes that no value
/// can correct are reported. docs/rules.md describes the rules. To disable rules for one Template,
/// list them in its annotation `template.krm.dev/disable-rules`, as `RULE, RULE`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Files to check, or directories, searched for *.yaml, *.yml and *.json files and for
    /// Kustomizations; `-` for standard input
    #[arg(value_name = "FILE|DIR", required_unless_present = "filenames")]
    paths: Vec<String>,

    /// A file or directory to check, like an argument
    #[arg(short, long = "filename", value_name = "FILE|DIR")]
    filenames: Vec<String>,

    /// Check a YAML or JSON file with `NAME: value` entries against the Template
    #[arg(short = 'P', long = "parameter-file", value_name = "FILE")]
    parameter_files: Vec<String>,

    /// Output format: `text` with excerpts, `json` for a list, `sarif` for SARIF 2.1.0, `results` for
    /// those of a ResourceList, `github` for workflow commands of GitHub Actions
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: OutputFormat,

    /// Disable these rules; separate them with commas
    #[arg(
        long,
        value_name = "RULE",
        value_delimiter = ',',
        hide_possible_values = true,
        value_parser = Suggested { parser: StringValueParser::new(), words: rules }
    )]
    disable: Vec<String>,

    #[command(flatten)]
    objects: object_check::Options,

    #[command(flatten)]
    fail_on: FailOn,
}

const AFTER_HELP: &str = "\
Examples:
  krm-template validate template.yaml
  krm-template validate --disable unused-parameter templates/
  krm-template validate -o sarif . > findings.sarif

Exit status: 0 nothing that fails (see --fail-on), 1 errors or, with --fail-on warning, warnings,
2 the arguments are invalid, a file cannot be read, or there is nothing to check.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    Text,
    Json,
    Sarif,
    Results,
    Github,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let mut trouble = Diagnostics::new();
    for unknown in arguments.disable.iter().filter_map(|name| lint::unknown_rule(name)) {
        trouble.push(Diagnostic { severity: Severity::Error, ..unknown });
    }
    if trouble.has_errors() {
        console.report(&trouble);
        return Ok(USAGE);
    }
    let server = arguments.objects.checker(console, &mut trouble);
    let checked = check_all(arguments, server, console, &mut trouble);
    for message in &checked.skipped {
        console.info(message);
    }
    print(arguments.output, &checked.findings)?;
    console.report(&trouble);
    if arguments.output == OutputFormat::Text && !checked.counts.is_empty() {
        console.say(summary(&checked).trim_end());
        if let Some(text) = &checked.not_checked {
            console.say(text);
        }
    }
    if trouble.has_errors() {
        return Ok(USAGE);
    }
    let least =
        if arguments.fail_on.includes_warnings() { Severity::Warning } else { Severity::Error };
    let counts = checked.findings.iter().any(|one| one.severity >= least);
    Ok(if counts { FAILED } else { OK })
}

/// The names of the rules.
fn rules() -> Vec<PossibleValue> {
    let names = lint::RULES.iter().map(|rule| rule.name);
    names.map(PossibleValue::new).collect()
}

/// Checks all files. Problems with the files themselves are reported to `trouble`.
fn check_all(
    arguments: &Arguments,
    mut server: Checker,
    console: Console,
    trouble: &mut Diagnostics,
) -> Checked {
    let (mut files, mut kustomizations) = (Vec::new(), Vec::new());
    let paths = arguments.paths.iter().chain(&arguments.filenames).map(|path| (path, false));
    let values = arguments.parameter_files.iter().map(|path| (path, true));
    for (path, has_values) in paths.chain(values) {
        let found = trouble.take(io::yaml_files(path, &KUSTOMIZATIONS));
        let is_named = matches!(found, Some(None));
        let found = found.map(|found| found.unwrap_or_else(|| vec![path.clone()]));
        for file in found.into_iter().flatten() {
            if is_kustomization(&file) && io::is_there(&file) {
                kustomizations.push(file);
            } else if let Some(source) = trouble.take(console.read(&file)) {
                let file = File::parse(file, source, is_named);
                files.push(file.with_values(has_values && is_named));
            }
        }
    }
    let of_kustomizations = disk(console, "the Kustomization");
    let machine = Machine {
        files: &of_kustomizations,
        compositions: &disk(console, "the Composition"),
        environment: environment(&of_kustomizations, &SeedScope::default()),
        functions: &NoPrograms,
    };
    check(files, kustomizations, &arguments.disable, &machine, &mut server, trouble)
}

fn print(format: OutputFormat, findings: &Diagnostics) -> anyhow::Result<()> {
    let text = match format {
        OutputFormat::Text => {
            return io::print_text(&report::findings_text(findings, io::stdout_color()));
        }
        OutputFormat::Json => format!("{:#}\n", report::findings(findings)),
        OutputFormat::Sarif => {
            let rules = lint::RULES.iter().map(|rule| SarifRule {
                name: rule.name,
                severity: rule.severity,
                summary: rule.summary,
            });
            let rules: Vec<SarifRule> = rules.collect();
            format!("{:#}\n", report::sarif(findings, &rules))
        }
        OutputFormat::Results => format!("{:#}\n", report::results(findings)),
        OutputFormat::Github => report::workflow_commands(findings),
    };
    io::print([text.as_str()])
}

/// `2 errors, 1 warning in 3 Templates`.
fn summary(checked: &Checked) -> String {
    let found = [
        (Severity::Error, "error"),
        (Severity::Warning, "warning"),
        (Severity::Info, "info message"),
    ];
    let found: Vec<String> = found
        .iter()
        .map(|(severity, noun)| {
            let findings = checked.findings.iter();
            (findings.filter(|one| one.severity == *severity).count(), noun)
        })
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| counted(count, noun))
        .collect();
    let looked_at = checked.counts.iter().map(|(kind, count)| counted(*count, kind.noun()));
    let looked_at = looked_at.collect::<Vec<_>>().join(", ");
    if found.is_empty() {
        format!("no findings in {looked_at}\n")
    } else {
        format!("\n{} in {looked_at}\n", found.join(", "))
    }
}
