//! Finds the requested field in an object.

use crate::commands::explain::object::TracedObject;
use krm_template_engine::Field;
use krm_yaml::diagnostic::{Diagnostic, Result};
use krm_yaml::suggest::closest;
use krm_yaml::{FieldPath, Step};

/// The maximum number of fields in a hint.
const MAX_LISTED: usize = 10;

/// The requested object, or field with its content.
pub(super) struct Selection<'o, 'm> {
    pub(super) made: &'o TracedObject<'m>,
    pub(super) path: FieldPath,
    /// The fields at the path.
    pub(super) fields: Vec<&'m Field>,
}

impl<'m> Selection<'_, 'm> {
    /// The field itself, if it is a scalar.
    pub(super) fn only_field(&self) -> Option<&'m Field> {
        match self.fields.as_slice() {
            [field] if field.shown == self.path => Some(field),
            _ => None,
        }
    }
}

/// The fields of an object that are at `path`, which is spelled as they are shown.
pub(super) fn select<'o, 'm>(
    made: &'o TracedObject<'m>,
    path: FieldPath,
) -> Result<Selection<'o, 'm>> {
    let fields = fields_at(made, &path);
    if fields.is_empty() {
        return Err(unknown(made, &path));
    }
    Ok(Selection { made, path, fields })
}

fn fields_at<'m>(made: &TracedObject<'m>, path: &FieldPath) -> Vec<&'m Field> {
    let fields = made.object.shown();
    fields.filter(|field| field.shown.starts_with(path)).collect()
}

/// The error for an unknown field, with the fields of its nearest existing parent.
fn unknown(made: &TracedObject<'_>, path: &FieldPath) -> Box<Diagnostic> {
    let mut parent = FieldPath::root();
    let mut missing = None;
    for step in path.steps() {
        let next = parent.clone().join([step]);
        if fields_at(made, &next).is_empty() {
            missing = Some(step);
            break;
        }
        parent = next;
    }
    let title = made.title();
    let diagnostic = Diagnostic::error(format!("{title} has no field `{path}`"));
    let section = made.object.sections.iter().find(|one| one.path == parent);
    let diagnostic = match section {
        Some(section) if !parent.steps().is_empty() => diagnostic.at(section.place.clone()),
        _ => diagnostic,
    };
    let steps = steps_in(made, &parent);
    let names = steps.iter().map(|step| name(made, &parent.clone().join([*step])));
    let names: Vec<String> = names.collect();
    let asked = missing.map(|step| parent.clone().join([step]).to_string());
    let meant = asked.and_then(|asked| closest_of(&asked, &names, missing));
    let is_secret = || {
        let mut fields = fields_at(made, &parent).into_iter();
        fields.any(|field| field.shown == parent && made.object.is_secret(field))
    };
    let hint = match (steps.as_slice(), steps.len().saturating_sub(MAX_LISTED)) {
        ([], _) if is_secret() => format!("the content of `{parent}` is secret"),
        ([], _) => format!("`{parent}` has no fields"),
        ([Step::Index(_), ..], _) => {
            let items = if steps.len() == 1 { "item" } else { "items" };
            let count = steps.len();
            format!("`{parent}` has {count} {items}, counted from 0: `{parent}[0]`")
        }
        (_, more) => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let shown = names.get(..MAX_LISTED).unwrap_or(&names).join(", ");
            match more {
                0 => format!("the fields are {shown}"),
                more => format!("the fields are {shown} and {more} more"),
            }
        }
    };
    let meant = meant.map(|meant| format!("did you mean `{meant}`?"));
    let omitted = made.trace.parameters.iter().filter(|one| one.omits);
    let omitted: Vec<String> = omitted.map(|one| format!("`{}`", one.name)).collect();
    let omitted = (!omitted.is_empty()).then(|| {
        let names = omitted.join(", ");
        format!("a field that is only a reference to {names} is left out: there is no value")
    });
    diagnostic.maybe_hint(meant).hint(hint).maybe_hint(omitted).into()
}

/// The field most similar to a misspelled last step.
fn closest_of(asked: &str, names: &[String], missing: Option<&Step>) -> Option<String> {
    match missing {
        Some(Step::Key(_)) => {
            let known = closest(asked, names.iter().map(String::as_str));
            known.map(str::to_owned)
        }
        _ => None,
    }
}

/// The steps below `parent`, each once.
fn steps_in<'m>(made: &TracedObject<'m>, parent: &FieldPath) -> Vec<&'m Step> {
    let mut steps: Vec<&Step> = Vec::new();
    for field in fields_at(made, parent) {
        if let Some(step) = field.shown.steps().get(parent.steps().len())
            && !steps.contains(&step)
        {
            steps.push(step);
        }
    }
    steps
}

/// A field. In a key such as `password:TEXT` of a Secret, a space is missing.
fn name(made: &TracedObject<'_>, path: &FieldPath) -> String {
    let mut name = path.to_string();
    let is_in_secret = made.object.value.str_at(&["kind"]) == Some("Secret");
    let end = name.find([':', ' ']).filter(|_| is_in_secret);
    name.truncate(end.unwrap_or(name.len()));
    name
}
