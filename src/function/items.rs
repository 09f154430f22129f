//! The items of the input, and the files that they are kept in.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::function::paths;
use crate::krm::annotations::{INDEX, LEGACY_INDEX, LEGACY_PATH, LOCAL_CONFIG, OWNER, PATH};
use crate::krm::identity::{self, Head, Identity, Kept};
use crate::krm::resource_list::ResourceList;
use crate::plan::Input;
use crate::threads;
use krm_yaml::Cursor;

/// The items of the input.
pub(super) struct Items<'d> {
    /// All of them, in order.
    pub(super) list: Vec<Item<'d>>,
    /// The files that they are kept in.
    pub(super) storage: Storage,
}

/// Existing objects that a Template may update.
pub(super) type Existing<'i, 'd> = BTreeMap<&'i Identity, &'i Item<'d>>;

/// An object among the items, to be opened.
pub(super) struct Item<'d> {
    pub(super) node: Cursor<'d>,
    /// Where its text starts, without comments.
    pub(super) start: usize,
    /// Its identity if it has a kind; the name may be empty.
    pub(super) identity: Option<Identity>,
    /// The instance that created it.
    pub(super) owner: Option<Box<str>>,
    /// Whether it is a copy of the functionConfig.
    pub(super) is_config: bool,
    /// Whether it is kept out of the cluster.
    is_local: bool,
}

/// The files that items are kept in.
#[derive(Default)]
pub(super) struct Storage {
    /// The file of the functionConfig.
    pub(super) config_path: Option<String>,
    /// Whether the items are kept in files, to which the output is written back.
    pub(super) are_kept: bool,
    /// The highest index in each file.
    last_index: BTreeMap<String, usize>,
}

/// The file an item is kept in.
pub(super) fn path_of(node: Cursor<'_>) -> Option<String> {
    identity::reference(node.open().cursor()).path
}

/// How many items a thread is worth starting for.
const ITEMS_A_THREAD: usize = 64;
/// How many items are read before they are put in order: the paths of more are not held at once.
const ITEMS_AT_ONCE: usize = 2_048;

impl<'d> Items<'d> {
    pub(super) fn read(list: &ResourceList<'d>, config: Cursor<'d>) -> Self {
        let mut items = Self {
            list: Vec::new(),
            storage: Storage::default(),
        };
        let config = Read::of(config);
        let mut rest = list.items();
        loop {
            let some: Vec<Cursor<'d>> = rest.by_ref().take(ITEMS_AT_ONCE).collect();
            if some.is_empty() {
                break;
            }
            let read = threads::in_chunks(&some, ITEMS_A_THREAD, |chunk| {
                let read = chunk.iter().map(|item| Read::of(item.open().cursor()));
                read.collect::<Vec<Read>>()
            });
            for (cursor, item) in some.into_iter().zip(read.into_iter().flatten()) {
                items.add(cursor, item, &config);
            }
        }
        let storage = &mut items.storage;
        storage.are_kept |= config.path.is_some();
        storage.config_path = storage.config_path.take().or(config.path);
        items
    }

    fn add(&mut self, node: Cursor<'d>, read: Read, config: &Read) {
        let named = read.identity.as_ref().filter(|own| !own.name.is_empty());
        let is_config = named.is_some() && named == config.identity.as_ref();
        if is_config && self.storage.config_path.is_none() {
            // kpt names the whole path on the copy among the items only.
            self.storage.config_path.clone_from(&read.path);
        }
        if let Some(path) = read.path {
            self.storage.are_kept = true;
            self.storage.add(path, read.index);
        }
        self.list.push(Item {
            node,
            start: read.start,
            identity: read.identity,
            owner: read.owner,
            is_config,
            is_local: read.is_local,
        });
    }

    /// The items that have a name, with their identities, without the functionConfig.
    fn named(&self) -> impl Iterator<Item = (&Identity, &Item<'d>)> {
        let items = self.list.iter().filter(|item| !item.is_config);
        items.filter_map(|item| {
            let identity = item.identity.as_ref()?;
            (!identity.name.is_empty()).then_some((identity, item))
        })
    }

    /// Existing objects that a Template may update. Of several with one identity it is the first,
    /// or the first that an instance owns.
    pub(super) fn by_identity(&self) -> Existing<'_, 'd> {
        let mut found = Existing::new();
        for (identity, item) in self.named() {
            if item.is_local && item.owner.is_none() {
                continue;
            }
            match found.entry(identity) {
                Entry::Vacant(entry) => {
                    entry.insert(item);
                }
                Entry::Occupied(mut entry) => {
                    if entry.get().owner.is_none() && item.owner.is_some() {
                        entry.insert(item);
                    }
                }
            }
        }
        found
    }

    /// Objects that an instance owns, in order, also several of one identity.
    pub(super) fn owned(&self) -> impl Iterator<Item = (&Identity, &Item<'d>, &str)> {
        let named = self.named();
        named.filter_map(|(identity, item)| Some((identity, item, item.owner.as_deref()?)))
    }

    /// Templates, and objects that may have values for them.
    pub(super) fn inputs(&self) -> Vec<Input<'d>> {
        let named = self.named().filter(|(_, item)| item.owner.is_none());
        named
            .filter_map(|(identity, item)| Input::new(identity, item.node))
            .collect()
    }
}

impl Storage {
    /// Takes note of an object at an index of a file.
    pub(super) fn add(&mut self, path: String, index: usize) {
        let highest = self.last_index.entry(path).or_insert(index);
        *highest = (*highest).max(index);
    }

    /// The next free index in a file.
    pub(super) fn next_index(&mut self, path: &str) -> usize {
        if let Some(last) = self.last_index.get_mut(path) {
            *last += 1;
            return *last;
        }
        self.last_index.insert(path.to_owned(), 0);
        0
    }

    /// The file for the new objects of an instance, which is never `template`.
    pub(super) fn file_of(&self, instance: &str, template: Option<&str>) -> String {
        let config = self.config_path.as_deref();
        let taken: Vec<&str> = config.into_iter().chain(template).collect();
        paths::of_instance(config, instance, &taken)
    }
}

/// What is read of one item.
struct Read {
    start: usize,
    identity: Option<Identity>,
    path: Option<String>,
    index: usize,
    is_local: bool,
    owner: Option<Box<str>>,
}

impl Read {
    fn of(item: Cursor<'_>) -> Self {
        let head = Head::of(item);
        let [local, owner, path, legacy_path, index, legacy_index] =
            head.annotations([LOCAL_CONFIG, OWNER, PATH, LEGACY_PATH, INDEX, LEGACY_INDEX]);
        let kept = Kept::from_annotations([path, legacy_path, index, legacy_index]);
        Self {
            start: item.key_place().range.start,
            identity: head.identity_of_kind(),
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
            let by_identity = items.by_identity();
            let mut cursors: Vec<_> = by_identity.values().map(|item| item.node.id()).collect();
            cursors.sort_unstable();
            let expected: Vec<_> = list.items().map(Cursor::id).take(count - 1).collect();
            assert_eq!(cursors, expected);
            (items.storage.last_index, items.storage.config_path)
        });
        let (last_index, config_path) = read.unwrap();
        let expected = [("all.yaml".to_owned(), count - 1), ("t.yaml".to_owned(), 0)];
        assert!(last_index.into_iter().eq(expected));
        assert_eq!(config_path.as_deref(), Some("t.yaml"));
    }
}
