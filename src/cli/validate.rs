//! `krm-template validate`: finds mistakes in Templates.

use std::sync::Arc;

use clap::builder::{PossibleValue, StringValueParser};
use clap::{Args, ValueEnum};

use crate::cli::{Console, FAILED, OK, Suggested, USAGE, io, kustomization};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::lint;
use crate::report::{self, SarifRule};
use crate::source::Source;

/// Finds mistakes in Templates, without values and without a cluster
///
/// Defaults count as values; where there is none, only what is wrong with any value is reported.
/// docs/rules.md describes the rules. The annotation `template.krm.dev/disable-rules` on a
/// Template switches rules off for it, as `RULE, RULE`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Arguments {
    /// Files with Templates, or directories, in which all *.yaml, *.yml and *.json files are
    /// looked at; `-` for standard input
    #[arg(value_name = "FILE|DIR", required_unless_present = "filenames")]
    paths: Vec<String>,

    /// The same as an argument
    #[arg(short, long = "filename", value_name = "FILE|DIR")]
    filenames: Vec<String>,

    /// How to print what is found: `text` with excerpts, `json` as a list, `sarif` as SARIF 2.1.0
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: OutputFormat,

    /// Rules to leave out, with commas between them
    #[arg(
        long,
        value_name = "RULE",
        value_delimiter = ',',
        hide_possible_values = true,
        value_parser = Suggested { parser: StringValueParser::new(), words: rules }
    )]
    disable: Vec<String>,

    /// Warnings count as errors do: the exit status is 1
    #[arg(long)]
    strict: bool,
}

const AFTER_HELP: &str = "\
Examples:
  krm-template validate template.yaml
  krm-template validate --disable unused-parameter templates/
  krm-template validate -o sarif . > findings.sarif

Exit status: 0 no errors were found (with --strict: no warnings either), 1 there are some,
2 the arguments are wrong, a file cannot be read, or there is no Template.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    Text,
    Json,
    Sarif,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> anyhow::Result<u8> {
    let mut trouble = Diagnostics::new();
    for unknown in arguments
        .disable
        .iter()
        .filter_map(|name| lint::unknown_rule(name))
    {
        trouble.push(Diagnostic {
            severity: Severity::Error,
            ..unknown
        });
    }
    if trouble.has_errors() {
        console.report(&trouble);
        return Ok(USAGE);
    }
    let checked = check_all(arguments, console, &mut trouble);
    print(arguments.output, &checked.findings)?;
    console.report(&trouble);
    if arguments.output == OutputFormat::Text && checked.templates > 0 {
        console.say(summary(&checked).trim_end());
    }
    if trouble.has_errors() {
        return Ok(USAGE);
    }
    let least = if arguments.strict {
        Severity::Warning
    } else {
        Severity::Error
    };
    let counts = checked.findings.iter().any(|one| one.severity >= least);
    Ok(if counts { FAILED } else { OK })
}

/// The names of the rules.
fn rules() -> Vec<PossibleValue> {
    let names = lint::RULES.iter().map(|rule| rule.name);
    names.map(PossibleValue::new).collect()
}

/// Checks all files. What keeps one from being checked goes to `trouble`.
fn check_all(arguments: &Arguments, console: Console, trouble: &mut Diagnostics) -> lint::Checked {
    let mut all = lint::Checked::default();
    let mut has_patches = false;
    for path in arguments.paths.iter().chain(&arguments.filenames) {
        let Some(files) = trouble.take(io::yaml_files(path)) else {
            continue;
        };
        let is_named = files.is_none();
        for file in files.unwrap_or_else(|| vec![path.clone()]) {
            let source = trouble.take(console.read(&file));
            let Some(checked) =
                source.and_then(|source| check_one(&source, is_named, &arguments.disable))
            else {
                continue;
            };
            if checked.templates == 0 {
                if is_named {
                    trouble.push(Diagnostic::warning(format!("`{file}` holds no Template")));
                }
                continue;
            }
            if let Some(kustomization) = kustomization::that_patches_with(&file) {
                let message = format!("`{file}` is a patch, which `{kustomization}` lists");
                if !is_named {
                    console.remark(format!("{message}: it is left out"));
                    has_patches = true;
                    continue;
                }
                trouble.push(Diagnostic::warning(message).hint(
                    "check the Template that it patches; in a directory, patches are left out",
                ));
            }
            all.templates += checked.templates;
            all.findings.append(checked.findings);
        }
    }
    if all.templates == 0 && !trouble.has_errors() {
        let hint = if has_patches {
            "what a kustomization lists as a patch is left out: check what it patches"
        } else {
            "a Template has `kind: Template` and the `apiVersion` `template.krm.dev/v1alpha1`, `template.openshift.io/v1` or `v1`"
        };
        trouble.push(Diagnostic::error("there is no Template to check").hint(hint));
    }
    all
}

/// What is found in a file; nothing if it cannot be read and need not be one of ours.
fn check_one(source: &Arc<Source>, is_named: bool, disabled: &[String]) -> Option<lint::Checked> {
    match lint::check(source, disabled) {
        Ok(checked) => Some(checked),
        Err(_) if !is_named && !lint::may_hold_template(source.text()) => None,
        Err(error) if disabled.iter().any(|name| error.rule == Some(name)) => None,
        // Taken for one Template, of which nothing more can be said.
        Err(error) => Some(lint::Checked {
            templates: 1,
            findings: error.into(),
        }),
    }
}

fn print(format: OutputFormat, findings: &Diagnostics) -> anyhow::Result<()> {
    let text = match format {
        OutputFormat::Text => report::findings_text(findings, io::stdout_color()),
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
    };
    io::print([text.as_str()])
}

/// `2 errors, 1 warning in 3 Templates`.
fn summary(checked: &lint::Checked) -> String {
    let counted = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    };
    let found = [
        (Severity::Error, "error"),
        (Severity::Warning, "warning"),
        (Severity::Info, "remark"),
    ];
    let found: Vec<String> = found
        .iter()
        .map(|(severity, noun)| {
            let findings = checked.findings.iter();
            (
                findings.filter(|one| one.severity == *severity).count(),
                noun,
            )
        })
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| counted(count, noun))
        .collect();
    let templates = counted(checked.templates, "Template");
    if found.is_empty() {
        format!("nothing found in {templates}\n")
    } else {
        format!("\n{} in {templates}\n", found.join(", "))
    }
}
