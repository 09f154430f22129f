//! The identity of an object: API group, kind, namespace and name.

use std::borrow::Cow;
use std::fmt;

use crate::annotations;
use krm_yaml::diagnostic::ObjectReference;
use krm_yaml::{Cursor, View};

/// Objects with equal identities are the same object in a cluster; the API version may differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The group of the API version; empty for the core group.
    pub group: String,
    /// `kind`, without the API version: `Deployment`.
    pub kind: String,
    /// `metadata.namespace`; empty if the object names none.
    pub namespace: String,
    /// `metadata.name`; empty only by [`Head::identity_of_kind`].
    pub name: String,
}

impl Identity {
    /// The identity of a value, if it has a kind and a name.
    pub fn of<'v>(object: impl Into<View<'v>>) -> Option<Self> {
        identity_of(object.into(), None)
    }

    /// The identity of a value, if it has a kind; without a name that is empty.
    pub fn of_kind<'v>(object: impl Into<View<'v>>) -> Option<Self> {
        identity_of(object.into(), Some(Cow::Borrowed("")))
    }
}

/// The identity of an object with a kind and a name; without one it has this name.
fn identity_of(object: View<'_>, name: Option<Cow<'_, str>>) -> Option<Identity> {
    let kind = object.str_at(&["kind"])?.into_owned();
    let metadata = object.get("metadata");
    let text = |key| metadata?.get(key)?.as_str();
    Some(Identity {
        name: text("name").or(name)?.into_owned(),
        namespace: text("namespace").unwrap_or_default().into_owned(),
        group: group(&object.str_at(&["apiVersion"]).unwrap_or_default()).to_owned(),
        kind,
    })
}

/// The API version, the kind and the metadata of an object, each looked up once.
pub struct Typed<'v> {
    /// Empty if there is none.
    pub api_version: Cow<'v, str>,
    /// Empty if there is none.
    pub kind: Cow<'v, str>,
    /// The mapping `metadata`, if there is one.
    pub metadata: Option<View<'v>>,
}

impl<'v> Typed<'v> {
    /// Looks the fields up in an object.
    #[must_use]
    pub fn of(object: View<'v>) -> Self {
        Self {
            api_version: object.str_at(&["apiVersion"]).unwrap_or_default(),
            kind: object.str_at(&["kind"]).unwrap_or_default(),
            metadata: object.get("metadata"),
        }
    }
}

/// The fields of an object that identify it, found in one walk.
pub struct Head<'d> {
    api_version: Option<Cow<'d, str>>,
    kind: Option<Cow<'d, str>>,
    namespace: Option<Cow<'d, str>>,
    name: Option<Cow<'d, str>>,
    annotations: Option<Cursor<'d>>,
}

impl<'d> Head<'d> {
    /// Reads the object under a node.
    #[must_use]
    pub fn of(object: Cursor<'d>) -> Self {
        let [api_version, kind, metadata] = object.get_all(["apiVersion", "kind", "metadata"]);
        let [namespace, name, annotations] =
            fields_of(metadata, ["namespace", "name", "annotations"]);
        Self {
            api_version: text_of(api_version),
            kind: text_of(kind),
            namespace: text_of(namespace),
            name: text_of(name),
            annotations,
        }
    }

    /// The identity, if the object has a kind; without a name that is empty.
    pub fn identity_of_kind(self) -> Option<Identity> {
        Self { name: self.name.or(Some(Cow::Borrowed(""))), ..self }.identity()
    }

    /// The identity, if the object has a kind and a name.
    pub fn identity(self) -> Option<Identity> {
        let api_version = self.api_version.unwrap_or_default();
        Some(Identity {
            group: group(&api_version).to_owned(),
            kind: self.kind?.into_owned(),
            namespace: self.namespace.unwrap_or_default().into_owned(),
            name: self.name?.into_owned(),
        })
    }

    /// The texts of the annotations with these keys; `None` for one that holds no text.
    pub fn annotations<const N: usize>(&self, keys: [&str; N]) -> [Option<Cow<'d, str>>; N] {
        fields_of(self.annotations, keys).map(text_of)
    }
}

fn fields_of<'d, const N: usize>(
    mapping: Option<Cursor<'d>>,
    keys: [&str; N],
) -> [Option<Cursor<'d>>; N] {
    mapping.map_or([None; N], |mapping| mapping.get_all(keys))
}

fn text_of(field: Option<Cursor<'_>>) -> Option<Cow<'_, str>> {
    field?.text().ok()?
}

/// The file an object is kept in, and its position there.
pub struct Kept<'d> {
    /// The path of the file in the package.
    pub path: Option<Cow<'d, str>>,
    /// The position in the file, from 0.
    pub index: usize,
}

impl<'d> Kept<'d> {
    /// The annotations for it: the new ones, else the old ones.
    pub const ANNOTATIONS: [&'static str; 4] = [
        annotations::PATH,
        annotations::LEGACY_PATH,
        annotations::INDEX,
        annotations::LEGACY_INDEX,
    ];

    /// Reads them from the annotations of an object.
    #[must_use]
    pub fn of(annotation: impl Fn(&'static str) -> Option<&'d str>) -> Self {
        Self::from_annotations(Self::ANNOTATIONS.map(|key| annotation(key).map(Cow::Borrowed)))
    }

    /// The meaning of the texts of [`ANNOTATIONS`](Self::ANNOTATIONS).
    #[must_use]
    pub fn from_annotations(texts: [Option<Cow<'d, str>>; 4]) -> Self {
        let [path, legacy_path, index, legacy_index] =
            texts.map(|text| text.filter(|text| !text.is_empty()));
        // A larger number is not a position: the next one must be a number, too.
        let index = index.or(legacy_index).and_then(|index| index.parse::<u32>().ok());
        Self {
            path: path.or(legacy_path),
            index: index.and_then(|index| usize::try_from(index).ok()).unwrap_or(0),
        }
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
pub fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// Whether a group is one of Kubernetes or OpenShift; kinds of others may have the same name.
pub fn is_built_in(group: &str) -> bool {
    matches!(group, "" | "apps" | "autoscaling" | "batch" | "extensions" | "policy")
        || group.ends_with(".k8s.io")
        || group.ends_with(".openshift.io")
}

/// Names the object under a node for a report.
pub fn reference(object: Cursor<'_>) -> ObjectReference {
    let head = Head::of(object);
    let kept = Kept::from_annotations(head.annotations(Kept::ANNOTATIONS));
    let owned = |text: Option<Cow<'_, str>>| text.unwrap_or_default().into_owned();
    ObjectReference {
        api_version: owned(head.api_version),
        kind: owned(head.kind),
        namespace: owned(head.namespace),
        name: owned(head.name),
        path: kept.path.map(Cow::into_owned),
        index: kept.index,
    }
}

#[cfg(test)]
mod tests {
    use super::Kept;

    #[test]
    fn an_index_that_has_no_next_one_is_no_position() {
        for (index, expected) in [
            ("7", 7),
            ("4294967295", 4_294_967_295),
            ("4294967296", 0),
            ("18446744073709551615", 0),
            ("-1", 0),
        ] {
            let [path, index] = ["a.yaml", index].map(|text| Some(text.into()));
            let kept = Kept::from_annotations([path, None, index, None]);
            assert_eq!((kept.path.as_deref(), kept.index), (Some("a.yaml"), expected));
        }
    }

    #[test]
    fn an_empty_annotation_is_none() {
        let texts = ["", "a.yaml", "", "2"].map(|text| Some(text.into()));
        let kept = Kept::from_annotations(texts);
        assert_eq!((kept.path.as_deref(), kept.index), (Some("a.yaml"), 2));
    }
}
