//! Objects that were two and have become one, by a new name or namespace.
//!
//! Source: kustomize 5.8, `plugin/builtin/namespacetransformer`, and `FromResourceSlice` in
//! `api/resmap/factory.go`, which every build ends with.

use std::collections::BTreeMap;

use crate::composition::chain::Context;
use crate::composition::references::effective;
use crate::composition::resource::Resource;
use crate::krm::Identity;
use crate::yaml::FieldPath;

/// How often objects were renamed or moved.
pub(super) fn renames(resources: &[Resource<'_>]) -> usize {
    let counts = resources.iter().map(|resource| resource.previous.len());
    counts.sum()
}

/// Reports objects that are the same one now and were not at first.
pub(super) fn refuse(resources: &[Resource<'_>], context: &mut Context<'_, '_>) {
    let mut known: BTreeMap<Identity, &Resource<'_>> = BTreeMap::new();
    for resource in resources {
        let Some(now) = resource.identity() else {
            continue;
        };
        let identity = effective(now.clone());
        let Some(other) = known.get(&identity).copied() else {
            known.insert(identity, resource);
            continue;
        };
        if at_first(resource) == at_first(other) {
            continue;
        }
        let problem = format!("two objects become {now}");
        let mut diagnostic = context.transformer.error(&FieldPath::root(), problem);
        diagnostic.object = Some(resource.reference());
        for (resource, label) in [(other, "this object"), (resource, "and this one")] {
            if let Some(place) = resource.place() {
                diagnostic = diagnostic.related(place, label);
            }
        }
        context.diagnostics.push(diagnostic);
    }
}

fn at_first(resource: &Resource<'_>) -> Option<Identity> {
    let first = resource.previous.first().cloned();
    first.or_else(|| resource.identity()).map(effective)
}
