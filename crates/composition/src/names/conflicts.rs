//! Objects that have become the same, by a new name or namespace.
//!
//! Source: kustomize 5.8, `plugin/builtin/namespacetransformer`, and `FromResourceSlice` in
//! `api/resmap/factory.go`, which ends every build.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::engine::step::Context;
use crate::resources::resource::Resource;
use krm_core::Identity;
use krm_core::identity::group;
use krm_core::scope::{effective, is_namespaced, or_default};
use krm_yaml::FieldPath;
use krm_yaml::diagnostic::Diagnostic;

/// How often objects were renamed or moved.
pub(crate) fn renames(resources: &[Resource<'_>]) -> usize {
    let counts = resources.iter().map(|resource| resource.previous.len());
    counts.sum()
}

/// Reports objects that are the same now and were not always. Two versions of one object may always
/// have been.
pub(crate) fn refuse(resources: &[Resource<'_>], context: &mut Context<'_>) {
    let hashed = |(position, resource)| {
        let key = key(resource)?;
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        Some((hasher.finish(), key, position))
    };
    let mut all: Vec<(u64, Key<'_>, usize)> =
        resources.iter().enumerate().filter_map(hashed).collect();
    // The hash tells nearly all apart, without a look at their texts.
    all.sort_unstable();
    let mut doubles = Vec::new();
    for same in all.chunk_by(|(_, one, _), (_, other, _)| one == other) {
        let mut same = same.iter().filter_map(|(.., position)| {
            let resource = resources.get(*position)?;
            Some((*position, resource))
        });
        let Some((_, first)) = same.next() else {
            continue;
        };
        let others = same.filter(|(_, other)| formerly(other) != formerly(first));
        doubles.extend(others.map(|(position, other)| (position, first, other)));
    }
    doubles.sort_by_key(|(position, ..)| *position);
    for (_, first, other) in doubles {
        context.diagnostics.push(doubled(first, other, context));
    }
}

/// The name, namespace, kind and group of an object; names differ most often.
type Key<'r> = [&'r str; 4];

fn key<'r>(resource: &'r Resource<'_>) -> Option<Key<'r>> {
    let kind = resource.str_at(&["kind"])?;
    let name = resource.str_at(&["metadata", "name"])?;
    let group = group(resource.str_at(&["apiVersion"]).unwrap_or_default());
    let namespace = if is_namespaced(group, kind) {
        or_default(resource.str_at(&["metadata", "namespace"]).unwrap_or_default())
    } else {
        ""
    };
    Some([name, namespace, kind, group])
}

fn doubled<'d>(other: &Resource<'d>, resource: &Resource<'d>, context: &Context<'_>) -> Diagnostic {
    let now = resource.identity().map(|now| now.to_string());
    let problem = format!("two objects become {}", now.unwrap_or_default());
    let mut diagnostic = context.transformer.error(&FieldPath::root(), problem);
    diagnostic.object = Some(resource.reference());
    for (resource, label) in [(other, "this object"), (resource, "and this one")] {
        if let Some(place) = resource.place() {
            diagnostic = diagnostic.related(place, label);
        }
    }
    diagnostic
}

/// Reports resources that were renamed without a trace and are now the same as another one.
pub(crate) fn refuse_renamed(
    renamed: &[usize],
    resources: &[Resource<'_>],
    context: &mut Context<'_>,
) {
    if renamed.is_empty() {
        return;
    }
    let identities: Vec<Option<Identity>> =
        resources.iter().map(|resource| resource.identity().map(effective)).collect();
    for at in renamed.iter().copied() {
        let Some(now) = identities.get(at).and_then(Option::as_ref) else {
            continue;
        };
        let mut others = identities.iter().enumerate();
        let other = others.find(|(other, identity)| *other != at && identity.as_ref() == Some(now));
        if let Some((other, _)) = other
            && let Some((resource, other)) = resources.get(at).zip(resources.get(other))
        {
            context.diagnostics.push(doubled(other, resource, context));
        }
    }
}

fn formerly(resource: &Resource<'_>) -> Vec<Identity> {
    let previous = resource.previous.iter().cloned();
    previous.map(effective).collect()
}
