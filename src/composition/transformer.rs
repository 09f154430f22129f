//! One transformer of a consolidated list: what it is called, how it is configured, and where each
//! part of its configuration was written.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::diagnostic::{Diagnostic, Result};
use crate::source::Place;
use crate::yaml::{Document, FieldPath, NodeId, Value};

/// What a transformer is known by among the others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransformerId {
    /// The group of its `apiVersion`; empty for the built-in ones.
    pub group: String,
    /// The version; `builtin` for the built-in ones, where none is given.
    pub version: String,
    /// `kind`.
    pub kind: String,
    /// `metadata.namespace`; empty if it names none.
    pub namespace: String,
    /// `metadata.name`; by default the kind in kebab case.
    pub name: String,
}

impl fmt::Display for TransformerId {
    /// `LabelTransformer environment-label`, with group, version and namespace where it has them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        match (self.group.as_str(), self.version.as_str()) {
            ("", "builtin") => {}
            ("", version) => write!(f, ".{version}")?,
            (group, version) => write!(f, ".{version}.{group}")?,
        }
        f.write_str(" ")?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

/// A node that a part of a configuration was read from.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) document: Arc<Document>,
    pub(super) node: NodeId,
    /// What it is to the list: `declared`, or `overridden by PATH`.
    pub(super) file: String,
}

/// A transformer with its configuration, as it is after imports and overrides.
#[derive(Clone, Debug)]
pub struct Transformer {
    /// What it is known by.
    pub id: TransformerId,
    /// The whole object, with `apiVersion`, `kind` and `metadata` filled in.
    pub config: Value<'static>,
    /// What the paths in it are relative to: the directory of the file that declares it.
    pub directory: String,
    /// The object that declares it, then those that override parts of it.
    pub(super) layers: Vec<Layer>,
}

impl Transformer {
    /// The fields that every transformer may have.
    pub(super) const COMMON_FIELDS: [&str; 5] =
        ["apiVersion", "kind", "metadata", "provider", "runtime"];

    /// Where it was declared.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        let first = self.layers.first()?;
        Some(first.document.cursor(first.node).key_place())
    }

    /// Where the value of a field was written, or what it is in.
    #[must_use]
    pub fn place_of(&self, field: &FieldPath) -> Option<Place> {
        let mut way = field.clone();
        loop {
            let written = self.layers.iter().rev().find_map(|layer| {
                let node = layer.document.cursor(layer.node);
                let found = node.lookup(&way)?;
                (found.id() != layer.node).then(|| found.place())
            });
            if written.is_some() {
                return written;
            }
            let Some((parent, _)) = way.split_last() else {
                return self.place();
            };
            way = parent;
        }
    }

    /// Something that is wrong with a field of the configuration.
    pub(super) fn error(&self, field: &FieldPath, problem: impl fmt::Display) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(format!("{}: {problem}", self.id));
        diagnostic.place = self.place_of(field);
        if !field.steps().is_empty() {
            diagnostic = diagnostic.field(field.to_string());
        }
        diagnostic
    }

    /// The configuration as a type that says which fields there are.
    ///
    /// # Errors
    /// If a field is unknown, missing, or of another type: with the place of the field.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T> {
        let mut config = self.config.clone();
        for key in Self::COMMON_FIELDS {
            config.remove(key);
        }
        let json = config.to_json();
        let mut json = serde_json::Deserializer::from_str(&json);
        serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let path = field_path(error.path());
            let inner = error.into_inner().to_string();
            self.error(&path, inner).into()
        })
    }
}

/// Where an error came up.
pub(super) fn field_path(path: &serde_path_to_error::Path) -> FieldPath {
    use serde_path_to_error::Segment;
    path.iter()
        .fold(FieldPath::root(), |path, segment| match segment {
            Segment::Seq { index } => path.index(*index),
            Segment::Map { key } => path.key(key.as_str()),
            Segment::Enum { .. } | Segment::Unknown => path,
        })
}
