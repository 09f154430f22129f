//! Schemas of templates: sets defaults in properties, and checks them.

mod checker;
mod deadline;
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

use deadline::Deadline;
use read::{Meta, Schema};
use report::Report;

use crate::model::Imports;
use crate::yaml::{Located, is_falsy};

/// The schemas of an expansion, each read once.
pub struct Schemas<'i, 'c> {
    imports: &'i Imports,
    /// Whether `int` is an error.
    strict: bool,
    /// The schemas of schemas, once they are needed.
    meta: Option<Meta>,
    known: BTreeMap<String, Result<Rc<Schema>, Diagnostics>>,
    deadline: Deadline<'c>,
}

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
        Self {
            imports,
            strict,
            meta: None,
            known: BTreeMap::new(),
            deadline: Deadline::new(is_late),
        }
    }

    /// Sets the defaults of a schema in the properties of a resource, and checks them.
    ///
    /// # Errors
    /// If the schema is invalid, or the properties do not fit it.
    pub fn check(&mut self, schema: &str, resource: Located<'_>) -> Result<Checked, Diagnostics> {
        let Some(known) = self.schema(schema) else {
            let message = format!("schema `{schema}` is not among the imports");
            return Err(Diagnostic::error(message).into());
        };
        let known = known?;
        let properties = resource.value.get("properties");
        let mut properties = match properties.filter(|properties| !is_falsy(properties)) {
            Some(properties) => properties.clone().into_owned(),
            None => Value::mapping(Vec::new()),
        };
        let mut errors = self.missing_imports(schema, &known);
        let mut warnings = known.warnings.clone();
        if let Some(checker) = &known.checker {
            let deadline = &self.deadline;
            let mut check = || {
                checker.set_defaults(&mut properties, deadline)?;
                let findings = checker.findings(&mut properties, deadline)?;
                let report = Report::new(&known, &checker.schema, resource, &properties);
                for finding in findings {
                    deadline.take(report.size)?;
                    if let Some(error) = report.error(&finding) {
                        errors.push(error);
                    }
                }
                if !errors.has_errors() {
                    unknown::properties(resource, &checker.schema, deadline, &mut warnings)?;
                }
                Ok(())
            };
            check().map_err(|problem| known.unusable(schema, &problem))?;
        }
        if errors.has_errors() {
            errors.attribute_to_rule("dm-properties");
            return Err(errors);
        }
        Ok(Checked { properties, warnings })
    }

    /// The imports that a schema needs and does not have.
    fn missing_imports(&self, name: &str, schema: &Schema) -> Diagnostics {
        let mut errors = Diagnostics::new();
        for import in &schema.imports {
            if self.imports.get(import).is_none() {
                let message = format!("schema `{name}` needs `{import}`, which is not imported");
                errors.push(Diagnostic::error(message).hint("add it to the `imports`"));
            }
        }
        errors
    }

    /// The schema with this name; `None` if there is no such import.
    fn schema(&mut self, name: &str) -> Option<Result<Rc<Schema>, Diagnostics>> {
        if let Some(known) = self.known.get(name) {
            return Some(known.clone());
        }
        let source = Arc::clone(&self.imports.get(name)?.content);
        let read = Schema::read(name, &source, self.strict, &mut self.meta, &self.deadline);
        let read = read.map(Rc::new);
        self.known.insert(name.to_owned(), read.clone());
        Some(read)
    }
}
