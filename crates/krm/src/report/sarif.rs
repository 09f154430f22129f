//! Findings as SARIF 2.1.0, which code hosts and editors read.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use krm_yaml::source::Place;

use crate::report::shown::rest;
use crate::secret_places::concealed;

/// A rule as SARIF describes it.
#[derive(Clone, Copy, Debug)]
pub struct SarifRule {
    /// The name, as in `docs/rules.md`; the `id` in the log.
    pub name: &'static str,
    /// The severity of its findings, as a default.
    pub severity: Severity,
    /// The problem that it finds, in one line.
    pub summary: &'static str,
}

/// A SARIF log of one run, with all rules and the findings in order.
pub fn sarif(findings: &Diagnostics, rules: &[SarifRule]) -> Value {
    let findings = &*concealed(findings);
    let rest = rest(findings, usize::MAX);
    let results: Vec<Value> =
        findings.iter().chain(&rest).map(|finding| result(finding, rules)).collect();
    let rules = rules.iter().map(|rule| {
        json!({
            "id": rule.name,
            "shortDescription": { "text": rule.summary },
            "defaultConfiguration": { "level": level(rule.severity) },
        })
    });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "krm-template",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules.collect::<Vec<_>>(),
                },
            },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

fn result(finding: &Diagnostic, rules: &[SarifRule]) -> Value {
    let mut text = finding.message.clone();
    for hint in &finding.hints {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{hint}");
    }
    let mut result = json!({
        "level": level(finding.severity),
        "message": { "text": text },
    });
    let mut set = |key: &str, value| {
        if let Some(object) = result.as_object_mut() {
            object.insert(key.to_owned(), value);
        }
    };
    if let Some(name) = finding.rule {
        set("ruleId", name.into());
        if let Some(index) = rules.iter().position(|rule| rule.name == name) {
            set("ruleIndex", index.into());
        }
    }
    if let Some(place) = &finding.place {
        let mut location = json!({ "physicalLocation": physical(place) });
        if let (Some(field), Some(object)) = (&finding.field, location.as_object_mut()) {
            let logical = json!([{ "fullyQualifiedName": field }]);
            object.insert("logicalLocations".to_owned(), logical);
        }
        set("locations", json!([location]));
    }
    if !finding.related.is_empty() {
        let related = finding.related.iter().map(|(place, label)| {
            json!({
                "physicalLocation": physical(place),
                "message": { "text": label },
            })
        });
        set("relatedLocations", related.collect());
    }
    if let Some((place, fix)) = finding.place.as_ref().zip(finding.fix.as_ref()) {
        let replacement = json!({
            "deletedRegion": region(place),
            "insertedContent": { "text": fix },
        });
        let change = json!({
            "artifactLocation": { "uri": uri(place.source.name()) },
            "replacements": [replacement],
        });
        set("fixes", json!([{ "artifactChanges": [change] }]));
    }
    result
}

fn physical(place: &Place) -> Value {
    json!({
        "artifactLocation": { "uri": uri(place.source.name()) },
        "region": region(place),
    })
}

fn region(place: &Place) -> Value {
    let (start_line, start_column) = place.line_column();
    let (end_line, end_column) = place.end_line_column();
    json!({
        "startLine": start_line,
        "startColumn": start_column,
        "endLine": end_line,
        "endColumn": end_column,
    })
}

/// The characters of a path that a URI spells otherwise.
const SPELLED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A path as a URI, percent-encoded.
fn uri(path: &str) -> String {
    let scheme = if path.starts_with('/') { "file://" } else { "" };
    format!("{scheme}{}", utf8_percent_encode(path, SPELLED))
}

#[cfg(test)]
mod tests {
    use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
    use krm_yaml::source::{Place, Source};
    use serde_json::json;

    use super::{sarif, uri};

    #[test]
    fn an_edit_is_a_fix() {
        let source = Source::new("a.yaml", "stdin: \"true\"\n");
        let mut wrong = Diagnostic::error("wrong").at(Place { source, range: 7..13 });
        wrong.fix = Some("true".to_owned());
        let log = sarif(&Diagnostics::from(wrong), &[]);
        let region = json!({"startLine": 1, "startColumn": 8, "endLine": 1, "endColumn": 14});
        let change = json!({
            "artifactLocation": {"uri": "a.yaml"},
            "replacements": [{"deletedRegion": region, "insertedContent": {"text": "true"}}],
        });
        let fixes = &log["runs"][0]["results"][0]["fixes"];
        assert_eq!(*fixes, json!([{"artifactChanges": [change]}]));
    }

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("a/b-c.yaml"), "a/b-c.yaml");
        assert_eq!(uri("/a b/ü"), "file:///a%20b/%C3%BC");
    }
}
