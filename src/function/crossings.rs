//! Selectors of one instance that select the pods of another.

use std::collections::{BTreeMap, BTreeSet};

use crate::krm::identity::Identity;
use crate::krm::selection::{Pairs, pod_labels, selector};
use crate::plan::Plan;
use crate::template::{Dialect, Object, Template};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Place;

type Labels = Vec<(String, String)>;

/// The selectors and the pods of all instances.
#[derive(Default)]
pub(super) struct Crossings {
    selectors: Vec<Selector>,
    pods: Vec<Pods>,
}

struct Selector {
    instance: usize,
    identity: Identity,
    field: String,
    place: Option<Place>,
    labels: Labels,
}

struct Pods {
    instance: usize,
    namespace: String,
    labels: BTreeSet<(String, String)>,
}

impl Crossings {
    pub(super) fn add(&mut self, instance: usize, identity: &Identity, object: &Object<'_>) {
        let owned = |pairs: Pairs<'_>| -> Labels {
            let pairs = pairs.into_iter();
            pairs
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect()
        };
        if let Some(labels) = selector(&object.value) {
            let origin = object.value.origin;
            self.selectors.push(Selector {
                instance,
                identity: identity.clone(),
                field: object.field.clone(),
                place: origin.map(|origin| object.document.cursor(origin).key_place()),
                labels: owned(labels),
            });
        }
        if let Some(labels) = pod_labels(&object.value) {
            self.pods.push(Pods {
                instance,
                namespace: identity.namespace.clone(),
                labels: owned(labels).into_iter().collect(),
            });
        }
    }

    /// Warns of each object of a Template that selects the pods of other instances, once.
    pub(super) fn warn(&self, plan: &Plan, diagnostics: &mut Diagnostics) {
        let mut by_label: BTreeMap<&(String, String), Vec<&Pods>> = BTreeMap::new();
        for pods in &self.pods {
            for label in &pods.labels {
                by_label.entry(label).or_default().push(pods);
            }
        }
        let mut warned = BTreeSet::new();
        for selector in &self.selectors {
            let lists = selector.labels.iter().map(|label| by_label.get(label));
            // With a label that no pod has, nothing is selected.
            let Some(Some(fewest)) = lists.min_by_key(|list| list.map_or(0, Vec::len)) else {
                continue;
            };
            let other = fewest.iter().find(|pods| {
                pods.instance != selector.instance
                    && pods.namespace == selector.identity.namespace
                    && selector
                        .labels
                        .iter()
                        .all(|label| pods.labels.contains(label))
            });
            let Some((own, other)) = other.and_then(|pods| {
                Some((
                    plan.instances.get(selector.instance)?,
                    plan.instances.get(pods.instance)?,
                ))
            }) else {
                continue;
            };
            let Some(expander) = plan.expanders.get(own.expander) else {
                continue;
            };
            if !warned.insert((own.expander, &selector.field)) {
                continue;
            }
            let mut warning = Diagnostic::warning(format!(
                "`{}` of the instance `{}` also selects pods of the instance `{}`",
                selector.identity, own.name, other.name
            ))
            .field(selector.field.clone())
            .hint(format!(
                "give each instance its own label, for example `labels: {{app.kubernetes.io/instance: {}}}`",
                own.name
            ));
            if expander.template().map(Template::dialect) == Some(Dialect::OpenShift) {
                warning = warning.hint("and set the annotation `template.krm.dev/label-selectors: \"true\"` on the Template, so that selectors get labels too");
            }
            warning.place.clone_from(&selector.place);
            warning.object = Some(expander.reference().clone());
            diagnostics.push(warning);
        }
    }
}
