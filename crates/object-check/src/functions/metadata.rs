//! Names, labels, annotations, owners and finalizers.

use krm_core::identity::is_built_in;
use krm_yaml::View;

use crate::formats::{Format, is_fully_qualified, is_label, is_subdomain, without_final_dash};
use crate::walk::{Walk, entries, get, has, is_true, list, steps, text};

/// The most bytes that annotations have together.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Checks the metadata of an object, or of a template of pods.
pub(crate) fn object_meta<'v>(walk: &mut Walk<'v>, meta: View<'v>) {
    let is_object = walk.is_at(&["metadata"]);
    // The metadata of claims and jobs made from templates is checked when they are made.
    if is_object || walk.is_in_pod_template() {
        label_map(walk, meta, "labels");
        annotations(walk, meta);
    }
    // A review is a question, and needs no name.
    if !is_object || walk.kind.ends_with("Review") {
        return;
    }
    name(walk, meta);
    if let Some(namespace) = text(meta, "namespace")
        && walk.is_namespaced
        && !is_label(&namespace)
    {
        walk.refuse(meta, steps!["namespace"], &format!("must be {}", Format::Label.words()));
    }
    // Other groups have no rule for them.
    let is_free = [
        "admissionregistration.k8s.io",
        "apiregistration.k8s.io",
        "coordination.k8s.io",
        "apiextensions.k8s.io",
    ]
    .contains(&walk.group.as_str())
        || (!is_built_in(&walk.group) && !walk.group.ends_with(".openshift.io"));
    if !is_free {
        finalizers(walk, meta);
    }
    owners(walk, meta);
}

/// Checks the finalizers of an object or a namespace.
pub(crate) fn finalizers<'v>(walk: &mut Walk<'v>, around: View<'v>) {
    for (at, finalizer) in list(around, "finalizers").enumerate() {
        let finalizer = finalizer.as_str().unwrap_or_default();
        let is_standard =
            matches!(finalizer.as_ref(), "kubernetes" | "orphan" | "foregroundDeletion");
        if !is_standard && !is_fully_qualified(&finalizer) {
            let what = "must have a domain and `/`, as in `example.com/name`";
            walk.refuse(around, steps!["finalizers", at], what);
        }
    }
}

/// Checks the labels under a key.
pub(crate) fn label_map<'v>(walk: &mut Walk<'v>, around: View<'v>, field: &'static str) {
    for (key, value) in entries(around, field) {
        let path = steps![field, key.clone()];
        if !Format::QualifiedName.fits(&key) {
            walk.refuse(
                around,
                path,
                &format!("has a key that is not {}", Format::QualifiedName.words()),
            );
        }
        if value.as_str().is_some_and(|value| !Format::LabelValue.fits(&value)) {
            walk.refuse(around, path, &format!("must be {}", Format::LabelValue.words()));
        }
    }
}

fn annotations<'v>(walk: &mut Walk<'v>, meta: View<'v>) {
    let mut size = 0;
    for (key, value) in entries(meta, "annotations") {
        size += key.len() + value.as_str().map_or(0, |text| text.len());
        if !Format::QualifiedName.fits(&key.to_lowercase()) {
            let what = format!("has a key that is not {}", Format::QualifiedName.words());
            walk.refuse(meta, steps!["annotations", key], &what);
        }
    }
    if size > MAX_ANNOTATIONS {
        walk.refuse(meta, steps!["annotations"], "must have at most 256 KiB together");
    }
}

fn owners<'v>(walk: &mut Walk<'v>, meta: View<'v>) {
    let mut controllers = 0;
    for (at, owner) in list(meta, "ownerReferences").enumerate() {
        for field in ["apiVersion", "kind", "name", "uid"] {
            if !has(owner, field) {
                walk.missing(meta, steps!["ownerReferences", at, field]);
            }
        }
        controllers += usize::from(is_true(owner, "controller"));
    }
    if controllers > 1 {
        walk.refuse(meta, steps!["ownerReferences"], "may have only one `controller: true`");
    }
}

fn name<'v>(walk: &mut Walk<'v>, meta: View<'v>) {
    let check = name_rule(&walk.group, walk.kind);
    let generated = text(meta, "generateName");
    if let Some(prefix) = &generated
        && let Some(words) = check(&without_final_dash(prefix))
    {
        walk.refuse(meta, steps!["generateName"], &format!("must begin {words}"));
    }
    match text(meta, "name") {
        // The server makes up a name for it.
        None if walk.kind == "LimitRange" => {}
        None if generated.is_none()
            && get(meta, "name").is_none_or(|name| name.as_str().is_some()) =>
        {
            walk.missing(meta, steps!["name"]);
        }
        None => {}
        Some(name) => {
            if let Some(words) = check(&name) {
                walk.refuse(meta, steps!["name"], &format!("must be {words}"));
            }
        }
    }
}

type NameRule = fn(&str) -> Option<&'static str>;

/// The rule for names of a kind: what a name must be, if it is not.
fn name_rule(group: &str, kind: &str) -> NameRule {
    match (group, kind) {
        ("", "Namespace" | "Service") | ("apps", "StatefulSet") | ("project.openshift.io", _) => {
            |name| (!is_label(name)).then(|| Format::Label.words())
        }
        ("batch", "CronJob") => |name| {
            let fits = is_subdomain(name) && name.len() <= 52;
            (!fits).then_some("a DNS name of up to 52 lower case letters, digits, `-` and `.`")
        },
        (
            "rbac.authorization.k8s.io"
            | "authorization.openshift.io"
            | "certificates.k8s.io"
            | "apiregistration.k8s.io"
            | "image.openshift.io"
            | "user.openshift.io"
            | "oauth.openshift.io",
            _,
        )
        | ("policy", "PodDisruptionBudget") => segment,
        _ => |name| (!is_subdomain(name)).then(|| Format::Subdomain.words()),
    }
}

fn segment(name: &str) -> Option<&'static str> {
    (!Format::PathSegment.fits(name)).then(|| Format::PathSegment.words())
}
