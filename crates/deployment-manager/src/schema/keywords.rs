//! Keywords that check a value itself, and what is wrong with one that does not fit.
//!
//! Semantics: `jsonschema/_validators.py` and `_legacy_validators.py` of version 3.2.0, Draft 4.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use krm_yaml::scalar::Scalar;
use krm_yaml::shorten::{MAX_QUOTED, start};
use krm_yaml::{Data, Value};

use crate::references::size;
use crate::schema::deadline::Deadline;
use crate::schema::numbers::{compare, identity, is_integer, is_multiple};
use crate::schema::patterns::Patterns;
use crate::schema::problem::Problem;
use crate::yaml::kind_of;

/// The most names in a message.
const MAX_NAMED: usize = 20;

/// A value, and the schema that it should fit.
#[derive(Clone, Copy)]
pub(super) struct Pair<'p> {
    pub(super) schema: &'p Value<'static>,
    pub(super) value: &'p Value<'static>,
    /// The regular expressions of the schema.
    pub(super) patterns: &'p Patterns,
    pub(super) deadline: &'p Deadline<'p>,
}

impl<'p> Pair<'p> {
    /// Returns the violations of a keyword, apart from those of its subschemas.
    pub(super) fn wrong(self, keyword: &str) -> Result<Vec<String>, Problem> {
        let Some(limit) = self.schema.get(keyword) else {
            return Ok(Vec::new());
        };
        let wrong = match keyword {
            "required" => {
                let names = limit.items().unwrap_or_default().iter().filter_map(Value::as_str);
                let missing = self.absent(names)?.into_iter();
                return Ok(missing.map(|name| format!("must have {}", quoted(name))).collect());
            }
            "dependencies" => return self.needed(limit),
            "type" => (!is_of_types(self.value, limit)).then(|| {
                format!(
                    "must be of type {}, found {}",
                    listed(types_of(limit), " or "),
                    kind_of(self.value)
                )
            }),
            "enum" => {
                self.deadline.take(size(self.value).saturating_add(size(limit)))?;
                let allowed = limit.items().unwrap_or_default();
                let found = identity(self.value);
                let is_allowed = allowed.iter().any(|one| identity(one) == found);
                (!is_allowed).then(|| format!("must be {}", listed(allowed, " or ")))
            }
            "pattern" => match (limit.as_str(), self.value.as_str()) {
                (Some(pattern), Some(text)) if !self.matches(pattern, text)? => {
                    Some(format!("must match {}", shown(limit)))
                }
                _ => None,
            },
            "additionalProperties" if is_false(limit) => {
                let names = self.additional()?.into_iter().map(|(_, name)| Value::string(name));
                let names: Vec<_> = names.take(MAX_NAMED + 1).collect();
                (!names.is_empty()).then(|| format!("must not have {}", listed(&names, ", ")))
            }
            "additionalItems" if is_false(limit) => match self.additional_items() {
                0 => None,
                _ => Some("must not have more items than the schema".to_owned()),
            },
            "uniqueItems" if !is_false(limit) => {
                self.deadline.take(size(self.value))?;
                let mut known = BTreeSet::new();
                let mut items = self.value.items().unwrap_or_default().iter();
                let is_unique = items.all(|item| known.insert(identity(item)));
                (!is_unique).then(|| "must not have equal items".to_owned())
            }
            "multipleOf" => (!is_multiple(self.value, limit))
                .then(|| format!("must be a multiple of {}", shown(limit))),
            "minimum" => self.beyond(limit, Ordering::Less, "exclusiveMinimum"),
            "maximum" => self.beyond(limit, Ordering::Greater, "exclusiveMaximum"),
            _ => self.sized(keyword, limit),
        };
        Ok(wrong.into_iter().collect())
    }

    /// What is wrong with the length or the number of parts.
    fn sized(self, keyword: &str, limit: &Value<'_>) -> Option<String> {
        let (count, parts) = match keyword {
            "minLength" | "maxLength" => (self.value.as_str()?.chars().count(), "characters"),
            "minItems" | "maxItems" => (self.value.items()?.len(), "items"),
            "minProperties" | "maxProperties" => (self.value.entries()?.len(), "properties"),
            _ => return None,
        };
        let order = compare(&Value::number(count.to_string()), limit)?;
        let (beyond, bound) = if keyword.starts_with("min") {
            (Ordering::Less, "at least")
        } else {
            (Ordering::Greater, "at most")
        };
        (order == beyond).then(|| format!("must have {bound} {} {parts}", shown(limit)))
    }

    fn beyond(self, limit: &Value<'_>, beyond: Ordering, exclusive: &str) -> Option<String> {
        let is_exclusive = self.schema.get(exclusive).is_some_and(|flag| !is_false(flag));
        let order = compare(self.value, limit)?;
        let is_beyond = order == beyond || (is_exclusive && order.is_eq());
        let bound = match (beyond, is_exclusive) {
            (Ordering::Less, false) => "at least",
            (Ordering::Less, true) => "more than",
            (_, false) => "at most",
            (_, true) => "less than",
        };
        is_beyond.then(|| format!("must be {bound} {}", shown(limit)))
    }

    /// Which property of the value has this name.
    pub(super) fn position(self, name: &str) -> Result<Option<usize>, Problem> {
        let entries = self.value.entries().unwrap_or_default();
        self.deadline.take(entries.len())?;
        Ok(entries.iter().position(|(key, _)| key == name))
    }

    /// Whether a regular expression matches a text.
    pub(super) fn matches(self, pattern: &str, text: &str) -> Result<bool, Problem> {
        self.patterns.matches(pattern, text, self.deadline)
    }

    /// Those of these properties that the value does not have, if it is a mapping.
    fn absent(self, names: impl Iterator<Item = &'p str>) -> Result<Vec<&'p str>, Problem> {
        let mut absent = Vec::new();
        if self.value.entries().is_some() {
            for name in names {
                if self.position(name)?.is_none() {
                    absent.push(name);
                }
            }
        }
        Ok(absent)
    }

    /// The properties that others need and the value does not have.
    fn needed(self, dependencies: &'p Value<'static>) -> Result<Vec<String>, Problem> {
        let mut missing = Vec::new();
        for (key, needed) in dependencies.entries().unwrap_or_default() {
            if self.position(key)?.is_some() {
                let names = types_of(needed).iter().filter_map(Value::as_str);
                let absent = self.absent(names)?.into_iter();
                missing.extend(
                    absent
                        .map(|name| format!("must have {} next to {}", quoted(name), quoted(key))),
                );
            }
        }
        Ok(missing)
    }

    /// Whether `properties` or `patternProperties` describe a property with this name.
    fn describes(self, name: &str) -> Result<bool, Problem> {
        let entries = |keyword| self.schema.get(keyword).and_then(Value::entries);
        let properties = entries("properties").unwrap_or_default();
        self.deadline.take(properties.len())?;
        if properties.iter().any(|(key, _)| key == name) {
            return Ok(true);
        }
        for (pattern, _) in entries("patternProperties").unwrap_or_default() {
            if self.matches(pattern, name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The properties that neither `properties` nor `patternProperties` describe, with their indexes.
    pub(super) fn additional(self) -> Result<Vec<(usize, &'p str)>, Problem> {
        let mut additional = Vec::new();
        for (index, (name, _)) in self.value.entries().unwrap_or_default().iter().enumerate() {
            if !self.describes(name)? {
                additional.push((index, name.as_ref()));
            }
        }
        Ok(additional)
    }

    /// The number of items after those that `items` describes one by one.
    pub(super) fn additional_items(self) -> usize {
        let described = self.schema.get("items").and_then(Value::items);
        let items = self.value.items().unwrap_or_default();
        described.map_or(0, |described| items.len().saturating_sub(described.len()))
    }
}

/// The first values of a list, as messages show them.
fn listed(values: &[Value<'_>], separator: &str) -> String {
    let mut texts: Vec<String> = values.iter().take(MAX_NAMED).map(shown).collect();
    if values.len() > MAX_NAMED {
        texts.push("…".to_owned());
    }
    texts.join(separator)
}

fn quoted(name: &str) -> String {
    format!("`{}`", start(name, MAX_QUOTED))
}

fn shown(value: &Value<'_>) -> String {
    match value.as_str() {
        Some(text) => quoted(text),
        None => start(&value.to_json(), MAX_QUOTED),
    }
}

fn is_false(value: &Value<'_>) -> bool {
    matches!(value.data, Data::Scalar(Scalar::Bool(false)))
}

/// The names in a `type` or a dependency, which is one name or a list.
fn types_of<'v>(types: &'v Value<'static>) -> &'v [Value<'static>] {
    types.items().unwrap_or(std::slice::from_ref(types))
}

fn is_of_types(value: &Value<'_>, types: &Value<'static>) -> bool {
    types_of(types).iter().filter_map(Value::as_str).any(|name| match &value.data {
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
