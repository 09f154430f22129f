//! Schemas of templates: sets defaults in properties, and checks them.

mod checker;
mod clock;
mod defaults;
mod expression;
mod keywords;
mod numbers;
mod patterns;
mod pointer;
mod problem;
mod read;
mod report;
#[cfg(test)]
mod tests;
mod types;
mod unknown;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use krm_yaml::Value;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::shorten::{MAX_QUOTED, start};

use checker::Finding;
use clock::Clock;
use read::{Meta, Schema};
use report::Report;

use crate::model::Imports;
use crate::references;
use crate::repr::repr;
use crate::yaml::{Located, is_falsy};

pub use read::Invalid;

/// The schemas of an expansion, each read once.
pub struct Schemas<'i, 'c> {
    imports: &'i Imports,
    /// Whether `int` is an error.
    strict: bool,
    /// The schemas of schemas, once they are needed.
    meta: Option<Meta>,
    known: BTreeMap<String, Result<Rc<Schema>, Invalid>>,
    clock: Clock<'c>,
}

/// How the original starts the error of a malformed reference.
const MALFORMED: &str = "Malformed reference. Reference: ";

/// Properties that fit their schema.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The properties with the defaults of the schema.
    pub properties: Value<'static>,
    /// Warnings about the schema, and about properties that it does not have.
    pub warnings: Diagnostics,
}

impl<'i, 'c> Schemas<'i, 'c> {
    /// The schemas among these imports. Checking ends with an error when `is_late` returns true.
    #[must_use]
    pub const fn new(
        imports: &'i Imports,
        strict: bool,
        is_late: Option<&'c dyn Fn() -> bool>,
    ) -> Self {
        Self { imports, strict, meta: None, known: BTreeMap::new(), clock: Clock::new(is_late) }
    }

    /// Sets the defaults of a schema in the properties of a resource, and checks them.
    ///
    /// # Errors
    /// If the schema is invalid, or the properties do not fit it.
    pub fn check(
        &mut self,
        schema: &str,
        template: &str,
        resource: Located<'_>,
    ) -> Result<Checked, Invalid> {
        let title = format!("Invalid properties for '{template}':");
        let Some(known) = self.schema(schema) else {
            let line = format!("Could not find schema file '{schema}'.");
            let error = Diagnostic::error(format!("schema `{schema}` is not among the imports"));
            return Err(Invalid::new(title, &[line], error.into()));
        };
        let known = known?;
        let properties = resource.value.get("properties");
        let mut properties = match properties.filter(|properties| !is_falsy(properties)) {
            Some(properties) => properties.clone().into_owned(),
            None => Value::mapping(Vec::new()),
        };
        let (mut lines, mut errors) = self.missing_imports(schema, &known);
        let mut malformed = None;
        let clock = &self.clock;
        if let Some(checker) = &known.checker {
            defaults::set(checker, &mut properties, clock)
                .map_err(|problem| known.unusable(schema, &problem))?;
            let report = Report::new(&known, checker.schema(), resource, &properties);
            let findings = checker.findings(&properties, clock);
            for finding in findings.map_err(|problem| known.unusable(schema, &problem))? {
                let late = clock.take(report.size);
                late.map_err(|problem| known.unusable(schema, &problem))?;
                let Some(finding) = without_references(finding, &properties) else {
                    continue;
                };
                if finding.text.starts_with(MALFORMED) {
                    malformed.get_or_insert_with(|| finding.text.clone());
                }
                lines.push(finding.line());
                errors.push(report.error(&finding));
            }
        }
        if let Some(text) = malformed {
            // The original stops there.
            return Err(Invalid::new(text, &[], errors));
        }
        if !lines.is_empty() {
            errors.attribute_to_rule("dm-properties");
            return Err(Invalid::new(title, &lines, errors));
        }
        let mut warnings = known.warnings.clone();
        if let Some(checker) = &known.checker {
            let done = unknown::properties(resource, checker.schema(), clock, &mut warnings);
            done.map_err(|problem| known.unusable(schema, &problem))?;
        }
        Ok(Checked { properties, warnings })
    }

    /// The imports that a schema needs and does not have.
    fn missing_imports(&self, name: &str, schema: &Schema) -> (Vec<String>, Diagnostics) {
        let mut lines = Vec::new();
        let mut errors = Diagnostics::new();
        for import in &schema.imports {
            if self.imports.get(import).is_some() {
                continue;
            }
            lines.push(format!(
                "File '{import}' requested in schema '{name}' but not included with imports."
            ));
            let message = format!("schema `{name}` needs `{import}`, which is not imported");
            errors.push(Diagnostic::error(message).hint("add it to the `imports`"));
        }
        (lines, errors)
    }

    /// The schema with this name; `None` if there is no such import.
    fn schema(&mut self, name: &str) -> Option<Result<Rc<Schema>, Invalid>> {
        if let Some(known) = self.known.get(name) {
            return Some(known.clone());
        }
        let source = Arc::clone(&self.imports.get(name)?.content);
        let read = Schema::read(name, &source, self.strict, &mut self.meta, &self.clock);
        let read = read.map(Rc::new);
        self.known.insert(name.to_owned(), read.clone());
        Some(read)
    }
}

/// The text in which the original looks for references: that of Python's `str`.
fn text_of(value: &Value<'static>) -> String {
    value.as_str().map_or_else(|| repr(value), str::to_owned)
}

/// The finding, unless its instance has references: such a value is known later.
fn without_references<'s>(
    finding: Finding<'s>,
    properties: &Value<'static>,
) -> Option<Finding<'s>> {
    let instance = properties.lookup(&finding.path).map(text_of).unwrap_or_default();
    if !references::has_reference(&instance) {
        return Some(finding);
    }
    match references::find(&instance, 0) {
        Ok(_) => None,
        Err(references::Malformed) => Some(Finding {
            text: format!("{MALFORMED}{}", start(&instance, MAX_QUOTED)),
            ..finding
        }),
    }
}
