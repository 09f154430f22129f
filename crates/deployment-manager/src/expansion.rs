//! The result of an expansion: resources, and a layout with the template of each.

use std::borrow::Cow;
use std::sync::Arc;

use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Data, Document, Scalar, Value};

use crate::yaml::Located;

/// The result of an expansion.
#[derive(Clone, Debug)]
pub struct Expansion<'r> {
    /// The resources that are not templates, in order.
    pub config: Vec<Resource<'r>>,
    /// The templates, with the resources that they created.
    pub layout: Layout<'r>,
    /// The text of a configuration that is only a scalar, and passes through.
    pub text: Option<String>,
    /// The warnings: errors end an expansion.
    pub diagnostics: Diagnostics,
}

/// A resource that is not a template.
#[derive(Clone, Debug)]
pub struct Resource<'r> {
    /// The mapping with all its fields.
    pub value: Value<'r>,
    /// The text that it is from; none if Python returned it.
    pub document: Option<Arc<Document>>,
}

impl Resource<'_> {
    /// Returns its `name`, if that is a text.
    pub fn name(&self) -> Option<&str> {
        self.value.str_at(&["name"])
    }

    /// Returns its `type`, if that is a text.
    pub fn kind(&self) -> Option<&str> {
        self.value.str_at(&["type"])
    }

    /// The value with its text.
    pub const fn located(&self) -> Located<'_> {
        Located { value: &self.value, document: self.document.as_ref() }
    }
}

/// The resources of a configuration, nested as the templates that made them.
#[derive(Clone, Debug, Default)]
pub struct Layout<'r> {
    /// The resources of the configuration itself.
    pub resources: Vec<LayoutResource<'r>>,
    /// The outputs of the configuration.
    pub outputs: Option<Value<'r>>,
}

/// A resource in a [`Layout`].
#[derive(Clone, Debug)]
pub struct LayoutResource<'r> {
    /// The field `name`, which may be a number.
    pub name: Value<'r>,
    /// The field `type` of the resource.
    pub kind: Value<'r>,
    /// The names of the resources that it refers to or names under `metadata.dependsOn`.
    pub depends_on: Vec<String>,
    /// The resources that its template created.
    pub resources: Vec<Self>,
    /// The properties of a template that made resources.
    pub properties: Option<Value<'r>>,
    /// The outputs of its template.
    pub outputs: Option<Value<'r>>,
}

impl<'r> Expansion<'r> {
    /// `{config: {resources}, layout}` as the original returns it, whose layout has no dependencies;
    /// the text of a configuration that is only a scalar, or null.
    pub fn into_value(self) -> Value<'r> {
        if let Some(text) = &self.text {
            return scalar(text);
        }
        let layout = self.layout.to_original_value();
        mapping([("config", Some(self.into_config_value())), ("layout", Some(layout))])
    }

    /// `{resources}`; the text of a configuration that is only a scalar, or null.
    pub fn into_config_value(self) -> Value<'r> {
        if let Some(text) = &self.text {
            return scalar(text);
        }
        let resources = self.config.into_iter().map(|one| one.value);
        mapping([("resources", Some(Value::sequence(resources.collect())))])
    }
}

impl<'r> Layout<'r> {
    /// The layout that a value of [`to_value`](Self::to_value) is. What is missing is empty.
    #[must_use]
    pub fn of_value(value: &Value<'r>) -> Self {
        Self { resources: resources_of(value), outputs: value.get("outputs").cloned() }
    }

    /// Returns `{resources, outputs}`, or only one of them.
    pub fn to_value(&self) -> Value<'r> {
        self.written(true)
    }

    /// Returns the same without `dependsOn`, as the original expansion service does.
    pub fn to_original_value(&self) -> Value<'r> {
        self.written(false)
    }

    fn written(&self, has_dependencies: bool) -> Value<'r> {
        mapping([
            ("resources", Some(list(&self.resources, has_dependencies))),
            ("outputs", self.outputs.clone()),
        ])
    }
}

impl<'r> LayoutResource<'r> {
    fn of_value(value: &Value<'r>) -> Self {
        let field = |name: &str| value.get(name).cloned();
        Self {
            name: field("name").unwrap_or_else(|| null()),
            kind: field("type").unwrap_or_else(|| null()),
            depends_on: value
                .get("dependsOn")
                .and_then(Value::items)
                .unwrap_or_default()
                .iter()
                .filter_map(|name| Some(name.as_str()?.to_owned()))
                .collect(),
            resources: resources_of(value),
            properties: field("properties"),
            outputs: field("outputs"),
        }
    }

    fn written(&self, has_dependencies: bool) -> Value<'r> {
        let resources =
            (!self.resources.is_empty()).then(|| list(&self.resources, has_dependencies));
        let names = self.depends_on.iter().cloned().map(Value::string);
        let depends_on = (has_dependencies && !self.depends_on.is_empty())
            .then(|| Value::sequence(names.collect()));
        mapping([
            ("name", Some(self.name.clone())),
            ("type", Some(self.kind.clone())),
            ("properties", self.properties.clone()),
            ("dependsOn", depends_on),
            ("resources", resources),
            ("outputs", self.outputs.clone()),
        ])
    }
}

fn list<'r>(resources: &[LayoutResource<'r>], has_dependencies: bool) -> Value<'r> {
    let written = resources.iter().map(|one| one.written(has_dependencies));
    Value::sequence(written.collect())
}

fn resources_of<'r>(value: &Value<'r>) -> Vec<LayoutResource<'r>> {
    let resources = value.get("resources").and_then(Value::items);
    let resources = resources.unwrap_or_default().iter();
    resources.map(LayoutResource::of_value).collect()
}

fn null() -> Value<'static> {
    Data::Scalar(Scalar::Null).into()
}

fn scalar(text: &str) -> Value<'static> {
    match text {
        "" => null(),
        text => Value::string(text.to_owned()),
    }
}

/// A mapping of the fields that have a value.
pub(crate) fn mapping<'v, const N: usize>(
    fields: [(&'static str, Option<Value<'v>>); N],
) -> Value<'v> {
    let present = fields.into_iter();
    let present = present.filter_map(|(key, value)| Some((Cow::Borrowed(key), value?)));
    Value::mapping(present.collect())
}
