//! Puts the objects of a Template over the items with their identity, or into a file of their own.
//! Then it removes the items that an earlier run created and this one does not.

use std::collections::BTreeMap;

use crate::function::crossings::Crossings;
use crate::function::items::{Existing, Item, Items, Storage, path_of};
use crate::function::paths;
use crate::function::update::{Manner, Updated, update};
use crate::krm::annotations::{IDS, INDEX, LEGACY_INDEX, LEGACY_PATH, OWNER, PATH};
use crate::krm::annotations::{annotate, remove_empty};
use crate::krm::identity::{self, Identity};
use crate::krm::resource_list::{Changes, ResourceList};
use crate::plan::{Instance, Plan};
use crate::template::{Object, Template};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Place;
use krm_yaml::{Cursor, Document, Value};

/// Whether the objects name their instance: `"true"` or `"false"`.
const OWNERSHIP: &str = "template.krm.dev/ownership";
/// Whether an existing object without an owner may be adopted: `"true"`.
const ADOPT: &str = "template.krm.dev/adopt";
/// `merge` keeps all fields of an existing object that the Template does not set.
const UPDATE: &str = "template.krm.dev/update";

/// The rules of the functionConfig for existing objects.
pub(super) struct Rules {
    /// Whether objects name their instance.
    owned: bool,
    /// Whether objects that are no longer created are removed.
    prunes: bool,
    adopts: bool,
    manner: Manner,
}

impl Rules {
    /// Reads the annotations of the functionConfig. By default objects name their
    /// instance if the output is written back to files, where it will be input again.
    pub(super) fn read(config: Cursor<'_>, are_kept: bool, diagnostics: &mut Diagnostics) -> Self {
        let mut annotation = |key: &'static str, allowed: &[&str]| {
            let node = config.at(["metadata", "annotations", key])?;
            let text = node.text().ok().flatten().unwrap_or_default();
            if allowed.contains(&text.as_ref()) {
                return Some(text.into_owned());
            }
            diagnostics.push(not_allowed(
                key,
                allowed,
                node.place(),
                &identity::reference(config),
            ));
            None
        };
        let flags = ["true", "false"];
        let ownership = annotation(OWNERSHIP, &flags);
        let manner = annotation(UPDATE, &["merge", "replace"]);
        Self {
            owned: ownership
                .as_deref()
                .map_or(are_kept, |ownership| ownership == "true"),
            prunes: ownership.as_deref() != Some("false"),
            adopts: annotation(ADOPT, &flags).as_deref() == Some("true"),
            manner: MANNERS
                .into_iter()
                .find_map(|(word, known)| (manner.as_deref() == Some(word)).then_some(known))
                .unwrap_or(Manner::Replace),
        }
    }
}

/// The values of [`UPDATE`].
const MANNERS: [(&str, Manner); 2] = [("merge", Manner::Merge), ("replace", Manner::Replace)];

fn not_allowed(
    key: &str,
    allowed: &[&str],
    place: Place,
    object: &krm_yaml::diagnostic::ObjectReference,
) -> Diagnostic {
    let allowed: Vec<String> = allowed.iter().map(|one| format!("`\"{one}\"`")).collect();
    let mut diagnostic = Diagnostic::error(format!(
        "annotation `{key}` must be {}",
        allowed.join(" or ")
    ))
    .at(place)
    .field(format!("metadata.annotations[{key}]"));
    diagnostic.object = Some(object.clone());
    diagnostic
}

/// Puts the objects of all instances where they belong.
pub(super) struct Placing<'p, 'd> {
    list: &'p ResourceList<'d>,
    items: &'p Items<'d>,
    existing: &'p Existing<'p, 'd>,
    storage: Storage,
    plan: &'p Plan<'p>,
    rules: &'p Rules,
    made: BTreeMap<Identity, Made>,
    changes: Changes,
    /// Reports of the changes, to be used if the changes are made.
    said: Diagnostics,
    crossings: Crossings,
}

/// An object that was placed.
struct Made {
    instance: usize,
    field: String,
}

impl<'p, 'd> Placing<'p, 'd> {
    pub(super) fn new(
        list: &'p ResourceList<'d>,
        items: &'p Items<'d>,
        existing: &'p Existing<'p, 'd>,
        storage: Storage,
        plan: &'p Plan<'p>,
        rules: &'p Rules,
    ) -> Self {
        Self {
            list,
            items,
            existing,
            storage,
            plan,
            rules,
            made: BTreeMap::new(),
            changes: Changes::default(),
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
        let control = self.control(&mut object, diagnostics);
        let Some(identity) = Identity::of(&object.value) else {
            return;
        };
        if let Some(first) = self.made.get(&identity) {
            diagnostics.push(self.made_twice(first, index, &identity, &object));
            return;
        }
        let made = Made {
            instance: index,
            field: object.field.clone(),
        };
        self.made.insert(identity.clone(), made);
        if self.plan.instances.len() > 1 {
            self.crossings.add(index, &identity, &object);
        }
        if let Some(item) = self.existing.get(&identity) {
            self.update(item, instance, object, &control, &identity, diagnostics);
        } else {
            let text = self.add(object, instance, control.path);
            self.changes.added.extend(diagnostics.take(text));
        }
    }

    /// Brings an item up to date.
    fn update(
        &mut self,
        item: &Item<'d>,
        instance: &Instance,
        object: Object<'_>,
        control: &Control,
        identity: &Identity,
        diagnostics: &mut Diagnostics,
    ) {
        let opened = item.node.open();
        let old = opened.cursor();
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
        let Some(updated) = diagnostics.take(update(old, object.value, manner, owner)) else {
            return;
        };
        if !may_change {
            // The object is already what the Template creates, so nothing is overwritten.
            if !updated.edits.is_empty() || item.owner.is_some() {
                let mut diagnostic = not_ours(identity, item, old, &instance.owner).field(field);
                diagnostic.place = place;
                diagnostics.push(diagnostic);
            }
            return;
        }
        if !updated.edits.is_empty() {
            self.say(&updated, is_own, old);
        }
        self.changes.edits.extend(updated.edits);
    }

    /// Reports the changes of an item.
    fn say(&mut self, updated: &Updated, is_own: bool, old: Cursor<'_>) {
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

    /// The text of a new item, with the file it is to be kept in if items are kept in files.
    fn add(
        &mut self,
        mut object: Object<'_>,
        instance: &Instance,
        path: Option<String>,
    ) -> Result<String> {
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
        self.list.item_text(object.document, &object.value)
    }

    /// Removes the objects that this functionConfig created before and no longer creates. Returns
    /// all changes.
    pub(super) fn finish(mut self, diagnostics: &mut Diagnostics) -> Changes {
        if !diagnostics.has_errors() && self.rules.prunes {
            self.prune(diagnostics);
        }
        if !diagnostics.has_errors() {
            self.crossings.warn(self.plan, diagnostics);
            diagnostics.append(self.said);
        }
        self.changes
    }

    fn prune(&mut self, diagnostics: &mut Diagnostics) {
        let mut seen: BTreeMap<&Identity, &Item<'_>> = BTreeMap::new();
        for (identity, item, owner) in self.items.owned() {
            if !self.plan.owns.is_own(owner) {
                continue;
            }
            let opened = item.node.open();
            let node = opened.cursor();
            if self.made.contains_key(identity) {
                if let Some(first) = seen.insert(identity, item) {
                    diagnostics.push(stands_twice(identity, first, node));
                }
                continue;
            }
            let mut info = Diagnostic::info(format!("removed: `{owner}` no longer creates it"));
            info.object = Some(identity::reference(node));
            self.said.push(info);
            self.changes.removed.insert(item.node.id());
        }
    }

    /// Takes the annotations that control where an object is put and how it is updated.
    fn control(&self, object: &mut Object<'_>, diagnostics: &mut Diagnostics) -> Control {
        let metadata = object.value.get_mut("metadata");
        let Some(annotations) = metadata.and_then(|metadata| metadata.get_mut("annotations"))
        else {
            return Control::default();
        };
        let mut taken = Taken {
            annotations,
            document: object.document,
            field: &object.field,
            diagnostics,
        };
        let config = self.storage.config_path.as_deref();
        let [path, legacy_path] = [PATH, LEGACY_PATH].map(|key| taken.path(key, config));
        let control = Control {
            path: path.or(legacy_path),
            adopts: taken.choice(ADOPT, [("true", true), ("false", false)]),
            manner: taken.choice(UPDATE, MANNERS),
        };
        for key in [INDEX, LEGACY_INDEX, OWNER].iter().chain(IDS) {
            annotations.remove(key);
        }
        if let Some(metadata) = object.value.get_mut("metadata") {
            remove_empty(metadata, "annotations");
        }
        control
    }

    /// Two objects with one identity.
    fn made_twice(
        &self,
        first: &Made,
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
                let hint = template.and_then(|template| to_vary(template, object));
                Diagnostic::error(format!(
                    "the instances `{}` and `{}` both create `{identity}`",
                    one.name, other.name
                ))
                .hint(hint.unwrap_or_else(|| {
                    "use a parameter in its `metadata.name`, and give each instance a different value".to_owned()
                }))
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

/// The annotations that control where an object is put and how it is updated.
#[derive(Default)]
struct Control {
    path: Option<String>,
    adopts: Option<bool>,
    manner: Option<Manner>,
}

/// The annotations of an object, of which some are taken out.
struct Taken<'a, 'd> {
    annotations: &'a mut Value<'d>,
    document: &'a Document,
    field: &'a str,
    diagnostics: &'a mut Diagnostics,
}

impl Taken<'_, '_> {
    fn error(&mut self, key: &str, value: &Value<'_>, mut diagnostic: Diagnostic) {
        diagnostic.place = value
            .origin
            .map(|origin| self.document.cursor(origin).place());
        let field = format!("{}.metadata.annotations[{key}]", self.field);
        self.diagnostics.push(diagnostic.field(field));
    }

    /// The file that an object names itself.
    fn path(&mut self, key: &str, config: Option<&str>) -> Option<String> {
        let value = self.annotations.remove(key)?;
        let text = value.as_str().filter(|text| !text.is_empty())?;
        let path = paths::named(config, text);
        if path.is_none() {
            let problem = Diagnostic::error(format!("`{text}` is not the path of a file in the package"))
                .hint("write a path relative to the directory of the functionConfig, with slashes; it must not leave the package");
            self.error(key, &value, problem);
        }
        path
    }

    /// The meaning of an annotation that has one of two texts.
    fn choice<T: Copy>(&mut self, key: &'static str, choices: [(&str, T); 2]) -> Option<T> {
        let value = self.annotations.remove(key)?;
        let mut known = choices.iter();
        let chosen = known.find(|(text, _)| value.as_str() == Some(text));
        if chosen.is_none() {
            let [(one, _), (other, _)] = choices;
            let problem = format!("annotation `{key}` must be `\"{one}\"` or `\"{other}\"`");
            self.error(key, &value, Diagnostic::error(problem));
        }
        chosen.map(|(_, choice)| *choice)
    }
}

/// Which parameter tells apart the objects that two instances make of one.
fn to_vary(template: &Template<'_>, object: &Object<'_>) -> Option<String> {
    let names = ["name", "namespace"].iter().find_map(|key| {
        let origin = object.value.at(&["metadata", key])?.origin?;
        let text = object.document.cursor(origin).text().ok()??;
        let names = template.names_in(&text);
        (!names.is_empty()).then_some(names)
    })?;
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    Some(match names.as_slice() {
        [name] => format!("give parameter {name} a different value in one of them"),
        names => format!(
            "give one of the parameters {} a different value in one of them",
            names.join(", ")
        ),
    })
}

fn in_file(path: Option<&str>) -> String {
    path.map_or_else(String::new, |path| format!(" in {path}"))
}

/// The error for an existing object that may not be changed.
fn not_ours(identity: &Identity, item: &Item<'_>, old: Cursor<'_>, owner: &str) -> Diagnostic {
    let file = in_file(path_of(item.node).as_deref());
    let problem = match &item.owner {
        Some(other) => format!("`{identity}`{file} was created by `{other}`, not by `{owner}`"),
        None => format!("`{identity}`{file} already exists and was not created by `{owner}`"),
    };
    Diagnostic::error(problem)
        .related(old.get("metadata").unwrap_or(old).place(), "it is here")
        .hint(format!("to adopt it, set the annotation `{ADOPT}: \"true\"` on the object in the Template or on the functionConfig"))
        .hint("to keep it, rename one of the two or remove the object from the Template")
}

/// The error for two items with one identity that instances own.
fn stands_twice(identity: &Identity, first: &Item<'_>, second: Cursor<'_>) -> Diagnostic {
    let reference = identity::reference(second);
    let places = [path_of(first.node), reference.path.clone()];
    let places: Vec<String> = places.iter().map(|path| in_file(path.as_deref())).collect();
    let mut diagnostic = Diagnostic::error(format!(
        "`{identity}` is among the items twice: once{}, once{}",
        places.first().map_or("", String::as_str),
        places.get(1).map_or("", String::as_str),
    ))
    .at(second.get("metadata").unwrap_or(second).place())
    .hint("remove one of the two; to keep your own copy, rename it and remove its annotation `template.krm.dev/instance`");
    diagnostic.object = Some(reference);
    diagnostic
}
