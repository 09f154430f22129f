//! Reads a schema, and checks it itself.

use std::sync::Arc;

use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::shorten::cut;
use krm_yaml::source::{Place, Source};
use krm_yaml::{Data, Document, Scalar, Value};

use crate::repr::quoted_text as text;
use crate::schema::checker::{Checker, Finding};
use crate::schema::clock::Clock;
use crate::schema::defaults::MAX_DEPTH;
use crate::schema::problem::Problem;
use crate::schema::types;
use crate::yaml::{self, Located, is_falsy};

/// The most bytes of an error in the words of the original.
const MAX_TEXT: usize = 64 * 1024;

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

/// Properties that do not fit their schema, or an invalid schema.
#[derive(Clone, Debug)]
pub struct Invalid {
    /// The text of the original.
    pub text: String,
    /// The same errors in our words.
    pub diagnostics: Diagnostics,
}

impl Invalid {
    /// The error with this title and these lines in the original.
    pub(super) fn new(title: String, lines: &[String], diagnostics: Diagnostics) -> Self {
        let mut text = title;
        for line in lines {
            if text.len() > MAX_TEXT {
                break;
            }
            text.push('\n');
            text.push_str(line);
        }
        cut(&mut text, MAX_TEXT);
        Self { text, diagnostics }
    }

    /// Creates the error about a schema that is not valid itself.
    fn schema(name: &str, lines: &[String], mut diagnostics: Diagnostics) -> Self {
        diagnostics.attribute_to_rule("dm-schema");
        Self::new(format!("Invalid schema '{name}':"), lines, diagnostics)
    }
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
        schema: &Value<'static>,
        clock: &Clock<'_>,
    ) -> Result<Vec<Finding<'_>>, Problem> {
        let mut findings = Vec::new();
        if schema.get("imports").is_some_and(|imports| !is_falsy(imports)) {
            findings.extend(self.imports.findings(schema, clock)?);
        }
        findings.extend(self.draft4.findings(schema, clock)?);
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
        clock: &Clock<'_>,
    ) -> Result<Self, Invalid> {
        let mut warnings = Diagnostics::new();
        let parsed = yaml::read(source, &mut warnings).map_err(|errors| {
            let lines: Vec<String> = errors.iter().map(|one| one.message.clone()).collect();
            Invalid::schema(name, &lines, errors)
        })?;
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
            None => meta.insert(Meta::new().map_err(|reason| broken(name, &reason))?),
        };
        let findings = meta.findings(&value, clock);
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
    pub(super) fn unusable(&self, name: &str, problem: &Problem) -> Invalid {
        let mut invalid = unusable(name, problem);
        let schema = self.checker.as_ref().map(Checker::schema);
        if let Some(part) = schema.and_then(|schema| problem.part(schema)) {
            invalid.diagnostics = invalid.diagnostics.map(|error| self.at(error, part));
        }
        invalid
    }

    /// Where a part of the schema is.
    pub(super) fn place(&self, value: &Value<'static>) -> Option<Place> {
        let document = Some(&self.document);
        Located { value, document }.place()
    }

    fn at(&self, error: Diagnostic, value: &Value<'static>) -> Diagnostic {
        match self.place(value) {
            Some(place) => error.at(place),
            None => error,
        }
    }

    fn warn(&mut self, replaced: &types::Replaced) {
        let (old, new) = (replaced.old, replaced.new);
        let message = format!("`type: {old}` is not JSON Schema; it is read as `{new}`");
        let warning = Diagnostic::warning(message).rule("dm-schema");
        let warning = warning.hint(format!("write `type: {new}`"));
        self.warnings.push(self.at(warning, &replaced.value));
    }

    fn refuse(&self, name: &str, value: &Value<'static>, findings: &[Finding<'_>]) -> Invalid {
        let lines: Vec<String> = findings.iter().map(Finding::line).collect();
        let mut errors = Diagnostics::new();
        for finding in findings {
            let path = finding.path.to_string();
            let message = match path.as_str() {
                "" => format!("schema `{name}` is invalid: {}", finding.text),
                path => format!("schema `{name}` is invalid: `{path}`: {}", finding.text),
            };
            let error = Diagnostic::error(message);
            let error = match types::of_json_schema(value.lookup(&finding.path)) {
                Some(meant) => error.hint(format!("write `{meant}`")),
                None => error,
            };
            errors.push(self.at(error, value.lookup(&finding.path).unwrap_or(value)));
        }
        Invalid::schema(name, &lines, errors)
    }

    fn refuse_reference(&self, name: &str, reference: &Value<'static>) -> Invalid {
        let reason = match reference_type(reference) {
            "list" => "unhashable type: 'list'".to_owned(),
            kind => format!("argument of type '{kind}' is not iterable"),
        };
        let lines =
            [reason, "Perhaps you forgot to put 'quotes' around your reference.".to_owned()];
        let error = if reference.is_null() {
            let message = format!("schema `{name}` is invalid: a `$ref` has no value");
            Diagnostic::error(message)
                .hint("put the reference in quotes: without them, text after `#` is a comment")
        } else {
            let found = yaml::kind_of(reference);
            let message = format!("schema `{name}` is invalid: a `$ref` is a text, found {found}");
            Diagnostic::error(message).hint("write a reference as `'#/definitions/disk'`")
        };
        Invalid::schema(name, &lines, self.at(error, reference).into())
    }
}

/// The error of a valid schema that cannot be used.
fn unusable(name: &str, problem: &Problem) -> Invalid {
    let reason = match problem {
        Problem::Unresolvable(reference) => {
            let pointer = reference.trim_start_matches('#').trim_start_matches('/');
            format!("Unresolvable JSON pointer: {}", text(pointer))
        }
        Problem::Elsewhere(address) => format!("unknown url type: {address}"),
        Problem::Late => "checking values takes too long".to_owned(),
        Problem::Endless => format!("schemas refer to one another more than {MAX_DEPTH} deep"),
        Problem::Pattern { pattern, reason } => {
            format!("{} is not a regular expression: {reason}", text(pattern))
        }
    };
    broken(name, &reason)
}

fn broken(name: &str, reason: &str) -> Invalid {
    let error = Diagnostic::error(format!("schema `{name}` is invalid: {reason}"));
    let error = if reason.starts_with("Unresolvable") || reason.starts_with("unknown url") {
        error.hint("a `$ref` names a part of the schema itself, as `#/definitions/disk`")
    } else {
        error
    };
    Invalid::schema(name, &[reason.to_owned()], error.into())
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

/// The name of a value's type in Python.
fn reference_type(value: &Value<'static>) -> &'static str {
    match &value.data {
        Data::Scalar(Scalar::Null) => "NoneType",
        Data::Scalar(Scalar::Bool(_)) => "bool",
        Data::Scalar(Scalar::Number(digits)) if digits.contains('.') => "float",
        Data::Scalar(Scalar::Number(_)) => "int",
        _ => "list",
    }
}

/// The names of the imports that a valid schema needs.
fn imports_of(schema: &Value<'static>) -> Vec<String> {
    let imports = schema.get("imports").and_then(Value::items).unwrap_or_default();
    let names = imports.iter();
    let names = names.filter_map(|import| import.str_at(&["name"]).or(import.str_at(&["path"])));
    names.map(str::to_owned).collect()
}
