//! Definitions of custom resources, with their structural schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use krm_yaml::{Data, Scalar, Value, View};
use regex_lite::Regex;

use super::spelling::to_text;
use crate::walk::{get, is_true, list, text};

/// The definitions of custom resources that are known.
#[derive(Default)]
pub struct Definitions {
    kinds: BTreeMap<(String, String), Arc<Custom>>,
}

/// One version of a kind.
pub(crate) struct Custom {
    pub(super) schema: Schema,
    /// Its status is set by others, and not by who creates it.
    pub(super) has_status: bool,
    pub(super) is_served: bool,
    pub(super) is_namespaced: bool,
}

impl Definitions {
    /// Adds the versions of a CustomResourceDefinition. Returns whether it is one.
    pub fn add(&mut self, object: View<'_>) -> bool {
        let is_definition =
            object.str_at(&["kind"]).is_some_and(|kind| kind == "CustomResourceDefinition")
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
            self.kinds.insert((format!("{group}/{name}"), kind.to_string()), Arc::new(custom));
        }
        true
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    pub(crate) fn get(&self, api_version: &str, kind: &str) -> Option<&Arc<Custom>> {
        let key = (api_version.to_owned(), kind.to_owned());
        self.kinds.get(&key).filter(|custom| custom.is_served)
    }
}

/// The most allowed values in a message.
const MAX_NAMED: usize = 20;

/// The deepest schema that is read.
const MAX_DEPTH: usize = 100;

/// A type of a schema.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Type {
    Object,
    Array,
    Text,
    Integer,
    Number,
    Bool,
}

/// A structural schema.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "these are the flags of schemas")]
pub(super) struct Schema {
    pub(super) of: Option<Type>,
    pub(super) is_nullable: bool,
    pub(super) is_int_or_string: bool,
    pub(super) keeps_unknown: bool,
    pub(super) is_object: bool,
    pub(super) default: Option<Value<'static>>,
    pub(super) properties: BTreeMap<String, Self>,
    pub(super) required: Vec<String>,
    pub(super) items: Option<Box<Self>>,
    /// The values under other keys.
    pub(super) additional: Option<Box<Self>>,
    /// The allowed values, in one spelling.
    pub(super) words: BTreeSet<String>,
    /// The first of them, for a message.
    pub(super) named: Vec<String>,
    pub(super) format: Option<String>,
    pub(super) pattern: Option<(Regex, String)>,
    pub(super) least: Option<(f64, bool)>,
    pub(super) most: Option<(f64, bool)>,
    pub(super) multiple: Option<f64>,
    pub(super) length: (Option<usize>, Option<usize>),
    pub(super) count: (Option<usize>, Option<usize>),
    pub(super) entries: (Option<usize>, Option<usize>),
    /// Its items differ, in these keys if there are any.
    pub(super) is_set: bool,
    pub(super) keys: Vec<String>,
    pub(super) all: Vec<Self>,
    pub(super) any: Vec<Self>,
    pub(super) one: Vec<Self>,
    pub(super) not: Option<Box<Self>>,
    /// How many rules in CEL it has.
    pub(super) cel: usize,
}

impl Schema {
    fn anything() -> Self {
        Self { keeps_unknown: true, ..Self::default() }
    }

    fn read(view: View<'_>, depth: usize) -> Self {
        if depth > MAX_DEPTH {
            return Self::anything();
        }
        let below = |view: View<'_>| Self::read(view, depth + 1);
        let boxed = |key: &str| {
            get(view, key).filter(|one| one.is_mapping()).map(|one| Box::new(below(one)))
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
            get(view, key).and_then(number).map(|bound| (bound, is_true(view, exclusive)))
        };
        let all = |key: &str| list(view, key).map(below).collect();
        let texts = |key: &str| {
            list(view, key).filter_map(View::as_str).map(std::borrow::Cow::into_owned).collect()
        };
        let list_type = text(view, "x-kubernetes-list-type");
        let properties = get(view, "properties").and_then(View::entries).into_iter().flatten();
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
            properties: properties.map(|(key, view)| (key.into_owned(), below(view))).collect(),
            required: texts("required"),
            items: boxed("items"),
            additional: match additional.and_then(View::scalar) {
                Some(Scalar::Bool(true)) => Some(Box::new(Self::anything())),
                _ => boxed("additionalProperties"),
            },
            words: list(view, "enum").map(to_text).collect(),
            named: list(view, "enum").filter_map(word).take(MAX_NAMED).collect(),
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

/// An allowed value in a message.
fn word(value: View<'_>) -> Option<String> {
    match value.scalar()? {
        Scalar::String(text) => Some(format!("`{text}`")),
        Scalar::Number(text) => Some(text.into_owned()),
        _ => None,
    }
}

fn owned(view: View<'_>) -> Value<'static> {
    if let Some(items) = view.items() {
        return Value::sequence(items.map(owned).collect());
    }
    if let Some(entries) = view.entries() {
        Value::mapping(
            entries.map(|(key, value)| (key.into_owned().into(), owned(value))).collect(),
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

pub(super) fn number(view: View<'_>) -> Option<f64> {
    match view.scalar()? {
        Scalar::Number(digits) => digits.parse().ok(),
        _ => None,
    }
}
