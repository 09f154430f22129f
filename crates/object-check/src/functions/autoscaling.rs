//! Horizontal autoscalers of pods.

use krm_yaml::View;

use crate::walk::{Walk, get, number, steps, text};

/// Checks the limits of an autoscaler.
pub(crate) fn spec<'v>(walk: &mut Walk<'v>, spec: View<'v>) {
    let least = number(spec, "minReplicas").unwrap_or(1);
    let most = number(spec, "maxReplicas");
    if most.is_some_and(|most| most >= 1 && most < least) {
        walk.refuse(spec, steps!["maxReplicas"], "must be at least `minReplicas`");
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
