//! Selectors of one instance that select the pods of another.

use std::collections::BTreeSet;

use crate::plan::instance::Plan;
use krm_core::identity::Identity;
use krm_core::label_selector::LabelSelector;
use krm_core::selection::{Labels, Pairs, Pods, pod_labels, selector, selector_field};
use krm_template_engine::{Dialect, Look, Template};
use krm_yaml::View;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Place;

/// The selectors and the pods of all instances.
#[derive(Debug, Default)]
pub struct SelectorConflicts {
    selectors: Vec<Selector>,
    /// With the instance that creates them.
    pods: Pods<usize>,
}

#[derive(Debug)]
struct Selector {
    instance: usize,
    identity: Identity,
    field: String,
    place: Option<Place>,
    labels: LabelSelector,
}

/// What an object selects, and the pods that it creates.
#[derive(Debug)]
pub struct Selection {
    identity: Identity,
    field: String,
    place: Option<Place>,
    selector: Option<LabelSelector>,
    pods: Vec<Labels>,
}

impl Selection {
    /// Returns the selection of an object that selects pods or creates some.
    pub fn of(identity: &Identity, object: &Look<'_>) -> Option<Self> {
        let view = object.view;
        let field = selector(view).and_then(|_| selector_field(view));
        let selector = field.and_then(|(field, _)| LabelSelector::of_workload(field));
        let owned = |(labels, _): (Pairs<'_>, View<'_>)| {
            let labels = labels.into_iter();
            let labels = labels.map(|(key, value)| (key.into_owned(), value.into_owned()));
            labels.collect()
        };
        let pods: Vec<Labels> = pod_labels(view).into_iter().map(owned).collect();
        let origin = view.origin();
        (selector.is_some() || !pods.is_empty()).then(|| Self {
            identity: identity.clone(),
            field: object.field.to_owned(),
            place: origin.map(|origin| object.document.cursor(origin).key_place()),
            selector,
            pods,
        })
    }
}

impl SelectorConflicts {
    /// Adds an object of an instance.
    pub fn add(&mut self, instance: usize, selection: Selection) {
        for labels in selection.pods {
            self.pods.add(&selection.identity.namespace, labels, instance);
        }
        if let Some(selector) = selection.selector {
            self.selectors.push(Selector {
                instance,
                identity: selection.identity,
                field: selection.field,
                place: selection.place,
                labels: selector,
            });
        }
    }

    /// Warns of each object of a Template that selects the pods of other instances, once.
    pub fn warn(&self, plan: &Plan, diagnostics: &mut Diagnostics) {
        let mut warned = BTreeSet::new();
        for selector in &self.selectors {
            let is_other = |instance: &usize| *instance != selector.instance;
            let namespace = &selector.identity.namespace;
            let other = self.pods.find(namespace, &selector.labels, is_other);
            let Some((own, other)) = other.and_then(|other| {
                Some((plan.instances.get(selector.instance)?, plan.instances.get(*other)?))
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
            .rule("crossing-selector")
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
