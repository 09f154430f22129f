//! The fields that identify the items of a list when a patch is merged into it.
//!
//! A list that is not in the table is replaced as a whole, as are the lists of custom kinds, except
//! those that a [`Schema`] of the user knows and those of what looks like a pod template.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::tables::schema::{Part, Schema};
use krm_core::identity::{group, is_built_in};
use krm_core::kinds::{Row, rows};
use krm_yaml::Value;

/// The type of a field.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Type {
    /// The fields that identify items, if this is a list whose items are merged; none for scalars.
    /// The same item has the same value in the first field, and in the others if it has them.
    keys: Option<&'static str>,
    /// The name of the type of the mapping or of each item, which has the fields below.
    name: &'static str,
}

/// The types of fields, by the names of the types that have them.
static FIELDS: LazyLock<BTreeMap<Row, Type>> = LazyLock::new(|| {
    let field = |row: Row| {
        let [of, field, keys, below @ ..] = row.as_slice() else { return None };
        let keys = Some(*keys).filter(|keys| *keys != ".");
        Some((vec![*of, *field], Type { keys, name: below.first().copied().unwrap_or_default() }))
    };
    rows("merge").filter_map(field).collect()
});

/// The names of the types of kinds, by their API versions and kinds.
static KINDS: LazyLock<BTreeMap<Row, &str>> = LazyLock::new(|| {
    rows("merge-kinds").filter_map(|mut row| row.pop().map(|name| (row, name))).collect()
});

/// The API groups of Kubernetes itself, whose objects have known metadata.
static GROUPS: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| rows("merge-groups").flatten().collect());

/// The known type of a field, or of the items of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known<'k> {
    /// A type in the table.
    Type(Type),
    /// A part of the schema that the user names.
    Part(Part<'k>),
    /// A field of a custom kind.
    Custom,
    /// A field of which nothing is known: its lists are replaced.
    Unknown,
}

impl<'k> Known<'k> {
    /// The fields that identify items, if this is a list whose items are merged; none for scalars.
    pub(crate) fn keys(self) -> Option<Vec<&'k str>> {
        match self {
            Self::Type(known) => {
                let keys = known.keys.map(|keys| keys.split(','));
                keys.map(|keys| keys.filter(|key| !key.is_empty()).collect())
            }
            Self::Part(part) => part.keys(),
            Self::Custom | Self::Unknown => None,
        }
    }

    /// A mapping with the fields of a type in the table.
    const fn named(name: &'static str) -> Self {
        Self::Type(Type { keys: None, name })
    }

    /// The type of a field.
    pub(crate) fn field(self, name: &str) -> Self {
        match self {
            Self::Type(known) => {
                let field = FIELDS.get([known.name, name].as_slice());
                Self::Type(field.copied().unwrap_or_default())
            }
            Self::Part(part) => part.field(name).map_or(Self::Custom, Self::Part),
            Self::Custom => Self::Custom,
            Self::Unknown => Self::Unknown,
        }
    }

    /// The type of a field with a value: in a custom kind, a pod template if it looks like one.
    pub(crate) fn field_of(self, name: &str, value: &Value<'_>) -> Self {
        match self.field(name) {
            Self::Custom if is_pod_template(name, value) => Self::named("PodTemplate"),
            known => known,
        }
    }
}

/// Whether a field looks like a pod template: its name or its metadata tell so, and the containers
/// in its `spec` have names.
fn is_pod_template(name: &str, value: &Value<'_>) -> bool {
    let is_template = name.ends_with("emplate") || value.get("metadata").is_some();
    let containers = value.at(&["spec", "containers"]).and_then(Value::items);
    let is_named = |item: &Value<'_>| item.str_at(&["name"]).is_some();
    is_template && containers.is_some_and(|items| !items.is_empty() && items.iter().all(is_named))
}

/// Finds the type of objects of an API version and kind, in a schema, otherwise in the table.
pub(crate) fn known<'k>(
    schema: Option<&'k Schema>,
    api_version: &str,
    kind: &str,
    patch_kind: &str,
) -> Known<'k> {
    let part = schema.and_then(|schema| schema.of(api_version, kind));
    part.map_or_else(|| of(api_version, kind, patch_kind), Known::Part)
}

/// As [`known`] in a Kustomization: a schema takes the place of the tables, unless it is added to
/// them, and pod templates of custom kinds are not merged.
pub(crate) fn known_to_kustomize<'k>(
    schema: Option<&'k Schema>,
    api_version: &str,
    kind: &str,
    patch_kind: &str,
) -> Known<'k> {
    let part = schema.and_then(|schema| schema.of(api_version, kind));
    match (part, schema) {
        (Some(part), _) => Known::Part(part),
        (None, Some(schema)) if !schema.is_added => Known::Unknown,
        _ => match of(api_version, kind, patch_kind) {
            Known::Custom => Known::Unknown,
            known => known,
        },
    }
}

/// The type of objects of an API version and kind; by default that of the kind of the patch, as
/// upstream.
fn of<'k>(api_version: &str, kind: &str, patch_kind: &str) -> Known<'k> {
    let find = |kind| Some(Known::named(KINDS.get([api_version, kind].as_slice())?));
    let of_group = || match group(api_version) {
        known if GROUPS.contains(known) => Known::named("Object"),
        // To kustomize and its users, OpenShift's kinds are custom ones.
        group if group.ends_with(".openshift.io") || !is_built_in(group) => Known::Custom,
        _ => Known::Type(Type::default()),
    };
    find(kind).or_else(|| find(patch_kind)).unwrap_or_else(of_group)
}

#[cfg(test)]
mod tests {
    use super::known;

    #[track_caller]
    fn check(api_version: &str, kind: &str, path: &[&str], keys: Option<&[&str]>) {
        let object = known(None, api_version, kind, "");
        let field = path.iter().fold(object, |known, name| known.field(name));
        assert_eq!(field.keys().as_deref(), keys);
    }

    #[test]
    fn keys_are_those_of_the_kind() {
        let env = ["spec", "template", "spec", "containers", "env"];
        check("apps/v1", "Deployment", &env, Some(&["name"]));
        check("apps/v1beta1", "Deployment", &env, None);
        check("example.com/v1", "Deployment", &env, None);
        let ports = ["spec", "jobTemplate", "spec", "template", "spec", "containers", "ports"];
        let keys = ["containerPort", "protocol"];
        check("batch/v1", "CronJob", &ports, Some(&keys));
        check("v1", "ConfigMap", &["metadata", "finalizers"], Some(&[]));
        check("example.com/v1", "Web", &["metadata", "finalizers"], None);
        let patched = known(None, "apps/v1", "Web", "Deployment");
        assert!(
            patched.field("spec").field("template").field("spec").field("volumes").keys().is_some()
        );
    }
}
