//! ImageStreams, Templates, and bindings of roles.

use krm_yaml::View;

use crate::walk::{Walk, get, has, list, steps, text};

/// Checks a binding of OpenShift's own group.
pub(crate) fn binding<'v>(walk: &mut Walk<'v>, binding: View<'v>) {
    for (index, subject) in list(binding, "subjects").enumerate() {
        let kind = text(subject, "kind").unwrap_or_default();
        let words = ["ServiceAccount", "SystemUser", "SystemGroup", "User", "Group"];
        if !words.contains(&kind.as_ref())
            && get(subject, "kind").is_none_or(|kind| kind.as_str().is_some())
        {
            walk.not_one_of(binding, steps!["subjects", index, "kind"], &kind, &words);
        }
        if !has(subject, "name") {
            walk.missing(binding, steps!["subjects", index, "name"]);
        }
    }
}
