//! What a function has to know of its input items.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::krm::annotations::{INDEX, LEGACY_INDEX, LEGACY_PATH, LOCAL_CONFIG, OWNER, PATH};
use crate::krm::identity::{self, Head, Identity, Kept};
use crate::krm::resource_list::ResourceList;
use crate::template::is_template_group;
use crate::threads;
use krm_yaml::Cursor;

/// The input items, as far as new objects have to do with them.
#[derive(Default)]
pub(super) struct Items<'d> {
    /// Objects that a Template may have made before.
    pub(super) by_identity: BTreeMap<Identity, Standing<'d>>,
    /// Objects that an instance has made, in order, further ones of the same identity too.
    pub(super) owned: Vec<(Identity, Standing<'d>)>,
    /// Templates and what may hold values for them, if the functionConfig is no Template itself.
    pub(super) inputs: Vec<Input<'d>>,
    /// The highest index in each file.
    pub(super) last_index: BTreeMap<String, usize>,
    /// Where the functionConfig is kept.
    pub(super) config_path: Option<String>,
    /// Whether the items are kept in files, to which the output is written back.
    pub(super) are_kept: bool,
}

/// An object among the items, to be opened.
#[derive(Clone, Debug)]
pub(super) struct Standing<'d> {
    pub(super) node: Cursor<'d>,
    /// The instance that made it.
    pub(super) owner: Option<Box<str>>,
}

/// An item that a functionConfig may refer to.
pub(crate) struct Input<'d> {
    pub(super) identity: Identity,
    pub(super) node: Cursor<'d>,
    /// Whether it is a Template.
    pub(super) is_template: bool,
}

impl<'d> Input<'d> {
    /// What an object is to a functionConfig; nothing if it cannot refer to it.
    fn new(identity: &Identity, node: Cursor<'d>) -> Option<Self> {
        let is_template = identity.kind == "Template" && is_template_group(&identity.group);
        let holds_values = matches!(identity.kind.as_str(), "ConfigMap" | "Secret");
        (is_template || holds_values && identity.group.is_empty()).then(|| Self {
            identity: identity.clone(),
            node,
            is_template,
        })
    }

    /// A document of a file, where it can be referred to.
    pub(crate) fn of_document(root: Cursor<'d>) -> Option<Self> {
        Self::new(&Head::of(root).identity()?, root)
    }
}

/// The file an item is kept in.
pub(super) fn path_of(node: Cursor<'_>) -> Option<String> {
    identity::reference(node.open().cursor()).path
}

/// How many items a thread is worth starting for.
const ITEMS_A_THREAD: usize = 64;
/// How many items are read before they are put in order: what is known of more is not held twice.
const ITEMS_AT_ONCE: usize = 2_048;

impl<'d> Items<'d> {
    pub(super) fn read(list: &ResourceList<'d>, config: Cursor<'d>) -> Self {
        let mut items = Self::default();
        let has_inputs = config.get("objects").is_none();
        let config = Item::read(config);
        let mut rest = list.items();
        loop {
            let some: Vec<Cursor<'d>> = rest.by_ref().take(ITEMS_AT_ONCE).collect();
            if some.is_empty() {
                break;
            }
            let read = threads::in_chunks(&some, ITEMS_A_THREAD, |chunk| {
                let read = chunk.iter().map(|item| Item::read(item.open().cursor()));
                read.collect::<Vec<Item>>()
            });
            for (cursor, item) in some.into_iter().zip(read.into_iter().flatten()) {
                items.add(cursor, item, &config, has_inputs);
            }
        }
        items.are_kept |= config.path.is_some();
        items.config_path = items.config_path.or(config.path);
        items
    }

    fn add(&mut self, node: Cursor<'d>, item: Item, config: &Item, has_inputs: bool) {
        let is_config = item.identity.is_some() && item.identity == config.identity;
        if is_config && self.config_path.is_none() {
            // kpt names the whole path on the copy among the items only.
            self.config_path.clone_from(&item.path);
        }
        if let Some(path) = item.path {
            self.are_kept = true;
            let highest = self.last_index.entry(path).or_insert(0);
            *highest = (*highest).max(item.index);
        }
        let Some(identity) = item.identity.filter(|_| !is_config) else {
            return;
        };
        let owner = item.owner;
        if has_inputs && owner.is_none() {
            self.inputs.extend(Input::new(&identity, node));
        }
        if item.is_local && owner.is_none() {
            return;
        }
        let standing = Standing { node, owner };
        if standing.owner.is_some() {
            self.owned.push((identity.clone(), standing.clone()));
        }
        match self.by_identity.entry(identity) {
            Entry::Vacant(entry) => {
                entry.insert(standing);
            }
            // What was made before is the one to be found again.
            Entry::Occupied(mut entry) => {
                if entry.get().owner.is_none() && standing.owner.is_some() {
                    entry.insert(standing);
                }
            }
        }
    }
}

/// What is read of one item.
struct Item {
    identity: Option<Identity>,
    path: Option<String>,
    index: usize,
    /// Whether it is kept out of the cluster.
    is_local: bool,
    owner: Option<Box<str>>,
}

impl Item {
    fn read(item: Cursor<'_>) -> Self {
        let head = Head::of(item);
        let [local, owner, path, legacy_path, index, legacy_index] =
            head.annotations([LOCAL_CONFIG, OWNER, PATH, LEGACY_PATH, INDEX, LEGACY_INDEX]);
        let kept = Kept::from_annotations([path, legacy_path, index, legacy_index]);
        Self {
            identity: head.identity(),
            path: kept.path.map(Cow::into_owned),
            index: kept.index,
            is_local: local.is_some_and(|local| local != "false"),
            owner: owner.map(Into::into),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::{ITEMS_AT_ONCE, Items};
    use crate::krm::long_lists::LONG_LISTS;
    use crate::krm::resource_list::ResourceList;
    use krm_yaml::source::Source;
    use krm_yaml::{Cursor, Document};

    #[test]
    fn of_many_items_the_first_of_an_identity_and_the_last_index_count() {
        let count = 2 * ITEMS_AT_ONCE + 100;
        let mut text =
            "kind: ResourceList\nfunctionConfig: {kind: Template, metadata: {name: t}}\nitems:\n"
                .to_owned();
        for item in 0..count {
            let name = item % (count - 1);
            let _ = write!(
                text,
                "- kind: ConfigMap\n  metadata:\n    name: n{name}\n    annotations:\n      \
                 config.kubernetes.io/path: all.yaml\n      config.kubernetes.io/index: '{item}'\n"
            );
        }
        text += "- kind: Template\n  metadata: {name: t, annotations: {internal.config.kubernetes.io/path: t.yaml}}\n";
        let source = Source::new("test", text);
        let read = Document::read_with(&source, LONG_LISTS, |document| {
            let list = ResourceList::read(document).unwrap();
            let items = Items::read(&list, list.function_config().unwrap());
            let mut cursors: Vec<_> = items
                .by_identity
                .values()
                .map(|standing| standing.node.id())
                .collect();
            cursors.sort_unstable();
            let expected: Vec<_> = list.items().map(Cursor::id).take(count - 1).collect();
            assert_eq!(cursors, expected);
            (items.last_index, items.config_path)
        });
        let (last_index, config_path) = read.unwrap();
        let expected = [("all.yaml".to_owned(), count - 1), ("t.yaml".to_owned(), 0)];
        assert!(last_index.into_iter().eq(expected));
        assert_eq!(config_path.as_deref(), Some("t.yaml"));
    }
}
