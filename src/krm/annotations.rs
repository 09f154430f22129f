//! The annotations by which orchestrators track where an object is kept.

/// The file an object is kept in, relative to the package, slash-separated.
pub(crate) const PATH: &str = "internal.config.kubernetes.io/path";
/// The position of an object in its file, counted from 0.
pub(crate) const INDEX: &str = "internal.config.kubernetes.io/index";
/// The older spellings of [`PATH`] and [`INDEX`], which kpt and kustomize still send.
pub(crate) const LEGACY_PATH: &str = "config.kubernetes.io/path";
/// See [`LEGACY_PATH`].
pub(crate) const LEGACY_INDEX: &str = "config.kubernetes.io/index";
/// Keeps an object out of the cluster; any value but `"false"` counts.
pub(crate) const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

/// By these an orchestrator pairs what it sent with what comes back; what is changed by a function
/// loses them, or kpt would restore its old comments and key order.
pub(crate) const IDS: &[&str] = &["internal.config.kubernetes.io/id", "config.k8s.io/id"];

/// What an object was called before kustomize renamed or moved it: the kinds, names and namespaces,
/// each with commas in between.
pub(crate) const PREVIOUS: [&str; 3] = [
    "internal.config.kubernetes.io/previousKinds",
    "internal.config.kubernetes.io/previousNames",
    "internal.config.kubernetes.io/previousNamespaces",
];

/// Names the instance that made an object: `KIND/NAMESPACE/NAME` of its functionConfig and, where
/// that makes several, `/INSTANCE`.
pub(crate) const OWNER: &str = "template.krm.dev/instance";
