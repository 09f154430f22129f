//! Checks the resources of a list: each has a name and a type, and no two have the same name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use krm_yaml::diagnostic::{Diagnostic, Diagnostics, Result, Way};
use krm_yaml::source::Source;
use krm_yaml::suggest::closest;
use krm_yaml::{Data, Document, Value};

use crate::model::Imports;
use crate::repr;
use crate::template::is_template;
use crate::yaml::{Located, kind_of};

/// The errors of the resources of a list whose name an earlier one has.
pub(super) fn duplicates(resources: &[Value<'_>], document: Option<&Arc<Document>>) -> Diagnostics {
    let mut names: Vec<_> = resources.iter().filter_map(name_of).collect();
    // Names are often in order, which sorting uses.
    names.sort();
    let mut errors = Diagnostics::new();
    if names.windows(2).all(|pair| pair.first() != pair.last()) {
        return errors;
    }
    let mut seen = BTreeMap::new();
    for resource in resources {
        let Some((name, key)) = resource.get("name").zip(name_of(resource)) else {
            continue;
        };
        let Some(first) = seen.insert(key, name) else {
            continue;
        };
        let message = format!("two resources are named `{}`", repr::text(name));
        let error = Diagnostic::error(message).rule("dm-duplicate-name");
        let mut error = error.hint("rename one of them");
        let first = Located { value: first, document };
        if let Some(place) = first.place() {
            error = error.related(place, "first here");
        }
        errors.push(Located { value: name, document }.mark(error));
    }
    errors
}

/// The name of a resource, and whether it is a text.
fn name_of<'v>(resource: &'v Value<'_>) -> Option<(Cow<'v, str>, bool)> {
    let name = resource.get("name")?;
    Some(match name.as_str() {
        Some(text) => (Cow::Borrowed(text), true),
        None => (Cow::Owned(name.to_json()), false),
    })
}

/// The name and the type of a resource, if it has both.
pub(super) fn name_and_type<'v, 'r>(
    resource: &'v Value<'r>,
    document: Option<&Arc<Document>>,
) -> Result<(&'v Value<'r>, &'v Value<'r>)> {
    let located = Located { value: resource, document };
    if !matches!(resource.data, Data::Mapping(_)) {
        let found = kind_of(resource);
        let message = format!("a resource is a mapping with `name` and `type`, found {found}");
        return Err(located.mark(Diagnostic::error(message)).into());
    }
    let Some(name) = resource.get("name") else {
        let error = Diagnostic::error("a resource has no `name`");
        let hint = slip(resource, "name");
        let hint = hint
            .unwrap_or_else(|| "add a `name` that no other resource of the list has".to_owned());
        return Err(located.mark(error.hint(hint)).into());
    };
    let Some(kind) = resource.get("type") else {
        let message = format!("resource `{}` has no `type`", repr::text(name));
        let hint = slip(resource, "type").unwrap_or_else(|| {
            "add a `type`: the name of an imported template, or of a type of resource".to_owned()
        });
        return Err(located.mark(Diagnostic::error(message).hint(hint)).into());
    };
    Ok((name, kind))
}

/// The fields of a resource, and those of a configuration.
const RESOURCE: &[&str] = &["name", "type", "properties", "metadata"];
const CONFIGURATION: &[&str] = &["imports", "resources", "outputs"];

/// The hint for a missing field whose name is misspelt.
fn slip(value: &Value<'_>, missing: &'static str) -> Option<String> {
    let keys = value.entries()?.iter().map(|(key, _)| key.as_ref());
    let unknown = keys.filter(|key| !RESOURCE.contains(key));
    let key = closest(missing, unknown)?;
    Some(format!("rename `{key}` to `{missing}`"))
}

/// Warnings about fields of a resource that are misspelt. Others may have any name.
pub(super) fn misspelt_fields(resource: Located<'_>) -> Vec<Diagnostic> {
    misspelt(resource, RESOURCE, "the resource")
}

/// The same of a configuration; or that it has no resources at all.
pub(super) fn misspelt_sections(configuration: Located<'_>) -> Vec<Diagnostic> {
    let mut found = misspelt(configuration, CONFIGURATION, "the configuration");
    let has = |field| configuration.value.get(field).is_some();
    let resources = configuration.value.get("resources");
    let is_empty = |list: &Value<'_>| list.is_null() || list.items().is_some_and(<[_]>::is_empty);
    if found.is_empty() && resources.is_none_or(is_empty) {
        let message = match resources {
            None => "the configuration has no `resources`, so it creates nothing",
            Some(_) => "the list `resources` is empty, so the configuration creates nothing",
        };
        let warning = Diagnostic::warning(message).hint(if has("kind") {
            "an object with a `kind` is not a configuration; check it with `krm-template validate`"
        } else {
            LIST
        });
        found.push(configuration.mark(warning));
    }
    found
}

const LIST: &str = "write a list of resources, each with `name` and `type`";

/// The warning about a configuration without any content.
pub(super) fn empty(config: &Source) -> Diagnostic {
    let message = format!("`{}` is empty, so it creates nothing", config.name());
    Diagnostic::warning(message).hint("write `resources:` and a list of resources below it")
}

fn misspelt(located: Located<'_>, known: &[&'static str], of: &str) -> Vec<Diagnostic> {
    let entries = located.value.entries().unwrap_or_default();
    let unknown = entries.iter().filter(|(key, _)| !known.contains(&key.as_ref()));
    let found = unknown.filter_map(|(key, value)| {
        let missing = |name: &&&str| located.value.get(name).is_none();
        let near = closest(key, known.iter().filter(missing).copied())?;
        let message = format!("unknown field `{key}` in {of}");
        let warning = Diagnostic::warning(message).hint(format!("did you mean `{near}`?"));
        Some(Located { value, document: located.document }.mark_key(warning))
    });
    found.collect()
}

/// A warning if the type of a resource looks like a template but is not one.
pub(super) fn unknown_template(resource: Located<'_>, imports: &Imports) -> Option<Diagnostic> {
    let kind = resource.value.get("type")?;
    let name = kind.as_str()?;
    if !is_template(name) && !is_address(name) {
        return None;
    }
    let message = format!("type `{name}` is not among the imports, so it is passed on unchanged");
    let warning = Diagnostic::warning(message).rule("dm-unknown-type");
    let warning = if is_address(name) {
        let given = format!("nothing is fetched: download it, and add `--import {name}=FILE`");
        warning
            .advise(Way::Arguments, given)
            .advise(Way::Objects, "nothing is fetched: download it, and add it to `imports`")
    } else if let Some(near) = closest(name, imports.iter().map(|one| one.name.as_str())) {
        warning.hint(format!("did you mean `{near}`?"))
    } else {
        warning
            .advise(Way::Arguments, format!("add `- path: {name}` to `imports`"))
            .advise(Way::Objects, "add it to `imports`")
    };
    Some(Located { value: kind, document: resource.document }.mark(warning))
}

/// Whether a type or a path is an address, or the short form of one: `github.com/OWNER/REPO/…`.
pub(super) fn is_address(name: &str) -> bool {
    // Most types have no colon, and a search for it is fast.
    let has_colon = memchr::memchr(b':', name.as_bytes()).is_some();
    (has_colon && name.contains("://")) || name.starts_with("github.com/")
}
