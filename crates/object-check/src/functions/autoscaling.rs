//! Horizontal autoscalers of pods.

use krm_yaml::View;

use super::containers::amount;
use crate::walk::{Walk, get, has, is_empty, number, steps, text};

/// Checks the limits of an autoscaler.
pub(crate) fn spec<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let least = number(spec, "minReplicas").unwrap_or(1);
    let most = number(spec, "maxReplicas");
    if most.is_some_and(|most| most >= 1 && most < least) {
        walk.refuse(spec, steps!["maxReplicas"], "must be at least `minReplicas`");
    }
    if number(spec, "targetCPUUtilizationPercentage").is_some_and(|number| number < 1) {
        walk.refuse(spec, steps!["targetCPUUtilizationPercentage"], "must be at least 1");
    }
    if let Some(target) = get(spec, "scaleTargetRef").filter(|target| target.is_mapping()) {
        let version = get(target, "apiVersion").and_then(View::as_str).unwrap_or_default();
        let kind = text(target, "kind");
        let parts = version.split('/').count();
        let is_core = matches!(kind.as_deref(), Some("ReplicationController"));
        if (parts != 2 || version.split('/').any(str::is_empty))
            && !(is_core && version == "v1")
            && kind.is_some()
        {
            walk.refuse(
                spec,
                steps!["scaleTargetRef", "apiVersion"],
                "must have a group, as in `apps/v1`",
            );
        }
    }
}

/// Checks how fast pods are added or removed.
pub(crate) fn scaling<'v>(walk: &mut Walk<'v>, rules: View<'v>) {
    if get(rules, "policies").is_some_and(is_empty) {
        walk.refuse(rules, steps!["policies"], "must not be empty");
    }
}

/// Checks one metric.
pub(crate) fn metric<'v>(walk: &mut Walk<'v>, metric: View<'v>) {
    let sources = [
        ("Object", "object"),
        ("Pods", "pods"),
        ("Resource", "resource"),
        ("ContainerResource", "containerResource"),
        ("External", "external"),
    ];
    let kind = text(metric, "type");
    for (name, field) in sources {
        let source = get(metric, field).filter(|source| source.is_mapping());
        if kind.as_deref() == Some(name) {
            match source {
                None if get(metric, field).is_none() => {
                    walk.refuse(metric, steps![field], &format!("is required for `type: {name}`"));
                }
                None => {}
                Some(source) => target(walk, metric, field, source),
            }
        } else if source.is_some() && kind.is_some() {
            walk.refuse(
                metric,
                steps![field],
                &format!("must not be set, as `type` is not `{name}`"),
            );
        }
    }
}

fn target<'v>(walk: &mut Walk<'v>, metric: View<'v>, field: &'static str, source: View<'v>) {
    let Some(target) = get(source, "target").filter(|target| target.is_mapping()) else {
        walk.missing(metric, steps![field, "target"]);
        return;
    };
    let kind = text(target, "type");
    if !matches!(kind.as_deref(), Some("Utilization" | "Value" | "AverageValue")) {
        let words = ["Utilization", "Value", "AverageValue"];
        walk.not_one_of(
            metric,
            steps![field, "target", "type"],
            kind.as_deref().unwrap_or_default(),
            &words,
        );
    }
    let has_value = get(target, "value").is_some();
    let has_average = get(target, "averageValue").is_some();
    let has_share = get(target, "averageUtilization").is_some();
    for name in ["value", "averageValue"] {
        if get(target, name).and_then(amount).is_some_and(|amount| amount <= 0.0) {
            walk.refuse(metric, steps![field, "target", name], "must be more than 0");
        }
    }
    match field {
        "resource" | "containerResource" => {
            if !has_share && !has_average {
                walk.refuse(
                    metric,
                    steps![field, "target", "averageUtilization"],
                    "or `averageValue` is required",
                );
            }
            if has_share && has_average {
                walk.refuse(
                    metric,
                    steps![field, "target", "averageValue"],
                    "must not be set next to `averageUtilization`",
                );
            }
            if field == "containerResource" && !has(source, "container") {
                walk.missing(metric, steps![field, "container"]);
            }
        }
        "pods" => {
            if !has_average {
                walk.missing(metric, steps![field, "target", "averageValue"]);
            }
        }
        "external" => {
            if has_value == has_average {
                let what = "must have one of `value` and `averageValue`";
                walk.refuse(metric, steps![field, "target"], what);
            }
        }
        _ => {
            if !has_value && !has_average {
                walk.refuse(metric, steps![field, "target"], "must have `value` or `averageValue`");
            }
            match get(source, "describedObject") {
                Some(object) => {
                    for name in ["kind", "name"] {
                        if !has(object, name) {
                            walk.missing(metric, steps![field, "describedObject", name]);
                        }
                    }
                }
                None => walk.missing(metric, steps![field, "describedObject", "kind"]),
            }
            if get(source, "metric").is_none() {
                walk.missing(metric, steps![field, "metric", "name"]);
            }
        }
    }
}
