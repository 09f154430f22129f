//! Sets the defaults of a schema in a value, where a validator would visit them.

use krm_yaml::{Data, Value};

use crate::references::size;
use crate::schema::checker::Checker;
use crate::schema::clock::Clock;
use crate::schema::keywords::Pair;
use crate::schema::pointer::target;
use crate::schema::problem::Problem;

/// How deep schemas may refer to one another on the way to one value.
pub(super) const MAX_DEPTH: usize = 100;

/// How many schemas are visited for the properties of one resource.
const MAX_VISITS: usize = 1_000_000;

/// The steps that a visit takes at least, for the clock.
const VISIT: usize = 64;

/// Sets the defaults of a schema in `value`.
pub(super) fn set(
    checker: &Checker,
    value: &mut Value<'static>,
    clock: &Clock<'_>,
) -> Result<(), Problem> {
    let mut walk = Walk { checker, clock, visits: MAX_VISITS, is_weighing: false };
    walk.schema(checker.schema(), value, 0)?;
    Ok(())
}

/// Whether a value fits a schema, as far as setting defaults checks it: `required` and what is in
/// `properties` are not looked at.
type Fits = bool;

struct Walk<'s, 'c> {
    checker: &'s Checker,
    clock: &'c Clock<'c>,
    visits: usize,
    /// Whether it matters if the value fits.
    is_weighing: bool,
}

impl<'s> Walk<'s, '_> {
    fn schema(
        &mut self,
        schema: &'s Value<'static>,
        value: &mut Value<'static>,
        depth: usize,
    ) -> Result<Fits, Problem> {
        self.clock.take(VISIT)?;
        self.visits = self.visits.checked_sub(1).ok_or(Problem::Endless)?;
        if depth > MAX_DEPTH {
            return Err(Problem::Endless);
        }
        if let Some(reference) = schema.str_at(&["$ref"]) {
            let target = self.target(reference)?;
            return self.schema(target, value, depth + 1);
        }
        let mut fits = match &value.data {
            Data::Mapping(_) => self.mapping(schema, value, depth)?,
            Data::Sequence(_) => self.list(schema, value, depth)?,
            Data::Scalar(_) => true,
        };
        fits &= self.branches(schema, value, depth)?;
        if let Some(not) = schema.get("not") {
            fits &= !self.schema(not, value, depth + 1)?;
        }
        Ok(fits && (!self.is_weighing || self.fits_itself(schema, value)?))
    }

    /// Visits all branches of `allOf` and `oneOf`, and of `anyOf` those up to the first that fits.
    fn branches(
        &mut self,
        schema: &'s Value<'static>,
        value: &mut Value<'static>,
        depth: usize,
    ) -> Result<Fits, Problem> {
        let of = |keyword| schema.get(keyword).and_then(Value::items);
        let mut fits = true;
        for branch in of("allOf").unwrap_or_default() {
            fits &= self.schema(branch, value, depth + 1)?;
        }
        if let Some(branches) = of("anyOf") {
            let mut fits_any = false;
            for branch in branches {
                let outer = std::mem::replace(&mut self.is_weighing, true);
                let found = self.schema(branch, value, depth + 1);
                self.is_weighing = outer;
                fits_any = found?;
                if fits_any {
                    break;
                }
            }
            fits &= fits_any;
        }
        if let Some(branches) = of("oneOf") {
            let mut fitting = 0_usize;
            for branch in branches {
                fitting += usize::from(self.schema(branch, value, depth + 1)?);
            }
            fits &= fitting == 1;
        }
        Ok(fits)
    }

    fn target(&self, reference: &str) -> Result<&'s Value<'static>, Problem> {
        target(self.checker.schema(), reference).ok_or_else(|| {
            let reference = reference.to_owned();
            if reference.starts_with('#') {
                Problem::Unresolvable(reference)
            } else {
                Problem::Elsewhere(reference)
            }
        })
    }

    fn mapping(
        &mut self,
        schema: &'s Value<'static>,
        value: &mut Value<'static>,
        depth: usize,
    ) -> Result<Fits, Problem> {
        let properties = schema.get("properties").and_then(Value::entries);
        let properties = properties.unwrap_or_default();
        for (key, property) in properties {
            self.clock.take(value.entries().map_or(0, <[_]>::len))?;
            if value.get(key).is_some() {
                continue;
            }
            let property = match property.str_at(&["$ref"]) {
                Some(reference) => self.target(reference)?,
                None => property,
            };
            if let Some(default) = property.get("default") {
                self.clock.take(size(default))?;
                value.insert(key.clone(), default.clone().without_origin());
            }
        }
        for (key, property) in properties {
            self.clock.take(value.entries().map_or(0, <[_]>::len))?;
            if let Some(value) = value.get_mut(key) {
                self.schema(property, value, depth + 1)?;
            }
        }
        let mut fits = self.other_keys(schema, properties, value, depth)?;
        let dependencies = schema.get("dependencies").and_then(Value::entries);
        for (key, dependency) in dependencies.unwrap_or_default() {
            if value.get(key).is_some() && dependency.entries().is_some() {
                fits &= self.schema(dependency, value, depth + 1)?;
            }
        }
        Ok(fits)
    }

    /// Visits the keys that `patternProperties` and `additionalProperties` describe.
    fn other_keys(
        &mut self,
        schema: &'s Value<'static>,
        properties: &[(std::borrow::Cow<'static, str>, Value<'static>)],
        value: &mut Value<'static>,
        depth: usize,
    ) -> Result<Fits, Problem> {
        let patterns = schema.get("patternProperties").and_then(Value::entries);
        let patterns = patterns.unwrap_or_default();
        let additional = schema.get("additionalProperties");
        let additional = additional.filter(|schema| schema.entries().is_some());
        let Data::Mapping(entries) = &mut value.data else {
            return Ok(true);
        };
        let mut fits = true;
        for (key, value) in entries {
            self.clock.take(properties.len())?;
            let mut is_known = properties.iter().any(|(name, _)| name == key);
            for (pattern, schema) in patterns {
                if self.checker.patterns().matches(pattern, key, self.clock)? {
                    is_known = true;
                    fits &= self.schema(schema, value, depth + 1)?;
                }
            }
            if let Some(schema) = additional.filter(|_| !is_known) {
                fits &= self.schema(schema, value, depth + 1)?;
            }
        }
        Ok(fits)
    }

    /// Whether a value fits a schema without the schemas in it.
    fn fits_itself(
        &self,
        schema: &Value<'static>,
        value: &Value<'static>,
    ) -> Result<Fits, Problem> {
        let pair = Pair { schema, value, patterns: self.checker.patterns(), clock: self.clock };
        for (keyword, _) in schema.entries().unwrap_or_default() {
            if keyword != "required" && !pair.fits(keyword)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn list(
        &mut self,
        schema: &'s Value<'static>,
        value: &mut Value<'static>,
        depth: usize,
    ) -> Result<Fits, Problem> {
        let (Some(items), Some(wanted)) = (value.items_mut(), schema.get("items")) else {
            return Ok(true);
        };
        let additional = schema.get("additionalItems");
        let additional = additional.filter(|schema| schema.entries().is_some());
        let mut fits = true;
        for (index, item) in items.iter_mut().enumerate() {
            let of_item = match wanted.items() {
                None => Some(wanted),
                Some(each) => each.get(index).or(additional),
            };
            if let Some(schema) = of_item {
                fits &= self.schema(schema, item, depth + 1)?;
            }
        }
        Ok(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::{Checker, Clock, Problem, set};
    use krm_yaml::Value;

    fn json(text: &str) -> Value<'static> {
        Value::from(serde_json::from_str::<serde_json::Value>(text).unwrap())
    }

    #[test]
    fn defaults_are_set_where_a_validator_looks() {
        for (schema, value, expected) in [
            (r#"{"properties":{"a":{"default":1}}}"#, "{}", r#"{"a":1}"#),
            (r#"{"properties":{"a":{"default":null}}}"#, "{}", r#"{"a":null}"#),
            (
                r#"{"properties":{"a":{"default":{},"properties":{"b":{"default":2}}}}}"#,
                "{}",
                r#"{"a":{"b":2}}"#,
            ),
            (r##"{"properties":{"a":{"$ref":"#/d"}},"d":{"default":3}}"##, "{}", r#"{"a":3}"#),
            (r#"{"items":{"properties":{"a":{"default":1}}}}"#, "[{},{}]", r#"[{"a":1},{"a":1}]"#),
            (
                r#"{"anyOf":[{"type":"string","properties":{"a":{"default":1}}}]}"#,
                "{}",
                r#"{"a":1}"#,
            ),
            (
                r#"{"patternProperties":{"^x":{"properties":{"a":{"default":1}}}},"additionalProperties":{"properties":{"b":{"default":2}}}}"#,
                r#"{"x1":{},"y":{}}"#,
                r#"{"x1":{"a":1},"y":{"b":2}}"#,
            ),
            (
                r#"{"dependencies":{"a":{"properties":{"b":{"default":2}}}}}"#,
                r#"{"a":1}"#,
                r#"{"a":1,"b":2}"#,
            ),
        ] {
            let mut value = json(value);
            assert!(set(&Checker::new(json(schema)), &mut value, &Clock::new(None)).is_ok());
            assert_eq!(value.to_json(), expected, "{schema}");
        }
    }

    #[test]
    fn schemas_that_refer_to_one_another_without_end_are_errors() {
        for schema in [
            r##"{"allOf":[{"$ref":"#"}]}"##,
            r##"{"$ref":"#"}"##,
            // Twice at each of many levels.
            r##"{"allOf":[{"$ref":"#/a"},{"$ref":"#/a"}],"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}"##,
        ] {
            let mut value = json("{}");
            let found = set(&Checker::new(json(schema)), &mut value, &Clock::new(None));
            assert!(matches!(found, Err(Problem::Endless)), "{schema}");
        }
    }
}
