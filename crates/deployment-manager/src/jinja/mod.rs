//! Renders Jinja templates with minijinja, as Jinja2 renders them in Python.
//!
//! minijinja and the methods of Python in minijinja-contrib do the work. What is ours beyond them:
//!
//! | what | needed by |
//! |---|---|
//! | `indent` that keeps the line break at the end | `samples__community__apigee__*` and 26 more |
//! | `int` and `float`, zero for other texts | `samples__community__lustre__*` |
//! | variables of `env` that must be given | `env["project"]` of 92 cases, and our error about it |
//! | lists with `append`, and `properties` in layouts afterwards | `{% set _ = list.append(x) %}` elsewhere |
//! | `text % values` | templates of other repositories |
//! | `iteritems`, `has_key`, `rsplit` | templates that were written for Python 2 |
//! | floats with Python's exponents | `properties` with large numbers |
//! | limits | templates of strangers, which a server expands |
//!
//! The cases are those of `corpus/deployment-manager/expand` in the shared data.

mod convert;
mod environment;
mod failure;
mod functions;
mod rewrite;
#[cfg(test)]
mod tests;
mod tokens;
mod values;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use krm_yaml::Value;
use krm_yaml::diagnostic::Result;
use minijinja::value::Value as Jinja;

use crate::model::{Env, Import, Imports};
use environment::{FUEL, Output, Sources, environment};
use failure::Known;

/// The variables of a template, taken from the resource that uses it.
#[derive(Clone, Copy, Debug)]
pub struct Context<'c> {
    /// The mapping of the resource: `name`, `type`, `properties` after the schema's defaults, and
    /// all other fields. Each is a variable.
    pub resource: &'c Value<'c>,
    /// The variables of `env`, with `name` and `type`.
    pub env: &'c Env,
}

/// The result of a template.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// The text, to be read as YAML.
    pub text: String,
    /// The properties of the resource after the template ran, which may have changed them.
    pub properties: Option<Value<'static>>,
}

/// Renders the templates of one expansion. Fuel is shared by all of them.
pub struct Environment<'i> {
    imports: &'i Imports,
    sources: Sources,
    engine: RefCell<minijinja::Environment<'static>>,
}

impl fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("imports", self.imports).finish_non_exhaustive()
    }
}

impl<'i> Environment<'i> {
    /// The environment of an expansion with these imports.
    #[must_use]
    pub fn new(imports: &'i Imports) -> Self {
        let sources =
            imports.iter().map(|import| (import.name.clone(), Arc::clone(&import.content)));
        let sources = Arc::new(sources.collect());
        let mut engine = environment(&sources);
        let contents =
            imports.iter().map(|import| (import.name.clone(), Jinja::from(import.content.text())));
        engine.add_global("imports", Jinja::from_pairs(contents));
        Self { imports, sources, engine: RefCell::new(engine) }
    }

    /// Renders a template.
    ///
    /// # Errors
    /// If the template is wrong, or exceeds a limit: with its line, in the template itself.
    pub fn render(&self, template: &Import, context: Context<'_>) -> Result<Rendered> {
        let known = Known { sources: &self.sources, template, resource: context.resource };
        let failed = |error: minijinja::Error| failure::diagnostic(&error, &known);
        let mut output = Output::default();
        let (variables, properties) = variables(context);
        let left = {
            let engine = self.engine.borrow();
            let compiled = engine.get_template(&template.name).map_err(failed)?;
            let captured = compiled.render_captured_to(variables, &mut output).map_err(failed)?;
            captured.state().fuel_levels().map_or(FUEL, |(_, left)| left)
        };
        self.engine.borrow_mut().set_fuel(Some(left));
        let original = context.resource.get("properties");
        let properties = original
            .zip(properties)
            .map(|(original, properties)| convert::changed(&properties, original))
            .transpose()
            .map_err(failed)?;
        Ok(Rendered { text: output.into_text(), properties })
    }
}

/// The variables of a template, and the one named `properties`.
fn variables(context: Context<'_>) -> (Jinja, Option<Jinja>) {
    let mut variables = BTreeMap::new();
    for (name, value) in context.resource.entries().unwrap_or_default() {
        if name != "env" && name != "imports" {
            variables.insert(name.to_string(), convert::to_jinja(value));
        }
    }
    let properties = variables.get("properties").cloned();
    let env = context.env.iter();
    let env = env.map(|(name, value)| (name.clone(), convert::to_jinja(value)));
    let env = Jinja::from_object(values::Env(env.collect()));
    variables.insert("env".to_owned(), env);
    (Jinja::from(variables), properties)
}
