//! Objects that have become the same, by a new name or namespace.
//!
//! Source: kustomize 5.8, `plugin/builtin/namespacetransformer`, and `FromResourceSlice` in
//! `api/resmap/factory.go`, which ends every build.

use std::collections::BTreeMap;

use crate::engine::step::Context;
use crate::resources::resource::Resource;
use krm_core::Identity;
use krm_core::scope::effective;
use krm_yaml::FieldPath;
use krm_yaml::diagnostic::Diagnostic;

/// How often objects were renamed or moved.
pub(crate) fn renames(resources: &[Resource<'_>]) -> usize {
    let counts = resources.iter().map(|resource| resource.previous.len());
    counts.sum()
}

/// Reports objects that are the same now and were not at first.
pub(crate) fn refuse(resources: &[Resource<'_>], context: &mut Context<'_>) {
    let mut known: BTreeMap<Identity, &Resource<'_>> = BTreeMap::new();
    for resource in resources {
        let Some(now) = resource.identity() else {
            continue;
        };
        let identity = effective(now);
        let Some(other) = known.get(&identity).copied() else {
            known.insert(identity, resource);
            continue;
        };
        if at_first(resource) == at_first(other) {
            continue;
        }
        context.diagnostics.push(doubled(other, resource, context));
    }
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
    let identities: Vec<Option<Identity>> = resources
        .iter()
        .map(|resource| resource.identity().map(effective))
        .collect();
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

fn at_first(resource: &Resource<'_>) -> Option<Identity> {
    let first = resource.previous.first().cloned();
    first.or_else(|| resource.identity()).map(effective)
}
