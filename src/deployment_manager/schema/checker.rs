//! Checks values with one schema.

use jsonschema::ValidationError;
use jsonschema::Validator;
use krm_yaml::{FieldPath, Step, Value};

use crate::deployment_manager::repr::text;
use crate::deployment_manager::schema::dialect::compile;
use crate::deployment_manager::schema::messages::{Violation, messages};
use crate::deployment_manager::schema::pointer::{follow, to_json};

/// A schema that is ready to check values.
pub(super) struct Checker {
    schema: Value<'static>,
    validator: Validator,
}

/// An error at one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finding {
    /// Where in the value.
    pub(super) path: FieldPath,
    /// The keyword that it violates.
    pub(super) keyword: String,
    /// The message without the path.
    pub(super) text: String,
    /// Where in the schema that keyword is.
    pub(super) in_schema: Option<FieldPath>,
}

impl Finding {
    /// A line of the original.
    pub(super) fn line(&self) -> String {
        if self.path.steps().is_empty() {
            return self.text.clone();
        }
        let steps = self.path.steps().iter().map(|step| match step {
            Step::Key(key) => text(key),
            Step::Index(index) => index.to_string(),
        });
        format!(
            "{} at [{}]",
            self.text,
            steps.collect::<Vec<_>>().join(", ")
        )
    }
}

impl Checker {
    /// Compiles a schema of Draft 4.
    pub(super) fn new(schema: Value<'static>) -> Result<Self, String> {
        let validator = compile(&schema).map_err(|error| error.to_string())?;
        Ok(Self { schema, validator })
    }

    /// The schema.
    pub(super) const fn schema(&self) -> &Value<'static> {
        &self.schema
    }

    /// The errors in a value, in the order of their places.
    pub(super) fn findings(&self, value: &Value<'static>) -> Vec<Finding> {
        let json = to_json(value);
        if self.validator.is_valid(&json) {
            return Vec::new();
        }
        let errors = self.validator.iter_errors(&json);
        let mut findings: Vec<Finding> = errors
            .flat_map(|error| self.findings_of(value, &error).unwrap_or_default())
            .collect();
        findings.sort();
        // Each of several properties that need a missing one finds all of them.
        findings.dedup_by(|one, other| one.keyword == "dependencies" && one == other);
        findings
    }

    fn findings_of(
        &self,
        value: &Value<'static>,
        error: &ValidationError<'_>,
    ) -> Option<Vec<Finding>> {
        let (instance, path) = follow(value, error.instance_path().as_str())?;
        let pointer = error.schema_path().as_str();
        let (parent, keyword) = pointer.rsplit_once('/')?;
        let (schema, schema_path) = follow(&self.schema, parent)?;
        let violation = Violation {
            instance,
            keyword,
            schema,
            kind: error.kind(),
        };
        let fits = |index: usize| self.fits(error, &format!("{pointer}/{index}"));
        let texts = messages(&violation, fits).into_iter();
        let findings = texts.map(|text| Finding {
            path: path.clone(),
            keyword: keyword.to_owned(),
            text,
            in_schema: Some(schema_path.clone().key(keyword)),
        });
        Some(findings.collect())
    }

    /// Whether the instance of an error fits the schema at a pointer.
    fn fits(&self, error: &ValidationError<'_>, pointer: &str) -> bool {
        let mut schema = self.schema.clone();
        schema.insert("$ref".into(), Value::from(format!("#{pointer}")));
        compile(&schema).is_ok_and(|validator| validator.is_valid(error.instance()))
    }
}
