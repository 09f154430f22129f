//! The text that explains an object or a field.

use crate::commands::expansion::Expansion;
use crate::commands::explain::field::Selection;
use crate::output::table;
use krm_core::report;
use krm_template_engine::{Field, Origin, SetBy, Trace, TracedParameter};
use krm_template_exec::io;
use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::shorten::MASK;
use krm_yaml::source::Place;

/// The places that excerpts must not show.
pub(super) fn hidden(traces: &[(Expansion<'_>, Trace)]) -> Vec<Place> {
    let mut places = Vec::new();
    for (expansion, trace) in traces {
        places.extend(expansion.template.secrets(&expansion.given));
        for object in &trace.objects {
            let fields = object.fields.iter();
            let secret = fields.filter(|field| object.is_secret_as_written(field));
            places.extend(secret.filter_map(|field| field.place.clone()));
        }
    }
    places
}

/// The value with its source lines, or a table of its fields; then the parameters.
pub(super) fn explanation(selection: &Selection<'_, '_>, hidden: &[Place]) -> String {
    let made = selection.made;
    let mut parts = Vec::new();
    let is_whole = selection.path.steps().is_empty();
    if !is_whole {
        parts.push(excerpt(selection, hidden));
    }
    if selection.only_field().is_none() {
        let rows = selection.fields.iter().map(|field| {
            [
                field.shown.to_string(),
                table::shortened(&value_of(selection, field)),
                origin(made.expansion, field),
                field.parameters().join(", "),
            ]
        });
        let head = ["FIELD", "VALUE", "FROM", "PARAMETERS"];
        parts.push(table::plain(head, rows, io::width()));
    }
    let parameters = made.trace.parameters_of(selection.fields.iter().copied());
    let rows: Vec<[String; 3]> = parameters.map(parameter).collect();
    if !rows.is_empty() {
        let head = ["PARAMETER", "VALUE", "FROM"];
        parts.push(table::plain(head, rows.into_iter(), io::width()));
    }
    parts.join("\n")
}

/// The value, what set it, and its source lines.
fn excerpt(selection: &Selection<'_, '_>, hidden: &[Place]) -> String {
    let Selection { made, path, fields } = selection;
    let title = made.title();
    let section = made.object.sections.iter().find(|one| one.path == *path);
    let (message, place) = if let Some(field) = selection.only_field() {
        let value = value_of(selection, field);
        let cause = cause(made.expansion, field);
        let message = format!("`{path}` of {title} is {value}{cause}");
        (message, field.place.as_ref())
    } else {
        let message = match fields.len() {
            1 => format!("`{path}` of {title} has 1 field"),
            count => format!("`{path}` of {title} has {count} fields"),
        };
        let section = section.map(|section| &section.place);
        // In the value of a parameter there are no sections.
        let first = fields.first().and_then(|field| field.place.as_ref());
        (message, section.or(first))
    };
    let diagnostic = match place {
        Some(place) => Diagnostic::info(message).at(place.clone()),
        None => Diagnostic::info(message),
    };
    let mut diagnostics = Diagnostics::from(diagnostic);
    diagnostics.conceal(hidden);
    report::text(&diagnostics, io::stdout_color())
}

/// The setter of the field, as a part of a sentence; empty for the object in the Template.
fn cause(expansion: &Expansion<'_>, field: &Field) -> String {
    match setter(expansion, field) {
        Some(setter) => format!(", set by {setter}"),
        None if field.written < field.path.steps().len() => {
            let last = field.references.last();
            let name = last.map(|reference| format!(", in the value of `{}`", reference.name));
            name.unwrap_or_default()
        }
        None => String::new(),
    }
}

/// The same as a cell of a table, with the place.
fn origin(expansion: &Expansion<'_>, field: &Field) -> String {
    let setter = setter(expansion, field);
    let place = field.place.as_ref().map(Place::to_text);
    let both: Vec<String> = setter.into_iter().chain(place).collect();
    both.join(", ")
}

fn setter(expansion: &Expansion<'_>, field: &Field) -> Option<String> {
    let instance = expansion.instance;
    Some(match expansion.set_by(field.cause) {
        SetBy::Object => return None,
        SetBy::Labels => "the labels of the Template".to_owned(),
        SetBy::InstanceLabels => format!("the labels of the instance `{instance}`"),
        SetBy::ArgumentLabels => "`--labels`".to_owned(),
        SetBy::InstanceNamespace => format!("the namespace of the instance `{instance}`"),
        SetBy::ArgumentNamespace => "`--namespace`".to_owned(),
    })
}

/// The value as JSON, which distinguishes numbers from strings of digits.
fn value_of(selection: &Selection<'_, '_>, field: &Field) -> String {
    let object = selection.made.object;
    if object.is_secret(field) {
        return MASK.to_owned();
    }
    let value = object.value.lookup(&field.path);
    value.map(Value::to_json).unwrap_or_default()
}

fn parameter(parameter: &TracedParameter) -> [String; 3] {
    let value = match &parameter.value {
        Some(value) => value.as_str(),
        None => MASK,
    };
    let mut from = parameter.origin.to_string();
    if !parameter.made_from.is_empty() {
        from = format!("{from}, made from {}", parameter.made_from.join(", "));
    }
    if let (Origin::Default | Origin::Generated, Some(place)) =
        (&parameter.origin, &parameter.place)
    {
        from = format!("{from}, {}", place.to_text());
    }
    [parameter.name.clone(), value.to_owned(), from]
}
