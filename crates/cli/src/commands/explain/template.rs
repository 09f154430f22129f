//! An object of a Template, with the origin of its fields.

use std::rc::Rc;

use crate::commands::expansion::Expansion;
use crate::commands::explain::object::Candidate;
use crate::commands::explain::trail::{Origin, Trail};
use krm_template_engine::{Field, Origin as ValueOrigin, SetBy, Trace, Traced, TracedParameter};
use krm_yaml::shorten::MASK;
use krm_yaml::source::Place;
use krm_yaml::{FieldPath, Value};

/// The trail of an object that an expansion created.
pub(super) fn trail<'m>(
    expansion: &'m Expansion<'m>,
    trace: &'m Trace,
    object: &'m Traced,
    hidden: &'m [Place],
) -> Trail<'m> {
    let fields: Rc<[&Field]> = object.shown().collect();
    let known = Rc::clone(&fields);
    let omitted = trace.parameters.iter().filter(|one| one.omits);
    let omitted: Vec<String> = omitted.map(|one| format!("`{}`", one.name)).collect();
    let omitted = (!omitted.is_empty()).then(|| omitted.join(", "));
    Trail {
        title: candidate(expansion, object).title(),
        fields: fields.iter().map(|field| field.shown.clone()).collect(),
        origin: Box::new(move |path, at| {
            let field = fields.get(at);
            match field.filter(|field| field.shown == *path) {
                Some(field) => origin(expansion, object, field),
                None => Origin {
                    // In the value of a parameter there are no sections.
                    place: section(object, path).or(field.and_then(|field| field.place.clone())),
                    ..Origin::default()
                },
            }
        }),
        hides: Box::new(|_| object.value.str_at(&["kind"]) == Some("Secret")),
        hidden: Some(hidden),
        parameters: Some(Box::new(move |chosen| {
            let fields = chosen.iter().filter_map(|at| known.get(*at).copied());
            trace.parameters_of(fields).map(parameter).collect()
        })),
        left_out: omitted.map(|names| {
            format!("a field that is only a reference to {names} is left out: there is no value")
        }),
    }
}

/// Converts it to a candidate.
pub(super) fn candidate<'m>(expansion: &Expansion<'m>, object: &'m Traced) -> Candidate<'m> {
    let section = object.sections.first();
    Candidate {
        value: &object.value,
        place: section.map(|section| section.place.clone()),
        instance: expansion.instance,
    }
}

fn section(object: &Traced, path: &FieldPath) -> Option<Place> {
    let section = object.sections.iter().find(|one| one.path == *path);
    section.map(|section| section.place.clone())
}

fn origin(expansion: &Expansion<'_>, object: &Traced, field: &Field) -> Origin {
    let value = || object.value.lookup(&field.path).map(Value::to_json).unwrap_or_default();
    Origin {
        value: (!object.is_secret(field)).then(value),
        setter: setter(expansion, field),
        place: field.place.clone(),
        parameters: field.parameters().into_iter().map(str::to_owned).collect(),
        is_part: field.written < field.path.steps().len(),
    }
}

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

/// The source of a field, or none if the Template has it as written.
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

fn parameter(parameter: &TracedParameter) -> [String; 3] {
    let value = match &parameter.value {
        Some(value) => value.as_str(),
        None => MASK,
    };
    let mut from = parameter.origin.to_string();
    if !parameter.made_from.is_empty() {
        from = format!("{from}, made from {}", parameter.made_from.join(", "));
    }
    if let (ValueOrigin::Default | ValueOrigin::Generated, Some(place)) =
        (&parameter.origin, &parameter.place)
    {
        from = format!("{from}, {}", place.to_text());
    }
    [parameter.name.clone(), value.to_owned(), from]
}
