//! `kind: Composition` as functionConfig, and our own kinds as its transformers.
//!
//! The items are the input of the first transformer, and the output of the last one replaces them.
//! An item keeps its place: changes are edited into its text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::composition::chain;
use crate::composition::{
    FunctionOutput, Functions, GROUP, Kustomize, Program, Resource, Step, Transformer,
    consolidate_node,
};
use crate::files::{self, InMemory};
use crate::function::configuration::Configuration;
use crate::function::items::{Item, Items, Storage};
use crate::function::own;
use crate::function::package::Package;
use crate::function::run::Environment;
use crate::krm::annotations::{
    self, IDS, INDEX, LEGACY_INDEX, LEGACY_PATH, OWNER, PATH, PREVIOUS, annotate, is_internal,
    kept_at,
};
use crate::krm::identity::{self, Identity, group};
use crate::krm::resource_list::{Changes, ResourceList};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Data, Document, DuplicateKeys, SharedNode, Value, Words};

/// The annotations for the place and the owner of an item.
const KEPT: [&str; 5] = [PATH, LEGACY_PATH, INDEX, LEGACY_INDEX, OWNER];
const ANNOTATIONS: [&str; 2] = ["metadata", "annotations"];
/// Namespaces by which kustomize means none.
const NO_NAMESPACE: [&str; 2] = ["default", "_non_namespaceable_"];

/// Runs our own kinds in this process, and passes other functions on.
#[derive(Clone, Copy)]
pub struct InProcess<'e> {
    /// The environment of our kinds.
    pub environment: &'e Environment<'e>,
    /// Runs the functions that are programs of others.
    pub others: &'e dyn Functions,
}

impl std::fmt::Debug for InProcess<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InProcess").finish_non_exhaustive()
    }
}

impl Functions for InProcess<'_> {
    fn check(&self, transformer: &Transformer, program: &Program) -> Result<()> {
        self.others.check(transformer, program)
    }

    fn run(
        &self,
        transformer: &Transformer,
        program: &Program,
        list: &Arc<Source>,
    ) -> FunctionOutput {
        self.others.run(transformer, program, list)
    }

    fn run_own(
        &self,
        transformer: &Transformer,
        resources: &mut Vec<Resource<'_>>,
        diagnostics: &mut Diagnostics,
    ) {
        own::run(transformer, resources, self.environment, diagnostics);
    }

    fn kustomize(&self, build: &Kustomize<'_>) -> Result<Arc<Source>> {
        self.others.kustomize(build)
    }
}

/// A function cannot run other programs.
struct NoOthers;

impl Functions for NoOthers {
    fn check(&self, transformer: &Transformer, _: &Program) -> Result<()> {
        let problem = format!(
            "`{}` needs another program, which a function cannot run",
            transformer.id
        );
        let mut wrong = Diagnostic::error(problem)
            .hint("on the command line, `krm-template build` runs it")
            .hint("or make it a step of its own in the pipeline");
        wrong.place = transformer.place();
        Err(wrong.into())
    }

    fn run(&self, transformer: &Transformer, program: &Program, _: &Arc<Source>) -> FunctionOutput {
        FunctionOutput {
            list: None,
            diagnostics: self
                .check(transformer, program)
                .err()
                .map(Diagnostics::from)
                .unwrap_or_default(),
        }
    }
}

/// Passes the items through the Composition.
pub(super) fn changes(
    list: &ResourceList<'_>,
    config: Cursor<'_>,
    environment: &Environment<'_>,
    diagnostics: &mut Diagnostics,
) -> Changes {
    let mut found = Diagnostics::new();
    let changes = passed(list, config, environment, &mut found).unwrap_or_default();
    found.dedup();
    for mut one in found.iter().cloned() {
        // Fields belong to transformers, not to the functionConfig.
        if one.object.is_none() && one.field.is_none() {
            one.object = Some(identity::reference(config));
        }
        diagnostics.push(one);
    }
    changes
}

fn passed(
    list: &ResourceList<'_>,
    config: Cursor<'_>,
    environment: &Environment<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Changes> {
    let run = Run::new(list, config);
    let nothing = InMemory::default();
    let files = environment.files.unwrap_or(&nothing);
    let files = &Package::new(run.compositions(), files, diagnostics);
    let mut steps = run.steps(config, files, diagnostics)?;
    let input = run.resources(diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let functions = InProcess {
        environment,
        others: &NoOthers,
    };
    let (made, _) = chain::run(&mut steps, input, files, &functions, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    Some(run.place(made, diagnostics))
}

/// Notes in the configuration of a Template where that is kept, so that its objects are kept beside
/// it. If that is in the Composition or outside of the package, they are kept beside the
/// Composition at `path`.
fn keep_at(transformer: &mut Transformer, here: &str, path: &str) {
    let is_inside = |file: &&str| *file != here && !file.starts_with(['/', '.']);
    let file = Some(transformer.file()).filter(is_inside);
    let file = file.unwrap_or(path).to_owned();
    annotate(&mut transformer.config, PATH, &file);
}

/// Whether an object is for clients and not a resource: a Kptfile, a Kustomization, or another
/// Composition, which may be imported here.
fn is_for_clients(identity: &Identity) -> bool {
    identity.kind == "Kptfile" || identity.group == GROUP
}

/// Whether an item is the functionConfig itself, or only for kpt or kustomize.
fn is_apart(item: &Item) -> bool {
    item.is_config || item.identity.as_ref().is_some_and(is_for_clients)
}

/// The items that pass through a Composition.
struct Run<'l, 'd> {
    list: &'l ResourceList<'d>,
    items: Vec<Item>,
    /// The node of each item.
    nodes: Vec<SharedNode>,
    storage: Storage,
    /// `KIND/NAMESPACE/NAME` of the functionConfig, which owns the objects that it creates.
    owner: String,
    name: String,
}

impl<'l, 'd> Run<'l, 'd> {
    fn new(list: &'l ResourceList<'d>, config: Cursor<'d>) -> Self {
        let own = identity::reference(config);
        let nodes = list.shared_items();
        let Items {
            list: items,
            storage,
        } = Items::read(&nodes, config);
        Self {
            list,
            items,
            nodes,
            storage,
            owner: format!("{}/{}/{}", own.kind, own.namespace, own.name),
            name: own.name,
        }
    }

    /// Whether this functionConfig created an item.
    fn is_own(&self, item: &Item) -> bool {
        item.owner.as_deref() == Some(&self.owner)
    }

    /// The steps of the functionConfig; none if it cannot be read.
    fn steps(
        &self,
        config: Cursor<'_>,
        files: &Package<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Step>> {
        let directory = self.storage.config_path.as_deref();
        let directory = directory.map_or(".", files::directory_of);
        if !files::is_below(".", directory) {
            let problem =
                format!("the functionConfig is kept in `{directory}`, outside of the package");
            diagnostics
                .push(Diagnostic::error(problem).hint(format!("correct its annotation `{PATH}`")));
            return None;
        }
        let mut steps = consolidate_node(
            files,
            self.list.document(),
            config.id(),
            directory,
            diagnostics,
        );
        if let Some(path) = self
            .storage
            .config_path
            .as_deref()
            .filter(|_| self.storage.are_kept)
        {
            for step in steps.iter_mut().filter(|step| step.is_own()) {
                keep_at(
                    &mut step.transformer,
                    self.list.document().source().name(),
                    path,
                );
            }
        }
        Some(steps)
    }

    /// The resources that the first transformer gets: without the items that an earlier run
    /// created, which are created again.
    fn resources(&self, diagnostics: &mut Diagnostics) -> Vec<Resource<'d>> {
        let items = self.items.iter().zip(&self.nodes);
        let items = items.filter(|(item, _)| !self.is_own(item) && !is_apart(item));
        let configuration = Configuration::of(&self.items, &self.nodes);
        items
            .filter_map(|(item, node)| {
                let mut resource =
                    Resource::read(self.list.document(), node.cursor().id(), diagnostics)?;
                let previous = previous(&resource);
                resource.remember_all(previous);
                resource.is_configuration = configuration.contains(item, node.cursor());
                Some(resource)
            })
            .collect()
    }

    /// The Compositions among the items: one may import others.
    fn compositions(&self) -> impl Iterator<Item = Cursor<'_>> {
        let items = self.items.iter().zip(&self.nodes).filter(|(item, _)| {
            let identity = item.identity.as_ref();
            identity.is_some_and(|one| one.group == GROUP && one.kind == "Composition")
        });
        items.map(|(_, node)| node.cursor())
    }

    /// Puts each resource in its place: over its item, or after the others.
    fn place(mut self, made: Vec<Resource<'_>>, diagnostics: &mut Diagnostics) -> Changes {
        let mut changes = Changes::default();
        let mut left: BTreeSet<usize> = (0..self.items.len()).collect();
        left.retain(|index| self.items.get(*index).is_some_and(|item| !is_apart(item)));
        let standing = self.standing(&made, &mut left);
        for resource in &made {
            if let Some((path, index)) = kept_at(|key| resource.annotation(key)) {
                self.storage.add(path, index);
            }
        }
        for (resource, item) in made.into_iter().zip(standing) {
            let node = item.and_then(|index| self.nodes.get(index));
            if let Some(node) = node {
                let is_here = self.place_in_list(&resource) == Some(start_of(node.cursor()));
                if is_here && resource.is_unchanged() {
                    debug_assert!(node.cursor().holds(resource.value()), "{resource:?}");
                    continue;
                }
                let edits = edits(node.cursor(), resource.into_value(), is_here);
                let edits = diagnostics.take(edits);
                changes.edits.extend(edits.into_iter().flatten());
            } else {
                let text = self.added(resource);
                changes.added.extend(diagnostics.take(text));
            }
        }
        changes.removed = left;
        changes
    }

    /// The item of each resource; removes these from `left`.
    fn standing(&self, made: &[Resource<'_>], left: &mut BTreeSet<usize>) -> Vec<Option<usize>> {
        let mut by_place = BTreeMap::new();
        let mut by_identity: BTreeMap<&Identity, usize> = BTreeMap::new();
        for index in left.iter().copied() {
            let known = self.items.get(index).zip(self.nodes.get(index));
            let Some((item, node)) = known else {
                continue;
            };
            by_place.insert(start_of(node.cursor()), index);
            if let Some(identity) = &item.identity {
                by_identity.entry(identity).or_insert(index);
            }
        }
        let mut standing: Vec<Option<usize>> = Vec::with_capacity(made.len());
        for resource in made {
            let place = self.place_in_list(resource);
            let found = place.and_then(|place| by_place.get(&place));
            standing.push(found.copied().filter(|index| left.remove(index)));
        }
        for (resource, standing) in made.iter().zip(&mut standing) {
            if standing.is_none() {
                let names = resource.identities();
                let mut found = names.iter().filter_map(|name| by_identity.get(name));
                *standing = found.find(|index| left.remove(index)).copied();
            }
        }
        standing
    }

    /// Where a resource starts, if it was read from the list.
    fn place_in_list(&self, resource: &Resource<'_>) -> Option<usize> {
        let place = resource.place()?;
        Arc::ptr_eq(self.list.document().source(), &place.source).then_some(place.range.start)
    }

    /// The text of a new item, with its file if items are kept in files.
    fn added(&mut self, mut resource: Resource<'_>) -> Result<String> {
        if !self.storage.are_kept {
            return self.text(&resource);
        }
        // This also marks the objects of a Template in it: the next run starts without them, too.
        annotate(resource.value_mut(), OWNER, &self.owner);
        if kept_at(|key| resource.annotation(key)).is_none() {
            let path = self.storage.file_of(&self.name, None);
            let index = self.storage.next_index(&path);
            annotate(resource.value_mut(), PATH, &path);
            annotate(resource.value_mut(), INDEX, &index.to_string());
        }
        self.text(&resource)
    }

    fn text(&self, resource: &Resource<'_>) -> Result<String> {
        if let Some(document) = resource.document() {
            return self.list.item_text(document, resource.value());
        }
        let nothing = Document::parse(&Source::new("new", ""))?;
        self.list.item_text(&nothing, resource.value())
    }
}

/// Where an item starts, without comments.
fn start_of(item: Cursor<'_>) -> usize {
    item.key_place().range.start
}

/// The former identities of an object that kustomize renamed or moved.
fn previous(resource: &Resource<'_>) -> Vec<Identity> {
    let [kinds, names, namespaces] =
        PREVIOUS.map(|key| resource.annotation(key).unwrap_or_default().split(','));
    let all = kinds.zip(names).zip(namespaces);
    let all = all.filter(|((_, name), _)| !name.is_empty());
    all.map(|((kind, name), namespace)| Identity {
        group: group(resource.str_at(&["apiVersion"]).unwrap_or_default()).to_owned(),
        kind: kind.to_owned(),
        namespace: if NO_NAMESPACE.contains(&namespace) {
            String::new()
        } else {
            namespace.to_owned()
        },
        name: name.to_owned(),
    })
    .collect()
}

/// The edits that change an item to a value; it keeps its place. `is_here` tells whether the value
/// was read from this item, so that its parts know their text.
fn edits(item: Cursor<'_>, mut value: Value<'_>, is_here: bool) -> Result<Vec<krm_yaml::Edit>> {
    let update = |old, value| {
        if is_here {
            krm_yaml::update_read(old, value, &crate::krm::item_keys::ITEM_KEYS)
        } else {
            krm_yaml::update(old, value, &crate::krm::item_keys::ITEM_KEYS)
        }
    };
    let opened = item.open();
    let old = opened.cursor();
    // The common case: nothing has changed, so nothing is missing.
    if is_here && old.holds(&value) {
        return Ok(Vec::new());
    }
    let diagnostics = &mut Diagnostics::new();
    let Some(old_value) = old.value_with(DuplicateKeys::LastWins, Words::Texts, diagnostics) else {
        return update(old, value);
    };
    for key in KEPT {
        let path = ["metadata", "annotations", key];
        let is_free = key == OWNER || value.at(&path).is_none();
        if let Some(text) = old_value.str_at(&path).filter(|_| is_free) {
            annotate(&mut value, key, text);
        }
    }
    // A new value has none of the annotations of the orchestrator.
    for (key, old) in old_value
        .at(&ANNOTATIONS)
        .and_then(Value::entries)
        .unwrap_or_default()
    {
        let path = ["metadata", "annotations", key];
        if let Some(text) = old
            .as_str()
            .filter(|_| is_internal(key) && value.at(&path).is_none())
        {
            annotate(&mut value, key.to_string(), text);
        }
    }
    if value == old_value {
        return Ok(Vec::new());
    }
    let has_id = |id: &&str| value.at(&["metadata", "annotations", id]).is_some();
    // Our own kinds and kustomize read words such as `yes` differently, which changes no text.
    if IDS.iter().any(has_id) && update(old, value.clone())?.is_empty() {
        return Ok(Vec::new());
    }
    // An orchestrator copies comments back by position, including new ones: this is right where no
    // item has moved.
    if is_here && is_in_step(&old_value, &value) {
        return update(old, value);
    }
    annotations::remove(&mut value, IDS);
    update(old, value)
}

/// Whether each item of a list is still at the position where it was read.
fn is_in_step(old: &Value<'_>, new: &Value<'_>) -> bool {
    match (&old.data, &new.data) {
        (Data::Mapping(old), Data::Mapping(_)) => old
            .iter()
            .all(|(key, old)| new.get(key).is_none_or(|new| is_in_step(old, new))),
        (Data::Sequence(old), Data::Sequence(new)) => {
            let mut pairs = old.iter().zip(new);
            old.len() == new.len()
                && pairs.all(|(old, new)| {
                    let is_same = old.origin.is_some() && old.origin == new.origin;
                    is_same && is_in_step(old, new)
                })
        }
        (Data::Sequence(_), _) | (_, Data::Sequence(_)) => false,
        _ => true,
    }
}
