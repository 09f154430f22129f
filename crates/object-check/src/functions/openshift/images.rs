//! ImageStreams, Templates, and bindings of roles.

use krm_yaml::View;

use crate::walk::{Part, Walk, get, has, list, steps, text};

/// Checks an ImageStream.
pub(crate) fn stream<'v>(walk: &mut Walk<'v>, object: View<'v>) {
    if let Some(name) = get(object, "metadata").and_then(|meta| text(meta, "name"))
        && !is_repository(&name)
    {
        walk.refuse(
            object,
            steps!["metadata", "name"],
            "must be a repository of images: lower case letters, digits, `.`, `-` and `_`",
        );
    }
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
    for (index, tag) in list(spec, "tags").enumerate() {
        let at =
            |field: &'static str| [Part::from("spec"), "tags".into(), index.into(), field.into()];
        if let Some(policy) = get(tag, "importPolicy").and_then(|one| text(one, "importMode"))
            && !matches!(policy.as_ref(), "Legacy" | "PreserveOriginal")
        {
            let mut path = at("importPolicy").to_vec();
            path.push("importMode".into());
            walk.not_one_of(object, &path, &policy, &["Legacy", "PreserveOriginal"]);
        }
        if let Some(policy) = get(tag, "referencePolicy").and_then(|one| text(one, "type"))
            && !matches!(policy.as_ref(), "Source" | "Local")
        {
            let mut path = at("referencePolicy").to_vec();
            path.push("type".into());
            walk.not_one_of(object, &path, &policy, &["Local", "Source"]);
        }
        let Some(from) = get(tag, "from").filter(|from| from.is_mapping()) else {
            continue;
        };
        let below = |field: &'static str| {
            let mut path = at("from").to_vec();
            path.push(field.into());
            path
        };
        let words = ["DockerImage", "ImageStreamImage", "ImageStreamTag"];
        let kind = text(from, "kind");
        match kind.as_deref() {
            None if get(from, "kind").is_none_or(|kind| kind.as_str().is_some()) => {
                walk.missing(object, &below("kind"));
            }
            Some(kind) if !words.contains(&kind) => {
                walk.not_one_of(object, &below("kind"), kind, &words);
            }
            _ => {}
        }
        match text(from, "name") {
            None if kind.is_some()
                && get(from, "name").is_none_or(|name| name.as_str().is_some()) =>
            {
                walk.missing(object, &below("name"));
            }
            Some(name) if kind.as_deref() == Some("DockerImage") && !is_image(&name) => {
                walk.refuse(object, &below("name"), "must be the name of an image");
            }
            _ => {}
        }
    }
}

/// Whether a name is a repository on its own.
fn is_repository(name: &str) -> bool {
    let is_outer = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    bytes.first().is_some_and(|byte| is_outer(*byte))
        && bytes.last().is_some_and(|byte| is_outer(*byte))
        && bytes.iter().all(|byte| is_outer(*byte) || matches!(byte, b'.' | b'-' | b'_'))
        && !name.contains("..")
        && name.len() <= 255
}

/// Whether a text names an image, with a registry, a tag or a digest or without.
fn is_image(name: &str) -> bool {
    let (name, digest) = name.split_once('@').unwrap_or((name, "sha256:0"));
    if digest.is_empty() || !digest.contains(':') {
        return false;
    }
    let (path, last) = name.rsplit_once('/').map_or(("", name), |(path, last)| (path, last));
    let (last, tag) = last.split_once(':').unwrap_or((last, "x"));
    let is_tag = |tag: &str| {
        !tag.is_empty()
            && tag.len() <= 128
            && tag
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
            && !tag.starts_with(['.', '-'])
    };
    let mut parts = path.split('/').filter(|_| !path.is_empty());
    let first = parts.next();
    let is_host = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':'))
    };
    let first_fits = first.is_none_or(|part| is_repository(part) || is_host(part));
    is_tag(tag) && is_repository(last) && first_fits && parts.all(is_repository)
}

/// Checks a Template as an object.
pub(crate) fn template<'v>(walk: &mut Walk<'v>, template: View<'v>) {
    for (index, parameter) in list(template, "parameters").enumerate() {
        match text(parameter, "name") {
            None if get(parameter, "name").is_none_or(|name| name.as_str().is_some()) => {
                walk.missing(template, steps!["parameters", index, "name"]);
            }
            Some(name)
                if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') =>
            {
                walk.refuse(
                    template,
                    steps!["parameters", index, "name"],
                    "must be letters, digits and `_`",
                );
            }
            _ => {}
        }
    }
}

/// Checks a binding of OpenShift's own group.
pub(crate) fn binding<'v>(walk: &mut Walk<'v>, binding: View<'v>) {
    let Some(role) = get(binding, "roleRef").filter(|role| role.is_mapping()) else {
        walk.missing(binding, steps!["roleRef"]);
        return;
    };
    if !has(role, "name") {
        walk.missing(binding, steps!["roleRef", "name"]);
    }
    let own = get(binding, "metadata").and_then(|meta| text(meta, "namespace"));
    let of_role = text(role, "namespace");
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
