//! The items of a Composition that configure tools: built-in transformers leave them alone, unless
//! they name their kind.

use std::collections::BTreeSet;

use crate::input::items::{Item, Items};
use crate::input::kptfile::{functions, is_kptfile};
use crate::input::paths;
use crate::input::storage::Storage;
use krm_core::identity::Identity;
use krm_template_engine::{OPENSHIFT_GROUP, OWN_GROUP, is_template_group};
use krm_yaml::SharedNode;

/// The items that configure tools.
pub(crate) struct Configuration<'s> {
    storage: &'s Storage,
    /// The full paths of the files that Kptfiles name as `configPath`.
    files: BTreeSet<String>,
}

impl<'s> Configuration<'s> {
    /// Reads the Kptfiles among the items.
    pub(crate) fn of<'n>(
        items: &'s Items,
        nodes: impl Iterator<Item = Option<&'n SharedNode>>,
    ) -> Self {
        let storage = &items.storage;
        let mut files = BTreeSet::new();
        for (item, node) in items.list.iter().zip(nodes) {
            let full = item.file.and_then(|file| storage.full(file));
            let full = full.filter(|_| item.identity.as_ref().is_some_and(is_kptfile));
            let Some((full, node)) = full.zip(node) else {
                continue;
            };
            let functions = functions(node.cursor()).into_iter();
            let paths = functions.filter_map(|function| function.config_path);
            files.extend(paths.filter_map(|path| paths::joined(paths::parent(&full), &path)));
        }
        Self { storage, files }
    }

    /// Whether an item is one of them.
    pub(crate) fn contains(&self, item: &Item) -> bool {
        item.is_local
            || item.identity.as_ref().is_some_and(is_of_tools)
            || !self.files.is_empty() && self.is_named(item)
    }

    /// Whether a Kptfile names the file of an item as a `configPath`.
    pub(crate) fn is_named(&self, item: &Item) -> bool {
        let full = item.file.and_then(|file| self.storage.full(file));
        full.is_some_and(|full| self.files.contains(&full))
    }
}

/// Whether a kind configures kpt or this program.
fn is_of_tools(identity: &Identity) -> bool {
    let group = identity.group.as_str();
    is_kptfile(identity)
        || [OWN_GROUP, OPENSHIFT_GROUP].contains(&group)
        || identity.kind == "Template" && is_template_group(group)
}

#[cfg(test)]
mod tests {
    use super::is_of_tools;
    use krm_core::identity::Identity;

    #[test]
    fn configuration_is_told_from_resources() {
        for (group, kind, expected) in [
            ("kpt.dev", "Kptfile", true),
            ("template.krm.dev", "TemplateInstance", true),
            ("template.openshift.io", "Template", true),
            ("", "Template", true),
            ("example.com", "Template", false),
            ("", "ConfigMap", false),
        ] {
            let (group, kind) = (group.to_owned(), kind.to_owned());
            let identity = Identity { group, kind, namespace: String::new(), name: "a".to_owned() };
            assert_eq!(is_of_tools(&identity), expected, "{identity}");
        }
    }
}
