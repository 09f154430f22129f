//! Which objects get another name, and the fields that refer to them.

use std::borrow::Cow;

use crate::fields::left_out::FIXED_NAMES;
use crate::fields::references::all;
use krm_core::Identity;
use krm_core::identity::is_built_in;
use krm_template_composition::{Renames, Target};

/// Whether a parameter may change the name of an object.
pub(crate) fn can_be_renamed(identity: &Identity) -> bool {
    let is_fixed = is_built_in(&identity.group) && FIXED_NAMES.contains(&identity.kind.as_str());
    !is_fixed && !identity.name.is_empty()
}

/// The fields that refer to the objects, whose names `renamed` changes. Each object loses the
/// namespace if that is the only one.
pub(crate) fn renames<'o>(
    objects: impl Iterator<Item = (&'o Identity, &'o str)>,
    has_one_namespace: bool,
    renamed: &dyn Fn(&str) -> Option<String>,
) -> Renames<'o> {
    let targets = objects.filter_map(|(identity, api_version)| {
        let name = renamed(&identity.name).filter(|_| can_be_renamed(identity))?;
        let namespace = if has_one_namespace { String::new() } else { identity.namespace.clone() };
        let now = Identity {
            group: identity.group.clone(),
            kind: identity.kind.clone(),
            namespace,
            name,
        };
        let previous = std::slice::from_ref(identity);
        Some(Target::new(Cow::Borrowed(api_version), previous, now))
    });
    Renames::of(targets, all())
}
