//! The objects among the resources, which may not be added again.

use std::collections::BTreeSet;

use crate::engine::transformer::Transformer;
use crate::resources::resource::Resource;
use krm_core::scope::unless_default;
use krm_yaml::FieldPath;
use krm_yaml::diagnostic::Diagnostics;

/// The identities of the resources so far.
pub(crate) struct ResourceIds {
    ids: BTreeSet<Id>,
    is_of_kustomization: bool,
}

/// The identity of a resource for kustomize: unlike in a cluster, the version counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Id {
    // Names differ most often, so they are compared first.
    name: String,
    namespace: String,
    kind: String,
    api_version: String,
}

impl Id {
    fn of(resource: &Resource<'_>) -> Option<Self> {
        let text = |keys: &[&str]| resource.str_at(keys).map(str::to_owned);
        let namespace = text(&["metadata", "namespace"]);
        Some(Self {
            api_version: text(&["apiVersion"]).unwrap_or_default(),
            kind: text(&["kind"])?,
            namespace: unless_default(&namespace.unwrap_or_default()).to_owned(),
            name: text(&["metadata", "name"])?,
        })
    }
}

impl ResourceIds {
    /// Those of the current resources, of a Kustomization or of a Composition.
    pub(crate) fn of(resources: &[Resource<'_>], is_of_kustomization: bool) -> Self {
        Self { ids: resources.iter().filter_map(Id::of).collect(), is_of_kustomization }
    }

    /// Adds resources for `field`. Reports duplicates.
    pub(crate) fn add<'d>(
        &mut self,
        resources: &mut Vec<Resource<'d>>,
        new: Vec<Resource<'d>>,
        field: &FieldPath,
        transformer: &Transformer,
        diagnostics: &mut Diagnostics,
    ) {
        for resource in new {
            if let Some(id) = Id::of(&resource)
                && !self.ids.insert(id.clone())
            {
                let Id { kind, namespace, name, .. } = &id;
                let slash = if namespace.is_empty() { "" } else { "/" };
                let problem = format!("`{kind} {namespace}{slash}{name}` already exists");
                let mut wrong = transformer.error(field, problem);
                let is_first = |one: &&Resource<'_>| Id::of(one).as_ref() == Some(&id);
                let first = resources.iter().find(is_first);
                if let Some(place) = first.and_then(Resource::place) {
                    wrong = wrong.related(place, "the first one");
                }
                if let Some(place) = resource.place() {
                    wrong = wrong.related(place, "added again here");
                }
                let hint = if self.is_of_kustomization {
                    "to change an object, use `patches`"
                } else {
                    "to change a resource, use a PatchTransformer"
                };
                diagnostics.push(wrong.hint(hint));
            }
            resources.push(resource);
        }
    }
}
