//! Fields as the `fieldSpecs` of kustomize name them: `spec/template/spec/containers[]/image`.
//!
//! Source: kustomize 5.8, `api/filters/fieldspec` and `api/filters/filtersutil`.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::resources::resource::Resource;
use krm_core::identity::group;
use krm_core::label_fields::Field;
use krm_yaml::{Data, Scalar, Value};

/// The group, version and kind of objects; empty for any.
pub type Kind<'n> = [&'n str; 3];

/// A field in objects of some kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldSpec {
    /// Keys with slashes between them. `\/` is a slash in a key, and `[]` after a key marks a list.
    /// Lists without the mark are also searched.
    #[serde(deserialize_with = "path")]
    pub path: String,
    /// The API group; any if empty.
    #[serde(default)]
    pub group: String,
    /// The API version; any if empty.
    #[serde(default)]
    pub version: String,
    /// The kind; any if empty.
    #[serde(default)]
    pub kind: String,
    /// Whether a missing field is added.
    #[serde(default)]
    pub create: bool,
}

/// The treatment of a field that is missing or null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingField {
    /// Nothing is added: the field is skipped.
    Nothing,
    /// An empty mapping is added.
    Mapping,
    /// A null, which the caller sets.
    Scalar,
}

impl From<&Field> for FieldSpec {
    fn from(field: &Field) -> Self {
        Self {
            path: field.path.to_owned(),
            group: field.group.to_owned(),
            version: field.version.to_owned(),
            kind: field.kind.to_owned(),
            create: field.create,
        }
    }
}

impl FieldSpec {
    /// The kind of the objects that have it.
    pub(crate) fn kind(&self) -> Kind<'_> {
        [&self.group, &self.version, &self.kind]
    }

    /// Whether it applies to an object.
    pub(crate) fn is_for(&self, object: &Value<'_>) -> bool {
        let text = |key| object.str_at(&[key]).unwrap_or_default();
        self.is_for_type(text("apiVersion"), text("kind"))
    }

    /// Whether it applies to a resource.
    pub(crate) fn is_for_resource(&self, resource: &Resource<'_>) -> bool {
        let text = |key| resource.str_at(&[key]).unwrap_or_default();
        self.is_for_type(text("apiVersion"), text("kind"))
    }

    /// Whether it applies to the objects of an API version and kind.
    pub(crate) fn is_for_type(&self, api_version: &str, kind: &str) -> bool {
        let fits = |own: &str, found: &str| own.is_empty() || own == found;
        // Most fields have another kind.
        if !fits(&self.kind, kind) {
            return false;
        }
        let version = api_version.rsplit('/').next().unwrap_or_default();
        fits(&self.group, group(api_version)) && fits(&self.version, version)
    }

    /// Calls `set` with each value at the path.
    ///
    /// # Errors
    /// Those of `set`, and one if the path leads through a scalar.
    pub(crate) fn visit<'s>(
        &self,
        object: &mut Value<'s>,
        missing: MissingField,
        set: &mut dyn FnMut(&mut Value<'s>) -> Result<(), String>,
    ) -> Result<(), String> {
        let missing = if self.create {
            missing
        } else {
            MissingField::Nothing
        };
        self.descend(object, missing, set)
            .map_err(|problem| format!("fieldSpec `{}`: {problem}", self.path))
    }

    /// Calls `set` with each value at the path, and adds missing fields.
    pub(crate) fn descend<'s>(
        &self,
        object: &mut Value<'s>,
        missing: MissingField,
        set: &mut dyn FnMut(&mut Value<'s>) -> Result<(), String>,
    ) -> Result<(), String> {
        descend(
            object,
            Some(self.path.trim_start_matches('/')),
            missing,
            set,
        )
    }
}

/// Reads a path, which must not have dots between its keys.
fn path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let path = String::deserialize(deserializer)?;
    match with_slashes(&path) {
        Some(meant) => Err(D::Error::custom(format!(
            "`{path}` has dots between its keys: write `{meant}`"
        ))),
        None => Ok(path),
    }
}

/// The correct spelling of a path with dots instead of slashes. No object has a field of such a
/// name.
pub(crate) fn with_slashes(path: &str) -> Option<String> {
    let starts = ["metadata.", "spec.", "data.", "status."];
    let has_dots = starts.iter().any(|start| path.starts_with(start));
    (has_dots && !path.contains('/')).then(|| path.replace('.', "/"))
}

/// The first key of a path, and the rest; `\\/` does not end a key.
fn first_key(path: &str) -> (Cow<'_, str>, Option<&str>) {
    // Keys are too short for `split_once`, which looks for a slash in a long text.
    let slash = path.bytes().position(|byte| byte == b'/');
    let split = slash.and_then(|at| path.get(..at).zip(path.get(at + 1..)));
    let Some((key, rest)) = split else {
        return (Cow::Borrowed(path), None);
    };
    let Some(key) = key.strip_suffix('\\') else {
        return (Cow::Borrowed(key), Some(rest));
    };
    let (more, rest) = first_key(rest);
    (Cow::Owned(format!("{key}/{more}")), rest)
}

/// Calls `set` with each value at a path; no path means the value itself.
fn descend<'s>(
    value: &mut Value<'s>,
    path: Option<&str>,
    missing: MissingField,
    set: &mut dyn FnMut(&mut Value<'s>) -> Result<(), String>,
) -> Result<(), String> {
    let Some(way) = path else {
        return set(value);
    };
    if let Data::Sequence(items) = &mut value.data {
        return items
            .iter_mut()
            .try_for_each(|item| descend(item, path, missing, set));
    }
    let (key, rest) = first_key(way);
    match &mut value.data {
        Data::Mapping(entries) => {
            let (key, is_list) = match key.strip_suffix("[]") {
                Some(key) => (key, true),
                None => (key.as_ref(), false),
            };
            if key.is_empty() {
                return Err("the path has an empty key".to_owned());
            }
            let creates = missing != MissingField::Nothing && !is_list;
            if creates && entries.iter().all(|(name, _)| name != key) {
                entries.push((Cow::Owned(key.to_owned()), null()));
            }
            let Some((_, field)) = entries.iter_mut().find(|(name, _)| name == key) else {
                return Ok(());
            };
            if field.is_null() {
                match (rest, missing) {
                    _ if !creates => return Ok(()),
                    (None, MissingField::Scalar) => {}
                    _ => field.data = Data::Mapping(Vec::new()),
                }
            }
            descend(field, rest, missing, set)
        }
        Data::Scalar(Scalar::Null) | Data::Sequence(_) => Ok(()),
        Data::Scalar(_) => Err(format!("`{key}` is looked for in a scalar")),
    }
}

pub(crate) fn null<'s>() -> Value<'s> {
    Data::Scalar(Scalar::Null).into()
}
