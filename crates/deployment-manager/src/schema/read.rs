//! Reads a schema, and checks it itself.

use std::sync::Arc;

use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::{Place, Source};
use krm_yaml::{Data, Document, Value};

use crate::schema::checker::{Checker, Finding, MAX_DEPTH};
use crate::schema::deadline::Deadline;
use crate::schema::problem::Problem;
use crate::schema::types;
use crate::yaml::{self, Located, is_falsy};

/// The schemas that schemas themselves must fit.
pub(super) struct Meta {
    draft4: Checker,
    imports: Checker,
}

pub(super) struct Schema {
    /// Checks properties; none for an empty schema.
    pub(super) checker: Option<Checker>,
    pub(super) document: Arc<Document>,
    /// The imports that it needs.
    pub(super) imports: Vec<String>,
    pub(super) warnings: Diagnostics,
}

impl Meta {
    fn new() -> Result<Self, String> {
        let read = |text| {
            let schema: serde_json::Value =
                serde_json::from_str(text).map_err(|error| error.to_string())?;
            Ok::<_, String>(Checker::new(Value::from(schema)))
        };
        Ok(Self {
            draft4: read(include_str!("draft4.json"))?,
            imports: read(include_str!("imports.json"))?,
        })
    }

    /// The errors in a schema.
    fn findings(
        &self,
        schema: &mut Value<'static>,
        deadline: &Deadline<'_>,
    ) -> Result<Vec<Finding<'_>>, Problem> {
        let mut findings = Vec::new();
        if schema.get("imports").is_some_and(|imports| !is_falsy(imports)) {
            findings.extend(self.imports.findings(schema, deadline)?);
        }
        findings.extend(self.draft4.findings(schema, deadline)?);
        Ok(findings)
    }
}

impl Schema {
    /// Reads a schema. The schemas of schemas are read once.
    pub(super) fn read(
        name: &str,
        source: &Arc<Source>,
        strict: bool,
        meta: &mut Option<Meta>,
        deadline: &Deadline<'_>,
    ) -> Result<Self, Diagnostics> {
        let mut warnings = Diagnostics::new();
        let parsed = yaml::read(source, &mut warnings).map_err(of_schema)?;
        let mut value = parsed.value;
        let mut schema =
            Self { checker: None, document: parsed.document, imports: Vec::new(), warnings };
        if is_falsy(&value) {
            return Ok(schema);
        }
        if !strict && let Some(replaced) = types::replace(&mut value) {
            schema.warn(&replaced);
        }
        let meta = match meta {
            Some(meta) => meta,
            None => meta.insert(Meta::new().map_err(|reason| broken(name, &reason, None))?),
        };
        let findings = meta.findings(&mut value, deadline);
        let findings = findings.map_err(|problem| unusable(name, &problem))?;
        if !findings.is_empty() {
            return Err(schema.refuse(name, &value, &findings));
        }
        if let Some(reference) = no_reference(&value) {
            return Err(schema.refuse_reference(name, reference));
        }
        schema.imports = imports_of(&value);
        schema.checker = Some(Checker::new(value));
        Ok(schema)
    }

    /// The error of a schema that cannot be used, at the part that it is about.
    pub(super) fn unusable(&self, name: &str, problem: &Problem) -> Diagnostics {
        let errors = unusable(name, problem);
        let schema = self.checker.as_ref().map(|checker| &checker.schema);
        match schema.and_then(|schema| problem.part(schema)) {
            Some(part) => errors.map(|error| self.at(error, part)),
            None => errors,
        }
    }

    /// Where a part of the schema is.
    pub(super) fn place(&self, value: &Value<'static>) -> Option<Place> {
        let document = Some(&self.document);
        Located { value, document }.place()
    }

    fn at(&self, error: Diagnostic, value: &Value<'static>) -> Diagnostic {
        Located { value, document: Some(&self.document) }.mark(error)
    }

    fn warn(&mut self, replaced: &types::Replaced) {
        let (old, new) = (replaced.old, replaced.new);
        let message = format!("`type: {old}` is not JSON Schema; it is read as `{new}`");
        let warning = Diagnostic::warning(message).rule("dm-schema");
        let warning = warning.hint(format!("write `type: {new}`"));
        self.warnings.push(self.at(warning, &replaced.value));
    }

    fn refuse(&self, name: &str, value: &Value<'static>, findings: &[Finding<'_>]) -> Diagnostics {
        let mut errors = Diagnostics::new();
        for finding in findings {
            let path = finding.path.to_string();
            let part = if path.is_empty() { "it".to_owned() } else { format!("`{path}`") };
            let error =
                Diagnostic::error(format!("schema `{name}` is invalid: {part} {}", finding.text));
            let error = match types::of_json_schema(value.lookup(&finding.path)) {
                Some(meant) => error.hint(format!("write `{meant}`")),
                None => error,
            };
            errors.push(self.at(error, value.lookup(&finding.path).unwrap_or(value)));
        }
        of_schema(errors)
    }

    fn refuse_reference(&self, name: &str, reference: &Value<'static>) -> Diagnostics {
        let found = yaml::kind_of(reference);
        let message = format!("schema `{name}` is invalid: a `$ref` is a string, found {found}");
        let hint = if reference.is_null() {
            "put the reference in quotes: without them, text after `#` is a comment"
        } else {
            "write a reference as `'#/definitions/disk'`"
        };
        of_schema(self.at(Diagnostic::error(message).hint(hint), reference).into())
    }
}

/// The errors about a schema that is not valid itself.
fn of_schema(mut errors: Diagnostics) -> Diagnostics {
    errors.attribute_to_rule("dm-schema");
    errors
}

/// The error of a valid schema that cannot be used.
fn unusable(name: &str, problem: &Problem) -> Diagnostics {
    const WITHIN: Option<&str> =
        Some("a `$ref` names a part of the schema itself, as `#/definitions/disk`");
    let (reason, hint) = match problem {
        Problem::Unresolvable(reference) => (format!("there is no `{reference}` in it"), WITHIN),
        Problem::Elsewhere(address) => (format!("`{address}` is not read"), WITHIN),
        Problem::Late => ("checking values takes too long".to_owned(), None),
        Problem::Endless => {
            (format!("schemas refer to one another more than {MAX_DEPTH} deep"), None)
        }
        Problem::Pattern { pattern, reason } => {
            (format!("`{pattern}` is not a regular expression: {reason}"), None)
        }
    };
    broken(name, &reason, hint)
}

fn broken(name: &str, reason: &str, hint: Option<&str>) -> Diagnostics {
    let error = Diagnostic::error(format!("schema `{name}` is invalid: {reason}"));
    of_schema(error.maybe_hint(hint.map(str::to_owned)).into())
}

/// A `$ref` without a text. A mapping is the schema of a property with this name.
fn no_reference<'v>(schema: &'v Value<'static>) -> Option<&'v Value<'static>> {
    match &schema.data {
        Data::Scalar(_) => None,
        Data::Sequence(items) => items.iter().find_map(no_reference),
        Data::Mapping(entries) => entries.iter().find_map(|(key, value)| match key.as_ref() {
            "$ref" if value.as_str().is_none() && value.entries().is_none() => Some(value),
            "default" | "enum" => None,
            _ => no_reference(value),
        }),
    }
}

/// The names of the imports that a valid schema needs.
fn imports_of(schema: &Value<'static>) -> Vec<String> {
    let imports = schema.get("imports").and_then(Value::items).unwrap_or_default();
    let names = imports.iter();
    let names = names.filter_map(|import| import.str_at(&["name"]).or(import.str_at(&["path"])));
    names.map(str::to_owned).collect()
}
