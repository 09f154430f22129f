//! `kind: Composition` as functionConfig, and our own kinds as its transformers.
//!
//! The items are the input of the first transformer, and the output of the last one replaces them.
//! An item keeps its place: changes are edited into its text.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::input::config_place;
use crate::input::configuration::Configuration;
use crate::input::items::{Item, Items};
use crate::input::kptfile::is_kptfile;
use crate::input::objects::ListItems;
use crate::input::package::Package;
use crate::ownership::Ownership;
use crate::ownership::matching::{Created, Found, Matching, Names};
use crate::placing::creation::is_hidden;
use crate::placing::{PlacementContext, Placing};
use crate::plan::{Instance, Owns, Plan};
use crate::run::Environment;
use crate::run::transformer;
use crate::update::rules::{Control, Rules};
use krm_core::annotations::{
    self, IDS, INDEX, LEGACY_INDEX, LEGACY_PATH, OF_PACKAGES, ORIGIN, OWNER, PATH, PREVIOUS,
    annotate, is_internal,
};
use krm_core::files::{self, Checkout, InMemory};
use krm_core::identity::{self, Identity, Kept, group};
use krm_core::resource_list::{Changes, ResourceList};
use krm_template_composition::chain::Build;
use krm_template_composition::{
    Chart, FunctionOutput, Functions, GROUP, Program, Resource, Step, Transformer, consolidate_node,
};
use krm_template_engine::{Earlier, Object};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Data, Document, DuplicateKeys, SharedNode, Value, Words};

/// The annotations for the place and the owner of an item.
const KEPT: [&str; 6] = [PATH, LEGACY_PATH, INDEX, LEGACY_INDEX, OWNER, ORIGIN];
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
    /// Finds what earlier runs of a transformer created.
    earlier: Option<&'e dyn EarlierRuns>,
}

/// Finds what earlier runs of the transformers created.
trait EarlierRuns {
    /// The object that the transformer with this name created as this identity.
    fn object(&self, transformer: &str, identity: &Identity) -> Option<SharedNode>;

    /// Whether it created objects.
    fn has_objects(&self, transformer: &str) -> bool;
}

/// What earlier runs of one transformer created.
struct EarlierOf<'e> {
    runs: &'e dyn EarlierRuns,
    transformer: &'e str,
}

impl Earlier for EarlierOf<'_> {
    fn object(&self, identity: &Identity) -> Option<SharedNode> {
        self.runs.object(self.transformer, identity)
    }

    fn has_objects(&self) -> bool {
        self.runs.has_objects(self.transformer)
    }
}

impl<'e> InProcess<'e> {
    /// Runs our own kinds where there is nothing of earlier runs.
    #[must_use]
    pub fn new(environment: &'e Environment<'e>, others: &'e dyn Functions) -> Self {
        Self { environment, others, earlier: None }
    }
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
        let earlier =
            self.earlier.map(|runs| EarlierOf { runs, transformer: &transformer.id.name });
        let earlier: &dyn Earlier = earlier.as_ref().map_or(&(), |earlier| earlier);
        transformer::run(transformer, resources, self.environment, earlier, diagnostics);
    }

    fn helm(&self, chart: &Chart<'_>) -> Result<Arc<Source>> {
        self.others.helm(chart)
    }

    fn fetch(&self, address: &str, from: &str) -> Result<Option<Checkout>> {
        self.others.fetch(address, from)
    }
}

/// A function cannot run other programs.
struct NoOthers;

impl Functions for NoOthers {
    fn check(&self, transformer: &Transformer, _: &Program) -> Result<()> {
        let problem =
            format!("`{}` needs another program, which a function cannot run", transformer.id);
        let mut wrong = Diagnostic::error(problem)
            .hint("on the command line, `krm-template build` runs it")
            .hint("or make it a step of its own in the pipeline");
        wrong.place = transformer.place();
        Err(wrong.into())
    }
}

/// Passes the items through the Composition.
pub(crate) fn changes(
    list: &ResourceList<'_>,
    config: Cursor<'_>,
    environment: &Environment<'_>,
    diagnostics: &mut Diagnostics,
) -> Changes {
    let mut found = Diagnostics::new();
    let changes = passed(list, config, environment, &mut found).unwrap_or_default();
    found.dedup();
    diagnostics.append(found.map(|mut one| {
        // Fields belong to transformers, not to the functionConfig.
        if one.object.is_none() && one.field.is_none() {
            one.object = Some(identity::reference(config));
        }
        one
    }));
    changes
}

fn passed(
    list: &ResourceList<'_>,
    config: Cursor<'_>,
    environment: &Environment<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Changes> {
    let objects = ListItems::of(list);
    let mut items = Items::read(&objects.nodes, config);
    let place = config_place::find(&objects, &mut items, config, diagnostics)?;
    let own = identity::reference(config);
    let plan = plan_of(&own.kind, &own.namespace, &own.name);
    let ownership = Ownership::new(&objects, &items, &place, &plan.owns);
    let matching = Matching::new(&items, &ownership);
    let run =
        Run { list, objects: &objects, items: &items, matching: &matching, owner: &plan.owns.base };
    let nothing = InMemory::default();
    let machine = environment.files.unwrap_or(&nothing);
    let directory = files::directory_of(items.storage.config_path.as_deref().unwrap_or_default());
    let files = &Package::new(run.compositions(), machine, directory, diagnostics);
    let mut steps = run.steps(config, files, diagnostics)?;
    let rules = RulesOf::read(config, &steps, items.storage.are_kept, diagnostics);
    let input = run.resources(diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let functions = InProcess { environment, others: &NoOthers, earlier: Some(&run) };
    let made = Build::new(files, &functions).run(&mut steps, input, diagnostics).resources;
    if diagnostics.has_errors() {
        return None;
    }
    let created = made.iter().filter(|one| one.maker() != Some(""));
    matching.learn(Created {
        identities: created.clone().filter_map(Resource::first_identity).collect(),
        called: created.filter_map(Resource::identity).collect(),
    });
    let context = PlacementContext {
        items: &items,
        ownership: &ownership,
        matching: &matching,
        plan: &plan,
        rules: &rules.own,
        is_followed: place.is_followed,
        is_unnamed_of_several: place.is_unnamed_of_several,
        is_hidden: &|file| is_hidden(environment.files, file),
    };
    run.place(made, context, &rules, diagnostics)
}

/// The plan of a Composition: what it owns.
fn plan_of(kind: &str, namespace: &str, name: &str) -> Plan {
    let base = format!("{kind}/{namespace}/{name}");
    Plan {
        owns: Owns { base: base.clone(), ..Owns::default() },
        instances: vec![Instance { name: name.to_owned(), owner: base, ..Instance::default() }],
        ..Plan::default()
    }
}

/// The rules for existing objects: of the Composition, and of its transformers.
struct RulesOf {
    own: Rules,
    transformers: BTreeMap<String, Control>,
}

impl RulesOf {
    fn read(
        config: Cursor<'_>,
        steps: &[Step],
        are_kept: bool,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let own = Rules::read(config, are_kept, diagnostics);
        let transformers = steps.iter().map(|step| {
            let control = Control::of(&step.transformer.config);
            (step.transformer.id.name.clone(), control)
        });
        Self { own, transformers: transformers.collect() }
    }

    /// The rules for an object of a transformer: its own ones win.
    fn of(&self, maker: &str, own: Control) -> Control {
        let Some(transformer) = self.transformers.get(maker) else {
            return own;
        };
        Control {
            path: own.path,
            adopts: own.adopts.or(transformer.adopts),
            manner: own.manner.or(transformer.manner),
        }
    }
}

/// Records the file of a Template, so that its objects are written next to it. If that is in the
/// Composition or outside of the package, they are written next to the Composition at `path`.
fn keep_at(transformer: &mut Transformer, here: &str, path: &str) {
    let is_inside = |file: &&str| *file != here && !file.starts_with(['/', '.']);
    let file = Some(transformer.file()).filter(is_inside);
    let file = file.unwrap_or(path).to_owned();
    annotate(&mut transformer.config, PATH, &file);
}

/// Whether an object is for clients and not a resource: a Kptfile, a Kustomization, or another
/// Composition, which may be imported here.
fn is_for_clients(identity: &Identity) -> bool {
    is_kptfile(identity) || identity.group == GROUP
}

/// Whether an item is the functionConfig itself, or only for kpt or kustomize.
fn is_apart(item: &Item) -> bool {
    item.is_config || item.identity.as_ref().is_some_and(is_for_clients)
}

/// The items that pass through a Composition.
struct Run<'l, 'd> {
    list: &'l ResourceList<'d>,
    objects: &'l ListItems<'l, 'd>,
    items: &'l Items,
    matching: &'l Matching<'l>,
    /// The first parts of the owners of its objects.
    owner: &'l str,
}

impl<'d> Run<'_, 'd> {
    /// The items that pass through, with their positions and nodes: without those that earlier runs
    /// created, which are created again.
    fn passing(&self) -> impl Iterator<Item = (usize, &Item, &SharedNode)> {
        let items = self.items.list.iter().enumerate().zip(&self.objects.nodes);
        let items = items.filter(|((at, item), _)| !is_apart(item) && !self.matching.is_ours(*at));
        items.map(|((at, item), node)| (at, item, node))
    }

    /// The steps of the functionConfig; none if it cannot be read.
    fn steps(
        &self,
        config: Cursor<'_>,
        files: &Package<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Step>> {
        let storage = &self.items.storage;
        let directory = storage.config_path.as_deref();
        let directory = directory.map_or(".", files::directory_of);
        if !files::is_below(".", directory) {
            let problem =
                format!("the functionConfig is kept in `{directory}`, outside of the package");
            diagnostics
                .push(Diagnostic::error(problem).hint(format!("correct its annotation `{PATH}`")));
            return None;
        }
        let mut steps =
            consolidate_node(files, self.list.document(), config.id(), directory, diagnostics);
        if let Some(path) = storage.config_path.as_deref().filter(|_| storage.are_kept) {
            for step in steps.iter_mut().filter(|step| step.is_own()) {
                keep_at(&mut step.transformer, self.list.document().source().name(), path);
            }
        }
        Some(steps)
    }

    /// The resources that the first transformer gets.
    fn resources(&self, diagnostics: &mut Diagnostics) -> Vec<Resource<'d>> {
        let maker = Arc::from("");
        let configuration = Configuration::of(self.items, self.objects.nodes.iter().map(Some));
        self.passing()
            .filter_map(|(_, item, node)| {
                let mut resource =
                    Resource::read(self.list.document(), node.cursor().id(), diagnostics)?;
                let previous = previous(&resource);
                resource.remember_all(previous);
                resource.set_maker(&maker);
                resource.is_configuration = configuration.contains(item);
                Some(resource)
            })
            .collect()
    }

    /// The Compositions among the items: one may import others.
    fn compositions(&self) -> impl Iterator<Item = Cursor<'_>> {
        let items = self.items.list.iter().zip(&self.objects.nodes);
        let items = items.filter(|(item, _)| {
            let identity = item.identity.as_ref();
            identity.is_some_and(|one| one.group == GROUP && one.kind == "Composition")
        });
        items.map(|(_, node)| node.cursor())
    }

    /// Puts each resource in its place: over its item, or after the others.
    fn place(
        &self,
        made: Vec<Resource<'_>>,
        context: PlacementContext<'_>,
        rules: &RulesOf,
        diagnostics: &mut Diagnostics,
    ) -> Option<Changes> {
        let is_input = |resource: &Resource<'_>| resource.maker() == Some("");
        let (passed, created): (Vec<_>, Vec<_>) = made.into_iter().partition(is_input);
        let mut placing = Placing::new(self.objects, context);
        for resource in created {
            create(resource, &mut placing, rules, diagnostics);
        }
        let mut left: BTreeSet<usize> = self.passing().map(|(at, ..)| at).collect();
        left.retain(|at| !placing.found().contains(at));
        let standing = self.standing(&passed, &mut left);
        let mut changes = Changes::default();
        for (resource, item) in passed.into_iter().zip(standing) {
            let node = item.and_then(|index| self.objects.nodes.get(index));
            let Some(node) = node else { continue };
            let is_here = self.place_in_list(&resource) == Some(start_of(node.cursor()));
            if is_here && resource.is_unchanged() {
                debug_assert!(node.cursor().holds(resource.value()), "{resource:?}");
                continue;
            }
            let edits = edits(node.cursor(), resource.into_value(), is_here);
            let edits = diagnostics.take(edits);
            changes.edits.extend(edits.into_iter().flatten());
        }
        let decision = Changes::from(placing.finish(diagnostics));
        changes.edits.extend(decision.edits);
        changes.added = decision.added;
        changes.removed = left;
        changes.removed.extend(decision.removed);
        (!diagnostics.has_errors()).then_some(changes)
    }

    /// The item of each resource that passed; removes these from `left`.
    fn standing(&self, made: &[Resource<'_>], left: &mut BTreeSet<usize>) -> Vec<Option<usize>> {
        let mut by_place = BTreeMap::new();
        let mut by_identity: BTreeMap<&Identity, usize> = BTreeMap::new();
        for index in left.iter().copied() {
            let known = self.items.list.get(index).zip(self.objects.nodes.get(index));
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
}

/// Places a resource that a transformer created.
fn create(
    mut resource: Resource<'_>,
    placing: &mut Placing<'_, ListItems<'_, '_>>,
    rules: &RulesOf,
    diagnostics: &mut Diagnostics,
) {
    let maker = resource.maker().unwrap_or_default().to_owned();
    let names = resource.first_identity().zip(resource.identity());
    let Some((identity, called)) = names else {
        return;
    };
    let path = Kept::of(|key| resource.annotation(key)).path.map(Cow::into_owned);
    let control = rules.of(&maker, Control::of(resource.value()));
    annotations::remove(resource.value_mut(), &KEPT);
    annotations::remove(resource.value_mut(), OF_PACKAGES);
    let nothing = Document::parse(&Source::new("new", ""));
    let document = resource.document().cloned();
    let document = document.or_else(|| diagnostics.take(nothing).map(Arc::new));
    let Some(document) = document else { return };
    let plan = placing.plan();
    let Some(one) = plan.instances.first() else {
        return;
    };
    let instance = Instance {
        name: one.name.clone(),
        owner: format!("{}/{maker}", one.owner),
        ..Instance::default()
    };
    let names = Names { maker: &maker, identity, called };
    let control = Control { path, ..control };
    let object = Object { value: resource.into_value(), document: &document, field: String::new() };
    placing.place(0, &instance, object, &names, &control, diagnostics);
}

impl EarlierRuns for Run<'_, '_> {
    fn object(&self, transformer: &str, identity: &Identity) -> Option<SharedNode> {
        let names =
            Names { maker: transformer, identity: identity.clone(), called: identity.clone() };
        let Found::Marked(at) = self.matching.find(&names) else {
            return None;
        };
        self.objects.nodes.get(at).cloned()
    }

    fn has_objects(&self, transformer: &str) -> bool {
        self.matching.has_objects_of(&format!("{}/{transformer}", self.owner))
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
            krm_yaml::update_read(old, value, &krm_core::item_keys::ITEM_KEYS)
        } else {
            krm_yaml::update(old, value, &krm_core::item_keys::ITEM_KEYS)
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
        let is_free = [OWNER, ORIGIN].contains(&key) || value.at(&path).is_none();
        if let Some(text) = old_value.str_at(&path).filter(|_| is_free) {
            annotate(&mut value, key, text);
        }
    }
    // A new value has none of the annotations of the orchestrator.
    for (key, old) in old_value.at(&ANNOTATIONS).and_then(Value::entries).unwrap_or_default() {
        let path = ["metadata", "annotations", key];
        if let Some(text) = old.as_str().filter(|_| is_internal(key) && value.at(&path).is_none()) {
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
        (Data::Mapping(old), Data::Mapping(_)) => {
            old.iter().all(|(key, old)| new.get(key).is_none_or(|new| is_in_step(old, new)))
        }
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
