//! Explains an object of a Kustomization or Composition: the files and transformers that its fields
//! come from.

use std::cell::RefCell;

use crate::args::environment::{SeedScope, environment};
use crate::commands::explain::object::{Candidate, Query};
use crate::output::mask::Secrets;
use crate::output::table;
use crate::programs::no_exec::NoPrograms;
use krm_core::identity::Identity;
use krm_core::report;
use krm_template_composition::chain::Build;
use krm_template_composition::{Ending, Resource, consolidate_root};
use krm_template_engine::{Trace, Traced};
use krm_template_exec::console::Console;
use krm_template_exec::disk::{Disk, LoadRestrictor};
use krm_template_exec::io;
use krm_template_function::{Environment, InProcess};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result};
use krm_yaml::shorten::MASK;
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
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
    let disk = Disk {
        console,
        restrictor: LoadRestrictor::RootOnly,
        owner: "the Kustomization",
        way_out: "move it there",
        clones: None,
    };
    let traced = RefCell::new(Vec::new());
    let trace = |mut trace: Trace| traced.borrow_mut().append(&mut trace.objects);
    let environment = Environment { trace: Some(&trace), ..environment(&disk, scope) };
    let functions = InProcess::new(&environment, &NoPrograms);
    let mut steps = consolidate_root(&disk, directory, &Ending::default(), diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let build = Build { keeps_history: true, ..Build::new(&disk, &functions) };
    let resources = build.run(&mut steps, Vec::new(), diagnostics).resources;
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
    let traced = traced.borrow();
    let mut secrets = Secrets::default();
    traced.iter().for_each(|object| secrets.add(object));
    let explained = Explained {
        resource: resources.get(index)?,
        title: candidates.get(index)?.title(),
        traced: &traced,
        secrets,
    };
    diagnostics.take(explained.text(&path))
}

/// An object that is explained.
struct Explained<'e> {
    resource: &'e Resource<'e>,
    title: String,
    /// The objects of Templates.
    traced: &'e [Traced],
    secrets: Secrets,
}

impl Explained<'_> {
    /// The value with its source lines, or a table of its fields.
    fn text(&self, path: &FieldPath) -> Result<String> {
        let Some(value) = self.resource.value().lookup(path) else {
            return Err(self.unknown(path));
        };
        let mut fields = Vec::new();
        leaves(value, path, &mut fields);
        let is_scalar = matches!(value.data, Data::Scalar(_));
        let mut parts = Vec::new();
        if !path.steps().is_empty() {
            let (setter, place) = self.origin(path);
            let set = setter.map(|name| format!(", set by {name}"));
            let message = match fields.len() {
                _ if is_scalar => format!(
                    "`{path}` of {} is {}{}",
                    self.title,
                    self.shown(path, value),
                    set.unwrap_or_default()
                ),
                1 => format!("`{path}` of {} has 1 field", self.title),
                count => format!("`{path}` of {} has {count} fields", self.title),
            };
            let mut found = Diagnostic::info(message);
            found.place = place;
            found.conceals = fields.iter().any(|(path, _)| self.hides(path));
            parts.push(report::text(&found.into(), io::stdout_color()));
        }
        if !is_scalar {
            let rows = fields.iter().map(|(path, value)| {
                let (setter, place) = self.origin(path);
                let place = place.as_ref().map(Place::to_text);
                let from: Vec<String> = setter.into_iter().chain(place).collect();
                let value = table::shortened(&self.shown(path, value));
                [self.named(path), value, from.join(", ")]
            });
            parts.push(table::plain(["FIELD", "VALUE", "FROM"], rows, io::width()));
        }
        Ok(parts.join("\n"))
    }

    /// What has set a field, unless it is as it was read, and the place of that.
    fn origin(&self, path: &FieldPath) -> (Option<String>, Option<Place>) {
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
        let document = Document::parse(&io::read(file).ok()?).ok()?;
        let kind = self.resource.str_at(&["kind"]);
        let is_meant = |root: &Cursor<'_>| root.text_at(["kind"]).as_deref() == kind;
        let mut roots = document.roots().filter(is_meant);
        roots.find_map(|root| {
            let mut value = Some(self.resource.value());
            let found = path.steps().iter().try_fold(root, |node, step| {
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

    /// A field. In a key such as `password:TEXT`, a space is missing.
    fn named(&self, path: &FieldPath) -> String {
        let mut name = path.to_string();
        let end = name.find([':', ' ']).filter(|_| self.hides(path));
        name.truncate(end.unwrap_or(name.len()));
        name
    }

    /// A value as JSON, unless it is secret.
    fn shown(&self, path: &FieldPath, value: &Value<'_>) -> String {
        if self.hides(path) {
            return MASK.to_owned();
        }
        value.to_json()
    }

    /// The error for an unknown field, with one of its nearest existing parent that is similar.
    fn unknown(&self, path: &FieldPath) -> Box<Diagnostic> {
        let error = Diagnostic::error(format!("{} has no field `{path}`", self.title));
        let mut value = self.resource.value();
        let mut parent = FieldPath::root();
        for step in path.steps() {
            if let Some(next) = value.step(step) {
                value = next;
                parent.push(step.clone());
                continue;
            }
            let keys = value.entries().unwrap_or_default().iter();
            let keys = keys.map(|(key, _)| self.named(&parent.clone().key(key.as_ref())));
            let keys: Vec<String> = keys.collect();
            let mut asked = parent.clone();
            asked.push(step.clone());
            let meant = closest(&asked.to_string(), keys.iter().map(String::as_str));
            let hint = match (meant, value.items()) {
                (Some(meant), _) => format!("did you mean `{meant}`?"),
                (None, Some(items)) => {
                    format!("`{parent}` has {} items, counted from 0", items.len())
                }
                (None, None) if keys.is_empty() => format!("`{parent}` has no fields"),
                (None, None) => format!("the fields are `{}`", keys.join("`, `")),
            };
            return error.hint(hint).into();
        }
        error.into()
    }
}

/// The scalars, and the empty lists and mappings, of a value.
fn leaves<'v>(value: &'v Value<'v>, path: &FieldPath, out: &mut Vec<(FieldPath, &'v Value<'v>)>) {
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
        _ => out.push((path.clone(), value)),
    }
}
