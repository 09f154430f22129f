//! The annotations by which orchestrators track the file of an object.

use std::borrow::Cow;

use crate::scalar::into_text;
use krm_yaml::{Value, View};

/// The file an object is kept in, relative to the package, slash-separated.
pub const PATH: &str = "internal.config.kubernetes.io/path";
/// The position of an object in its file, counted from 0.
pub const INDEX: &str = "internal.config.kubernetes.io/index";
/// The older spellings of [`PATH`] and [`INDEX`], which kpt and kustomize still send.
pub const LEGACY_PATH: &str = "config.kubernetes.io/path";
/// The older spelling of [`INDEX`].
pub const LEGACY_INDEX: &str = "config.kubernetes.io/index";
/// The directory of the package that an object belongs to, as `kpt fn render` sends it.
pub const PACKAGE_PATH: &str = "internal.config.kubernetes.io/package-path";
/// The identity of an object for the selectors of a pipeline: kpt sends it if there are any.
pub const RESOURCE_ID: &str = "internal.config.k8s.io/kpt-resource-id";
/// By these kpt finds the package of an object again: one that is created has none of them.
pub const OF_PACKAGES: &[&str] = &[PACKAGE_PATH, RESOURCE_ID];
/// Keeps an object out of the cluster; any value but `"false"` counts.
pub const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

/// By these an orchestrator pairs the objects that it sent with those it gets back. An object that
/// a function changes loses them, or kpt would restore its old comments and key order.
pub const IDS: &[&str] = &["internal.config.kubernetes.io/id", "config.k8s.io/id"];

/// The identities that an object had before kustomize renamed or moved it: the kinds, names and
/// namespaces, each with commas in between.
pub const PREVIOUS: [&str; 3] = [
    "internal.config.kubernetes.io/previousKinds",
    "internal.config.kubernetes.io/previousNames",
    "internal.config.kubernetes.io/previousNamespaces",
];

/// Names the instance that owns an object: `KIND/NAMESPACE/NAME` of its functionConfig and, where
/// that has several, `/INSTANCE`.
pub const OWNER: &str = "template.krm.dev/instance";

/// The identity of an object as it was created, and where its functionConfig is kept:
/// `KIND[.GROUP] [NAMESPACE/]NAME[ from FILE]`, where `FILE` is relative to the directory of the
/// object's file.
pub const ORIGIN: &str = "template.krm.dev/origin";

/// The fields of an existing object that an update leaves alone, with commas in between.
pub const KEEP: &str = "template.krm.dev/keep";

/// Whether an annotation is an orchestrator's: kustomize removes it.
pub fn is_internal(key: &str) -> bool {
    key.starts_with("internal.config.kubernetes.io/")
        || [LEGACY_PATH, LEGACY_INDEX].contains(&key)
        || IDS.contains(&key)
}

/// Whether an object with this metadata is kept out of the cluster.
pub fn is_local(metadata: Option<View<'_>>) -> bool {
    let annotation = metadata.and_then(|metadata| metadata.at(&["annotations", LOCAL_CONFIG]));
    let text = annotation.map(|annotation| annotation.scalar().and_then(into_text));
    text.is_some_and(|text| text.as_deref() != Some("false"))
}

/// Puts an annotation on an object.
pub fn annotate<'v>(object: &mut Value<'v>, key: impl Into<Cow<'v, str>>, text: &str) {
    if let Some(metadata) = object.mapping_at("metadata")
        && let Some(annotations) = metadata.mapping_at("annotations")
    {
        annotations.insert(key.into(), Value::string(text.to_owned()));
    }
}

/// Takes annotations off an object, and an empty mapping of them out of its metadata.
pub fn remove(object: &mut Value<'_>, keys: &[&str]) {
    let Some(metadata) = object.get_mut("metadata") else {
        return;
    };
    if let Some(annotations) = metadata.get_mut("annotations") {
        for key in keys {
            annotations.remove(key);
        }
    }
    remove_empty(metadata, "annotations");
}

/// Takes an empty mapping out of the metadata.
pub fn remove_empty(metadata: &mut Value<'_>, key: &str) {
    let entries = metadata.get(key).and_then(Value::entries);
    if entries.is_some_and(<[_]>::is_empty) {
        metadata.remove(key);
    }
}
