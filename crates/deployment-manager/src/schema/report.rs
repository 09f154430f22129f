//! The errors of properties that do not fit their schema.

use krm_core::secret_places::is_name_of_secret;
use krm_yaml::diagnostic::Diagnostic;
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{Data, FieldPath, Step, Value};

use crate::references::{self, size};
use crate::repr;
use crate::schema::checker::Finding;
use crate::schema::read::Schema;
use crate::yaml::Located;

/// The properties of a resource, and their schema.
pub(super) struct Report<'r> {
    schema: &'r Schema,
    /// The resource as it is in its text.
    resource: Located<'r>,
    /// Its properties with the defaults.
    properties: &'r Value<'static>,
    /// The texts of secret properties.
    secrets: Vec<&'r str>,
    /// About how many steps an error takes.
    pub(super) size: usize,
}

impl<'r> Report<'r> {
    /// Prepares the report of a resource. `checked` is the schema with types such as `int` replaced.
    pub(super) fn new(
        schema: &'r Schema,
        checked: &'r Value<'static>,
        resource: Located<'r>,
        properties: &'r Value<'static>,
    ) -> Self {
        let mut secrets = Vec::new();
        collect(properties, Some(checked), false, &mut secrets);
        Self { schema, resource, properties, secrets, size: size(properties) }
    }

    /// The error of a finding: at the property in the configuration, with the place in the schema.
    /// None if the property has references: its value is known later.
    pub(super) fn error(&self, finding: &Finding<'_>) -> Option<Diagnostic> {
        let value = self.properties.lookup(&finding.path);
        let what = match value.map_or(Ok(false), references::are_in) {
            Ok(true) => return None,
            Ok(false) => &finding.text,
            Err(references::Malformed) => "has an incomplete reference",
        };
        let path = finding.path.to_string();
        let name = self.resource.value.get("name").map(repr::text).unwrap_or_default();
        let error = Diagnostic::error(match path.as_str() {
            "" => format!("properties of `{name}` {what}"),
            path => format!("property `{path}` of `{name}` {what}"),
        });
        let place = self.place(&finding.path);
        let line = place.as_ref().map(line_of).unwrap_or_default();
        let is_secret =
            names_secret(&finding.path) || self.secrets.iter().any(|secret| line.contains(secret));
        let error = error.conceal(is_secret).maybe_hint(self.hint(finding));
        let error = match place {
            Some(place) => error.at(place),
            None => error,
        };
        let keyword = finding.schema.get(finding.keyword);
        Some(match keyword.and_then(|keyword| self.schema.place(keyword)) {
            Some(place) => error.related(place, "the schema asks for this"),
            None => error,
        })
    }

    /// Where a property is, or the one around it that the configuration has.
    fn place(&self, path: &FieldPath) -> Option<Place> {
        let mut around = vec![self.resource.value, self.properties];
        let mut value = self.properties;
        for step in path.steps() {
            let Some(next) = value.step(step) else { break };
            around.push(next);
            value = next;
        }
        let document = self.resource.document;
        let mut places = around.into_iter().rev();
        places.find_map(|value| Located { value, document }.place())
    }

    /// The property that is probably meant where one is not allowed.
    fn hint(&self, finding: &Finding<'_>) -> Option<String> {
        if finding.keyword != "additionalProperties" {
            return None;
        }
        let known = finding.schema.get("properties")?.entries()?;
        let known: Vec<&str> = known.iter().map(|(key, _)| key.as_ref()).collect();
        let instance = self.properties.lookup(&finding.path)?.entries()?;
        let mut unknown = instance.iter().filter(|(key, _)| !known.contains(&key.as_ref()));
        let (unknown, _) = unknown.next()?;
        let near = closest(unknown, known.iter().copied())?;
        Some(format!("did you mean `{near}`?"))
    }
}

/// The lines of a place, which a report shows.
fn line_of(place: &Place) -> String {
    let text = place.source.text();
    let before = text.get(..place.range.start).unwrap_or_default();
    let after = text.get(place.range.end..).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = after.find('\n').map_or(text.len(), |at| place.range.end + at);
    text.get(start..end).unwrap_or_default().to_owned()
}

fn names_secret(path: &FieldPath) -> bool {
    path.steps().iter().any(|step| match step {
        Step::Key(key) => is_name_of_secret(key),
        Step::Index(_) => false,
    })
}

/// The texts of secret properties.
fn collect<'v>(
    value: &'v Value<'static>,
    schema: Option<&Value<'static>>,
    is_secret: bool,
    secrets: &mut Vec<&'v str>,
) {
    let is_secret =
        is_secret || schema.is_some_and(|schema| schema.str_at(&["format"]) == Some("password"));
    match &value.data {
        Data::Scalar(_) if is_secret => {
            secrets.extend(value.as_str().filter(|text| !text.is_empty()));
        }
        Data::Scalar(_) => {}
        Data::Sequence(items) => {
            let schema = schema.and_then(|schema| schema.get("items"));
            for item in items {
                collect(item, schema, is_secret, secrets);
            }
        }
        Data::Mapping(entries) => {
            for (key, value) in entries {
                let schema = schema.and_then(|schema| schema.at(&["properties", key]));
                collect(value, schema, is_secret || is_name_of_secret(key), secrets);
            }
        }
    }
}
