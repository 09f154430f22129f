//! DeploymentConfigs.

use krm_yaml::{Scalar, View};

use super::super::workloads::labels_are_selected;
use crate::walk::{Walk, at, get, number, steps, text};

/// Checks a DeploymentConfig.
pub(crate) fn deployment<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    labels_are_selected(walk, spec);
    deployment_strategy(walk, spec);
}

/// The time in which a deployment must be done, by default.
const DEADLINE: i64 = 600;

fn deployment_strategy<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let Some(strategy) = get(spec, "strategy").filter(|one| one.is_mapping()) else {
        return;
    };
    let most = number(strategy, "activeDeadlineSeconds");
    let kind = text(strategy, "type");
    let is_recreate = kind.as_deref() == Some("Recreate");
    let field = if is_recreate { "recreateParams" } else { "rollingParams" };
    let within =
        get(strategy, field).and_then(|one| number(one, "timeoutSeconds")).unwrap_or(DEADLINE);
    if kind.as_deref() != Some("Custom") && most.is_some_and(|most| most > 0 && most <= within) {
        walk.refuse(
            spec,
            steps!["strategy", "activeDeadlineSeconds"],
            "must be more than `timeoutSeconds`",
        );
    }
    if kind.is_some_and(|kind| kind != "Rolling") {
        return;
    }
    let zero = |name: &str| match at(strategy, &["rollingParams", name]).and_then(View::scalar) {
        Some(Scalar::Number(digits)) => digits == "0",
        Some(Scalar::String(text)) => text == "0%" || text == "0",
        _ => false,
    };
    if zero("maxSurge") && zero("maxUnavailable") {
        let path = steps!["strategy", "rollingParams", "maxUnavailable"];
        walk.refuse(spec, path, "must not be 0 if `maxSurge` is 0");
    }
}
