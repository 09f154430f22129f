//! Objects that an API server would refuse: findings of `object-check`, at the lines of the Template.

use krm_template_engine::{Inspect, Look, Parameters, Template};
use krm_template_object_check::{Checker, Finding, Rule};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};

/// Rules that find some of the same.
const SAME: [&str; 9] = [
    "string-expected",
    "number-expected",
    "bool-expected",
    "invalid-name",
    "invalid-label",
    "structure",
    "missing-space",
    "yaml-bool",
    "yaml-number",
];

/// Checks the objects of an expansion, after another look at them.
pub struct Refusals<'r> {
    /// The check.
    pub checker: &'r Checker,
    /// The look before.
    pub before: Option<&'r dyn Inspect>,
}

impl Inspect for Refusals<'_> {
    fn object(
        &self,
        object: &Look<'_>,
        template: &Template,
        values: &Parameters<'_>,
        diagnostics: &mut Diagnostics,
    ) {
        if let Some(before) = self.before {
            before.object(object, template, values, diagnostics);
        }
        let mut findings = self.checker.check(object.view, &|_| false);
        // A key in the path may be a secret.
        findings.retain(|one| one.shows_only(&|text| values.may_show(text)));
        report_refusals(&findings, object, template, diagnostics);
    }
}

/// Reports what a check found in an object of a Template.
pub fn report_refusals(
    findings: &[Finding],
    object: &Look<'_>,
    template: &Template,
    found: &mut Diagnostics,
) {
    let is_secret = object.view.str_at(&["kind"]).as_deref() == Some("Secret");
    for finding in findings {
        let origin = finding.origin.or(object.view.origin());
        let node = origin.map(|node| object.document.cursor(node));
        let text = node.and_then(|node| node.text().ok().flatten());
        let text = text.as_deref().unwrap_or_default();
        let mut diagnostic = finding.diagnostic(node, is_secret);
        diagnostic.field = Some(format!("{}.{}", object.field, finding.path));
        if finding.rule != Rule::UnknownField {
            if template.hides(text) {
                // A word that is close to the secret.
                diagnostic.hints.clear();
            }
            if let Some(name) = template.names_in(text).first() {
                diagnostic = diagnostic.hint(format!("the parameter `{name}` decides the value"));
            }
        }
        found.push(diagnostic);
    }
}

/// Whether a rule finds some of what an API server refuses.
pub fn finds_refusals(rule: &str) -> bool {
    SAME.contains(&rule)
}

/// Adds what other rules have not found.
pub(super) fn add_unfound(refusals: &Diagnostics, found: &mut Diagnostics) {
    let is_known = |one: &Diagnostic| {
        found.iter().any(|other| {
            other.rule.is_some_and(finds_refusals) && is_same_place(one, other)
                || other.rule == Some("invalid-label")
                    && one.field.as_ref().is_some_and(|field| field.contains(".labels"))
                || other.rule == Some("selector-mismatch")
                    && one.message.contains("`spec.selector` selects")
        })
    };
    let new: Vec<Diagnostic> = refusals.iter().filter(|one| !is_known(one)).cloned().collect();
    for one in new {
        found.push(one);
    }
}

fn is_same_place(one: &Diagnostic, other: &Diagnostic) -> bool {
    match (&one.place, &other.place) {
        (Some(one), Some(other)) => one.range.start == other.range.start,
        _ => false,
    }
}
