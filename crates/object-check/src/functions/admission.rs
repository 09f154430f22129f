//! Webhooks and policies of admission.

use std::collections::BTreeSet;

use krm_yaml::View;

use crate::walk::{Walk, list, steps};

/// Checks a rule for what is admitted.
pub(crate) fn rule<'v>(walk: &mut Walk<'v>, rule: View<'v>) {
    for field in ["operations", "apiGroups", "apiVersions"] {
        let words: Vec<_> = list(rule, field).filter_map(View::as_str).collect();
        if words.len() > 1 && words.iter().any(|word| word == "*") {
            walk.refuse(rule, steps![field], "must not have other items next to `*`");
        }
    }
    let resources: Vec<_> = list(rule, "resources").filter_map(View::as_str).collect();
    let is_all = resources.iter().any(|one| one == "*/*");
    if is_all && resources.len() > 1 {
        walk.refuse(rule, steps!["resources"], "must not have other items next to `*/*`");
    }
    let has_all = resources.iter().any(|one| one == "*");
    if has_all && resources.iter().any(|one| one != "*" && !one.contains('/')) {
        walk.refuse(
            rule,
            steps!["resources"],
            "must not have other resources without `/` next to `*`",
        );
    }
    let all_of: BTreeSet<&str> =
        resources.iter().filter_map(|one| one.strip_suffix("/*")).collect();
    let is_covered = |one: &str| {
        one.split_once('/').is_some_and(|(resource, sub)| sub != "*" && all_of.contains(resource))
    };
    if !is_all && resources.iter().any(|one| is_covered(one)) {
        walk.refuse(rule, steps!["resources"], "must not have a subresource next to all of them");
    }
}
