//! Warns of labels and namespaces that Kubernetes refuses, though `oc process` puts them on
//! objects.

use crate::declare::model::Template;
use crate::expand::pods::Labels;
use crate::resolve::parameters::Parameters;
use crate::values::budget::{self, Budget};
use krm_core::names;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};

/// Checks once what the expansion puts on every object.
pub(crate) fn warn(
    template: &Template,
    parameters: &Parameters<'_>,
    labels: &Labels,
    namespace: Option<&str>,
    budget: Option<&Budget<'_>>,
    diagnostics: &mut Diagnostics,
) {
    // An earlier error may be the cause of a wrong label.
    if diagnostics.has_errors() {
        return;
    }
    if let Some(problem) = namespace.and_then(names::check_namespace) {
        diagnostics.push(as_warning(problem));
    }
    for (key, value) in labels {
        let problems = names::check_label(key, value);
        if problems.iter().all(Option::is_none) {
            continue;
        }
        if !budget::goes_on(budget) {
            return;
        }
        let written = template.label_entries().map(|(entry, _)| entry);
        let mut written = written.filter_map(|entry| {
            let (own_key, own_value) = (entry.key().ok()?, entry.text().ok()??);
            Some((entry, own_key, own_value))
        });
        // A label of the arguments or of the instance has taken the place of one with this key if
        // the value differs and has no reference.
        let entry = written.find(|(_, own_key, own_value)| {
            let is_replaced = !template.names_in(own_value).is_empty();
            let is_key = own_key == key || !template.names_in(own_key).is_empty();
            is_key && (own_value == value || is_replaced)
        });
        let is_shown = entry.as_ref().is_none_or(|(_, own_key, own_value)| {
            may_show(template, parameters, own_key) && may_show(template, parameters, own_value)
        });
        for (problem, is_key) in problems.into_iter().zip([true, false]) {
            let Some(problem) = problem else { continue };
            let mut warning = as_warning(problem).rule("invalid-label");
            if let Some((entry, own_key, own_value)) = &entry {
                if !is_shown {
                    warning.message = format!(
                        "the label `{own_key}: {own_value}` becomes a label that Kubernetes rejects"
                    );
                }
                let place = if is_key { entry.key_place() } else { entry.place() };
                warning = warning.at(place).field(format!("labels.{own_key}"));
            }
            diagnostics.push(warning);
        }
    }
}

fn as_warning(problem: Diagnostic) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, ..problem }
}

/// Whether no parameter that a text refers to is secret.
fn may_show(template: &Template, parameters: &Parameters<'_>, text: &str) -> bool {
    let names = template.names_in(text);
    let mut values = names.iter().filter_map(|name| parameters.get(name));
    values.all(|value| value.may_show)
}
