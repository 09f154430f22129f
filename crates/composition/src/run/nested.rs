//! Runs lists of steps within others: Compositions and Kustomizations that are built or that are
//! transformers, Components, and plugins in files.

use std::sync::Arc;

use crate::builtin::generator::absorb_made;
use crate::builtin::known::ResourceIds;
use crate::engine::step::{Base, Nested, Runner, Step};
use crate::engine::transformer::Transformer;
use crate::kustomization::file::{self, Kind, Kustomization};
use crate::kustomization::finalize::Ending;
use crate::kustomization::{plugins, steps as kustomization_steps};
use crate::read::locate::{Found, find};
use crate::read::nesting::{check_chain, check_directory};
use crate::resources::objects::objects;
use crate::resources::resource::Resource;
use crate::run::chain::{Surroundings, named_by};
use crate::run::runner::step;
use crate::run::steps::{build, consolidate, consolidate_node};
use krm_core::files::Entry;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Source;
use krm_yaml::{Cursor, Document, FieldPath, NodeId, Position, Value};

impl Surroundings<'_> {
    /// Passes the resources through a list of steps that is itself a transformer.
    pub(crate) fn nested<'d>(
        &mut self,
        nested: Nested,
        transformer: &Transformer,
        steps: &'d mut Vec<Step>,
        resources: &mut Vec<Resource<'d>>,
        diagnostics: &mut Diagnostics,
    ) {
        let mut found = Diagnostics::new();
        match nested {
            Nested::Composition => {
                self.of_composition(transformer, steps, resources, &mut found);
            }
            Nested::Kustomization => {
                self.of_kustomization(transformer, steps, resources, &mut found);
            }
            Nested::Component => self.component(transformer, steps, resources, &mut found),
            Nested::Generators | Nested::Transformers | Nested::Validators => {
                self.plugins(nested, transformer, steps, resources, &mut found);
                found = in_file(found, transformer);
            }
        }
        diagnostics.append(found);
    }

    /// Passes the resources through the transformers of a Composition that is itself a transformer.
    fn of_composition<'d>(
        &mut self,
        transformer: &Transformer,
        steps: &'d mut Vec<Step>,
        resources: &mut Vec<Resource<'d>>,
        found: &mut Diagnostics,
    ) {
        let name = format!("{} in {}", transformer.id, transformer.file());
        if let Err(mut problem) = check_chain(&self.state.building, &name, "build") {
            problem.place = transformer.place();
            found.push(*problem);
            return;
        }
        if let Some((document, root)) = written(transformer, &name, found) {
            let directory = &transformer.directory;
            *steps = consolidate_node(self.files, &document, root, directory, found);
            *resources = self.pass(steps, std::mem::take(resources), name, found);
        }
    }

    /// Passes the resources through a Kustomization that is itself a transformer.
    fn of_kustomization<'d>(
        &mut self,
        transformer: &Transformer,
        steps: &'d mut Vec<Step>,
        resources: &mut Vec<Resource<'d>>,
        found: &mut Diagnostics,
    ) {
        let name = format!("{} in {}", transformer.id, transformer.file());
        let Some(kustomization) = file::of_transformer(transformer, found) else {
            return;
        };
        let ending = Ending { keeps_order: true, is_transformer: true, ..Ending::default() };
        *steps = build(&kustomization, &ending, self.files, found);
        let (held, sent) = without_local(std::mem::take(resources));
        *resources = self.apart(|around| around.pass(steps, sent, name, found));
        for (place, resource) in held {
            resources.insert(place.min(resources.len()), resource);
        }
    }

    /// The resources that a Composition creates.
    pub(crate) fn composition<'d>(
        &mut self,
        file: &str,
        transformer: &Transformer,
        field: &FieldPath,
        steps: &'d mut Vec<Step>,
        found: &mut Diagnostics,
    ) -> Option<Vec<Resource<'d>>> {
        let mut building = self.state.building.clone();
        if building.is_empty() {
            building.push(transformer.file().to_owned());
        }
        let chain = check_chain(&building, file, "build");
        if let Err(mut problem) = chain.and_then(|()| self.state.count_build()) {
            problem.place = transformer.place_of(field);
            found.push(*problem);
            return None;
        }
        *steps = consolidate(self.files, file, found);
        Some(self.apart(|around| around.isolated(steps, file.to_owned(), found)))
    }

    /// The resources of the Kustomization in a directory: as part of another one, or as a build of
    /// its own.
    pub(crate) fn kustomization<'d>(
        &mut self,
        directory: &str,
        steps: &'d mut Vec<Step>,
        found: &mut Diagnostics,
    ) -> Option<Vec<Resource<'d>>> {
        let is_part = self.state.is_of_kustomization;
        let kustomization = self.read(directory, found)?;
        if kustomization.kind == Kind::Component {
            let wrong = Diagnostic::error("expected a Kustomization, found a Component");
            let wrong = wrong.at(kustomization.kind_place()).field("kind");
            found.push(wrong.hint("name its directory under `components`"));
            return None;
        }
        if is_part {
            *steps = kustomization_steps::steps(&kustomization, self.files, found);
            return Some(self.isolated(steps, directory.to_owned(), found));
        }
        *steps = build(&kustomization, &Ending::default(), self.files, found);
        Some(self.apart(|around| around.isolated(steps, directory.to_owned(), found)))
    }

    /// The Kustomization or Component of a directory.
    fn read(&mut self, directory: &str, found: &mut Diagnostics) -> Option<Kustomization> {
        let root = self.state.is_of_kustomization.then_some(&self.state.shared.tracing.root);
        // Compositions are named by their files.
        let is_directory = |name: &&String| self.files.entry(name) == Some(Entry::Directory);
        let building = self.state.building.iter().filter(is_directory);
        let building = building.filter(|name| Some(*name) != root);
        let open: Vec<String> = root.into_iter().chain(building).cloned().collect();
        let chain = check_directory(&open, directory);
        found.take(chain.and_then(|()| self.state.count_build()))?;
        file::read(self.files, directory, found)
    }

    /// The resources that steps create from nothing. What they add to the tables is passed on.
    fn isolated<'d>(
        &mut self,
        steps: &'d mut [Step],
        name: String,
        found: &mut Diagnostics,
    ) -> Vec<Resource<'d>> {
        let own = steps.first().map(|step| Arc::clone(&step.additions));
        let others = std::mem::take(&mut self.state.inherited);
        let made = self.pass(steps, Vec::new(), name, found);
        let mut below = std::mem::replace(&mut self.state.inherited, others);
        if let Some(own) = own {
            below.append(&own);
        }
        self.state.inherited.append_base(&below);
        made
    }

    /// Runs a Component on the resources.
    fn component<'d>(
        &mut self,
        transformer: &Transformer,
        steps: &'d mut Vec<Step>,
        resources: &mut Vec<Resource<'d>>,
        found: &mut Diagnostics,
    ) {
        let field = FieldPath::root().key("path");
        let path = transformer.config.str_at(&["path"]).unwrap_or_default();
        let Some(directory) =
            found.take(self.state.locate((self.files, self.functions), transformer, &field, path))
        else {
            *found = placed(std::mem::take(found), transformer, &field);
            return;
        };
        let kustomization = match find(self.files, &directory) {
            Ok(Found::Kustomization) => self.read(&directory, found),
            other => {
                let problem = match other {
                    Ok(Found::File) => format!("`{directory}` is a file, expected a directory"),
                    Ok(_) => format!("`{directory}` holds no Component"),
                    Err(problem) => problem.message,
                };
                let wrong = transformer.error(&field, problem);
                found.push(wrong.hint(
                    "name a directory that holds a `kustomization.yaml` with `kind: Component`",
                ));
                return;
            }
        };
        if let Some(kustomization) = kustomization {
            if kustomization.kind == Kind::Component {
                *steps = kustomization_steps::steps(&kustomization, self.files, found);
                let own = steps.first().map(|step| Arc::clone(&step.additions));
                *resources = self.pass(steps, std::mem::take(resources), directory, found);
                if let Some(own) = own {
                    self.state.inherited.append(&own);
                }
                self.state.inherited.merge_after_component();
            } else {
                let wrong = Diagnostic::error("expected a Component, found a Kustomization");
                let wrong = wrong.at(kustomization.kind_place()).field("kind");
                found.push(wrong.hint(
                    "name its directory under `resources`, or give it `kind: Component` and `apiVersion: kustomize.config.k8s.io/v1alpha1`",
                ));
            }
        }
        *found = named_by(std::mem::take(found), transformer.place_of(&field));
    }

    /// Runs the plugins in a list.
    fn plugins<'d>(
        &mut self,
        nested: Nested,
        transformer: &Transformer,
        steps: &'d mut Vec<Step>,
        resources: &mut Vec<Resource<'d>>,
        found: &mut Diagnostics,
    ) {
        for one in self.configured(transformer, found) {
            let one = plugins::as_read(one, found);
            let step =
                step(one, &Arc::default()).map(|step| Step { is_of_kustomization: true, ..step });
            steps.extend(found.take(step));
        }
        if found.has_errors() {
            return;
        }
        let name = format!("{} in {}", transformer.id, transformer.file());
        transformer.file().clone_into(&mut self.state.shared.tracing.file);
        // Generators of one pass share the positions of the resources.
        let is_together = |one: &Step| nested != Nested::Validators && one.runner.is_generator();
        for steps in steps.chunk_by_mut(|one, next| is_together(one) && is_together(next)) {
            let plugin = steps.first().filter(|step| {
                nested == Nested::Generators && !matches!(step.runner, Runner::Builtin(_))
            });
            let plugin = plugin.map(|step| step.transformer.clone());
            match (nested, plugin) {
                (_, Some(plugin)) => {
                    let new = self.pass(steps, Vec::new(), name.clone(), found);
                    let field = FieldPath::root();
                    let new = absorb_made(resources, new, &plugin, found);
                    let mut known = ResourceIds::of(resources, true);
                    known.add(resources, new, &field, &plugin, found);
                }
                (Nested::Validators, _) => {
                    self.validator(transformer, steps, resources, found);
                }
                _ => {
                    *resources = self.pass(steps, std::mem::take(resources), name.clone(), found);
                }
            }
        }
    }

    /// Runs a validator, which must not change the resources.
    fn validator<'d>(
        &mut self,
        transformer: &Transformer,
        steps: &'d mut [Step],
        resources: &mut Vec<Resource<'d>>,
        found: &mut Diagnostics,
    ) {
        let before: Vec<Value<'_>> = resources.iter().map(|one| one.value().clone()).collect();
        let place = steps.first().and_then(|step| step.transformer.place());
        let name = format!("{} in {}", transformer.id, transformer.file());
        *resources = self.pass(steps, std::mem::take(resources), name, found);
        if !is_same(&before, resources) {
            let problem = "a validator must not change the resources";
            let mut wrong = transformer.error(&FieldPath::root(), problem);
            wrong.place = place.or(wrong.place);
            found.push(wrong.hint("name it under `transformers`"));
        }
    }

    /// The transformers that the entries of a list configure: as in kustomize, first those that are
    /// written in it, then those of files.
    fn configured(
        &mut self,
        transformer: &Transformer,
        found: &mut Diagnostics,
    ) -> Vec<Transformer> {
        let list = FieldPath::root().key("paths");
        let entries = transformer.config.get("paths").and_then(Value::items);
        let (mut all, mut of_files) = (Vec::new(), Vec::new());
        for (index, entry) in entries.unwrap_or_default().iter().enumerate() {
            let field = list.clone().index(index);
            let text = entry.as_str().unwrap_or_default();
            let source = transformer.source_of(&field, text);
            let mut problems = Diagnostics::new();
            if let Some(document) = plugins::inline(&source) {
                let read = objects(&document, None, &mut problems);
                add(&read, transformer, &mut all, &mut problems);
            } else {
                self.configured_at(text, transformer, &field, &mut of_files, &mut problems);
            }
            found.append(placed(problems, transformer, &field));
        }
        all.extend(of_files);
        all
    }

    /// Adds the transformers that the objects of a file or directory configure.
    fn configured_at(
        &mut self,
        path: &str,
        transformer: &Transformer,
        field: &FieldPath,
        all: &mut Vec<Transformer>,
        problems: &mut Diagnostics,
    ) {
        let Some(path) = problems.take(self.state.locate(
            (self.files, self.functions),
            transformer,
            field,
            path,
        )) else {
            return;
        };
        if self.files.entry(&path) == Some(Entry::Directory) {
            let mut steps = Vec::new();
            let before = std::mem::take(&mut self.state.inherited);
            let base = Base::Kustomization(&path);
            let made = self.build(base, transformer, field, &mut steps, problems);
            self.state.inherited = before;
            add(&made.unwrap_or_default(), transformer, all, problems);
            return;
        }
        let source = self.files.source(&path, &transformer.directory);
        let document = source.and_then(|source| Document::parse(&source));
        if let Some(document) = problems.take(document).map(Arc::new) {
            let read = objects(&document, None, problems);
            add(&read, transformer, all, problems);
        }
    }
}

/// Messages, with the place of a field where they have none.
fn placed(found: Diagnostics, transformer: &Transformer, field: &FieldPath) -> Diagnostics {
    found.map(|mut one| {
        one.place = one.place.or_else(|| transformer.place_of(field));
        one
    })
}

/// Adds the transformers that objects configure.
fn add(
    objects: &[Resource<'_>],
    naming: &Transformer,
    all: &mut Vec<Transformer>,
    problems: &mut Diagnostics,
) {
    for object in objects {
        let transformer = plugins::transformer(object, &naming.directory);
        all.extend(problems.take(transformer));
    }
}

/// Takes out the resources that are kept out of the cluster, with their positions: a Kustomization
/// leaves them alone.
fn without_local(resources: Vec<Resource<'_>>) -> (Vec<(usize, Resource<'_>)>, Vec<Resource<'_>>) {
    let all = resources.into_iter().enumerate();
    let (held, sent): (Vec<_>, Vec<_>) = all.partition(|(_, resource)| resource.is_local());
    (held, sent.into_iter().map(|(_, resource)| resource).collect())
}

/// Messages about entries that are written in the Kustomization, at their places in its file.
fn in_file(found: Diagnostics, transformer: &Transformer) -> Diagnostics {
    let entries = transformer.config.get("paths").and_then(Value::items);
    let count = entries.map_or(0, <[_]>::len);
    let list = FieldPath::root().key("paths");
    found.map(|mut one| {
        one.place = one.place.map(|place| {
            let mut fields = (0..count).map(|index| list.clone().index(index));
            let found = fields.find_map(|field| transformer.place_in_text(&field, &place));
            found.unwrap_or(place)
        });
        one
    })
}

/// Whether the resources are the same, but for the label that validators may add.
fn is_same(before: &[Value<'_>], after: &[Resource<'_>]) -> bool {
    const VALIDATED_BY: &str = "validated-by";
    let mut pairs = before.iter().zip(after);
    before.len() == after.len()
        && pairs.all(|(before, after)| {
            let mut after = after.value().clone();
            let metadata = after.get_mut("metadata");
            if let Some(labels) = metadata.and_then(|metadata| metadata.get_mut("labels")) {
                labels.remove(VALIDATED_BY);
            }
            *before == after
        })
}

/// The document and node that hold a configuration: with overrides, no file holds it.
fn written(
    transformer: &Transformer,
    name: &str,
    found: &mut Diagnostics,
) -> Option<(Arc<Document>, NodeId)> {
    if let Some((document, node)) = transformer.written_as_is() {
        return Some((Arc::clone(document), node));
    }
    let text = found.take(transformer.text(Position::Document))?;
    let document = found.take(Document::parse(&Source::new(name, text)))?;
    let document = Arc::new(document);
    let root = document.roots().next().map(Cursor::id)?;
    Some((document, root))
}
