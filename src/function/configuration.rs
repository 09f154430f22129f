//! The items of a Composition that configure tools: built-in transformers leave them alone, unless
//! they name their kind.

use std::collections::BTreeSet;

use crate::files::{directory_of, join};
use crate::function::items::Item;
use crate::krm::annotations::{LEGACY_PATH, PATH};
use crate::krm::identity::Identity;
use crate::template::{OPENSHIFT_GROUP, OWN_GROUP, is_template_group};
use krm_yaml::{Cursor, SharedNode};

/// The group of a Kptfile.
const KPT_GROUP: &str = "kpt.dev";
/// The package of an item; of two packages, each may have a file of one path.
const PACKAGE: &str = "internal.config.kubernetes.io/package-path";

/// The items that configure tools.
pub(super) struct Configuration {
    /// The packages and the paths of the files that Kptfiles name as `configPath`.
    files: BTreeSet<[String; 2]>,
}

impl Configuration {
    /// Reads the Kptfiles among the items.
    pub(super) fn of(items: &[Item], nodes: &[SharedNode]) -> Self {
        let kptfiles = items.iter().zip(nodes).filter(|(item, _)| {
            let identity = item.identity.as_ref();
            identity.is_some_and(|one| one.kind == "Kptfile" && one.group == KPT_GROUP)
        });
        let files = kptfiles.flat_map(|(_, node)| configured(node.cursor().open().cursor()));
        Self {
            files: files.collect(),
        }
    }

    /// Whether an item is one of them.
    pub(super) fn contains(&self, item: &Item, node: Cursor<'_>) -> bool {
        item.is_local
            || item.identity.as_ref().is_some_and(is_of_tools)
            || !self.files.is_empty() && self.files.contains(&file_of(node.open().cursor()))
    }
}

/// Whether a kind configures kpt or this program.
fn is_of_tools(identity: &Identity) -> bool {
    let group = identity.group.as_str();
    [KPT_GROUP, OWN_GROUP, OPENSHIFT_GROUP].contains(&group)
        || identity.kind == "Template" && is_template_group(group)
}

/// The files with the configurations of the functions of a Kptfile.
fn configured(kptfile: Cursor<'_>) -> Vec<[String; 2]> {
    let [package, path] = file_of(kptfile);
    let lists = ["mutators", "validators"].map(|list| kptfile.at(["pipeline", list]));
    let functions = lists.into_iter().flatten().flat_map(Cursor::children);
    let paths = functions.filter_map(|function| function.text_at(["configPath"]));
    let files = paths.map(|own| [package.clone(), join(directory_of(&path), &own)]);
    files.collect()
}

/// The package and the path of the file that an item is kept in; empty if unknown.
fn file_of(item: Cursor<'_>) -> [String; 2] {
    let annotation = |key| item.text_at(["metadata", "annotations", key]);
    let path = annotation(PATH).or_else(|| annotation(LEGACY_PATH));
    [annotation(PACKAGE), path].map(|text| text.unwrap_or_default().into_owned())
}
