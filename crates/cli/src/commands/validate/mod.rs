//! `krm-template validate`: finds mistakes in Templates and Kustomizations.

mod file;
mod kustomizations;
mod related_objects;

use std::collections::BTreeSet;
use std::path::Path;

use clap::builder::{PossibleValue, StringValueParser};
use clap::{Args, ValueEnum};

use crate::args::fail_on::FailOn;
use crate::args::object_check;
use crate::args::suggested::Suggested;
use crate::commands::kustomization::Kustomizations;
use krm_core::files::join;
use krm_core::report::{self, SarifRule};
use krm_core::visible::counted;
use krm_template_authoring::lint;
use krm_template_composition::{KUSTOMIZATIONS, is_kustomization};
use krm_template_exec::console::Console;
use krm_template_exec::io;
use krm_template_exec::status::{FAILED, OK, USAGE};
use krm_template_object_check::Checker;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity, Way};

use file::File;
use related_objects::Counts;

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
    print(arguments.output, &checked.findings)?;
    console.report(&trouble);
    if arguments.output == OutputFormat::Text
        && (checked.templates > 0 || !checked.others.is_empty())
    {
        console.say(summary(&checked).trim_end());
        if let Some(text) = &checked.skipped {
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

/// The number of objects checked, and the findings.
#[derive(Default)]
struct Checked {
    templates: usize,
    others: Counts,
    findings: Diagnostics,
    /// A sentence about the checks that were left out.
    skipped: Option<String>,
}

/// Checks all files. Problems with the files themselves are reported to `trouble`.
fn check_all(
    arguments: &Arguments,
    mut server: Checker,
    console: Console,
    trouble: &mut Diagnostics,
) -> Checked {
    let mut files = Vec::new();
    let mut kustomizations = Vec::new();
    let paths = arguments.paths.iter().chain(&arguments.filenames);
    for path in paths.chain(&arguments.parameter_files) {
        let found = trouble.take(io::yaml_files(path, &KUSTOMIZATIONS));
        let is_named = matches!(found, Some(None));
        let found = found.map(|found| found.unwrap_or_else(|| vec![path.clone()]));
        for file in found.into_iter().flatten() {
            if is_kustomization(&file) && io::is_there(&file) {
                kustomizations.push(file);
            } else {
                files.push((file, is_named));
            }
        }
    }
    let known = files.iter().map(|(file, _)| join(".", file));
    let known: BTreeSet<String> = known.collect();
    let mut read = Vec::new();
    read_files(files, console, &mut server, &mut read, trouble);
    let mut built = Diagnostics::new();
    let disk = related_objects::disk(console, "the Kustomization");
    let built_of = kustomizations::check(&mut kustomizations, &read, disk, &mut server, &mut built);
    // The files hold the same objects.
    server.forget_skipped();
    let named = built_of.others.union(&built_of.composed).cloned();
    let is_new = |file: &String| {
        io::is_yaml(Path::new(file)) && !is_kustomization(file) && !known.contains(file)
    };
    let named = named.filter(is_new).map(|file| (file, false));
    read_files(named, console, &mut server, &mut read, trouble);
    for file in &mut read {
        file.is_composed = built_of.composed.contains(&join(".", &file.path));
    }
    let mut check = Check {
        disabled: &arguments.disable,
        console,
        server: &mut server,
        checked: Checked::default(),
        others: Vec::new(),
        without_template: Vec::new(),
        has_patches: false,
        kustomizations: Kustomizations::default(),
    };
    for file in read {
        check.file(file, trouble);
    }
    check.check_others();
    check.checked.others.kustomizations += kustomizations.len();
    check.add_unsaid(&built);
    check.report_missing(trouble);
    check.checked.findings.dedup();
    check.checked.findings.address(Way::Objects);
    check.checked.skipped = check.server.not_checked();
    check.checked
}

/// Reads files, of which each may be named by an argument, and adds the custom resources that they
/// define.
fn read_files(
    files: impl IntoIterator<Item = (String, bool)>,
    console: Console,
    server: &mut Checker,
    read: &mut Vec<File>,
    trouble: &mut Diagnostics,
) {
    for (path, is_named) in files {
        if let Some(source) = trouble.take(console.read(&path)) {
            let file = File::parse(path, source, is_named);
            related_objects::add_definitions(&file, server);
            read.push(file);
        }
    }
}

/// A check of several files.
struct Check<'a> {
    disabled: &'a [String],
    console: Console,
    server: &'a mut Checker,
    checked: Checked,
    /// Files that may contain objects other than Templates.
    others: Vec<File>,
    /// Named files that do not contain a Template.
    without_template: Vec<String>,
    /// Whether a patch was skipped.
    has_patches: bool,
    kustomizations: Kustomizations,
}

impl Check<'_> {
    /// Checks the Templates in a file.
    fn file(&mut self, file: File, trouble: &mut Diagnostics) {
        let is_named = file.is_named;
        let Some(checked) = check_one(&file, self.disabled, self.server) else {
            return;
        };
        let path = file.path.clone();
        if checked.templates == 0 {
            if is_named {
                self.without_template.push(path);
            }
            self.others.push(file);
            return;
        }
        if let Some(kustomization) = self.kustomizations.that_patches_with(&path) {
            let message = format!("`{path}` is a patch listed in `{kustomization}`");
            if !is_named {
                self.console.info(format!("{message}, and is skipped"));
                self.has_patches = true;
                return;
            }
            trouble
                .push(Diagnostic::warning(message).hint(
                    "check the Template that it patches; patches in a directory are skipped",
                ));
        }
        self.others.push(file);
        self.checked.templates += checked.templates;
        self.checked.findings.append(checked.findings);
    }

    /// Checks the objects that use the Templates.
    fn check_others(&mut self) {
        let mut found = Diagnostics::new();
        let mut checked = BTreeSet::new();
        self.checked.others = related_objects::check(
            &self.others,
            &mut self.kustomizations,
            self.server,
            self.console,
            &mut found,
            &mut checked,
        );
        self.without_template.retain(|path| !checked.contains(path));
        self.add_unsaid(&found);
    }

    /// Adds findings, except those of disabled rules and what is said already of the same place.
    fn add_unsaid(&mut self, found: &Diagnostics) {
        let place = |one: &Diagnostic| {
            let place = one.place.as_ref();
            place.map(|at| format!("{}:{}", join(".", at.source.name()), at.range.start))
        };
        let key = |one: &Diagnostic| format!("{} {}", place(one).unwrap_or_default(), one.message);
        let known = self.checked.findings.iter();
        let mut said: BTreeSet<_> = known.clone().map(key).collect();
        let same = known.filter(|one| one.rule.is_some_and(lint::finds_refusals));
        let same: BTreeSet<_> = same.filter_map(place).collect();
        for one in found {
            let is_disabled = self.disabled.iter().any(|name| one.rule == Some(name));
            let is_refusal = matches!(one.rule, Some("object-type" | "object-refused"));
            let is_found = is_refusal && place(one).is_some_and(|place| same.contains(&place));
            if !is_disabled && !is_found && said.insert(key(one)) {
                self.checked.findings.push(one.clone());
            }
        }
    }

    /// Reports named files that contain nothing to check.
    fn report_missing(&self, trouble: &mut Diagnostics) {
        for file in &self.without_template {
            let message = format!("`{file}` does not contain a Template");
            trouble.push(Diagnostic::warning(message));
        }
        let is_empty = self.checked.templates == 0 && self.checked.others.is_empty();
        if is_empty && !trouble.has_errors() {
            let hint = if self.has_patches {
                "patches listed in a kustomization are skipped: check the Templates that they patch"
            } else {
                "a Template has `kind: Template` and the `apiVersion` `template.krm.dev/v1alpha1`, `template.openshift.io/v1` or `v1`"
            };
            trouble.push(Diagnostic::error("found no Template to check").hint(hint));
        }
    }
}

/// The findings in a file; nothing for an unreadable file that need not contain a Template.
fn check_one(file: &File, disabled: &[String], server: &Checker) -> Option<lint::Checked> {
    let error = match &file.document {
        Ok(document) => return Some(lint::check(document, disabled, Some(server))),
        Err(error) => error.as_ref().clone().rule("syntax"),
    };
    let may_hold_template = file.is_named || lint::may_hold_template(file.source.text());
    let is_disabled = disabled.iter().any(|name| error.rule == Some(name));
    // Counts as one Template.
    (may_hold_template && !is_disabled)
        .then(|| lint::Checked { templates: 1, findings: Box::new(error).into() })
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
    let others = &checked.others;
    let looked_at = [
        (checked.templates, "Template"),
        (others.instances, "TemplateInstance"),
        (others.values, "values file"),
        (others.compositions, "Composition"),
        (others.kustomizations, "Kustomization"),
        (others.deployments, "DeploymentConfiguration"),
        (others.objects, "object"),
    ];
    let looked_at: Vec<String> = looked_at
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| counted(*count, noun))
        .collect();
    let templates = looked_at.join(", ");
    if found.is_empty() {
        format!("no findings in {templates}\n")
    } else {
        format!("\n{} in {templates}\n", found.join(", "))
    }
}
