//! Puts the objects of a Template over the items with their identity, or into a file of their own.
//! Then it removes the items that an earlier run created and this one does not.
//!
//! New objects get a path and an index if the items have them. kpt rejects two objects at one
//! position of a file, so the index continues after the highest one of that file.

use std::collections::BTreeMap;

use crate::function::crossings::Crossings;
use crate::function::items::{Existing, Item, Items, Storage, path_of};
use crate::function::objects::{Decision, Objects};
use crate::function::rules::{ADOPT, Control, Rules, UPDATE};
use crate::function::update::{Updated, update};
use crate::krm::annotations::{INDEX, OWNER, PATH, annotate};
use crate::krm::identity::{self, Identity};
use crate::plan::{self, Instance, Plan};
use crate::template::{Object, Template};
use krm_yaml::Cursor;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Place;

/// Puts the objects of all instances where they belong.
pub(super) struct Placing<'p, O: Objects> {
    objects: &'p O,
    items: &'p Items,
    existing: &'p Existing<'p>,
    storage: Storage,
    plan: &'p Plan,
    rules: &'p Rules,
    made: BTreeMap<Identity, PlacedObject>,
    decision: Decision<O::ItemChange, O::New>,
    /// Reports of the changes, to be used if the changes are made.
    said: Diagnostics,
    crossings: Crossings,
}

/// An existing object that a Template creates, too.
#[derive(Clone, Copy)]
struct AtPosition<'a> {
    at: usize,
    item: &'a Item,
    identity: &'a Identity,
    node: Cursor<'a>,
}

/// An object that was placed.
struct PlacedObject {
    instance: usize,
    field: String,
}

impl<'p, O: Objects> Placing<'p, O> {
    pub(super) fn new(
        objects: &'p O,
        items: &'p Items,
        existing: &'p Existing<'p>,
        storage: Storage,
        plan: &'p Plan,
        rules: &'p Rules,
    ) -> Self {
        Self {
            objects,
            items,
            existing,
            storage,
            plan,
            rules,
            made: BTreeMap::new(),
            decision: Decision::default(),
            said: Diagnostics::new(),
            crossings: Crossings::default(),
        }
    }

    /// Places an object of the instance at `index`.
    pub(super) fn object(
        &mut self,
        index: usize,
        instance: &Instance,
        mut object: Object<'_>,
        diagnostics: &mut Diagnostics,
    ) {
        let config_path = self.storage.config_path.as_deref();
        let control = Control::take(&mut object, config_path, diagnostics);
        let Some(identity) = Identity::of(&object.value) else {
            return;
        };
        if let Some(first) = self.made.get(&identity) {
            diagnostics.push(self.made_twice(first, index, &identity, &object));
            return;
        }
        let made = PlacedObject {
            instance: index,
            field: object.field.clone(),
        };
        self.made.insert(identity.clone(), made);
        if self.plan.instances.len() > 1 {
            self.crossings.add(index, &identity, &object);
        }
        let Some(at) = self.existing.get(&identity) else {
            let new = self.add(object, instance, control.path);
            self.decision.added.extend(diagnostics.take(new));
            return;
        };
        let (objects, items) = (self.objects, self.items);
        if let Some(item) = items.list.get(at)
            && let Some(node) = diagnostics.take(objects.at(at))
        {
            let opened = node.cursor().open();
            let existing = AtPosition {
                at,
                item,
                identity: &identity,
                node: opened.cursor(),
            };
            let changed = self.update(existing, instance, object, &control);
            let has_failed = changed.is_err();
            let change = diagnostics.take(changed);
            if has_failed && identity.kind == "Secret" {
                diagnostics.conceal(&secret_fields(opened.cursor()));
            }
            self.decision.changed.extend(change.flatten());
        }
    }

    /// Brings an object up to date.
    fn update(
        &mut self,
        existing: AtPosition<'_>,
        instance: &Instance,
        object: Object<'_>,
        control: &Control,
    ) -> Result<Option<O::ItemChange>> {
        let AtPosition { item, node, .. } = existing;
        let is_own = item
            .owner
            .as_deref()
            .is_some_and(|owner| self.plan.owns.is_own(owner));
        let adopts = control.adopts.unwrap_or(self.rules.adopts);
        let may_change = is_own || adopts;
        let owner = (self.rules.owned && may_change).then_some(instance.owner.as_str());
        let manner = control.manner.unwrap_or(self.rules.manner);
        let place = object
            .value
            .origin
            .map(|origin| object.document.cursor(origin).key_place());
        let field = object.field;
        let mut updated = update(node, object.value, manner, owner);
        let change = match updated.value.take() {
            Some(value) => self.objects.change(existing.at, node, value)?,
            None => None,
        };
        if !may_change {
            // Otherwise the object is already what the Template creates.
            if change.is_some() || item.owner.is_some() {
                let mut diagnostic = not_ours(&existing, &instance.owner).field(field);
                diagnostic.place = place;
                return Err(diagnostic.into());
            }
            return Ok(None);
        }
        if change.is_some() {
            self.say(&updated, is_own, node);
        }
        Ok(change)
    }

    /// Reports the changes of an object.
    fn say(&mut self, updated: &Updated<'_>, is_own: bool, old: Cursor<'_>) {
        let fields = match updated.fields {
            0 => None,
            1 => Some("1 field changed".to_owned()),
            fields => Some(format!("{fields} fields changed")),
        };
        let adopted = (!is_own).then(|| "adopted".to_owned());
        let parts = [adopted, fields, updated.removed.message()];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() {
            return;
        }
        let mut info = Diagnostic::info(parts.join("; "));
        info.object = Some(identity::reference(old));
        if updated.removed.can_be_kept() {
            info = info.hint(format!("to keep fields that the Template does not set, set the annotation `{UPDATE}: merge` on the object in the Template or on the functionConfig"));
        }
        self.said.push(info);
    }

    /// A new object, with the file it is to be kept in if objects are kept in files.
    fn add(
        &mut self,
        mut object: Object<'_>,
        instance: &Instance,
        path: Option<String>,
    ) -> Result<O::New> {
        if self.storage.are_kept || self.rules.owned {
            let template = instance.template_path.as_deref();
            let path = path.unwrap_or_else(|| self.storage.file_of(&instance.name, template));
            let index = self.storage.next_index(&path);
            annotate(&mut object.value, PATH, &path);
            annotate(&mut object.value, INDEX, &index.to_string());
        }
        if self.rules.owned {
            annotate(&mut object.value, OWNER, &instance.owner);
        }
        self.objects.add(object.document, &object.value)
    }

    /// Removes the objects that this functionConfig created before and no longer creates. Returns
    /// all changes.
    pub(super) fn finish(
        mut self,
        diagnostics: &mut Diagnostics,
    ) -> Decision<O::ItemChange, O::New> {
        if !diagnostics.has_errors() && self.rules.prunes {
            let pruned = self.prune(diagnostics);
            diagnostics.take(pruned);
        }
        if !diagnostics.has_errors() {
            self.crossings.warn(self.plan, diagnostics);
            diagnostics.append(self.said);
        }
        self.decision
    }

    fn prune(&mut self, diagnostics: &mut Diagnostics) -> Result<()> {
        let mut seen: BTreeMap<&Identity, usize> = BTreeMap::new();
        for (at, identity, owner) in self.items.owned() {
            if !self.plan.owns.is_own(owner) {
                continue;
            }
            if self.made.contains_key(identity) {
                if let Some(first) = seen.insert(identity, at) {
                    let [first, second] = [first, at].map(|at| self.objects.at(at));
                    let (first, second) = (first?.cursor(), second?.cursor().open());
                    diagnostics.push(stands_twice(identity, first, second.cursor()));
                }
                continue;
            }
            let opened = self.objects.at(at)?.cursor().open();
            let node = opened.cursor();
            let mut info = Diagnostic::info(format!("removed: `{owner}` no longer creates it"));
            info.object = Some(identity::reference(node));
            self.said.push(info);
            self.decision.removed.insert(at);
        }
        Ok(())
    }

    /// Two objects with one identity.
    fn made_twice(
        &self,
        first: &PlacedObject,
        instance: usize,
        identity: &Identity,
        object: &Object<'_>,
    ) -> Diagnostic {
        let field = &object.field;
        let place = object
            .value
            .origin
            .map(|origin| object.document.cursor(origin).key_place());
        let instances = &self.plan.instances;
        let (one, other) = (instances.get(first.instance), instances.get(instance));
        let mut diagnostic = match (one, other) {
            (Some(one), Some(other)) if first.instance != instance => {
                let template = self.plan.expanders.get(other.expander);
                let template = template.and_then(|one| one.template());
                let names = template.and_then(|template| telling_apart(template, object));
                plan::both_create(one, other, identity, &names.unwrap_or_default())
            }
            _ => Diagnostic::error(format!(
                "`{}` and `{field}` both create `{identity}`",
                first.field
            ))
            .hint("rename one of them"),
        };
        diagnostic.place = place;
        diagnostic.field(field.clone())
    }
}

/// The parameters that tell apart the objects that two instances create.
fn telling_apart(template: &Template, object: &Object<'_>) -> Option<Vec<String>> {
    ["name", "namespace"].iter().find_map(|key| {
        let origin = object.value.at(&["metadata", key])?.origin?;
        let text = object.document.cursor(origin).text().ok()??;
        let names = template.names_in(&text);
        (!names.is_empty()).then_some(names)
    })
}

fn in_file(path: Option<&str>) -> String {
    path.map_or_else(String::new, |path| format!(" in {path}"))
}

/// The error for an existing object that may not be changed.
fn not_ours(existing: &AtPosition<'_>, owner: &str) -> Diagnostic {
    let (identity, old) = (existing.identity, existing.node);
    let file = in_file(path_of(old).as_deref());
    let problem = match &existing.item.owner {
        Some(other) => format!("`{identity}`{file} was created by `{other}`, not by `{owner}`"),
        None => format!("`{identity}`{file} already exists and was not created by `{owner}`"),
    };
    Diagnostic::error(problem)
        .related(old.get("metadata").unwrap_or(old).place(), "it is here")
        .hint(format!("to adopt it, set the annotation `{ADOPT}: \"true\"` on the object in the Template or on the functionConfig"))
        .hint("to keep it, rename one of the two or remove the object from the Template")
}

/// Where a Secret has its values.
fn secret_fields(secret: Cursor<'_>) -> Vec<Place> {
    let fields = ["data", "stringData"].iter();
    let fields = fields.filter_map(|field| secret.get(field));
    fields.map(Cursor::place).collect()
}

/// The error for two items with one identity that instances own.
fn stands_twice(identity: &Identity, first: Cursor<'_>, second: Cursor<'_>) -> Diagnostic {
    let reference = identity::reference(second);
    let places = [path_of(first), reference.path.clone()];
    let places: Vec<String> = places.iter().map(|path| in_file(path.as_deref())).collect();
    let mut diagnostic = Diagnostic::error(format!(
        "`{identity}` is among the items twice: once{}, once{}",
        places.first().map_or("", String::as_str),
        places.get(1).map_or("", String::as_str),
    ))
    .at(second.get("metadata").unwrap_or(second).place())
    .conceal(identity.kind == "Secret")
    .hint("remove one of the two; to keep your own copy, rename it and remove its annotation `template.krm.dev/instance`");
    diagnostic.object = Some(reference);
    diagnostic
}
