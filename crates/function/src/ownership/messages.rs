//! Messages about existing objects: whose they are, and the way out.

use crate::input::items::Items;
use crate::ownership::Level;
use crate::update::rules::ADOPT;
use krm_core::identity::{self, Identity};
use krm_yaml::Cursor;
use krm_yaml::Opened;
use krm_yaml::diagnostic::Diagnostic;

/// The items that an error about several names.
const MAX_PLACES: usize = 10;

const REMOVE_MARK: &str =
    "remove its annotations `template.krm.dev/instance` and `template.krm.dev/origin`";

fn in_file(file: Option<&str>) -> String {
    file.map_or_else(String::new, |file| format!(" in {file}"))
}

/// The diagnostic about an object.
fn about(mut diagnostic: Diagnostic, object: Cursor<'_>) -> Diagnostic {
    let reference = identity::reference(object);
    let is_secret = reference.kind == "Secret";
    diagnostic.object = Some(reference);
    diagnostic.at(object.get("metadata").unwrap_or(object).place()).conceal(is_secret)
}

/// The warning for a copy of an object.
pub(crate) fn copy(object: Cursor<'_>, recorded: &str) -> Diagnostic {
    let warning = Diagnostic::warning(format!("it is a copy of `{recorded}`, and stays"));
    about(warning, object).hint(format!("it is yours: {REMOVE_MARK}"))
}

/// The warning for an object of which it is unclear whose it is.
pub(crate) fn orphan(object: Cursor<'_>, file: Option<&str>) -> Diagnostic {
    let file = in_file(file);
    let warning = Diagnostic::warning(format!(
        "it was created by a functionConfig that is not there any more, and stays{file}"
    ));
    about(warning, object).hint(format!("delete it, or to keep it as your own, {REMOVE_MARK}"))
}

/// The warning for an object that is not removed because another function may own it.
pub(crate) fn not_removed(object: Cursor<'_>) -> Diagnostic {
    let warning = Diagnostic::warning(
        "it is no longer created, and stays: another function of the Kptfile with values in configMap may have created it",
    );
    about(warning, object)
        .hint("give this function a `name` in the Kptfile")
        .hint(format!("or delete the object, or {REMOVE_MARK}"))
}

/// The warning for an object of the same name in a package below.
pub(crate) fn is_below(items: &Items, at: usize, identity: &Identity, path: &str) -> Diagnostic {
    let file = items.shown_file(at).unwrap_or_default();
    Diagnostic::warning(format!(
        "`{identity}` is added in {path}, and a package below has an object of that name in {file}"
    ))
    .hint("if both packages are applied to one cluster, rename one of the two")
}

/// The error for several objects that may be the one that is created.
pub(crate) fn several<'o>(
    identity: &Identity,
    objects: impl Iterator<Item = (Opened<'o>, Option<String>)>,
) -> Diagnostic {
    let objects: Vec<_> = objects.collect();
    let files = objects.iter().map(|(_, file)| file.as_deref());
    let files = files.take(MAX_PLACES).map(Option::unwrap_or_default);
    let mut files: Vec<&str> = files.collect();
    if objects.len() > MAX_PLACES {
        files.push("other files");
    }
    let mut error = Diagnostic::error(format!(
        "{} items were created as `{identity}`, and it is unclear which one it is now: in {}",
        objects.len(),
        files.join(" and in ")
    ))
    .conceal(identity.kind == "Secret")
    .hint("remove the annotations `template.krm.dev/instance` and `template.krm.dev/origin` from the one that is yours");
    for (object, _) in objects.iter().take(MAX_PLACES) {
        let node = object.cursor();
        let place = node.get("metadata").unwrap_or(node).place();
        error = error.related(place, "one of them");
    }
    error
}

/// The error for an existing object that may not be changed.
pub(crate) fn not_ours(
    identity: &Identity,
    old: Cursor<'_>,
    file: Option<&str>,
    other: Option<&str>,
    level: Option<&Level>,
    owner: &str,
) -> Diagnostic {
    let file = in_file(file);
    let place = old.get("metadata").unwrap_or(old).place();
    let adopt = format!(
        "to adopt it, set the annotation `{ADOPT}: \"true\"` on the object in the Template or on the functionConfig"
    );
    if let (Some(other), Some(Level::Others(at))) = (other, level) {
        let at = at.as_ref().map_or_else(String::new, |at| format!(" ({at})"));
        return Diagnostic::error(format!(
            "`{identity}`{file} was created by `{other}`{at}, which is still there"
        ))
        .related(place, "it is here")
        .hint("remove it from one of the two");
    }
    let problem = match other {
        _ if level == Some(&Level::Unreadable) => format!(
            "`{identity}`{file} has annotations `template.krm.dev/instance` and `template.krm.dev/origin` of which one is missing or cannot be read"
        ),
        Some(other) => {
            format!("`{identity}`{file} was created by `{other}`, which is not there any more")
        }
        None => format!("`{identity}`{file} already exists and was not created by `{owner}`"),
    };
    Diagnostic::error(problem)
        .related(place, "it is here")
        .hint(adopt)
        .hint("to keep it, rename one of the two or remove the object from the Template")
}
