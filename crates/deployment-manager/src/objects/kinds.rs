//! The kinds of Kubernetes that a type may name, with the API version they have today.

use std::sync::LazyLock;

use krm_core::identity::group;
use krm_core::kind_names::plural;
use krm_core::kinds::{Row, rows};

/// API versions and their kinds.
static KINDS: LazyLock<Vec<Row>> = LazyLock::new(|| rows("today").collect());

/// The API version of a kind.
pub(super) fn api_version_of(kind: &str) -> Option<&'static str> {
    KINDS.iter().find_map(|row| match **row {
        [api_version, own] if own == kind => Some(api_version),
        _ => None,
    })
}

/// The kind of a collection such as `services`, in any version of its group.
pub(super) fn kind_of_plural(api_version: &str, name: &str) -> Option<&'static str> {
    let wanted = group(api_version);
    // Kinds of `extensions` have other groups today.
    let is_meant = |known: &str| wanted == "extensions" || wanted == group(known);
    KINDS.iter().find_map(|row| match **row {
        [known, kind] if is_meant(known) && plural(&kind.to_lowercase()) == name => Some(kind),
        _ => None,
    })
}
