//! Changes that `oc` makes to the objects of a Template before it creates them: it removes the
//! namespace, and kinds that once had no API group get theirs.

use std::borrow::Cow;

use memchr::memmem;

use crate::declare::reference;
use krm_yaml::{Value, View};

/// As `oc`: removes a namespace that is not a reference from the metadata of an object, so that the
/// caller chooses one.
pub(crate) fn strip_namespace(metadata: &mut Value<'_>) {
    if !has_fixed_namespace((&*metadata).into()) {
        return;
    }
    if metadata.str_at(&["namespace"]).is_some_and(|name| !name.is_empty()) {
        metadata.remove("namespace");
    } else {
        metadata.insert(Cow::Borrowed("namespace"), Value::string(""));
    }
}

/// Whether the metadata of an object have a namespace that is not a reference.
pub(crate) fn has_fixed_namespace(metadata: View<'_>) -> bool {
    let namespace = metadata.get("namespace").map(View::as_str);
    namespace
        .is_some_and(|text| !text.is_some_and(|text| reference::has_openshift_reference(&text)))
}

/// OpenShift's own kinds once belonged to no group; they get the one they have today.
pub(crate) fn set_group(object: &mut Value<'_>) {
    let (Some(api_version), Some(kind)) =
        (object.str_at(&["apiVersion"]), object.str_at(&["kind"]))
    else {
        return;
    };
    if let Some(new) = with_group(api_version, kind) {
        object.insert(Cow::Borrowed("apiVersion"), Value::string(new));
    }
}

/// The API version of a kind with the group that it has today, if it has none.
pub(crate) fn with_group(api_version: &str, kind: &str) -> Option<String> {
    if api_version.is_empty() || api_version.contains('/') {
        return None;
    }
    let group = group_of(kind)?;
    Some(format!("{group}/{api_version}"))
}

/// API groups and the kinds that OpenShift's first API had without a group (oc's legacy scheme).
const GROUPS: &str = include_str!("legacy.txt");

/// The API group of a kind that OpenShift's first API had without one.
pub fn group_of(kind: &str) -> Option<&'static str> {
    let is_word = |at: &usize| {
        let around = GROUPS.get(..*at).zip(GROUPS.get(at + kind.len()..));
        around
            .is_some_and(|(before, after)| before.ends_with(' ') && after.starts_with([' ', '\n']))
    };
    let mut found = memmem::find_iter(GROUPS.as_bytes(), kind);
    let at = found.find(is_word).filter(|_| !kind.contains([' ', '\n']))?;
    GROUPS.get(..at)?.lines().next_back()?.split(' ').next()
}

#[cfg(test)]
mod tests {
    use super::group_of;

    #[test]
    fn each_kind_has_its_group() {
        for line in super::GROUPS.lines() {
            let (group, kinds) = line.split_once(' ').unwrap();
            for kind in kinds.split(' ') {
                assert_eq!(group_of(kind), Some(group), "{kind}");
            }
        }
        for kind in ["", "Rol", "Service", "Role RoleList", "RoleList\n", "apps.openshift.io"] {
            assert_eq!(group_of(kind), None, "{kind:?}");
        }
    }
}
