//! Deployments, StatefulSets, DaemonSets, jobs and disruption budgets.

use krm_yaml::{Scalar, View};

use super::pods::{has_labels, template_labels};
use crate::scalars::integer;
use crate::walk::{Walk, get, is_empty, list, steps, text};

/// Checks a selector and the labels of the template that it must select.
pub(crate) fn selected<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    strategy(walk, spec);
    let Some(selector) = get(spec, "selector").filter(|selector| selector.is_mapping()) else {
        return;
    };
    let is_all = ["matchLabels", "matchExpressions"]
        .iter()
        .all(|field| get(selector, field).is_none_or(is_empty));
    if is_all {
        walk.refuse(spec, steps!["selector"], "must not be empty");
        return;
    }
    let labels = template_labels(spec);
    let fits = has_labels(labels, selector, "matchLabels")
        && list(selector, "matchExpressions").all(|one| fits(labels, one));
    if !fits && !walk.holds_placeholder(labels.unwrap_or(spec)) && !walk.holds_placeholder(selector)
    {
        let what = "must have the labels that `spec.selector` selects";
        walk.refuse(spec, steps!["template", "metadata", "labels"], what);
    }
}

/// Whether labels fit an expression of a selector.
fn fits<'v>(labels: Option<View<'v>>, expression: View<'v>) -> bool {
    let Some(key) = text(expression, "key") else {
        return true;
    };
    let value =
        labels.and_then(|labels| labels.get(&key)).map(|value| value.as_str().unwrap_or_default());
    let is_in = |value: &str| {
        list(expression, "values").any(|one| one.as_str().is_some_and(|one| one == value))
    };
    match text(expression, "operator").as_deref() {
        Some("In") => value.is_some_and(|value| is_in(&value)),
        Some("NotIn") => value.is_none_or(|value| !is_in(&value)),
        Some("Exists") => value.is_some(),
        Some("DoesNotExist") => value.is_none(),
        _ => true,
    }
}

/// The number, or whether a percentage is 0.
fn is_zero(value: Option<View<'_>>, default: bool) -> bool {
    match value.and_then(View::scalar) {
        Some(Scalar::Number(digits)) => digits == "0",
        Some(Scalar::String(text)) => {
            text.strip_suffix('%').is_some_and(|digits| digits.trim_start_matches('0').is_empty())
        }
        _ => default,
    }
}

fn percent(value: Option<View<'_>>) -> Option<i64> {
    integer(value?.as_str()?.strip_suffix('%')?)
}

fn strategy<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let is_daemon = walk.kind == "DaemonSet";
    let field = if walk.kind == "Deployment" { "strategy" } else { "updateStrategy" };
    let Some(strategy) = get(spec, field) else {
        return;
    };
    let kind = text(strategy, "type");
    let rolling = get(strategy, "rollingUpdate").filter(|rolling| rolling.is_mapping());
    let Some(rolling) = rolling else { return };
    if kind.as_deref().is_some_and(|kind| kind != "RollingUpdate") || walk.kind == "StatefulSet" {
        return;
    }
    let (surge, unavailable) = (get(rolling, "maxSurge"), get(rolling, "maxUnavailable"));
    // A percentage by default for a Deployment; 0 and 1 for a DaemonSet.
    let no_surge = is_zero(surge, is_daemon);
    if no_surge && is_zero(unavailable, false) {
        walk.refuse(
            spec,
            steps![field, "rollingUpdate", "maxUnavailable"],
            "must not be 0 if `maxSurge` is 0",
        );
    }
    if is_daemon && !no_surge && surge.is_some() && !is_zero(unavailable, false) {
        walk.refuse(
            spec,
            steps![field, "rollingUpdate", "maxSurge"],
            "can only be set if `maxUnavailable` is 0",
        );
    }
    if percent(unavailable).is_some_and(|percent| percent > 100) {
        walk.refuse(spec, steps![field, "rollingUpdate", "maxUnavailable"], "must be at most 100%");
    }
}

/// Checks a ReplicationController: its selector is a mapping of labels.
pub(crate) fn controller<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    // The labels of the template, unless there are none.
    if get(spec, "selector").is_none_or(is_empty)
        && template_labels(spec).is_none_or(is_empty)
        && get(spec, "template").is_some()
    {
        walk.missing(spec, steps!["selector"]);
    }
    labels_are_selected(walk, spec);
}

/// Checks that a selector without expressions selects the labels of the template.
pub(crate) fn labels_are_selected<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let labels = template_labels(spec);
    if let Some(selector) = get(spec, "selector").filter(|selector| !is_empty(*selector))
        && get(spec, "template").is_some()
        && !has_labels(labels, spec, "selector")
        && !walk.holds_placeholder(selector)
        && !walk.holds_placeholder(labels.unwrap_or(selector))
    {
        let what = "must have the labels that `spec.selector` selects";
        walk.refuse(spec, steps!["template", "metadata", "labels"], what);
    }
}
