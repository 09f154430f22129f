//! Looks at the objects of all expansions: names that no cluster takes, and objects that are made
//! more than once.

use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use krm_core::identity::{Identity, Typed, group};
use krm_template_authoring::lint;
use krm_template_engine::{Dialect, Inspect, Look, Parameters, Template};
use krm_template_function::plan::{self, Crossings, Instance, Plan, Selection};
use krm_yaml::View;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Severity};
use krm_yaml::source::Place;

/// Records the objects that one expansion creates.
#[derive(Debug, Default)]
pub struct Inspector {
    /// In any order: several threads add to it.
    made: Mutex<Vec<CreatedObject>>,
    /// In any order, too; `None` for the only instance.
    selections: Option<Mutex<Vec<Selection>>>,
}

/// An object that an expansion created.
#[derive(Debug)]
struct CreatedObject {
    key: Key,
    field: Box<str>,
    /// Where its name is written.
    place: Place,
}

/// An identity as one text, which takes less memory: there may be very many of them.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The group, the kind, the namespace and the name.
    text: Box<str>,
    /// Where each of them ends but the last.
    ends: [usize; 3],
}

impl Key {
    /// The key of an object that has a kind and a name.
    fn of(head: &Typed<'_>, name: View<'_>) -> Option<Self> {
        let (kind, name) = (head.kind.as_ref(), name.as_str()?);
        let namespace = head.metadata?.str_at(&["namespace"]).unwrap_or_default();
        let group = group(&head.api_version);
        let text = [group, kind, &namespace, &name].concat();
        let ends = [group.len(), group.len() + kind.len(), text.len() - name.len()];
        (!kind.is_empty() && !name.is_empty()).then(|| Self { text: text.into(), ends })
    }

    fn identity(&self) -> Identity {
        let [group, kind, namespace] = self.ends;
        let part = |range: Range<usize>| self.text.get(range).unwrap_or_default().to_owned();
        Identity {
            group: part(0..group),
            kind: part(group..kind),
            namespace: part(kind..namespace),
            name: part(namespace..self.text.len()),
        }
    }
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
        if let Some(selections) = &self.selections
            && let Some(selection) =
                Identity::of(object.view).and_then(|own| Selection::of(&own, object))
        {
            let mut list = selections.lock().unwrap_or_else(PoisonError::into_inner);
            list.push(selection);
        }
        let key = Key::of(&head, name);
        let Some((key, origin)) = key.zip(name.origin().or(object.view.origin())) else {
            return;
        };
        let made = CreatedObject {
            key,
            field: object.field.into(),
            place: object.document.cursor(origin).place(),
        };
        let mut list = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(made);
    }
}

impl Inspector {
    /// Creates one for an instance of several, or for the only one.
    pub(super) fn new(is_one_of_several: bool) -> Self {
        Self { made: Mutex::default(), selections: is_one_of_several.then(Mutex::default) }
    }

    /// Takes what selects pods or creates them, in the order it is written.
    fn take_selections(&self) -> Vec<Selection> {
        let Some(list) = &self.selections else {
            return Vec::new();
        };
        let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list = mem::take(&mut *list);
        list.sort_by(Selection::by_place);
        list
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

/// Warns of selectors of one instance that select pods of another.
pub(super) fn crossings(plan: &Plan, inspectors: &[Inspector], diagnostics: &mut Diagnostics) {
    let mut crossings = Crossings::default();
    for (instance, inspector) in inspectors.iter().enumerate() {
        for selection in inspector.take_selections() {
            crossings.add(instance, selection);
        }
    }
    crossings.warn(plan, diagnostics);
}

/// Reports objects that are one and the same to Kubernetes. `oc process` prints all that stand in
/// one Template, so in OpenShift's dialect that is a warning.
pub(super) fn duplicates(plan: &Plan, inspectors: &[Inspector], diagnostics: &mut Diagnostics) {
    let all: Vec<Vec<CreatedObject>> = inspectors.iter().map(Inspector::take_made).collect();
    let mut seen: BTreeMap<&Key, (usize, &CreatedObject)> = BTreeMap::new();
    for (index, (instance, list)) in plan.instances.iter().zip(&all).enumerate() {
        let expander = plan.expanders.get(instance.expander);
        let Some(template) = expander.and_then(|expander| expander.template()) else {
            continue;
        };
        for made in list {
            let Some((first_index, first)) = seen.get(&made.key) else {
                seen.insert(&made.key, (index, made));
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
}

fn by_two_instances(
    first: &Instance,
    second: &Instance,
    template: &Template,
    made: &CreatedObject,
) -> Diagnostic {
    let written = made.place.source.text().get(made.place.range.clone());
    let names = template.names_in(written.unwrap_or_default());
    plan::both_create(first, second, &made.key.identity(), &names)
        .at(made.place.clone())
        .field(&*made.field)
}

fn in_one_template(first: &CreatedObject, template: &Template, made: &CreatedObject) -> Diagnostic {
    let problem = format!("the Template creates `{}` twice", made.key.identity());
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
