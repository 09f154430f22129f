//! Custom resources: objects checked against the structural schemas of their definitions.
//!
//! Rules in CEL are counted, not run.
#![expect(
    clippy::too_many_lines,
    clippy::float_cmp,
    reason = "a schema has many keywords, and limits are compared as written"
)]

mod definitions;
mod formats;
mod spelling;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{Scalar, View};

use crate::scalars::integer;
use crate::walk::{Part, Walk, get, name_of, one_of};
use definitions::{Custom, Schema, Type, number};
use formats::has_format;
use spelling::to_text;

pub use definitions::Definitions;

/// How many comparisons the alternatives of an object may take; then they refuse nothing more.
const MAX_STEPS: usize = 100_000;

/// Checks a custom resource. Returns how many rules in CEL were not checked.
pub(crate) fn check<'v>(walk: &mut Walk<'v>, custom: &Custom, object: View<'v>) -> usize {
    let mut cel = 0;
    walk.is_namespaced = custom.is_namespaced;
    let mut run =
        Run { walk, cel: &mut cel, is_silent: false, keeps: false, steps: Cell::new(MAX_STEPS) };
    run.object(object, &custom.schema, true, custom.has_status);
    cel
}

struct Run<'w, 'v> {
    walk: &'w mut Walk<'v>,
    cel: &'w mut usize,
    /// In a part that is not stored: only unknown fields are found.
    is_silent: bool,
    /// Whether unknown fields of this item are kept.
    keeps: bool,
    /// The comparisons of alternatives that are left.
    steps: Cell<usize>,
}

impl<'v> Run<'_, 'v> {
    fn refuse(&mut self, value: View<'v>, what: &str) {
        if !self.is_silent {
            self.walk.refuse(value, &[], what);
        }
    }

    /// Checks a value under a key or in a list.
    fn value(&mut self, value: View<'v>, schema: &Schema) {
        if self.walk.is_unknown(value) {
            return;
        }
        if value.is_null() {
            return;
        }
        *self.cel += schema.cel;
        if schema.is_int_or_string {
            let fits = match value.scalar() {
                Some(Scalar::Number(digits)) => integer(&digits).is_some(),
                Some(Scalar::String(_)) => true,
                _ => false,
            };
            if !fits {
                self.refuse(value, "must be an integer or a text");
                return;
            }
        } else if let Some(of) = schema.of
            && !is_of(value, of)
        {
            let expected = match of {
                Type::Object => "a mapping",
                Type::Array => "a list",
                Type::Text => "a string",
                Type::Integer => "an integer",
                Type::Number => "a number",
                Type::Bool => "`true` or `false`",
            };
            self.refuse(
                value,
                &format!("is {}; the API server expects {expected}", name_of(value)),
            );
            return;
        }
        if value.is_mapping() {
            self.object(value, schema, false, false);
        } else if value.is_sequence() {
            self.list(value, schema);
        }
        if let Some(what) = wrong(value, schema) {
            self.refuse(value, &what);
        }
        self.logic(value, schema);
    }

    fn object(&mut self, object: View<'v>, schema: &Schema, is_root: bool, has_status: bool) {
        let is_resource = is_root || schema.is_object;
        let keeps = std::mem::take(&mut self.keeps);
        if is_root {
            *self.cel += schema.cel;
        }
        for (key, value) in object.entries().into_iter().flatten() {
            if self.walk.is_placeholder_text(&key) {
                continue;
            }
            if is_resource && matches!(key.as_ref(), "apiVersion" | "kind" | "metadata") {
                if key == "metadata" {
                    self.walk.metadata(value);
                } else if value.as_str().is_none() && !value.is_null() {
                    self.walk.within(Part::Key(key), value, |walk| {
                        walk.refuse(value, &[], "must be a text");
                    });
                }
                continue;
            }
            let inner = schema.properties.get(key.as_ref()).or(schema.additional.as_deref());
            let Some(inner) = inner else {
                if !schema.keeps_unknown && !keeps && schema.of == Some(Type::Object) {
                    let known = schema.properties.keys().map(String::as_str);
                    self.walk.not_a_field(object, key, value, "its definition", known);
                }
                continue;
            };
            let was_silent = self.is_silent;
            self.is_silent |= is_root && has_status && key == "status";
            self.walk.enter(Part::Key(key), value);
            self.value(value, inner);
            self.walk.leave();
            self.is_silent = was_silent;
        }
        let needed = !schema.required.is_empty();
        let entries = object.entries().filter(|_| needed).into_iter().flatten();
        let present: BTreeMap<_, _> = entries.collect();
        for name in &schema.required {
            let inner = schema.properties.get(name);
            // Null is like none, unless it is allowed.
            let is_nullable = inner.is_some_and(|inner| inner.is_nullable);
            let is_there =
                present.get(name.as_str()).is_some_and(|value| is_nullable || !value.is_null());
            if is_resource && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
                continue;
            }
            let is_dropped = is_root && has_status && name == "status";
            if !is_there
                && inner.is_none_or(|inner| inner.default.is_none())
                && !self.is_silent
                && !is_dropped
            {
                self.walk.missing(object, &[Part::Key(name.clone().into())]);
            }
        }
        if is_root {
            if get(object, "metadata").is_none() {
                self.walk.missing(object, &[Part::from("metadata"), Part::from("name")]);
            }
            if let Some(what) = wrong(object, schema) {
                self.refuse(object, &what);
            }
            self.logic(object, schema);
        }
    }

    fn list(&mut self, value: View<'v>, schema: &Schema) {
        for (index, item) in value.items().into_iter().flatten().enumerate() {
            if let Some(items) = &schema.items {
                self.walk.enter(Part::Index(index), item);
                if item.is_null() && !items.is_nullable {
                    self.refuse(item, "must not be null");
                }
                // A list that keeps unknown fields keeps those of its items.
                let was_keeping = std::mem::replace(&mut self.keeps, schema.keeps_unknown);
                self.value(item, items);
                self.keeps = was_keeping;
                self.walk.leave();
            }
        }
        if !schema.is_set || self.walk.holds_placeholder(value) {
            return;
        }
        let mut seen = BTreeSet::new();
        for (index, item) in value.items().into_iter().flatten().enumerate() {
            let key = if schema.keys.is_empty() {
                to_text(item)
            } else {
                let default = |key: &String| {
                    let property =
                        schema.items.as_ref().and_then(|items| items.properties.get(key));
                    property.is_some_and(|property| property.default.is_some())
                };
                // A default is not known here: the key could be the same.
                if schema.keys.iter().any(|key| item.get(key).is_none() && default(key)) {
                    continue;
                }
                schema
                    .keys
                    .iter()
                    .map(|key| item.get(key).map_or_else(String::new, to_text))
                    .collect::<Vec<_>>()
                    .join("\0")
            };
            if !seen.insert(key) && !self.is_silent {
                let what = if schema.keys.is_empty() {
                    "must be unique".to_owned()
                } else {
                    let keys: Vec<String> =
                        schema.keys.iter().map(|key| format!("`{key}`")).collect();
                    format!("must differ from the other items in {}", one_of(&keys))
                };
                self.walk.refuse(value, &[Part::Index(index)], &what);
            }
        }
    }

    fn logic(&mut self, value: View<'v>, schema: &Schema) {
        let is_plain = schema.any.is_empty()
            && schema.one.is_empty()
            && schema.all.is_empty()
            && schema.not.is_none();
        if is_plain || self.is_silent || self.walk.holds_placeholder(value) {
            return;
        }
        let fit = |one: &Schema| fits(value, one, Some(schema), &self.steps);
        let mut problems = Vec::new();
        if !schema.any.is_empty() && !schema.any.iter().any(fit) {
            problems.push("fits none of the alternatives of its schema (`anyOf`)");
        }
        if !schema.one.is_empty() {
            match schema.one.iter().filter(|one| fit(one)).count() {
                1 => {}
                0 => problems.push("fits none of the alternatives of its schema (`oneOf`)"),
                _ => {
                    problems.push("fits more than one of the alternatives of its schema (`oneOf`)");
                }
            }
        }
        if !schema.all.iter().all(fit) {
            problems.push("does not fit all parts of its schema (`allOf`)");
        }
        if schema.not.as_deref().is_some_and(fit) {
            problems.push("has what its schema excludes (`not`)");
        }
        if self.steps.get() > 0 {
            for problem in problems {
                self.refuse(value, problem);
            }
        }
    }
}

fn is_of(value: View<'_>, of: Type) -> bool {
    match of {
        Type::Object => value.is_mapping(),
        Type::Array => value.is_sequence(),
        Type::Text => value.as_str().is_some(),
        Type::Bool => matches!(value.scalar(), Some(Scalar::Bool(_))),
        Type::Number => matches!(value.scalar(), Some(Scalar::Number(_))),
        Type::Integer => number(value).is_some_and(|number| number.fract() == 0.0),
    }
}

/// Whether a value fits a schema among alternatives, or the steps are at an end. Absent fields have the defaults of the schema
/// that it is an alternative of.
fn fits(value: View<'_>, schema: &Schema, around: Option<&Schema>, steps: &Cell<usize>) -> bool {
    let entries = value.entries().map_or(0, Iterator::count);
    let fields = schema.properties.len() + schema.required.len();
    let cost = 1 + entries.saturating_mul(fields);
    steps.set(steps.get().saturating_sub(cost));
    if steps.get() == 0 {
        return true;
    }
    if schema.of.is_some_and(|of| !is_of(value, of)) || wrong(value, schema).is_some() {
        return false;
    }
    let inner_of = |name: &str| around.and_then(|around| around.properties.get(name));
    // Null is like none.
    let is_there = |name: &str| {
        get(value, name).is_some() || inner_of(name).is_some_and(|one| one.default.is_some())
    };
    if value.is_mapping() {
        let has_all = schema.required.iter().all(|name| is_there(name));
        let fits_in = |name: &str, schema: &Schema| {
            let inner = inner_of(name);
            let given = get(value, name).is_none_or(|value| fits(value, schema, inner, steps));
            let default = inner.and_then(|inner| inner.default.as_ref());
            let default = default.filter(|_| get(value, name).is_none());
            given && default.is_none_or(|default| fits(View::of(default), schema, inner, steps))
        };
        let fit = schema.properties.iter().all(|(name, inner)| fits_in(name, inner));
        let others = schema.additional.as_ref().is_none_or(|inner| {
            value.entries().into_iter().flatten().all(|(key, value)| {
                schema.properties.contains_key(key.as_ref()) || fits(value, inner, None, steps)
            })
        });
        if !has_all || !fit || !others {
            return false;
        }
    }
    if let Some(items) = &schema.items {
        let inner = around.and_then(|around| around.items.as_deref());
        if !value.items().into_iter().flatten().all(|item| fits(item, items, inner, steps)) {
            return false;
        }
    }
    schema.all.iter().all(|one| fits(value, one, around, steps))
        && (schema.any.is_empty() || schema.any.iter().any(|one| fits(value, one, around, steps)))
        && (schema.one.is_empty()
            || schema.one.iter().filter(|one| fits(value, one, around, steps)).count() == 1)
        && schema.not.as_ref().is_none_or(|not| !fits(value, not, around, steps))
}

/// The mistake of a value itself, if it has one.
fn wrong(value: View<'_>, schema: &Schema) -> Option<String> {
    if !schema.words.is_empty() && !schema.words.contains(&to_text(value)) {
        let more = schema.words.len() > schema.named.len();
        let words = one_of(&schema.named);
        return Some(match words.as_str() {
            "" => "must be one of the values that its schema allows".to_owned(),
            _ if more => format!("must be {words}, or another value that its schema allows"),
            _ => format!("must be {words}"),
        });
    }
    let between = |count: usize, limits: (Option<usize>, Option<usize>), what: &str| {
        if limits.0.is_some_and(|least| count < least) {
            return Some(format!("must have at least {} {what}", limits.0.unwrap_or_default()));
        }
        limits
            .1
            .is_some_and(|most| count > most)
            .then(|| format!("must have at most {} {what}", limits.1.unwrap_or_default()))
    };
    if value.is_mapping() {
        return between(value.entries().into_iter().flatten().count(), schema.entries, "entries");
    }
    if value.is_sequence() {
        return between(value.items().into_iter().flatten().count(), schema.count, "items");
    }
    match value.scalar()? {
        Scalar::String(text) => {
            let length = between(text.chars().count(), schema.length, "characters");
            let pattern = || {
                let (pattern, source) = schema.pattern.as_ref()?;
                (!pattern.is_match(&text)).then(|| format!("must match `{source}`"))
            };
            let format = || {
                let format = schema.format.as_deref()?;
                (!has_format(&text, format)).then(|| format!("must be of the format `{format}`"))
            };
            length.or_else(pattern).or_else(format)
        }
        Scalar::Number(digits) => {
            let number: f64 = digits.parse().ok()?;
            if let Some((least, is_more)) = schema.least
                && (number < least || (is_more && number == least))
            {
                let word = if is_more { "more than" } else { "at least" };
                return Some(format!("must be {word} {least}"));
            }
            if let Some((most, is_less)) = schema.most
                && (number > most || (is_less && number == most))
            {
                let word = if is_less { "less than" } else { "at most" };
                return Some(format!("must be {word} {most}"));
            }
            if schema
                .multiple
                .is_some_and(|multiple| multiple > 0.0 && (number / multiple).fract() != 0.0)
            {
                return Some(format!(
                    "must be a multiple of {}",
                    schema.multiple.unwrap_or_default()
                ));
            }
            let limit = match schema.format.as_deref() {
                Some("int32") => f64::from(i32::MAX),
                Some("int64") => 9.3e18,
                _ => return None,
            };
            (schema.of == Some(Type::Integer) && number.abs() > limit + 1.0)
                .then(|| "must be a smaller integer".to_owned())
        }
        _ => None,
    }
}
