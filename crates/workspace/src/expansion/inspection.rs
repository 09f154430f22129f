//! Looks at the objects of all expansions: names that no cluster takes, and objects that are made
//! more than once.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Mutex, PoisonError};

use krm_core::identity::{Identity, Typed, group};
use krm_template_authoring::lint;
use krm_template_engine::{Dialect, Inspect, Look, Parameters, Template};
use krm_template_function::plan::{self, Instance, Plan, Selection, SelectorConflicts};
use krm_yaml::View;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use krm_yaml::source::Place;

/// Records the objects that one expansion creates.
#[derive(Debug)]
pub struct Inspector {
    /// In any order: several threads add to it.
    made: Mutex<Vec<CreatedObject>>,
    is_one_of_several: bool,
}

/// An object that an expansion created.
#[derive(Debug)]
struct CreatedObject {
    /// Group, kind, namespace and name as one text, which takes less memory: there may be very many
    /// of them.
    key: Box<str>,
    field: Box<str>,
    /// Where its name is written.
    place: Place,
    /// What it selects, and the pods that it creates; none for the only instance.
    selection: Option<Box<Selection>>,
}

/// The key of an object that has a kind and a name.
fn key_of(head: &Typed<'_>, name: View<'_>) -> Option<Box<str>> {
    let (kind, name) = (head.kind.as_ref(), name.as_str()?);
    let namespace = head.metadata?.str_at(&["namespace"]).unwrap_or_default();
    let parts = [group(&head.api_version), kind, &namespace, &name];
    (!kind.is_empty() && !name.is_empty()).then(|| parts.join("\0").into())
}

fn identity_of(key: &str) -> Identity {
    let mut parts = key.splitn(4, '\0').map(str::to_owned);
    let mut part = || parts.next().unwrap_or_default();
    Identity { group: part(), kind: part(), namespace: part(), name: part() }
}

impl Inspect for Inspector {
    fn object(
        &self,
        object: &Look<'_>,
        template: &Template,
        values: &Parameters<'_>,
        diagnostics: &mut Diagnostics,
    ) {
        let may_show = |text: &str| values.may_show(text);
        let head = Typed::of(object.view);
        lint::warn_about_names(object, &head, template.dialect(), &may_show, diagnostics);
        lint::warn_about_annotations_of(object, head.metadata, diagnostics);
        let Some(name) = head.metadata.and_then(|metadata| metadata.get("name")) else {
            return;
        };
        let Some((key, origin)) = key_of(&head, name).zip(name.origin().or(object.view.origin()))
        else {
            return;
        };
        let own = self.is_one_of_several.then(|| Identity::of(object.view)).flatten();
        let selection = own.and_then(|own| Selection::of(&own, object));
        let made = CreatedObject {
            key,
            field: object.field.into(),
            place: object.document.cursor(origin).place(),
            selection: selection.map(Box::new),
        };
        let mut list = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(made);
    }
}

impl Inspector {
    pub(super) const fn new(is_one_of_several: bool) -> Self {
        Self { made: Mutex::new(Vec::new()), is_one_of_several }
    }

    /// Takes what was made, in the order it is written.
    fn take_made(&self) -> Vec<CreatedObject> {
        let mut list = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list = mem::take(&mut *list);
        list.sort_by(|a, b| {
            let key = |made: &CreatedObject| (made.place.range.start, made.field.len());
            key(a).cmp(&key(b)).then_with(|| a.field.cmp(&b.field))
        });
        list
    }
}

/// Reports objects that are one and the same to Kubernetes, or else warns of selectors of one
/// instance that select pods of another. `oc process` prints all that stand in one Template, so in
/// OpenShift's dialect such objects are a warning.
pub(super) fn check(plan: &Plan, inspectors: &[Inspector], diagnostics: &mut Diagnostics) {
    let all: Vec<Vec<CreatedObject>> = inspectors.iter().map(Inspector::take_made).collect();
    let mut seen: BTreeMap<&str, (usize, &CreatedObject)> = BTreeMap::new();
    for (index, (instance, list)) in plan.instances.iter().zip(&all).enumerate() {
        let expander = plan.expanders.get(instance.expander);
        let Some(template) = expander.and_then(|expander| expander.template()) else {
            continue;
        };
        for made in list {
            let Some((first_index, first)) = seen.get(&*made.key) else {
                seen.insert(&*made.key, (index, made));
                continue;
            };
            let mut diagnostic = match plan.instances.get(*first_index) {
                Some(other) if *first_index != index => {
                    by_two_instances(other, instance, template, made)
                }
                _ => in_one_template(first, template, made),
            };
            diagnostic.object = Some(template.reference().clone());
            diagnostics.push(diagnostic);
        }
    }
    if !diagnostics.has_errors() {
        let mut selector_conflicts = SelectorConflicts::default();
        for (instance, list) in all.into_iter().enumerate() {
            for selection in list.into_iter().filter_map(|made| made.selection) {
                selector_conflicts.add(instance, *selection);
            }
        }
        selector_conflicts.warn(plan, diagnostics);
    }
}

fn by_two_instances(
    first: &Instance,
    second: &Instance,
    template: &Template,
    made: &CreatedObject,
) -> Diagnostic {
    let written = made.place.source.text().get(made.place.range.clone());
    let names = template.names_in(written.unwrap_or_default());
    plan::both_create(first, second, &identity_of(&made.key), &names)
        .at(made.place.clone())
        .field(&*made.field)
}

fn in_one_template(first: &CreatedObject, template: &Template, made: &CreatedObject) -> Diagnostic {
    let problem = format!("the Template creates `{}` twice", identity_of(&made.key));
    let diagnostic = Diagnostic::error(problem)
        .rule("duplicate-object")
        .at(made.place.clone())
        .related(first.place.clone(), "first here")
        .field(&*made.field)
        .hint("rename or remove one of them");
    match template.dialect() {
        Dialect::Proposal => diagnostic,
        Dialect::OpenShift => Diagnostic { severity: Severity::Warning, ..diagnostic },
    }
}
