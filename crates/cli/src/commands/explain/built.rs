//! Explains an object of a Kustomization or Composition: the files and transformers that its fields
//! come from.

use crate::args::environment::{self, SeedScope, environment};
use crate::commands::explain::object::{Candidate, Query};
use crate::commands::explain::trail::{self, Origin, Trail};
use crate::output::mask::Secrets;
use crate::programs::no_exec::NoPrograms;
use krm_core::identity::Identity;
use krm_template_composition::{Ending, Resource, consolidate_root};
use krm_template_engine::Traced;
use krm_template_exec::console::Console;
use krm_template_exec::disk;
use krm_template_exec::io;
use krm_template_workspace::build::{Builder, Built};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::source::Place;
use krm_yaml::{Cursor, Data, Document, FieldPath, Step, Value};

/// The explanation of the requested object or field of what is built in a directory; none after an
/// error, which is reported.
pub(super) fn explain(
    query: &Query,
    directory: &str,
    scope: &SeedScope,
    console: Console,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let disk = environment::disk(console, "the Kustomization");
    let mut steps = consolidate_root(&disk, directory, &Ending::default(), diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let builder = Builder {
        environment: &environment(&disk, scope),
        functions: &NoPrograms,
        keeps_history: true,
        traces: true,
    };
    let Built { resources, traced, .. } = builder.run(&mut steps, Vec::new(), diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let candidates = resources.iter().map(|resource| Candidate {
        value: resource.value(),
        place: resource.place(),
        instance: "",
    });
    let candidates: Vec<Candidate<'_>> = candidates.collect();
    let (index, path) = diagnostics.take(query.find(&candidates))?;
    let secrets = Secrets::of(&traced);
    let object = BuiltObject { resource: resources.get(index)?, traced: &traced, secrets };
    let mut fields = Vec::new();
    leaves(object.resource.value(), &FieldPath::root(), &mut fields);
    let trail = Trail {
        title: candidates.get(index)?.title(),
        fields,
        origin: Box::new(|path, _| object.origin(path)),
        hides: Box::new(|path| object.hides(path)),
        hidden: None,
        parameters: None,
        left_out: None,
    };
    diagnostics.take(trail::explain(&trail, &path))
}

/// An object that was built.
struct BuiltObject<'e> {
    resource: &'e Resource<'e>,
    /// The objects of Templates.
    traced: &'e [Traced],
    secrets: Secrets,
}

impl BuiltObject<'_> {
    fn origin(&self, path: &FieldPath) -> Origin {
        let value = self.resource.value().lookup(path).filter(|_| !self.hides(path));
        let (setter, place) = self.setter(path);
        Origin { value: value.map(Value::to_json), setter, place, ..Origin::default() }
    }

    /// The transformer that last set the field, with its location.
    fn setter(&self, path: &FieldPath) -> (Option<String>, Option<Place>) {
        let Some(setter) = self.resource.setter(path) else {
            let place = self.resource.place_of(path);
            let made = place.as_ref().and_then(|place| place.source.maker());
            return match made {
                Some(maker) => (Some(maker.to_owned()), self.in_template(path)),
                None => (None, place),
            };
        };
        // The steps that end a build have no place of their own.
        match setter.name.strip_prefix("Kustomization ") {
            Some("vars") => (Some("the value of a variable".to_owned()), None),
            Some("managedByLabel") => (Some("`managedByLabel`".to_owned()), None),
            Some(_) => (Some("the hashes and new names of objects".to_owned()), None),
            None => {
                let patched = setter.patches.iter().find_map(|file| self.patched(file, path));
                (Some(setter.name.clone()), patched.or_else(|| setter.place.clone()))
            }
        }
    }

    /// The place of a field in the Template that has made the object.
    fn in_template(&self, path: &FieldPath) -> Option<Place> {
        let identity = self.resource.first_identity()?;
        let is_it = |one: &&Traced| Identity::of(&one.value).as_ref() == Some(&identity);
        let object = self.traced.iter().find(is_it)?;
        let field = object.fields.iter().find(|field| field.path == *path);
        let section = object.sections.iter().find(|section| section.path == *path);
        let place = field.and_then(|field| field.place.as_ref());
        let place = place.or(section.map(|section| &section.place)).cloned();
        // One that a Kustomization has changed is in no file.
        place.filter(|place| io::is_there(place.source.name()))
    }

    /// The place of a field in a file with strategic merge patches.
    fn patched(&self, file: &str, path: &FieldPath) -> Option<Place> {
        let document = Document::parse(&disk::read(file).ok()?).ok()?;
        let kind = self.resource.str_at(&["kind"]);
        let is_of_kind = |root: &Cursor<'_>| root.text_at(["kind"]).as_deref() == kind;
        let roots: Vec<Cursor<'_>> = document.roots().filter(is_of_kind).collect();
        let names = [self.resource.first_identity(), self.resource.identity()];
        let is_named = |root: &&Cursor<'_>| {
            let name = root.text_at(["metadata", "name"]);
            names.iter().flatten().any(|one| Some(one.name.as_str()) == name.as_deref())
        };
        // A patch with a target may have another name.
        let meant = roots.iter().find(is_named).or(match roots.as_slice() {
            [only] => Some(only),
            _ => None,
        });
        meant.and_then(|root| {
            let mut value = Some(self.resource.value());
            let found = path.steps().iter().try_fold(*root, |node, step| {
                value = value.and_then(|value| value.step(step));
                match step {
                    Step::Key(key) => node.get(key),
                    Step::Index(_) => {
                        let name = value.and_then(|item| item.str_at(&["name"]))?;
                        let is_it =
                            |item: &Cursor<'_>| item.text_at(["name"]).as_deref() == Some(name);
                        node.children().find(is_it)
                    }
                }
            });
            found.map(Cursor::place)
        })
    }

    fn hides(&self, path: &FieldPath) -> bool {
        self.secrets.hides_field(self.resource.value(), path)
    }
}

/// The scalars, and the empty lists and mappings, of a value.
fn leaves(value: &Value<'_>, path: &FieldPath, out: &mut Vec<FieldPath>) {
    match &value.data {
        Data::Sequence(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                leaves(item, &path.clone().index(index), out);
            }
        }
        Data::Mapping(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                leaves(value, &path.clone().key(key.as_ref()), out);
            }
        }
        _ => out.push(path.clone()),
    }
}
