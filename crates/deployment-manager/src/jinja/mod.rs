//! Renders Jinja templates as Jinja2 in Python does.

mod arguments;
mod case;
mod chars;
mod checks;
mod containers;
mod convert;
mod environment;
mod failure;
mod filters;
mod format;
mod globals;
mod methods;
mod operators;
mod order;
mod print;
mod rewrite;
mod spec;
#[cfg(test)]
mod tests;
mod texts;
mod work;
mod wrong;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::model::{Env, Import, Imports};
use containers::Dict;
use environment::{FUEL, Output, Sources};
use failure::Known;
use krm_yaml::Value;
use krm_yaml::diagnostic::Result;
use minijinja::value::Value as Jinja;

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
    /// The text.
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
        f.debug_struct("Environment")
            .field("imports", self.imports)
            .finish_non_exhaustive()
    }
}

impl<'i> Environment<'i> {
    /// The environment of an expansion with these imports.
    #[must_use]
    pub fn new(imports: &'i Imports) -> Self {
        let sources = imports
            .iter()
            .map(|import| (import.name.clone(), Arc::clone(&import.content)));
        let sources = Arc::new(sources.collect());
        let mut engine = environment::environment(&sources);
        let contents = imports.iter().map(|import| {
            (
                Jinja::from(import.name.as_str()),
                Jinja::from(import.content.text()),
            )
        });
        if let Ok(contents) = Dict::of(contents) {
            engine.add_global("imports", contents);
        }
        Self {
            imports,
            sources,
            engine: RefCell::new(engine),
        }
    }

    /// Renders a template.
    ///
    /// # Errors
    /// If the template is wrong, or exceeds a limit: with its line, in the template itself.
    pub fn render(&self, template: &Import, context: Context<'_>) -> Result<Rendered> {
        let known = Known {
            sources: &self.sources,
            template,
            resource: context.resource,
        };
        let failed = |error: minijinja::Error| failure::diagnostic(&error, &known);
        work::start();
        let mut output = Output::default();
        let (variables, properties) = variables(context).map_err(failed)?;
        let left = {
            let engine = self.engine.borrow();
            let compiled = engine.get_template(&template.name).map_err(failed)?;
            let captured = compiled
                .render_captured_to(variables, &mut output)
                .map_err(failed)?;
            captured
                .state()
                .fuel_levels()
                .map_or(FUEL, |(_, left)| left)
        };
        self.engine.borrow_mut().set_fuel(Some(left));
        work::check().map_err(failed)?;
        let original = context.resource.get("properties");
        let properties = properties
            .map(|properties| convert::from_jinja(&properties, original))
            .transpose()
            .map_err(failed)?;
        Ok(Rendered {
            text: output.into_text(),
            properties,
        })
    }
}

/// The variables of a template, and the one named `properties`.
fn variables(
    context: Context<'_>,
) -> std::result::Result<(Jinja, Option<Jinja>), minijinja::Error> {
    let mut variables = BTreeMap::new();
    let mut properties = None;
    for (name, value) in context.resource.entries().unwrap_or_default() {
        let value = convert::to_jinja(value)?;
        if name == "properties" {
            properties = Some(value.clone());
        }
        if name != "env" && name != "imports" {
            variables.insert(name.to_string(), value);
        }
    }
    let mut env = Vec::new();
    for (name, value) in context.env {
        env.push((Jinja::from(name.as_str()), convert::to_jinja(value)?));
    }
    variables.insert("env".to_owned(), Dict::env(env)?);
    Ok((Jinja::from(variables), properties))
}
