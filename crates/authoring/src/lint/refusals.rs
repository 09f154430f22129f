//! Objects that an API server would refuse: findings of `object-check`, at the lines of the Template.

use krm_template_engine::{Inspect, Look, Parameters, Template};
use krm_template_object_check::{Checker, Rule};
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
        let mut found = Diagnostics::new();
        check_refusals(self.checker, object, template, &|_| false, &mut found);
        // A key in the path may be a secret.
        found.retain(|one| values.may_show(&one.message));
        diagnostics.append(found);
    }
}

/// Checks an object of a Template, of which texts that `is_open` are only known later.
pub fn check_refusals(
    checker: &Checker,
    object: &Look<'_>,
    template: &Template,
    is_open: &dyn Fn(&str) -> bool,
    found: &mut Diagnostics,
) {
    let is_secret = object.view.str_at(&["kind"]).as_deref() == Some("Secret");
    for finding in checker.check(object.view, is_open) {
        let origin = finding.origin.or(object.view.origin());
        let node = origin.map(|node| object.document.cursor(node));
        let text = node.and_then(|node| node.text().ok().flatten());
        let names = text
            .map(|text| template.names_in(&text))
            .unwrap_or_default();
        let mut diagnostic = finding.diagnostic(node, is_secret);
        diagnostic.field = Some(format!("{}.{}", object.field, finding.path));
        if finding.rule != Rule::UnknownField
            && let Some(name) = names.first()
        {
            diagnostic = diagnostic.hint(format!("the parameter `{name}` decides the value"));
        }
        found.push(diagnostic);
    }
}

/// Adds what other rules have not found.
pub(super) fn add_unfound(refusals: &Diagnostics, found: &mut Diagnostics) {
    let is_known = |one: &Diagnostic| {
        found.iter().any(|other| {
            other.rule.is_some_and(|rule| SAME.contains(&rule)) && is_same_place(one, other)
                || other.rule == Some("invalid-label")
                    && one
                        .field
                        .as_ref()
                        .is_some_and(|field| field.contains(".labels"))
                || other.rule == Some("selector-mismatch")
                    && one.message.contains("`spec.selector` selects")
        })
    };
    let new: Vec<Diagnostic> = refusals
        .iter()
        .filter(|one| !is_known(one))
        .cloned()
        .collect();
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
