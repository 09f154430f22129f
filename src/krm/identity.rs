//! What identifies an object: API group, kind, namespace and name.

use std::fmt;

use crate::diagnostic::ObjectReference;
use crate::krm::annotations;
use crate::yaml::{Cursor, Value};

/// Objects with equal identities are the same object in a cluster; the API version may differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// The group of the API version; empty for the core group.
    pub group: String,
    /// `kind`.
    pub kind: String,
    /// `metadata.namespace`; empty if the object names none.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
}

impl Identity {
    /// The identity of a value, if it has a kind and a name.
    pub(crate) fn of(object: &Value<'_>) -> Option<Self> {
        let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
        Some(Self {
            group: group(api_version).to_owned(),
            kind: object.str_at(&["kind"])?.to_owned(),
            namespace: object
                .str_at(&["metadata", "namespace"])
                .unwrap_or_default()
                .to_owned(),
            name: object.str_at(&["metadata", "name"])?.to_owned(),
        })
    }

    /// The identity of the object under a node, if it has a kind and a name.
    pub(crate) fn of_node(object: Cursor<'_>) -> Option<Self> {
        let api_version = object.text_at(["apiVersion"]).unwrap_or_default();
        let metadata = object.get("metadata");
        let field = |key: &str| metadata.and_then(|metadata| metadata.text_at([key]));
        Some(Self {
            group: group(&api_version).to_owned(),
            kind: object.text_at(["kind"])?.into_owned(),
            namespace: field("namespace").unwrap_or_default().into_owned(),
            name: field("name")?.into_owned(),
        })
    }
}

impl fmt::Display for Identity {
    /// `Deployment.apps default/web`, without the parts that are empty.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        f.write_str(" ")?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

/// The group of an API version: `apps` of `apps/v1`, empty for `v1`.
pub(crate) fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// Names the object under a node for a report.
pub(crate) fn reference(object: Cursor<'_>) -> ObjectReference {
    let text = |keys: [&str; 2]| object.text_at(keys).unwrap_or_default().into_owned();
    let top = |key: &str| object.text_at([key]).unwrap_or_default().into_owned();
    let annotation = |key: &str| {
        object
            .text_at(["metadata", "annotations", key])
            .filter(|value| !value.is_empty())
    };
    let path = annotation(annotations::PATH).or_else(|| annotation(annotations::LEGACY_PATH));
    let index = annotation(annotations::INDEX).or_else(|| annotation(annotations::LEGACY_INDEX));
    ObjectReference {
        api_version: top("apiVersion"),
        kind: top("kind"),
        namespace: text(["metadata", "namespace"]),
        name: text(["metadata", "name"]),
        path: path.map(std::borrow::Cow::into_owned),
        index: index.and_then(|index| index.parse().ok()).unwrap_or(0),
    }
}
