//! Custom resources: objects checked against the structural schemas of their definitions.
//!
//! Rules in CEL are counted, not run.
#![expect(
    clippy::too_many_lines,
    clippy::float_cmp,
    reason = "a schema has many keywords, and limits are compared as written"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use krm_yaml::{Data, Scalar, Value, View};
use regex_lite::Regex;

use crate::formats::{is_ipv4, is_subdomain};
use crate::scalars::{integer, is_base64, is_time};
use crate::walk::{Part, Walk, get, is_true, list, name_of, one_of, text};

/// The definitions of custom resources that are known.
#[derive(Default)]
pub struct Definitions {
    kinds: BTreeMap<(String, String), Arc<Custom>>,
}

/// One version of a kind.
pub(crate) struct Custom {
    schema: Schema,
    /// Its status is set by others, and not by who creates it.
    has_status: bool,
    is_served: bool,
    is_namespaced: bool,
}

impl Definitions {
    /// Adds the versions of a CustomResourceDefinition. Returns whether it is one.
    pub fn add(&mut self, object: View<'_>) -> bool {
        let is_definition = object
            .str_at(&["kind"])
            .is_some_and(|kind| kind == "CustomResourceDefinition")
            && object
                .str_at(&["apiVersion"])
                .is_some_and(|version| version.starts_with("apiextensions.k8s.io/"));
        let spec = get(object, "spec").filter(|_| is_definition);
        let names = spec.and_then(|spec| get(spec, "names"));
        let (Some(spec), Some(kind)) = (spec, names.and_then(|names| text(names, "kind"))) else {
            return false;
        };
        let group = text(spec, "group").unwrap_or_default();
        for version in list(spec, "versions") {
            let Some(name) = text(version, "name") else {
                continue;
            };
            let schema = version.at(&["schema", "openAPIV3Schema"]);
            let custom = Custom {
                schema: schema.map_or_else(Schema::anything, |schema| Schema::read(schema, 0)),
                has_status: version.at(&["subresources", "status"]).is_some(),
                is_namespaced: text(spec, "scope").as_deref() != Some("Cluster"),
                is_served: version.get("served").and_then(View::scalar)
                    != Some(Scalar::Bool(false)),
            };
            self.kinds.insert(
                (format!("{group}/{name}"), kind.to_string()),
                Arc::new(custom),
            );
        }
        true
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    pub(crate) fn get(&self, api_version: &str, kind: &str) -> Option<&Arc<Custom>> {
        let key = (api_version.to_owned(), kind.to_owned());
        self.kinds.get(&key).filter(|custom| custom.is_served)
    }
}

/// The deepest schema that is read.
const MAX_DEPTH: usize = 100;

/// A type of a schema.
#[derive(Clone, Copy, PartialEq)]
enum Type {
    Object,
    Array,
    Text,
    Integer,
    Number,
    Bool,
}

/// A structural schema.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "these are the flags of schemas"
)]
struct Schema {
    of: Option<Type>,
    is_nullable: bool,
    is_int_or_string: bool,
    keeps_unknown: bool,
    is_object: bool,
    default: Option<Value<'static>>,
    properties: BTreeMap<String, Self>,
    required: Vec<String>,
    items: Option<Box<Self>>,
    /// The values under other keys.
    additional: Option<Box<Self>>,
    words: Vec<Value<'static>>,
    format: Option<String>,
    pattern: Option<(Regex, String)>,
    least: Option<(f64, bool)>,
    most: Option<(f64, bool)>,
    multiple: Option<f64>,
    length: (Option<usize>, Option<usize>),
    count: (Option<usize>, Option<usize>),
    entries: (Option<usize>, Option<usize>),
    /// Its items differ, in these keys if there are any.
    is_set: bool,
    keys: Vec<String>,
    all: Vec<Self>,
    any: Vec<Self>,
    one: Vec<Self>,
    not: Option<Box<Self>>,
    /// How many rules in CEL it has.
    cel: usize,
}

impl Schema {
    fn anything() -> Self {
        Self {
            keeps_unknown: true,
            ..Self::default()
        }
    }

    fn read(view: View<'_>, depth: usize) -> Self {
        if depth > MAX_DEPTH {
            return Self::anything();
        }
        let below = |view: View<'_>| Self::read(view, depth + 1);
        let boxed = |key: &str| {
            get(view, key)
                .filter(|one| one.is_mapping())
                .map(|one| Box::new(below(one)))
        };
        let size = |key: &str| {
            get(view, key).and_then(number).map(|number| {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "limits are small"
                )]
                let size = number.max(0.0) as usize;
                size
            })
        };
        let bound = |key: &str, exclusive: &str| {
            get(view, key)
                .and_then(number)
                .map(|bound| (bound, is_true(view, exclusive)))
        };
        let all = |key: &str| list(view, key).map(below).collect();
        let texts = |key: &str| {
            list(view, key)
                .filter_map(View::as_str)
                .map(std::borrow::Cow::into_owned)
                .collect()
        };
        let list_type = text(view, "x-kubernetes-list-type");
        let properties = get(view, "properties")
            .and_then(View::entries)
            .into_iter()
            .flatten();
        let pattern = text(view, "pattern");
        let additional = get(view, "additionalProperties");
        Self {
            of: match text(view, "type").as_deref() {
                Some("object") => Some(Type::Object),
                Some("array") => Some(Type::Array),
                Some("string") => Some(Type::Text),
                Some("integer") => Some(Type::Integer),
                Some("number") => Some(Type::Number),
                Some("boolean") => Some(Type::Bool),
                _ => None,
            },
            is_nullable: is_true(view, "nullable"),
            is_int_or_string: is_true(view, "x-kubernetes-int-or-string"),
            keeps_unknown: is_true(view, "x-kubernetes-preserve-unknown-fields"),
            is_object: is_true(view, "x-kubernetes-embedded-resource"),
            default: view.get("default").map(owned),
            properties: properties
                .map(|(key, view)| (key.into_owned(), below(view)))
                .collect(),
            required: texts("required"),
            items: boxed("items"),
            additional: match additional.and_then(View::scalar) {
                Some(Scalar::Bool(true)) => Some(Box::new(Self::anything())),
                _ => boxed("additionalProperties"),
            },
            words: list(view, "enum").map(owned).collect(),
            format: text(view, "format").map(std::borrow::Cow::into_owned),
            pattern: pattern.and_then(|text| Some((Regex::new(&text).ok()?, text.into_owned()))),
            least: bound("minimum", "exclusiveMinimum"),
            most: bound("maximum", "exclusiveMaximum"),
            multiple: get(view, "multipleOf").and_then(number),
            length: (size("minLength"), size("maxLength")),
            count: (size("minItems"), size("maxItems")),
            entries: (size("minProperties"), size("maxProperties")),
            is_set: matches!(list_type.as_deref(), Some("set" | "map")),
            keys: texts("x-kubernetes-list-map-keys"),
            all: all("allOf"),
            any: all("anyOf"),
            one: all("oneOf"),
            not: boxed("not"),
            cel: list(view, "x-kubernetes-validations").count(),
        }
    }
}

fn owned(view: View<'_>) -> Value<'static> {
    if let Some(items) = view.items() {
        return Value::sequence(items.map(owned).collect());
    }
    if let Some(entries) = view.entries() {
        Value::mapping(
            entries
                .map(|(key, value)| (key.into_owned().into(), owned(value)))
                .collect(),
        )
    } else {
        let data = match view.scalar() {
            Some(Scalar::String(text)) => Scalar::String(text.into_owned().into()),
            Some(Scalar::Number(text)) => Scalar::Number(text.into_owned().into()),
            Some(Scalar::Bool(flag)) => Scalar::Bool(flag),
            _ => Scalar::Null,
        };
        Value::from(Data::Scalar(data))
    }
}

fn number(view: View<'_>) -> Option<f64> {
    match view.scalar()? {
        Scalar::Number(digits) => digits.parse().ok(),
        _ => None,
    }
}

/// Checks a custom resource. Returns how many rules in CEL were not checked.
pub(crate) fn check<'v>(walk: &mut Walk<'v>, custom: &Custom, object: View<'v>) -> usize {
    let mut cel = 0;
    walk.is_namespaced = custom.is_namespaced;
    let mut run = Run {
        walk,
        cel: &mut cel,
        is_silent: false,
        keeps: false,
    };
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
                Type::Text => "a text",
                Type::Integer => "an integer",
                Type::Number => "a number",
                Type::Bool => "`true` or `false`",
            };
            self.refuse(
                value,
                &format!("is {}, the API server reads {expected}", name_of(value)),
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
            if self.walk.is_open_text(&key) {
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
            let inner = schema
                .properties
                .get(key.as_ref())
                .or(schema.additional.as_deref());
            let Some(inner) = inner else {
                if !schema.keeps_unknown && !keeps && schema.of == Some(Type::Object) {
                    let known: Vec<&str> = schema.properties.keys().map(String::as_str).collect();
                    self.walk.unknown_custom(key, value, &known);
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
        for name in &schema.required {
            let inner = schema.properties.get(name);
            // Null is like none, unless it is allowed.
            let is_nullable = inner.is_some_and(|inner| inner.is_nullable);
            let is_there = object
                .get(name)
                .is_some_and(|value| is_nullable || !value.is_null());
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
                self.walk
                    .missing(object, &[Part::from("metadata"), Part::from("name")]);
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
                // What keeps unknown fields keeps those of its items.
                let was_keeping = std::mem::replace(&mut self.keeps, schema.keeps_unknown);
                self.value(item, items);
                self.keeps = was_keeping;
                self.walk.leave();
            }
        }
        if !schema.is_set || self.walk.is_open(value) {
            return;
        }
        let mut seen = BTreeSet::new();
        for (index, item) in value.items().into_iter().flatten().enumerate() {
            let key = if schema.keys.is_empty() {
                to_text(item)
            } else {
                let default = |key: &String| {
                    let property = schema
                        .items
                        .as_ref()
                        .and_then(|items| items.properties.get(key));
                    property.is_some_and(|property| property.default.is_some())
                };
                // A default is not known here: the key could be the same.
                if schema
                    .keys
                    .iter()
                    .any(|key| item.get(key).is_none() && default(key))
                {
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
        if is_plain || self.is_silent || self.walk.is_open(value) {
            return;
        }
        if !schema.any.is_empty() && !schema.any.iter().any(|one| fits(value, one, Some(schema))) {
            self.refuse(
                value,
                "fits none of the alternatives of its schema (`anyOf`)",
            );
        }
        if !schema.one.is_empty() {
            let count = schema
                .one
                .iter()
                .filter(|one| fits(value, one, Some(schema)))
                .count();
            if count != 1 {
                let what = if count == 0 {
                    "fits none"
                } else {
                    "fits more than one"
                };
                self.refuse(
                    value,
                    &format!("{what} of the alternatives of its schema (`oneOf`)"),
                );
            }
        }
        if schema.all.iter().any(|one| !fits(value, one, Some(schema))) {
            self.refuse(value, "does not fit all parts of its schema (`allOf`)");
        }
        if schema
            .not
            .as_ref()
            .is_some_and(|not| fits(value, not, Some(schema)))
        {
            self.refuse(value, "has what its schema excludes (`not`)");
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

/// Whether a value fits a schema among alternatives. Absent fields have the defaults of the schema
/// that it is an alternative of.
fn fits(value: View<'_>, schema: &Schema, around: Option<&Schema>) -> bool {
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
            let given = get(value, name).is_none_or(|value| fits(value, schema, inner));
            let default = inner.and_then(|inner| inner.default.as_ref());
            let default = default.filter(|_| get(value, name).is_none());
            given && default.is_none_or(|default| fits(View::of(default), schema, inner))
        };
        let fit = schema
            .properties
            .iter()
            .all(|(name, inner)| fits_in(name, inner));
        let others = schema.additional.as_ref().is_none_or(|inner| {
            value.entries().into_iter().flatten().all(|(key, value)| {
                schema.properties.contains_key(key.as_ref()) || fits(value, inner, None)
            })
        });
        if !has_all || !fit || !others {
            return false;
        }
    }
    if let Some(items) = &schema.items {
        let inner = around.and_then(|around| around.items.as_deref());
        if !value
            .items()
            .into_iter()
            .flatten()
            .all(|item| fits(item, items, inner))
        {
            return false;
        }
    }
    schema.all.iter().all(|one| fits(value, one, around))
        && (schema.any.is_empty() || schema.any.iter().any(|one| fits(value, one, around)))
        && (schema.one.is_empty()
            || schema
                .one
                .iter()
                .filter(|one| fits(value, one, around))
                .count()
                == 1)
        && schema
            .not
            .as_ref()
            .is_none_or(|not| !fits(value, not, around))
}

/// What is wrong with a value itself, if something is.
fn wrong(value: View<'_>, schema: &Schema) -> Option<String> {
    if !schema.words.is_empty() && !schema.words.iter().any(|word| *word == owned(value)) {
        let words: Vec<String> = schema
            .words
            .iter()
            .filter_map(|word| match word.scalar()? {
                Scalar::String(text) => Some(format!("`{text}`")),
                Scalar::Number(text) => Some(text.to_string()),
                _ => None,
            })
            .collect();
        return Some(format!("must be {}", one_of(&words)));
    }
    let between = |count: usize, limits: (Option<usize>, Option<usize>), what: &str| {
        if limits.0.is_some_and(|least| count < least) {
            return Some(format!(
                "must have at least {} {what}",
                limits.0.unwrap_or_default()
            ));
        }
        limits
            .1
            .is_some_and(|most| count > most)
            .then(|| format!("must have at most {} {what}", limits.1.unwrap_or_default()))
    };
    if value.is_mapping() {
        return between(
            value.entries().into_iter().flatten().count(),
            schema.entries,
            "entries",
        );
    }
    if value.is_sequence() {
        return between(
            value.items().into_iter().flatten().count(),
            schema.count,
            "items",
        );
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

/// Whether a text has a format that the API server checks.
fn has_format(text: &str, format: &str) -> bool {
    match format {
        "date-time" | "datetime" => is_time(&text.to_ascii_uppercase()),
        "date" => is_time(&format!("{text}T00:00:00Z")),
        "byte" => is_base64(text),
        "ipv4" => is_ipv4(text),
        "ipv6" => text.contains(':') && text.parse::<std::net::Ipv6Addr>().is_ok(),
        "cidr" => crate::formats::cidr(text).is_some(),
        "duration" => is_duration(text),
        "hostname" => {
            text.len() <= 255
                && !text.is_empty()
                && (is_subdomain(&text.to_ascii_lowercase())
                    || !text.is_ascii()
                    || text.contains('_'))
        }
        "uuid" | "uuid3" | "uuid4" | "uuid5" => {
            let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
            digits == 32
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        }
        "email" => text.contains('@'),
        "uri" => {
            !text.is_empty() && (text.contains(':') || text.starts_with('/')) && !text.contains(' ')
        }
        _ => true,
    }
}

/// Whether a text is a duration: of Go, or in words.
fn is_duration(text: &str) -> bool {
    let trimmed = text.trim();
    trimmed.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
        && trimmed.contains(|c: char| c.is_alphabetic())
        || trimmed == "0"
}

fn to_text(value: View<'_>) -> String {
    let mut text = String::new();
    write_text(value, &mut text);
    text
}

fn write_text(value: View<'_>, out: &mut String) {
    if let Some(items) = value.items() {
        out.push('[');
        for item in items {
            write_text(item, out);
            out.push(',');
        }
        out.push(']');
    } else if let Some(entries) = value.entries() {
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        out.push('{');
        for (key, value) in entries {
            out.push_str(&key);
            out.push('\0');
            write_text(value, out);
            out.push(',');
        }
        out.push('}');
    } else {
        match value.scalar() {
            Some(Scalar::String(text)) => {
                out.push('"');
                out.push_str(&text);
            }
            Some(Scalar::Number(text)) => out.push_str(&text),
            Some(Scalar::Bool(flag)) => out.push_str(if flag { "true" } else { "false" }),
            _ => out.push_str("null"),
        }
    }
}
