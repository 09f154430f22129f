//! An object of a Template, with the origin of its fields.

use crate::commands::expansion::Expansion;
use crate::commands::explain::object::Candidate;
use crate::commands::explain::trail::{Origin, Trail};
use krm_template_engine::{Field, Origin as ValueOrigin, SetBy, Trace, Traced, TracedParameter};
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::shorten::MASK;
use krm_yaml::source::Place;
use krm_yaml::{FieldPath, Value};

/// An object that an expansion created.
pub(super) struct TemplateObject<'m> {
    expansion: &'m Expansion<'m>,
    trace: &'m Trace,
    object: &'m Traced,
    fields: Vec<&'m Field>,
    /// The places that excerpts must not show.
    hidden: &'m [Place],
}

impl<'m> TemplateObject<'m> {
    pub(super) fn new(
        expansion: &'m Expansion<'m>,
        trace: &'m Trace,
        object: &'m Traced,
        hidden: &'m [Place],
    ) -> Self {
        Self { expansion, trace, object, fields: object.shown().collect(), hidden }
    }

    /// Converts it to a candidate.
    pub(super) fn candidate(&self) -> Candidate<'m> {
        let section = self.object.sections.first();
        Candidate {
            value: &self.object.value,
            place: section.map(|section| section.place.clone()),
            instance: self.expansion.instance,
        }
    }
}

impl Trail for TemplateObject<'_> {
    fn title(&self) -> String {
        self.candidate().title()
    }

    fn fields(&self) -> Vec<FieldPath> {
        self.fields.iter().map(|field| field.shown.clone()).collect()
    }

    fn origin(&self, index: usize) -> Origin {
        let Some(field) = self.fields.get(index) else {
            return Origin::default();
        };
        let value = || self.object.value.lookup(&field.path).map(Value::to_json);
        Origin {
            value: (!self.object.is_secret(field)).then(|| value().unwrap_or_default()),
            setter: setter(self.expansion, field),
            place: field.place.clone(),
            parameters: field.parameters().into_iter().map(str::to_owned).collect(),
            is_part: field.written < field.path.steps().len(),
        }
    }

    fn section(&self, path: &FieldPath, fields: &[usize]) -> Origin {
        let section = self.object.sections.iter().find(|one| one.path == *path);
        // In the value of a parameter there are no sections.
        let first = || self.fields.get(*fields.first()?)?.place.clone();
        let place = section.map(|section| section.place.clone()).or_else(first);
        Origin { place, ..Origin::default() }
    }

    fn named(&self, path: &FieldPath) -> String {
        let mut name = path.to_string();
        let is_in_secret = self.object.value.str_at(&["kind"]) == Some("Secret");
        let end = name.find([':', ' ']).filter(|_| is_in_secret);
        name.truncate(end.unwrap_or(name.len()));
        name
    }

    fn conceal(&self, _: &FieldPath, diagnostics: &mut Diagnostics) {
        diagnostics.conceal(self.hidden);
    }

    fn parameters(&self, fields: &[usize]) -> Option<Vec<[String; 3]>> {
        let fields = fields.iter().filter_map(|index| self.fields.get(*index).copied());
        Some(self.trace.parameters_of(fields).map(parameter).collect())
    }

    fn left_out(&self) -> Option<String> {
        let omitted = self.trace.parameters.iter().filter(|one| one.omits);
        let names: Vec<String> = omitted.map(|one| format!("`{}`", one.name)).collect();
        (!names.is_empty()).then(|| {
            let names = names.join(", ");
            format!("a field that is only a reference to {names} is left out: there is no value")
        })
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

/// What set a field; none for the object in the Template.
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
