//! A call of a template, and its result.

use krm_yaml::Value;

use crate::model::{Env, Import, Imports};

/// A call of a template.
#[derive(Clone, Copy, Debug)]
pub struct Call<'c> {
    /// The template, whose language is Python.
    pub template: &'c Import,
    /// The properties of the resource with the schema's defaults; `None` without that field.
    pub properties: Option<&'c Value<'c>>,
    /// The variables of `env`, with `name` and `type`.
    pub env: &'c Env,
    /// The files that the template may import.
    pub imports: &'c Imports,
}

/// The result of a template.
#[derive(Clone, Debug)]
pub struct Returned {
    /// Text, which is YAML, or a mapping.
    pub result: Output,
    /// The properties of the resource after the template ran, which may have changed them.
    pub properties: Option<Value<'static>>,
}

/// The result of a template.
#[derive(Clone, Debug)]
pub enum Output {
    /// A text, to be read as YAML.
    Text(String),
    /// A mapping that the template returned.
    Data(Value<'static>),
    /// A type that a template must not return, by its name in Python.
    Other(String),
}
