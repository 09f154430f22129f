//! Keywords that check a value itself, and their messages in the words of Python's jsonschema.
//!
//! Semantics: `jsonschema/_validators.py` and `_legacy_validators.py` of version 3.2.0, Draft 4.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use krm_yaml::scalar::Scalar;
use krm_yaml::{Data, Value};

use crate::references::size;
use crate::repr::{quoted, quoted_text as text};
use crate::schema::clock::Clock;
use crate::schema::numbers::{compare, identity, is_integer, is_multiple};
use crate::schema::patterns::Patterns;
use crate::schema::problem::Problem;

/// The most names in a message; more would be cut from it.
const MAX_NAMED: usize = 1_000;

/// A value, and the schema that it should fit.
#[derive(Clone, Copy)]
pub(super) struct Pair<'p> {
    pub(super) schema: &'p Value<'static>,
    pub(super) value: &'p Value<'static>,
    /// The regular expressions of the schema.
    pub(super) patterns: &'p Patterns,
    pub(super) clock: &'p Clock<'p>,
}

impl<'p> Pair<'p> {
    /// Whether the value fits a keyword of the schema, apart from the schemas that it has.
    pub(super) fn fits(self, keyword: &str) -> Result<bool, Problem> {
        let Some(limit) = self.schema.get(keyword) else {
            return Ok(true);
        };
        let value = self.value;
        Ok(match keyword {
            "type" => is_of_types(value, limit),
            "enum" => {
                self.clock.take(size(value).saturating_add(size(limit)))?;
                let found = identity(value);
                let mut allowed = limit.items().unwrap_or_default().iter();
                allowed.any(|one| identity(one) == found)
            }
            "pattern" => match (limit.as_str(), value.as_str()) {
                (Some(pattern), Some(text)) => self.matches(pattern, text)?,
                _ => true,
            },
            "required" => self.missing()?.is_empty(),
            "dependencies" => self.needed()?.is_empty(),
            "additionalProperties" if is_false(limit) => self.additional()?.is_empty(),
            "additionalItems" if is_false(limit) => self.additional_items().is_empty(),
            "minLength" => !is_length(value, limit, Ordering::Less),
            "maxLength" => !is_length(value, limit, Ordering::Greater),
            "minItems" => !is_count(value.items().map(<[_]>::len), limit, Ordering::Less),
            "maxItems" => !is_count(value.items().map(<[_]>::len), limit, Ordering::Greater),
            "minProperties" => !is_count(value.entries().map(<[_]>::len), limit, Ordering::Less),
            "maxProperties" => !is_count(value.entries().map(<[_]>::len), limit, Ordering::Greater),
            "minimum" => !self.is_beyond(limit, Ordering::Less, "exclusiveMinimum"),
            "maximum" => !self.is_beyond(limit, Ordering::Greater, "exclusiveMaximum"),
            "multipleOf" => is_multiple(value, limit),
            "uniqueItems" if !is_false(limit) => {
                self.clock.take(size(value))?;
                let mut known = BTreeSet::new();
                let mut items = value.items().unwrap_or_default().iter();
                items.all(|item| known.insert(identity(item)))
            }
            _ => true,
        })
    }

    /// The messages about a keyword that the value does not fit.
    pub(super) fn messages(self, keyword: &str) -> Result<Vec<String>, Problem> {
        let found = quoted(self.value);
        let limit = self.schema.get(keyword).map(quoted).unwrap_or_default();
        let message = match keyword {
            "type" => {
                let types = types_of(self.schema.get("type"));
                let types: Vec<String> = types.iter().take(MAX_NAMED).map(quoted).collect();
                format!("{found} is not of type {}", types.join(", "))
            }
            "required" => {
                let missing = self.missing()?.into_iter().map(text);
                return Ok(missing.map(|name| format!("{name} is a required property")).collect());
            }
            "dependencies" => {
                let needed = self.needed()?.into_iter();
                let needed = needed.map(|(key, name)| (text(key), text(name)));
                return Ok(needed
                    .map(|(key, name)| format!("{name} is a dependency of {key}"))
                    .collect());
            }
            "enum" => format!("{found} is not one of {limit}"),
            "pattern" => format!("{found} does not match {limit}"),
            "additionalProperties" => self.additional_properties_message()?,
            "additionalItems" => {
                let items = self.additional_items();
                let items: Vec<String> = items.iter().take(MAX_NAMED).map(quoted).collect();
                let was = if items.len() == 1 { "was" } else { "were" };
                let items = items.join(", ");
                format!("Additional items are not allowed ({items} {was} unexpected)")
            }
            "minLength" | "minItems" => format!("{found} is too short"),
            "maxLength" | "maxItems" => format!("{found} is too long"),
            "minimum" => {
                let or_equal = self.or_equal("exclusiveMinimum");
                format!("{found} is less than {or_equal}the minimum of {limit}")
            }
            "maximum" => {
                let or_equal = self.or_equal("exclusiveMaximum");
                format!("{found} is greater than {or_equal}the maximum of {limit}")
            }
            "multipleOf" => format!("{found} is not a multiple of {limit}"),
            "uniqueItems" => format!("{found} has non-unique elements"),
            "minProperties" => format!("{found} does not have enough properties"),
            "maxProperties" => format!("{found} has too many properties"),
            "anyOf" | "oneOf" => format!("{found} is not valid under any of the given schemas"),
            "not" => format!("{limit} is not allowed for {found}"),
            _ => format!("{found} does not fit `{keyword}`"),
        };
        Ok(vec![message])
    }

    /// A property of the value, found in steps of the clock.
    pub(super) fn property(self, name: &str) -> Result<Option<&'p Value<'static>>, Problem> {
        self.clock.take(self.value.entries().map_or(0, <[_]>::len))?;
        Ok(self.value.get(name))
    }

    /// Whether a regular expression matches a text.
    pub(super) fn matches(self, pattern: &str, text: &str) -> Result<bool, Problem> {
        self.patterns.matches(pattern, text, self.clock)
    }

    /// The required properties that the value does not have.
    fn missing(self) -> Result<Vec<&'p str>, Problem> {
        let is_mapping = self.value.entries().is_some();
        let required = self.schema.get("required").and_then(Value::items);
        let required = required.filter(|_| is_mapping).unwrap_or_default().iter();
        self.absent(required.filter_map(Value::as_str))
    }

    /// Those of these properties that the value does not have.
    fn absent(self, names: impl Iterator<Item = &'p str>) -> Result<Vec<&'p str>, Problem> {
        let mut absent = Vec::new();
        for name in names {
            if self.property(name)?.is_none() {
                absent.push(name);
            }
        }
        Ok(absent)
    }

    /// The properties that the value has, and those that they need and it does not have.
    fn needed(self) -> Result<Vec<(&'p str, &'p str)>, Problem> {
        let dependencies = self.schema.get("dependencies").and_then(Value::entries);
        let mut missing = Vec::new();
        for (key, needed) in dependencies.unwrap_or_default() {
            if self.property(key)?.is_none() {
                continue;
            }
            let one = needed.as_str().into_iter();
            let several = needed.items().unwrap_or_default().iter();
            let names = one.chain(several.filter_map(Value::as_str));
            let absent = self.absent(names)?.into_iter();
            missing.extend(absent.map(|name| (key.as_ref(), name)));
        }
        Ok(missing)
    }

    /// Whether `properties` or `patternProperties` describe a property with this name.
    pub(super) fn describes(self, name: &str) -> Result<bool, Problem> {
        let properties = self.schema.get("properties");
        let known = properties.and_then(Value::entries).map_or(0, <[_]>::len);
        self.clock.take(known)?;
        if properties.is_some_and(|properties| properties.get(name).is_some()) {
            return Ok(true);
        }
        let patterns = self.schema.get("patternProperties").and_then(Value::entries);
        for (pattern, _) in patterns.unwrap_or_default() {
            if self.matches(pattern, name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The properties that neither `properties` nor `patternProperties` describe.
    pub(super) fn additional(self) -> Result<Vec<(&'p str, &'p Value<'static>)>, Problem> {
        let mut additional = Vec::new();
        for (name, value) in self.value.entries().unwrap_or_default() {
            if !self.describes(name)? {
                additional.push((name.as_ref(), value));
            }
        }
        Ok(additional)
    }

    fn additional_properties_message(self) -> Result<String, Problem> {
        let additional = self.additional()?.into_iter();
        let mut names: Vec<&str> = additional.map(|(name, _)| name).collect();
        let patterns = self.schema.get("patternProperties").and_then(Value::entries);
        let Some(patterns) = patterns else {
            let was = if names.len() == 1 { "was" } else { "were" };
            let names = listed(&names);
            return Ok(format!("Additional properties are not allowed ({names} {was} unexpected)"));
        };
        names.sort_by_cached_key(|name| text(name));
        let patterns = patterns.iter().map(|(pattern, _)| pattern.as_ref());
        let mut patterns: Vec<&str> = patterns.collect();
        patterns.sort_by_cached_key(|pattern| text(pattern));
        let does = if names.len() == 1 { "does" } else { "do" };
        let (names, patterns) = (listed(&names), listed(&patterns));
        Ok(format!("{names} {does} not match any of the regexes: {patterns}"))
    }

    /// The items after those that `items` describes one by one.
    pub(super) fn additional_items(self) -> &'p [Value<'static>] {
        let described = self.schema.get("items").and_then(Value::items);
        let items = described.and_then(|described| self.value.items()?.get(described.len()..));
        items.unwrap_or_default()
    }

    fn is_exclusive(self, keyword: &str) -> bool {
        self.schema.get(keyword).is_some_and(|flag| !is_false(flag))
    }

    fn or_equal(self, keyword: &str) -> &'static str {
        if self.is_exclusive(keyword) { "or equal to " } else { "" }
    }

    fn is_beyond(self, limit: &Value<'static>, beyond: Ordering, exclusive: &str) -> bool {
        let order = compare(self.value, limit);
        order == Some(beyond) || (order == Some(Ordering::Equal) && self.is_exclusive(exclusive))
    }
}

/// The first names of a list.
fn listed(names: &[&str]) -> String {
    let names = names.iter().take(MAX_NAMED).map(|name| text(name));
    names.collect::<Vec<_>>().join(", ")
}

fn is_false(value: &Value<'_>) -> bool {
    matches!(value.data, Data::Scalar(Scalar::Bool(false)))
}

/// The names of the types in a `type`, which is one name or a list.
fn types_of<'v>(types: Option<&'v Value<'static>>) -> &'v [Value<'static>] {
    match types {
        Some(types) => types.items().unwrap_or(std::slice::from_ref(types)),
        None => &[],
    }
}

fn is_of_types(value: &Value<'_>, types: &Value<'static>) -> bool {
    types_of(Some(types)).iter().filter_map(Value::as_str).any(|name| match &value.data {
        Data::Scalar(Scalar::Null) => name == "null",
        Data::Scalar(Scalar::Bool(_)) => name == "boolean",
        Data::Scalar(Scalar::String(_)) => name == "string",
        Data::Scalar(Scalar::Number(_)) => {
            name == "number" || (name == "integer" && is_integer(value))
        }
        Data::Sequence(_) => name == "array",
        Data::Mapping(_) => name == "object",
    })
}

fn is_length(value: &Value<'_>, limit: &Value<'_>, order: Ordering) -> bool {
    is_count(value.as_str().map(|text| text.chars().count()), limit, order)
}

/// Whether a count is so in relation to a limit; without a count, it is not.
fn is_count(count: Option<usize>, limit: &Value<'_>, order: Ordering) -> bool {
    let count = count.map(|count| Value::number(count.to_string()));
    count.is_some_and(|count| compare(&count, limit) == Some(order))
}
