//! Where among the resources the one with an identity is.

use std::collections::BTreeMap;

use crate::resources::resource::Resource;
use krm_core::Identity;
use krm_core::scope::effective;

/// The positions of resources by their identities, now and formerly.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    /// The number of resources that were read.
    read: usize,
    by_identity: BTreeMap<Identity, Vec<usize>>,
}

impl Positions {
    /// The positions of the resources that are or were `identity`. Since the last time, resources
    /// may have been added, but none of the others renamed, moved or removed.
    pub(crate) fn of(&mut self, identity: &Identity, resources: &[Resource<'_>]) -> &[usize] {
        for (at, resource) in resources.iter().enumerate().skip(self.read) {
            for identity in resource.identities() {
                let positions = self.by_identity.entry(effective(identity)).or_default();
                if positions.last() != Some(&at) {
                    positions.push(at);
                }
            }
        }
        self.read = resources.len();
        let found = self.by_identity.get(&effective(identity.clone()));
        found.map(Vec::as_slice).unwrap_or_default()
    }
}
