//! Deployments, StatefulSets, DaemonSets, jobs and disruption budgets.

use krm_yaml::{Scalar, View};

use super::pods::{has_labels, template_labels};
use crate::scalars::integer;
use crate::walk::{Walk, get, has, is_empty, list, number, steps, text};

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
    if !fits && !walk.is_open(labels.unwrap_or(spec)) && !walk.is_open(selector) {
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

/// Checks a Deployment.
pub(crate) fn deployment<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    selected(walk, spec);
    let least = number(spec, "minReadySeconds").unwrap_or(0);
    if let Some(deadline) =
        number(spec, "progressDeadlineSeconds").or_else(|| (least >= 600).then_some(600))
        && deadline <= least
    {
        walk.refuse(spec, steps!["progressDeadlineSeconds"], "must be more than `minReadySeconds`");
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
        && !walk.is_open(selector)
        && !walk.is_open(labels.unwrap_or(selector))
    {
        let what = "must have the labels that `spec.selector` selects";
        walk.refuse(spec, steps!["template", "metadata", "labels"], what);
    }
}

/// Checks a CronJob.
pub(crate) fn cron_job<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    if let Some(schedule) = text(spec, "schedule") {
        let is_zoned = schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=");
        if is_zoned && has(spec, "timeZone") {
            walk.refuse(spec, steps!["schedule"], "must not set a time zone next to `timeZone`");
        } else if is_zoned {
            walk.refuse(spec, steps!["schedule"], "must not set a time zone: use `timeZone`");
        } else if !is_schedule(&schedule) {
            let what = "must have five fields: minute, hour, day of month, month and day of week";
            walk.refuse(spec, steps!["schedule"], what);
        }
    }
    if let Some(zone) = get(spec, "timeZone").and_then(View::as_str) {
        let is_form = zone.split('/').all(|part| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+'))
        });
        let begins = zone.starts_with(|c: char| c.is_ascii_uppercase());
        if !is_form || !begins || zone == "Local" || zone.len() < 2 {
            walk.refuse(
                spec,
                steps!["timeZone"],
                "must be the name of a time zone, such as `Europe/Berlin`",
            );
        }
    }
}

/// Whether the library `robfig/cron` reads a schedule.
fn is_schedule(schedule: &str) -> bool {
    if let Some(word) = schedule.strip_prefix('@') {
        let every = word.strip_prefix("every ");
        return every.is_some_and(is_duration)
            || matches!(
                word,
                "yearly" | "annually" | "monthly" | "weekly" | "daily" | "midnight" | "hourly"
            );
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    let [minute, hour, day, month, weekday] = fields[..] else {
        return false;
    };
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
    is_cron(minute, 0, 59, &[])
        && is_cron(hour, 0, 23, &[])
        && is_cron(day, 1, 31, &[])
        && is_cron(month, 1, 12, &MONTHS)
        && is_cron(weekday, 0, 6, &DAYS)
}

/// Whether a text is a duration of Go.
pub(crate) fn is_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let is_there = !rest.is_empty();
    while !rest.is_empty() {
        let unit = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        if unit.len() == rest.len() {
            return false;
        }
        let units = ["ns", "us", "µs", "ms", "s", "m", "h"];
        let Some(after) = units.iter().find_map(|name| unit.strip_prefix(name)) else {
            return false;
        };
        rest = after;
    }
    is_there
}

fn is_cron(field: &str, least: u32, most: u32, names: &[&str]) -> bool {
    let value = |text: &str| -> Option<u32> {
        let lower = text.to_ascii_lowercase();
        let position = names.iter().position(|name| *name == lower);
        // Months begin with 1, days with 0.
        let first = u32::from(names.len() == 12);
        let position = position.and_then(|at| u32::try_from(at).ok());
        let word = position.map(|at| at + first);
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        word.or_else(|| is_number.then(|| text.parse().ok()).flatten())
    };
    let is_part = |part: &str| {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (part, None),
        };
        if step.is_some_and(|step| value(step).is_none_or(|step| step == 0)) {
            return false;
        }
        if matches!(range, "*" | "?") {
            return true;
        }
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        match (value(from), value(to)) {
            (Some(from), Some(to)) => least <= from && from <= to && to <= most,
            _ => false,
        }
    };
    field.split(',').filter(|part| !part.is_empty()).all(is_part) && !field.is_empty()
}
