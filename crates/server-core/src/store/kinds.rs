//! The kinds of stored things, which are the second part of a key: `/GROUP/KIND/…`.

/// All kinds. `docs/security.md` says of each who can change it, and as whom it acts.
pub const KINDS: [&str; 11] = [
    "templates",
    "templateauthors",
    "templateinstances",
    "instanceplans",
    "instancerevisions",
    "instancedeleters",
    "leases",
    "deployments",
    "manifests",
    "operations",
    "locks",
];

/// Returns `true` if a key has one of the kinds.
pub fn is_known(key: &str) -> bool {
    let kind = key.split('/').nth(2);
    kind.is_some_and(|kind| KINDS.contains(&kind))
}
