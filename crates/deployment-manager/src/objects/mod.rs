//! Kubernetes objects of the resources of an expansion.

mod form;
mod kinds;
mod order;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Severity, Way};
use krm_yaml::source::{Place, Source};
use krm_yaml::{Data, Document, NodeId, Scalar, Value};

use crate::expansion::{Expansion, Resource};
use crate::references::{self, MAX_REPLACED, Problem};
use crate::repr;
use crate::template::is_template;
use crate::yaml::Located;
use form::{Form, form};
use krm_core::Identity;
use order::ResourceObject;

/// How to treat resources that are not objects of Kubernetes.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether they are left out, with a warning; otherwise they are an error.
    pub skip_others: bool,
    /// About the most bytes that values in place of references have together.
    pub max_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { skip_others: false, max_bytes: MAX_REPLACED }
    }
}

/// A resource as an object of Kubernetes.
#[derive(Clone, Debug)]
pub struct Object<'r> {
    /// The fields of the object, with references replaced.
    pub value: Value<'r>,
    /// The text that it is from; an empty one if Python returned it.
    pub document: Arc<Document>,
}

const REFERENCE: &str = "dm-reference";

/// How many resources a message names.
const MAX_NAMED: usize = 10;

/// The objects of an expansion, each after those that it needs. Errors and warnings go to
/// `diagnostics`; after an error there are none.
pub fn objects<'r>(
    expansion: &Expansion<'r>,
    options: Options,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Object<'r>>> {
    let mut found = Diagnostics::new();
    let mut others = Vec::new();
    let mut objects = Vec::new();
    for resource in &expansion.config {
        match form(resource) {
            Ok(Form::Other) => others.push(resource),
            Ok(form) => match object(resource, &form) {
                Ok(value) => objects.push((resource, value)),
                Err(error) => found.push(resource.located().mark(*error)),
            },
            Err(error) => found.push(resource.located().mark(*error)),
        }
    }
    report_others(&others, options, &mut found);
    let objects = resolved(objects, options.max_bytes, diagnostics, &mut found);
    check_identities(&objects, &mut found);
    let has_errors = found.has_errors();
    diagnostics.append(found);
    let objects = objects.into_iter().map(|(_, object)| object);
    (!has_errors).then(|| objects.collect())
}

/// The object of a resource.
fn object<'r>(resource: &Resource<'r>, form: &Form) -> Result<Value<'r>> {
    let mut object = match resource.value.get("properties") {
        Some(properties) if matches!(properties.data, Data::Mapping(_)) => properties.clone(),
        _ => Value::mapping(Vec::new()),
    };
    if let Form::Kind { api_version, kind } = form {
        first(&mut object, "kind", kind)?;
        first(&mut object, "apiVersion", api_version)?;
    }
    if let Form::Provider { api_version, kind } = form {
        if object.get("kind").is_none() {
            let Some(kind) = kind else {
                let message = format!("`{}` has no `kind`", resource_name(resource));
                return Err(Diagnostic::error(message).hint("add `kind` to its properties").into());
            };
            first(&mut object, "kind", kind)?;
        }
        first(&mut object, "apiVersion", api_version)?;
        move_namespace(&mut object);
    }
    if object.at(&["metadata", "name"]).is_none() {
        name(&mut object, &resource_name(resource))?;
    }
    Ok(object)
}

/// Sets `metadata.name`; new metadata comes after the kind.
fn name(object: &mut Value<'_>, name: &str) -> Result<()> {
    if let Data::Mapping(entries) = &mut object.data
        && entries.iter().all(|(key, _)| key != "metadata")
    {
        let kind = entries.iter().position(|(key, _)| key == "kind");
        let metadata = (Cow::Borrowed("metadata"), Value::mapping(Vec::new()));
        entries.insert(kind.map_or(0, |kind| kind + 1), metadata);
    }
    match object.mapping_at("metadata") {
        Some(metadata) => first(metadata, "name", name),
        None => Err(Diagnostic::error(format!("`metadata` of `{name}` is not a mapping")).into()),
    }
}

fn resource_name(resource: &Resource<'_>) -> String {
    resource.value.get("name").map(repr::text).unwrap_or_default()
}

/// Adds a field in front of the others; it may be there already with this value.
fn first(object: &mut Value<'_>, key: &'static str, wanted: &str) -> Result<()> {
    match object.str_at(&[key]) {
        Some(found) if found == wanted => Ok(()),
        Some(found) => {
            let message =
                format!("`{key}` is `{found}`, but the type of the resource says `{wanted}`");
            Err(Diagnostic::error(message)
                .hint(format!("remove `{key}`, or change the type"))
                .into())
        }
        None => {
            if let Data::Mapping(entries) = &mut object.data {
                let value = Value::string(wanted.to_owned());
                entries.insert(0, (Cow::Borrowed(key), value));
            }
            Ok(())
        }
    }
}

/// Moves a `namespace` beside `metadata` into it.
fn move_namespace(object: &mut Value<'_>) {
    let is_text = object.get("namespace").is_some_and(|namespace| namespace.as_str().is_some());
    if !is_text || object.at(&["metadata", "namespace"]).is_some() {
        return;
    }
    let Some(namespace) = object.remove("namespace") else {
        return;
    };
    if let Some(metadata) = object.mapping_at("metadata") {
        metadata.insert("namespace".into(), namespace.without_origin());
    }
}

fn report_others(others: &[&Resource<'_>], options: Options, diagnostics: &mut Diagnostics) {
    let kind =
        |resource: &Resource<'_>| resource.value.get("type").map(repr::text).unwrap_or_default();
    if options.skip_others {
        let mut seen = BTreeSet::new();
        for resource in others {
            let kind = kind(resource);
            if seen.insert(kind.clone()) {
                let message = format!("resources of type `{kind}` are not objects of Kubernetes");
                let warning = Diagnostic::warning(message).hint("they are left out");
                diagnostics.push(resource.located().mark(warning));
            }
        }
        return;
    }
    let Some(first) = others.first() else { return };
    let names = others.iter().take(MAX_NAMED);
    let mut names: Vec<String> =
        names.map(|one| format!("`{}` ({})", resource_name(one), kind(one))).collect();
    if others.len() > MAX_NAMED {
        names.push(format!("and {} more", others.len() - MAX_NAMED));
    }
    let message = format!("not objects of Kubernetes: {}", names.join(", "));
    let error = Diagnostic::error(message)
        .advise(Way::Arguments, "leave them out with `--skip-others`")
        .advise(Way::Objects, "leave them out with `skipOthers: true`");
    let error = if others.iter().all(|one| is_template(&kind(one))) {
        error
    } else {
        error.hint("write a running resource of Google as an object of Config Connector: `gcloud … config export --resource-format krm`")
    };
    diagnostics.push(first.located().mark(error));
}

/// Sorts the objects, and puts values of others in place of the references to them. A reference that
/// is left is an error, in place of the warning about it in `known_problems`.
fn resolved<'e, 'r>(
    objects: Vec<ResourceObject<'e, 'r>>,
    max_bytes: usize,
    known_problems: &mut Diagnostics,
    diagnostics: &mut Diagnostics,
) -> Vec<(&'e Resource<'r>, Object<'r>)> {
    let sorted = match order::sorted(&objects) {
        Ok(sorted) => sorted,
        Err(cycle) => {
            diagnostics.push(needs_itself(&cycle));
            return Vec::new();
        }
    };
    let needed = order::referenced(&objects);
    let nothing = Document::parse(&Source::new("", "")).map(Arc::new);
    let Some(nothing) = diagnostics.take(nothing) else {
        return Vec::new();
    };
    let mut known: BTreeMap<String, Value<'r>> = BTreeMap::new();
    let mut slots: Vec<Option<ResourceObject<'e, 'r>>> = objects.into_iter().map(Some).collect();
    let mut made = Vec::with_capacity(slots.len());
    let mut left_bytes = max_bytes;
    for index in sorted {
        let Some((resource, value)) = slots.get_mut(index).and_then(Option::take) else {
            continue;
        };
        let mut object =
            Object { value, document: Arc::clone(resource.document.as_ref().unwrap_or(&nothing)) };
        let mut unresolved = Vec::new();
        match references::replace(&mut object.value, &known, &mut left_bytes) {
            Err((Problem::TooLarge, _)) => {
                let message = format!("the objects are larger than {max_bytes} bytes");
                diagnostics.push(Diagnostic::error(message));
                return Vec::new();
            }
            Err((Problem::Malformed(text), origin)) => unresolved.push((text, origin)),
            Err((Problem::NoValue { reference, .. }, origin)) => {
                unresolved.push((reference, origin));
            }
            Ok(()) => left(&object.value, &mut unresolved),
        }
        for (reference, origin) in unresolved {
            diagnostics.push(unknown(&reference, origin, &object, known_problems));
        }
        let name = resource_name(resource);
        if needed.contains(&name) {
            known.insert(name, object.value.clone());
        }
        made.push((resource, object));
    }
    made
}

/// The error about a cycle of resources.
fn needs_itself(cycle: &[&Resource<'_>]) -> Diagnostic {
    let names: Vec<String> = cycle.iter().map(|one| format!("`{}`", resource_name(one))).collect();
    let message = match names.as_slice() {
        [only] => format!("resource {only} refers to itself"),
        _ => format!("resources need one another: {}", names.join(", ")),
    };
    let error = Diagnostic::error(message).hint("remove a reference or an entry of `dependsOn`");
    match cycle.first() {
        Some(first) => first.located().mark(error),
        None => error,
    }
}

/// The error about a reference that is left: what was a warning about it, or that nothing here has
/// its value.
fn unknown(
    reference: &str,
    origin: Option<NodeId>,
    object: &Object<'_>,
    known_problems: &mut Diagnostics,
) -> Diagnostic {
    let value = Value { origin: origin.or(object.value.origin), data: Data::Scalar(Scalar::Null) };
    let located = Located { value: &value, document: Some(&object.document) };
    let place = located.place();
    let is_here = |other: &Place| {
        let here = place.as_ref();
        here.is_some_and(|here| {
            Arc::ptr_eq(&here.source, &other.source) && here.range == other.range
        })
    };
    let mut warned = None;
    known_problems.retain(|one| {
        let is_it = one.rule == Some(REFERENCE) && one.place.as_ref().is_some_and(is_here);
        if is_it {
            warned = Some(one.clone());
        }
        !is_it
    });
    if let Some(warned) = warned {
        return Diagnostic { severity: Severity::Error, ..warned };
    }
    let message = format!("`{reference}` is known only when the object exists");
    let error = Diagnostic::error(message)
        .rule(REFERENCE)
        .hint("refer to a field that another object of the expansion has, or write the value");
    located.mark(error)
}

/// The references that are left in a value, the first one of each text.
fn left(value: &Value<'_>, found: &mut Vec<(String, Option<NodeId>)>) {
    let text = value.as_str().unwrap_or_default();
    let reference = references::all(text).next();
    let reference = reference.and_then(|reference| text.get(reference.range));
    found.extend(reference.map(|text| (text.to_owned(), value.origin)));
    value.children().for_each(|value| left(value, found));
}

fn check_identities(objects: &[(&Resource<'_>, Object<'_>)], diagnostics: &mut Diagnostics) {
    let mut seen: BTreeMap<Identity, &Resource<'_>> = BTreeMap::new();
    for (resource, object) in objects {
        let Some(identity) = Identity::of(&object.value) else {
            continue;
        };
        let message = format!("two resources create the same object: {identity}");
        if let Some(first) = seen.insert(identity, resource) {
            let error = Diagnostic::error(message).hint("rename one of them");
            let error = resource.located().mark(error);
            diagnostics.push(match first.located().place() {
                Some(place) => error.related(place, "first here"),
                None => error,
            });
        }
    }
}
