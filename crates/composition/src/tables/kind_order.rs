//! The order of kinds: each comes after what it needs.
//!
//! Source: kustomize 5.8, `plugin/builtin/sortordertransformer`.

use std::sync::LazyLock;

use krm_core::kinds::rows;

/// The kinds that others need.
pub(crate) static FIRST: LazyLock<Vec<&str>> = LazyLock::new(|| rows("first").flatten().collect());

/// The kinds that would block others.
pub(crate) static LAST: LazyLock<Vec<&str>> = LazyLock::new(|| rows("last").flatten().collect());

/// The position of a kind in the order that kustomize has, so that objects come after what they
/// need.
pub fn legacy_rank(kind: &str) -> usize {
    rank(&FIRST, &LAST, kind)
}

/// The position of a kind; the last one counts for a kind that is named twice.
pub(crate) fn rank(first: &[impl AsRef<str>], last: &[impl AsRef<str>], kind: &str) -> usize {
    match (position(first, kind), position(last, kind)) {
        (_, Some(at)) => first.len() + 1 + at,
        (Some(at), None) => at,
        (None, None) => first.len(),
    }
}

fn position(kinds: &[impl AsRef<str>], kind: &str) -> Option<usize> {
    kinds.iter().rposition(|one| one.as_ref() == kind)
}
