//! Findings as workflow commands of GitHub Actions, which shows them at the lines of a change.
//!
//! Source: the documentation of GitHub, "Workflow commands", and `toolkit/packages/core/src/command.ts`.

use std::fmt::Write as _;

use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};

use crate::files::join;
use crate::report::shown::rest;
use crate::secret_places::concealed;

/// One command on a line for each finding, in order, with its hints in the message.
pub fn workflow_commands(findings: &Diagnostics) -> String {
    let findings = &*concealed(findings);
    let rest = rest(findings, usize::MAX);
    findings.iter().chain(&rest).map(command).collect()
}

fn command(finding: &Diagnostic) -> String {
    let mut command = match finding.severity {
        Severity::Error => "::error ".to_owned(),
        Severity::Warning => "::warning ".to_owned(),
        Severity::Info => "::notice ".to_owned(),
    };
    let mut properties = Vec::new();
    if let Some(place) = &finding.place {
        let (line, column) = place.line_column();
        let (end_line, end_column) = place.end_line_column();
        properties.push(("file", property(&join(".", place.source.name()))));
        properties.push(("line", line.to_string()));
        // It takes columns within one line only.
        if line == end_line {
            properties.push(("col", column.to_string()));
            properties.push(("endColumn", end_column.to_string()));
        } else {
            properties.push(("endLine", end_line.to_string()));
        }
    }
    properties.extend(finding.rule.map(|rule| ("title", property(rule))));
    let properties = properties.iter().map(|(name, value)| format!("{name}={value}"));
    command.push_str(&properties.collect::<Vec<_>>().join(","));
    let mut message = finding.message.clone();
    for hint in &finding.hints {
        let _ = write!(message, "\n{hint}");
    }
    command + "::" + &data(&message) + "\n"
}

fn data(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D");
    text.replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
