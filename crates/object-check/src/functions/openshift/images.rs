//! ImageStreams, Templates, and bindings of roles.

use krm_yaml::View;

use crate::formats::{is_image, is_repository};
use crate::walk::{Walk, get, has, list, steps, text};

/// Checks an ImageStream.
pub(crate) fn stream<'v>(walk: &mut Walk<'v>, object: View<'v>) {
    if let Some(prefix) = get(object, "metadata").and_then(|meta| text(meta, "generateName"))
        && !is_repository(&format!("{prefix}a"))
    {
        walk.refuse(
            object,
            steps!["metadata", "generateName"],
            "must begin a repository of images: lower case letters, digits, `.`, `-` and `_`",
        );
    }
    let Some(spec) = get(object, "spec") else {
        return;
    };
    if let Some(repository) = text(spec, "dockerImageRepository") {
        let last = repository.rsplit('/').next().unwrap_or_default();
        if last.contains([':', '@']) {
            walk.refuse(
                object,
                steps!["spec", "dockerImageRepository"],
                "must have no tag and no digest",
            );
        } else if !is_image(&repository) {
            walk.refuse(
                object,
                steps!["spec", "dockerImageRepository"],
                "must be a repository of images",
            );
        }
    }
}

/// Checks a binding of OpenShift's own group.
pub(crate) fn binding<'v>(walk: &mut Walk<'v>, binding: View<'v>) {
    let own = get(binding, "metadata").and_then(|meta| text(meta, "namespace"));
    let of_role = get(binding, "roleRef").and_then(|role| text(role, "namespace"));
    if own.is_some() && of_role.is_some() && own != of_role {
        walk.refuse(
            binding,
            steps!["roleRef", "namespace"],
            "must be the namespace of the binding",
        );
    }
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
