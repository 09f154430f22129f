//! The origin of each field of the objects as JSON, for other programs.

use serde::Serialize;

use crate::show::trace::{Cause, Field, Trace, Traced, TracedParameter};
use krm_yaml::Value;
use krm_yaml::source::Place;

/// The version of the format. A new field does not change it; any other change does.
const VERSION: u32 = 1;

/// The source of a field in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SetBy {
    /// The object in the Template.
    Object,
    /// The labels of the Template.
    Labels,
    /// The labels of the instance.
    InstanceLabels,
    /// The labels of the arguments or of the request.
    ArgumentLabels,
    /// The namespace of the instance.
    InstanceNamespace,
    /// The namespace of the arguments or of the request.
    ArgumentNamespace,
}

/// The details of an expansion besides its trace.
pub struct Mapping<'m> {
    /// The name of the instance; empty without a `TemplateInstance`.
    pub instance: &'m str,
    /// Returns the [`SetBy`] for a [`Cause`].
    pub set_by: &'m dyn Fn(Cause) -> SetBy,
    /// Returns the output file of an object, if each object has one.
    pub output: &'m dyn Fn(&Value<'_>) -> Option<String>,
}

/// The origin of the fields of all objects, without values. `docs/process.md` describes the format.
#[derive(Default)]
pub struct SourceMap {
    objects: Vec<MappedObject>,
}

/// The JSON document that `docs/process.md` describes.
#[derive(Serialize)]
struct File<'m> {
    version: u32,
    /// The objects in the order of the output.
    objects: &'m [MappedObject],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MappedObject {
    api_version: String,
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
    /// `metadata.name` or, without one, `metadata.generateName`.
    name: String,
    /// The name of the instance that created it; empty without a `TemplateInstance`.
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
    /// The source of its value, as in the output of `--dump-parameters`.
    from: String,
    /// The place of its value, default or expression, if it is in a file.
    #[serde(flatten)]
    location: Option<Location>,
    /// The parameters that its default refers to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    made_from: Vec<String>,
    #[serde(skip_serializing_if = "is_false")]
    secret: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MappedField {
    /// The field path. A key with a secret is as written in the Template, and a secret list or
    /// mapping is one field.
    path: String,
    /// The source of the field.
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

/// A place in a file. Lines and columns start at 1; columns count characters.
#[derive(Serialize)]
struct Location {
    file: String,
    line: usize,
    column: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives it a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl SourceMap {
    /// Adds the objects of an expansion.
    pub fn add(&mut self, mapping: &Mapping<'_>, trace: &Trace) {
        for object in &trace.objects {
            self.objects.push(mapped_object(mapping, trace, object));
        }
    }

    /// Returns the source map as JSON, indented if `is_pretty` is set.
    ///
    /// # Errors
    /// If the serialization fails, which is not expected.
    pub fn to_json(&self, is_pretty: bool) -> serde_json::Result<String> {
        let file = File { version: VERSION, objects: &self.objects };
        if is_pretty { serde_json::to_string_pretty(&file) } else { serde_json::to_string(&file) }
    }
}

fn mapped_object(mapping: &Mapping<'_>, trace: &Trace, object: &Traced) -> MappedObject {
    let text = |keys: &[&str]| object.value.str_at(keys).unwrap_or_default().to_owned();
    let name = Some(text(&["metadata", "name"])).filter(|name| !name.is_empty());
    let section = object.sections.first();
    MappedObject {
        api_version: text(&["apiVersion"]),
        kind: text(&["kind"]),
        namespace: text(&["metadata", "namespace"]),
        name: name.unwrap_or_else(|| text(&["metadata", "generateName"])),
        instance: mapping.instance.to_owned(),
        output: (mapping.output)(&object.value),
        location: section.map(|section| location(&section.place)),
        parameters: trace.parameters_of(object.fields.iter()).map(mapped_parameter).collect(),
        fields: object.shown().map(|field| mapped_field(mapping, object, field)).collect(),
    }
}

fn mapped_parameter(parameter: &TracedParameter) -> MappedParameter {
    MappedParameter {
        name: parameter.name.clone(),
        from: parameter.origin.to_string(),
        location: parameter.place.as_ref().map(location),
        made_from: parameter.made_from.clone(),
        secret: parameter.value.is_none(),
    }
}

fn mapped_field(mapping: &Mapping<'_>, object: &Traced, field: &Field) -> MappedField {
    MappedField {
        path: field.shown.to_string(),
        cause: (mapping.set_by)(field.cause),
        location: field.place.as_ref().map(location),
        parameters: field.parameters().into_iter().map(str::to_owned).collect(),
        secret: object.is_secret(field),
    }
}

fn location(place: &Place) -> Location {
    let (line, column) = place.line_column();
    Location { file: place.source.name().to_owned(), line, column }
}
