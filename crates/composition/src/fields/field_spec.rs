//! Fields as the `fieldSpecs` of kustomize name them: `spec/template/spec/containers[]/image`.
//!
//! Source: kustomize 5.8, `api/filters/fieldspec` and `api/filters/filtersutil`.

use std::ops::Deref;
use std::sync::Arc;
use std::{fmt, iter};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use krm_core::identity::group;
use krm_core::kinds::Field;
use krm_yaml::View;

/// The maximum number of keys in a path.
const MAX_KEYS: usize = 256;

/// The group, version and kind of objects; empty for any.
pub type Kind<'n> = [&'n str; 3];

/// A field in objects of some kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldSpec {
    /// The path of the field in an object.
    pub path: FieldSpecPath,
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

/// Keys with slashes between them. `\/` is a slash in a key, and `[]` after a key marks a list. Lists
/// without the mark are also searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSpecPath {
    text: Arc<str>,
    /// Split once, since the path is followed in every object.
    keys: Arc<[Key]>,
}

/// A key of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    name: Box<str>,
    is_list: bool,
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
            path: field.path.into(),
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
    pub(crate) fn is_for(&self, object: View<'_>) -> bool {
        let text = |key| object.str_at(&[key]).unwrap_or_default();
        self.is_for_type(&text("apiVersion"), &text("kind"))
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
}

impl FieldSpecPath {
    /// Its keys, in order.
    pub(crate) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The path as it is written.
    pub(crate) fn text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }
}

impl From<&str> for FieldSpecPath {
    fn from(text: &str) -> Self {
        let mut rest = Some(text.trim_start_matches('/'));
        let keys = iter::from_fn(|| {
            let (key, others) = first_key(rest?);
            rest = others;
            Some(Key::of(&key))
        });
        Self { keys: keys.collect(), text: text.into() }
    }
}

impl Deref for FieldSpecPath {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for FieldSpecPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

/// Reads a path, which must not have dots between its keys.
impl<'de> Deserialize<'de> for FieldSpecPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let path = String::deserialize(deserializer)?;
        if let Some(meant) = with_slashes(&path) {
            return Err(D::Error::custom(format!(
                "`{path}` has dots between its keys: write `{meant}`"
            )));
        }
        let path = Self::from(path.as_str());
        check_keys(path.keys.len()).map_err(D::Error::custom)?;
        Ok(path)
    }
}

impl Key {
    fn of(key: &str) -> Self {
        let list = key.strip_suffix("[]");
        Self { name: list.unwrap_or(key).into(), is_list: list.is_some() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is marked as that of a list.
    pub(crate) const fn is_list(&self) -> bool {
        self.is_list
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = if self.is_list { "[]" } else { "" };
        write!(f, "{}{list}", self.name)
    }
}

/// Refuses a path of too many keys: an object is not nested so deep.
///
/// # Errors
/// The message.
pub(crate) fn check_keys(count: usize) -> Result<(), String> {
    if count <= MAX_KEYS {
        return Ok(());
    }
    Err(format!("the path has more than {MAX_KEYS} keys"))
}

/// The correct spelling of a path with dots instead of slashes. No object has a field of such a
/// name.
pub(crate) fn with_slashes(path: &str) -> Option<String> {
    let starts = ["metadata.", "spec.", "data.", "status."];
    let has_dots = starts.iter().any(|start| path.starts_with(start));
    (has_dots && !path.contains('/')).then(|| path.replace('.', "/"))
}

/// The first key of a path, and the rest; `\\/` does not end a key.
fn first_key(path: &str) -> (String, Option<&str>) {
    let mut key = String::new();
    let mut rest = path;
    while let Some((part, others)) = rest.split_once('/') {
        let Some(escaped) = part.strip_suffix('\\') else {
            return (key + part, Some(others));
        };
        key.extend([escaped, "/"]);
        rest = others;
    }
    (key + rest, None)
}
