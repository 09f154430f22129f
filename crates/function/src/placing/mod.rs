//! Puts the objects of a Template over the items that earlier runs created for them, or into a file
//! of their own. Then it removes the items that an earlier run created and this one does not.
//!
//! New objects get a path and an index if the items have them.

pub(crate) mod creation;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::input::configuration::Configuration;
use crate::input::items::Items;
use crate::input::objects::{Decision, Objects};
use crate::input::storage::NewPositions;
use crate::ownership::matching::{Created, Found, Matching, Names};
use crate::ownership::messages;
use crate::ownership::{Level, Ownership};
use crate::plan::{self, Instance, Plan, Selection, SelectorConflicts};
use crate::update::rules::{Control, Rules, UPDATE};
use crate::update::{Updated, update};
use krm_core::annotations::{INDEX, ORIGIN, OWNER, PATH, annotate};
use krm_core::created;
use krm_core::identity::{self, Identity};
use krm_template_engine::{Object, Template};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Place;
use krm_yaml::{Cursor, Value};

/// Tells whether there is a file with a full path that no item is in.
pub(crate) type IsHidden<'f> = dyn Fn(&str) -> bool + 'f;

/// Context for placing objects.
#[derive(Clone, Copy)]
pub(crate) struct PlacementContext<'p> {
    pub(crate) items: &'p Items,
    pub(crate) ownership: &'p Ownership<'p>,
    pub(crate) matching: &'p Matching<'p>,
    pub(crate) plan: &'p Plan,
    pub(crate) rules: &'p Rules,
    /// Whether a later function may set the name again.
    pub(crate) is_followed: bool,
    /// Whether another function may be meant by the marks of this one.
    pub(crate) is_unnamed_of_several: bool,
    pub(crate) is_hidden: &'p IsHidden<'p>,
}

/// Puts the objects of all instances where they belong.
pub(crate) struct Placing<'p, O: Objects> {
    objects: &'p O,
    context: PlacementContext<'p>,
    positions: NewPositions,
    /// By what made it, and the identity.
    made: BTreeMap<(String, Identity), PlacedObject>,
    /// The positions of the objects that were found.
    found: BTreeSet<usize>,
    decision: Decision<O::ItemChange, O::New>,
    /// Reports of the changes, to be used if the changes are made.
    said: Diagnostics,
    selector_conflicts: SelectorConflicts,
    /// The items that configure functions, once they are asked for.
    configuration: OnceCell<Configuration<'p>>,
}

/// An existing object that a Template creates, too.
#[derive(Clone, Copy)]
struct AtPosition<'a> {
    at: usize,
    identity: &'a Identity,
    node: Cursor<'a>,
    /// Whether the functionConfig may change it without being asked to adopt it.
    is_ours: bool,
}

/// An object that was placed.
struct PlacedObject {
    instance: usize,
    field: String,
    called: Identity,
}

impl<'p, O: Objects> Placing<'p, O> {
    pub(crate) fn new(objects: &'p O, context: PlacementContext<'p>) -> Self {
        Self {
            objects,
            context,
            positions: NewPositions::default(),
            made: BTreeMap::new(),
            found: BTreeSet::new(),
            decision: Decision::default(),
            said: Diagnostics::new(),
            selector_conflicts: SelectorConflicts::default(),
            configuration: OnceCell::new(),
        }
    }

    /// The identities that were created.
    pub(crate) fn created(&self) -> Created {
        let identities = self.made.keys().map(|(_, identity)| identity.clone());
        let called = self.made.values().map(|made| made.called.clone());
        Created { identities: identities.collect(), called: called.collect() }
    }

    /// Places an object of the instance at `index`.
    pub(crate) fn object(
        &mut self,
        index: usize,
        instance: &Instance,
        mut object: Object<'_>,
        diagnostics: &mut Diagnostics,
    ) {
        let config_path = self.context.items.storage.config_path.as_deref();
        let control = Control::take(&mut object, config_path, diagnostics);
        let Some(identity) = Identity::of(&object.value) else {
            return;
        };
        let names = Names { maker: "", called: identity.clone(), identity };
        self.place(index, instance, object, &names, &control, diagnostics);
    }

    /// The plan whose objects are placed.
    pub(crate) const fn plan(&self) -> &'p Plan {
        self.context.plan
    }

    /// The positions of the objects that were found.
    pub(crate) const fn found(&self) -> &BTreeSet<usize> {
        &self.found
    }

    /// Places an object with these names.
    pub(crate) fn place(
        &mut self,
        index: usize,
        instance: &Instance,
        object: Object<'_>,
        names: &Names<'_>,
        control: &Control,
        diagnostics: &mut Diagnostics,
    ) {
        if self.is_written() {
            let checked = created::check_object(&object.value);
            let checked = checked.map_err(|wrong| in_template(wrong, &object));
            if diagnostics.take(checked).is_none() {
                return;
            }
        }
        let key = (names.maker.to_owned(), names.identity.clone());
        if let Some(first) = self.made.get(&key) {
            diagnostics.push(self.made_twice(first, index, &names.identity, &object));
            return;
        }
        let made = PlacedObject {
            instance: index,
            field: object.field.clone(),
            called: names.called.clone(),
        };
        self.made.insert(key, made);
        if self.context.plan.instances.len() > 1
            && names.maker.is_empty()
            && let Some(selection) = Selection::of(&names.identity, &object.look())
        {
            self.selector_conflicts.add(index, selection);
        }
        let found = self.context.matching.find(names);
        let (at, is_ours) = match found {
            Found::Marked(at) => (at, true),
            Found::Foreign(at) => (at, false),
            Found::Several(positions) => {
                self.found.extend(&positions);
                let place = place_of(&object);
                let error = self.several(&names.identity, &positions);
                diagnostics.push(Diagnostic { place, ..error }.field(object.field));
                return;
            }
            Found::Nothing => {
                let new = self.add(object, names, instance, control.path.clone(), diagnostics);
                self.decision.added.extend(diagnostics.take(new));
                return;
            }
        };
        self.found.insert(at);
        if let Some(node) = diagnostics.take(self.objects.at(at)) {
            let opened = node.cursor().open();
            let existing =
                AtPosition { at, identity: &names.identity, node: opened.cursor(), is_ours };
            let changed = self.update(existing, instance, object, control);
            let has_failed = changed.is_err();
            let change = diagnostics.take(changed);
            if has_failed && names.identity.kind == "Secret" {
                diagnostics.conceal(&secret_fields(opened.cursor()));
            }
            self.decision.changed.extend(change.flatten());
        }
    }

    /// Whether new objects are written to files.
    const fn is_written(&self) -> bool {
        self.context.items.storage.are_kept || self.context.rules.owned
    }

    /// Refuses to adopt what tools read: an object in a file of theirs, or in one that a Kptfile
    /// names.
    fn check_adopted(&self, existing: &AtPosition<'_>) -> Result<()> {
        let (items, identity) = (self.context.items, existing.identity);
        let Some(file) = items.shown_file(existing.at) else {
            return Ok(());
        };
        created::check_path(identity, &file)?;
        let configuration = self.configuration.get_or_init(|| {
            let nodes = (0..items.list.len()).map(|at| self.objects.at(at).ok());
            Configuration::of(items, nodes)
        });
        let item = items.list.get(existing.at);
        if !item.is_some_and(|item| configuration.is_named(item)) {
            return Ok(());
        }
        let problem = format!("`{identity}` in {file} configures a function of the Kptfile");
        let hint = "rename the object in the Template";
        Err(Diagnostic::error(problem).hint(hint).into())
    }

    /// Brings an object up to date.
    fn update(
        &mut self,
        existing: AtPosition<'_>,
        instance: &Instance,
        object: Object<'_>,
        control: &Control,
    ) -> Result<Option<O::ItemChange>> {
        let AtPosition { at, node, .. } = existing;
        let rules = self.context.rules;
        let mark = self.context.matching.mark(at);
        let is_others = mark.is_some_and(|mark| matches!(mark.level, Level::Others(_)));
        let adopts = !is_others && control.adopts.unwrap_or(rules.adopts);
        let may_change = existing.is_ours || adopts;
        if adopts && !existing.is_ours {
            let checked = self.check_adopted(&existing);
            checked.map_err(|wrong| in_template(wrong, &object))?;
        }
        let origin = self.origin_at(existing.identity, at);
        let marks = [(OWNER, instance.owner.as_str()), (ORIGIN, origin.as_str())];
        let marks: &[_] = if rules.owned && may_change { &marks } else { &[] };
        let manner = control.manner.unwrap_or(rules.manner);
        let place = place_of(&object);
        let template = self.context.plan.expanders.get(instance.expander);
        let template = template.and_then(|one| one.template());
        let document = object.document;
        let hides = |value: &Value<'_>| {
            let text = value.origin.and_then(|origin| document.cursor(origin).text().ok()?);
            template.zip(text).is_some_and(|(template, text)| template.hides(&text))
        };
        let mut updated = update(node, object.value, manner, marks, &hides);
        let change = match updated.value.take() {
            Some(value) => self.objects.change(at, node, value)?,
            None => None,
        };
        if !may_change {
            // Otherwise the object is already what the Template creates.
            if change.is_some() || mark.is_some() {
                let mut diagnostic = self.not_ours(&existing, &instance.owner).field(object.field);
                diagnostic.place = place;
                return Err(diagnostic.into());
            }
            return Ok(None);
        }
        if change.is_some() {
            self.say(&mut updated, &existing, instance);
        }
        Ok(change)
    }

    /// The annotation with the origin for an object that is there.
    fn origin_at(&self, identity: &Identity, at: usize) -> String {
        let items = self.context.items;
        let file = items.list.get(at).and_then(|item| item.file);
        let full = file.and_then(|file| items.storage.full(file));
        self.context.ownership.origin(identity, full.as_deref().unwrap_or_default())
    }

    /// Reports the changes of an object.
    fn say(&mut self, updated: &mut Updated<'_>, existing: &AtPosition<'_>, instance: &Instance) {
        let changes = &mut updated.changes;
        if self.context.is_followed {
            changes.forget("metadata.name");
        }
        let item = self.context.items.list.get(existing.at);
        let before = item.and_then(|item| item.owner.as_deref());
        let adopted = match before {
            _ if !existing.is_ours => Some("adopted".to_owned()),
            Some(before) if !is_or_is_in(&instance.owner, before) => {
                Some(format!("taken over from `{before}`"))
            }
            _ => None,
        };
        let parts: Vec<String> = adopted.into_iter().chain(changes.message()).collect();
        if parts.is_empty() {
            return;
        }
        let mut info = Diagnostic::info(parts.join("; "));
        info.object = Some(identity::reference(existing.node));
        if changes.can_be_kept {
            info = info.hint(format!("to keep fields that the Template does not set, set the annotation `{UPDATE}: merge` on the object in the Template or on the functionConfig"));
        }
        self.said.push(info);
    }

    /// A new object, with the file it is to be kept in if objects are kept in files.
    fn add(
        &mut self,
        mut object: Object<'_>,
        names: &Names<'_>,
        instance: &Instance,
        path: Option<String>,
        diagnostics: &mut Diagnostics,
    ) -> Result<O::New> {
        let (items, rules) = (self.context.items, self.context.rules);
        let called = &names.called;
        let storage = &items.storage;
        if items.are_selected {
            let error = Diagnostic::error(format!(
                "`{called}` would be added, but a selector of the function may hide the one that an earlier run added"
            ))
            .hint("remove `selectors` and `exclude` from the function in the Kptfile");
            return Err(in_template(error.into(), &object));
        }
        if self.is_written() {
            let path = path.unwrap_or_else(|| storage.file_of(&instance.name));
            created::check_path(called, &path).map_err(|wrong| in_template(wrong, &object))?;
            let full = storage.full_path("", &path).unwrap_or_default();
            if storage.last_index(&full).is_none() && (self.context.is_hidden)(&full) {
                let error = Diagnostic::error(format!(
                    "`{called}` would be written to {path}, which is there but is not among the items"
                ))
                .hint("rename or remove the file, or choose another one with the annotation `config.kubernetes.io/path` on the object in the Template");
                return Err(in_template(error.into(), &object));
            }
            let index = self.positions.next(storage, &path);
            annotate(&mut object.value, PATH, &path);
            annotate(&mut object.value, INDEX, &index.to_string());
            if rules.owned {
                let origin = self.context.ownership.origin(&names.identity, &full);
                annotate(&mut object.value, OWNER, &instance.owner);
                annotate(&mut object.value, ORIGIN, &origin);
            }
            if let Some(at) = self.context.matching.below(called) {
                diagnostics.push(messages::is_below(items, at, called, &path));
            }
        }
        self.objects.add(object.document, &object.value)
    }

    /// Removes the objects that this functionConfig created before and no longer creates. Returns
    /// all changes.
    pub(crate) fn finish(
        mut self,
        diagnostics: &mut Diagnostics,
    ) -> Decision<O::ItemChange, O::New> {
        if !diagnostics.has_errors() && self.context.rules.prunes {
            let pruned = self.prune(diagnostics);
            diagnostics.take(pruned);
        }
        if !diagnostics.has_errors() {
            self.selector_conflicts.warn(self.context.plan, diagnostics);
            diagnostics.append(self.said);
        }
        self.decision
    }

    fn prune(&mut self, diagnostics: &mut Diagnostics) -> Result<()> {
        if self.context.items.are_selected {
            return Ok(());
        }
        let created = self.created().identities;
        let rest = self.context.matching.rest(&created, &self.found, self.context.is_followed);
        for at in rest.removed {
            let opened = self.objects.at(at)?.cursor().open();
            let node = opened.cursor();
            if self.context.is_unnamed_of_several {
                diagnostics.push(messages::not_removed(node));
                continue;
            }
            let item = self.context.items.list.get(at);
            let owner = item.and_then(|item| item.owner.as_deref()).unwrap_or_default();
            let mut info = Diagnostic::info(format!("removed: `{owner}` no longer creates it"));
            info.object = Some(identity::reference(node));
            self.said.push(info);
            self.decision.removed.insert(at);
        }
        for at in rest.copies {
            let opened = self.objects.at(at)?.cursor().open();
            let mark = self.context.matching.mark(at);
            let recorded = mark.map(|mark| mark.recorded.to_string()).unwrap_or_default();
            diagnostics.push(messages::copy(opened.cursor(), &recorded));
        }
        for at in rest.orphans {
            let opened = self.objects.at(at)?.cursor().open();
            let file = self.context.items.shown_file(at);
            diagnostics.push(messages::orphan(opened.cursor(), file.as_deref()));
        }
        Ok(())
    }

    fn several(&self, identity: &Identity, positions: &[usize]) -> Diagnostic {
        let nodes = positions.iter().filter_map(|at| {
            let node = self.objects.at(*at).ok()?.cursor().open();
            Some((node, self.context.items.shown_file(*at)))
        });
        messages::several(identity, nodes)
    }

    /// The error for an existing object that may not be changed.
    fn not_ours(&self, existing: &AtPosition<'_>, owner: &str) -> Diagnostic {
        let items = self.context.items;
        let item = items.list.get(existing.at);
        let level = self.context.matching.mark(existing.at).map(|mark| &mark.level);
        messages::not_ours(
            existing.identity,
            existing.node,
            items.shown_file(existing.at).as_deref(),
            item.and_then(|item| item.owner.as_deref()),
            level,
            owner,
        )
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
        let place = object.value.origin.map(|origin| object.document.cursor(origin).key_place());
        let instances = &self.context.plan.instances;
        let (one, other) = (instances.get(first.instance), instances.get(instance));
        let mut diagnostic = match (one, other) {
            (Some(one), Some(other)) if first.instance != instance => {
                let template = self.context.plan.expanders.get(other.expander);
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

/// Whether an owner is another one, or a part of it.
fn is_or_is_in(owner: &str, other: &str) -> bool {
    let rest = owner.strip_prefix(other);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// An error about an object, placed where its Template has it.
fn in_template(mut wrong: Box<Diagnostic>, object: &Object<'_>) -> Box<Diagnostic> {
    wrong.place = place_of(object);
    wrong.field = Some(object.field.clone()).filter(|field| !field.is_empty());
    wrong
}

/// Where an object is written in its Template.
fn place_of(object: &Object<'_>) -> Option<Place> {
    place_of_value(&object.value, object.document)
}

fn place_of_value(value: &Value<'_>, document: &krm_yaml::Document) -> Option<Place> {
    value.origin.map(|origin| document.cursor(origin).key_place())
}

/// Where a Secret has its values.
fn secret_fields(secret: Cursor<'_>) -> Vec<Place> {
    let fields = ["data", "stringData"].iter();
    let fields = fields.filter_map(|field| secret.get(field));
    fields.map(Cursor::place).collect()
}
