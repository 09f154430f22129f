//! Finds properties that a schema allows, but does not have.

use krm_core::secret_places::is_name_of_secret;
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::suggest::closest;
use krm_yaml::{Data, FieldPath, Value};

use crate::repr;
use crate::schema::deadline::Deadline;
use crate::schema::problem::Problem;
use crate::yaml::Located;

/// The keywords with which a schema may have further properties.
const OPEN: &[&str] =
    &["$ref", "additionalProperties", "allOf", "anyOf", "oneOf", "patternProperties"];

/// Warns about the properties of a resource that its schema does not have.
pub(super) fn properties(
    resource: Located<'_>,
    schema: &Value<'static>,
    deadline: &Deadline<'_>,
    warnings: &mut Diagnostics,
) -> Result<(), Problem> {
    let Some(properties) = resource.value.get("properties") else {
        return Ok(());
    };
    let look = Look { resource, deadline };
    look.below(properties, schema, &FieldPath::root(), warnings)
}

/// The resource whose properties are looked at.
struct Look<'l> {
    resource: Located<'l>,
    deadline: &'l Deadline<'l>,
}

impl Look<'_> {
    fn below(
        &self,
        value: &Value<'_>,
        schema: &Value<'static>,
        path: &FieldPath,
        warnings: &mut Diagnostics,
    ) -> Result<(), Problem> {
        match &value.data {
            Data::Scalar(_) => {}
            Data::Sequence(items) => {
                let Some(schema) = schema.get("items") else {
                    return Ok(());
                };
                for (index, item) in items.iter().enumerate() {
                    self.below(item, schema, &path.clone().index(index), warnings)?;
                }
            }
            Data::Mapping(entries) => {
                let known = schema.get("properties").and_then(Value::entries);
                let known = known.unwrap_or_default();
                let is_open = known.is_empty() || OPEN.iter().any(|key| schema.get(key).is_some());
                for (key, value) in entries {
                    self.deadline.take(known.len())?;
                    let path = path.clone().key(key.as_ref());
                    match known.iter().find(|(name, _)| name == key) {
                        Some((_, schema)) => self.below(value, schema, &path, warnings)?,
                        None if is_open => {}
                        None => {
                            self.deadline.take(known.len().saturating_mul(COMPARISON))?;
                            let names = known.iter().map(|(name, _)| name.as_ref());
                            let near = closest(key, names);
                            warnings.push(unknown(self.resource, &path, value, near));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// The steps of comparing two names for "did you mean".
const COMPARISON: usize = 64;

fn unknown(
    resource: Located<'_>,
    path: &FieldPath,
    value: &Value<'_>,
    near: Option<&str>,
) -> Diagnostic {
    let name = resource.value.get("name").map(repr::text);
    let name = name.unwrap_or_default();
    let message = format!("property `{path}` of `{name}` is not in the schema");
    let hint = near.map_or_else(
        || "remove it, or add it to the `properties` of the schema".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    let is_secret = path.to_string().split(['.', '[']).any(is_name_of_secret);
    let warning =
        Diagnostic::warning(message).rule("dm-unknown-property").conceal(is_secret).hint(hint);
    Located { value, document: resource.document }.mark_key(warning)
}
