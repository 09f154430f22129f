//! Checks the resources of a list: each has a name and a type, and no two have the same name.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm_yaml::diagnostic::{Diagnostic, Way};
use krm_yaml::suggest::closest;
use krm_yaml::{Data, Document, Value};

use crate::deployment_manager::error::{Cause, name_text};
use crate::deployment_manager::model::Imports;
use crate::deployment_manager::template::is_template;
use crate::deployment_manager::yaml::{Located, kind_of};

/// An error with its cause.
pub(super) type Failure = Box<(Cause, Diagnostic)>;

/// An error at a value.
pub(super) fn failure(cause: Cause, error: Diagnostic, at: Located<'_>) -> Failure {
    let error = match at.place() {
        Some(place) => error.at(place),
        None => error,
    };
    Box::new((cause, error))
}

/// An error without a text in the original.
pub(super) fn other(error: Diagnostic, at: Located<'_>) -> Failure {
    failure(Cause::Other(error.message.clone()), error, at)
}

/// The resources of a list whose name an earlier one has. `list` is `config`, or the type
/// of the template that created it.
pub(super) fn duplicates(
    resources: &[Value<'static>],
    document: Option<&Arc<Document>>,
    list: &str,
) -> Vec<Failure> {
    let mut seen = BTreeMap::new();
    let mut failures = Vec::new();
    for resource in resources {
        let Some(name) = resource.get("name") else {
            continue;
        };
        let Some(first) = seen.insert(name.to_json(), name) else {
            continue;
        };
        let message = format!("two resources are named `{}`", name_text(name));
        let error = Diagnostic::error(message).rule("dm-duplicate-name");
        let mut error = error.hint("rename one of them");
        let first = Located {
            value: first,
            document,
        };
        if let Some(place) = first.place() {
            error = error.related(place, "first here");
        }
        let cause = Cause::NotUnique {
            resource: resource.clone(),
            list: list.to_owned(),
        };
        failures.push(failure(
            cause,
            error,
            Located {
                value: name,
                document,
            },
        ));
    }
    failures
}

/// The type of a resource, if it has a name and a type.
pub(super) fn kind(resource: Located<'_>) -> Result<&Value<'static>, Failure> {
    if !matches!(resource.value.data, Data::Mapping(_)) {
        let found = kind_of(resource.value);
        let message = format!("a resource is a mapping with `name` and `type`, found {found}");
        return Err(other(Diagnostic::error(message), resource));
    }
    let Some(name) = resource.value.get("name") else {
        let cause = Cause::NameMissing(resource.value.clone());
        let error = Diagnostic::error("a resource has no `name`")
            .hint("add a `name` that no other resource of the list has");
        return Err(failure(cause, error, resource));
    };
    resource.value.get("type").ok_or_else(|| {
        let cause = Cause::TypeMissing(resource.value.clone());
        let message = format!("resource `{}` has no `type`", name_text(name));
        let error = Diagnostic::error(message)
            .hint("add a `type`: the name of an imported template, or of a type of resource");
        failure(cause, error, resource)
    })
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
        warning.advise(Way::Arguments, given).advise(
            Way::Objects,
            "nothing is fetched: download it, and add it to `imports`",
        )
    } else if let Some(near) = closest(name, imports.iter().map(|one| one.name.as_str())) {
        warning.hint(format!("did you mean `{near}`?"))
    } else {
        warning
            .advise(Way::Arguments, format!("add `- path: {name}` to `imports`"))
            .advise(Way::Objects, "add it to `imports`")
    };
    let located = Located {
        value: kind,
        document: resource.document,
    };
    Some(match located.place() {
        Some(place) => warning.at(place),
        None => warning,
    })
}

/// Whether a type or a path is an address, or the short form of one: `github.com/OWNER/REPO/…`.
pub(super) fn is_address(name: &str) -> bool {
    name.contains("://") || name.starts_with("github.com/")
}
