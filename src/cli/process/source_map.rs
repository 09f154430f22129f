//! `--source-map`: the origin of each field of the objects, for other programs.

use anyhow::Context as _;
use serde::Serialize;

use crate::cli::expansion::{Expansion, SetBy};
use crate::cli::process::directory;
use crate::template::{Cause, Field, Format, Trace, Traced, TracedParameter};
use krm_yaml::source::{Place, Positions};

/// The version of the format. Fields may be added to it; any other change makes another version.
const VERSION: u32 = 1;

/// The origin of the fields of all objects, without values.
#[derive(Default)]
pub(super) struct SourceMap {
    objects: Vec<MappedObject>,
    /// Positions in objects, and in labels and values: kept apart, so that each is queried in order.
    positions: [Positions; 2],
}

/// The file.
#[derive(Serialize)]
struct File<'m> {
    version: u32,
    /// In the order in which they are printed.
    objects: &'m [MappedObject],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MappedObject {
    api_version: String,
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
    /// `metadata.name`, else `metadata.generateName`.
    name: String,
    /// The instance of a `TemplateInstance` that created it.
    #[serde(skip_serializing_if = "String::is_empty")]
    instance: String,
    /// Its file in the folder of `--output-dir`.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// Its place in the Template.
    #[serde(flatten)]
    location: Option<Location>,
    /// The parameters used, in the order of the Template.
    parameters: Vec<MappedParameter>,
    fields: Vec<MappedField>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MappedParameter {
    name: String,
    /// Where its value comes from, as `--dump-parameters` says it.
    from: String,
    /// The place of its value, default or expression, if it is in a file.
    #[serde(flatten)]
    location: Option<Location>,
    /// The parameters that its default is made from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    made_from: Vec<String>,
    #[serde(skip_serializing_if = "is_false")]
    secret: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MappedField {
    /// The field. A key with a secret is shown as written in the Template, and a secret list or
    /// mapping is one field.
    path: String,
    /// What set the field.
    cause: SetBy,
    /// Its place in the Template. For a field inside the value of a parameter, the place of the
    /// reference.
    #[serde(flatten)]
    location: Option<Location>,
    /// The names of the parameters used.
    parameters: Vec<String>,
    #[serde(skip_serializing_if = "is_false")]
    secret: bool,
}

/// A place in a file; lines and columns count from 1, columns in characters.
#[derive(Serialize)]
struct Location {
    file: String,
    line: usize,
    column: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives it a reference"
)]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl SourceMap {
    /// Adds the objects of an expansion, which go to files if there is a `format` of these.
    pub(super) fn add(&mut self, expansion: &Expansion<'_>, trace: &Trace, format: Option<Format>) {
        for object in &trace.objects {
            let mapped = self.object(expansion, trace, object, format);
            self.objects.push(mapped);
        }
    }

    fn object(
        &mut self,
        expansion: &Expansion<'_>,
        trace: &Trace,
        object: &Traced,
        format: Option<Format>,
    ) -> MappedObject {
        let text = |keys: &[&str]| object.value.str_at(keys).unwrap_or_default().to_owned();
        let name = Some(text(&["metadata", "name"])).filter(|name| !name.is_empty());
        let section = object.sections.first();
        let [in_objects, _] = &mut self.positions;
        MappedObject {
            api_version: text(&["apiVersion"]),
            kind: text(&["kind"]),
            namespace: text(&["metadata", "namespace"]),
            name: name.unwrap_or_else(|| text(&["metadata", "generateName"])),
            instance: expansion.instance.to_owned(),
            output: format.map(|format| directory::path(&object.value, format)),
            location: section.map(|section| location(&section.place, in_objects)),
            parameters: trace
                .parameters_of(object.fields.iter())
                .map(|parameter| self.parameter(parameter))
                .collect(),
            fields: object
                .shown()
                .map(|field| self.field(expansion, object, field))
                .collect(),
        }
    }

    fn parameter(&mut self, parameter: &TracedParameter) -> MappedParameter {
        let [_, elsewhere] = &mut self.positions;
        MappedParameter {
            name: parameter.name.clone(),
            from: parameter.origin.to_string(),
            location: parameter
                .place
                .as_ref()
                .map(|place| location(place, elsewhere)),
            made_from: parameter.made_from.clone(),
            secret: parameter.value.is_none(),
        }
    }

    fn field(&mut self, expansion: &Expansion<'_>, object: &Traced, field: &Field) -> MappedField {
        let [in_objects, elsewhere] = &mut self.positions;
        let positions = match field.cause {
            Cause::Object => in_objects,
            _ => elsewhere,
        };
        MappedField {
            path: field.shown.to_string(),
            cause: expansion.set_by(field.cause),
            location: field.place.as_ref().map(|place| location(place, positions)),
            parameters: field.parameters().into_iter().map(str::to_owned).collect(),
            secret: object.is_secret(field),
        }
    }

    /// The text of the file.
    pub(super) fn to_json(&self) -> anyhow::Result<String> {
        let file = File {
            version: VERSION,
            objects: &self.objects,
        };
        let text = serde_json::to_string_pretty(&file).context("the source map cannot be made")?;
        Ok(text + "\n")
    }
}

fn location(place: &Place, positions: &mut Positions) -> Location {
    let (line, column) = positions.of(place);
    Location {
        file: place.source.name().to_owned(),
        line,
        column,
    }
}
