//! The objects that a function works on, and the files that they are kept in.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::function::objects::Objects;
use crate::function::paths;
use crate::krm::annotations::{
    INDEX, LEGACY_INDEX, LEGACY_PATH, LOCAL_CONFIG, OWNER, PATH, is_local,
};
use crate::krm::identity::{self, Head, Identity, Kept};
use crate::plan::Input;
use crate::threads;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Cursor, SharedNode, Value};

/// The objects that a function works on: the items of a ResourceList, or the resources of a
/// Composition.
pub(super) struct Items {
    /// All of them, in order.
    pub(super) list: Vec<Item>,
    /// The files that they are kept in.
    pub(super) storage: Storage,
}

/// The positions of existing objects that a Template may update, ordered by identity.
pub(super) struct Existing<'i>(Vec<(&'i Identity, usize)>);

impl Existing<'_> {
    /// The position of the object with this identity.
    pub(super) fn get(&self, identity: &Identity) -> Option<usize> {
        let Self(positions) = self;
        let found = positions.binary_search_by(|(one, _)| by_name(one, identity));
        let (_, position) = positions.get(found.ok()?)?;
        Some(*position)
    }
}

/// Orders identities with the name first, in which they differ most.
fn by_name(one: &Identity, other: &Identity) -> Ordering {
    one.name.cmp(&other.name).then_with(|| one.cmp(other))
}

/// The facts about an object that are kept after it was read.
pub(super) struct Item {
    /// Its identity if it has a kind; the name may be empty.
    pub(super) identity: Option<Identity>,
    /// The instance that created it.
    pub(super) owner: Option<Box<str>>,
    /// Whether it is a copy of the functionConfig.
    pub(super) is_config: bool,
    /// Whether it is kept out of the cluster.
    pub(super) is_local: bool,
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

impl Items {
    /// Reads the items of a ResourceList.
    pub(super) fn read(nodes: &[SharedNode], config: Cursor<'_>) -> Self {
        let chunks = nodes.chunks(ITEMS_AT_ONCE).flat_map(|some| {
            let read = threads::in_chunks(some, ITEMS_A_THREAD, |chunk| {
                let read = chunk
                    .iter()
                    .map(|item| Read::of(item.cursor().open().cursor()));
                read.collect::<Vec<Read>>()
            });
            read.into_iter().flatten()
        });
        Self::of(nodes.len(), chunks, Read::of(config))
    }

    /// Reads items that are values, in a Composition.
    pub(super) fn of_values<'v>(
        values: impl ExactSizeIterator<Item = &'v Value<'v>>,
        config: &Value<'_>,
    ) -> Self {
        let count = values.len();
        Self::of(count, values.map(Read::of_value), Read::of_value(config))
    }

    fn of(count: usize, objects: impl Iterator<Item = Read>, config: Read) -> Self {
        let mut items = Self {
            // A list that grows is copied, and both copies take memory.
            list: Vec::with_capacity(count),
            storage: Storage::default(),
        };
        for object in objects {
            items.add(object, &config);
        }
        let storage = &mut items.storage;
        storage.are_kept |= config.path.is_some();
        storage.config_path = storage.config_path.take().or(config.path);
        items
    }

    fn add(&mut self, read: Read, config: &Read) {
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
            identity: read.identity,
            owner: read.owner,
            is_config,
            is_local: read.is_local,
        });
    }

    /// The items that have a name, with their positions and identities, without the functionConfig.
    fn named(&self) -> impl Iterator<Item = (usize, &Identity, &Item)> {
        let items = self.list.iter().enumerate();
        let items = items.filter(|(_, item)| !item.is_config);
        items.filter_map(|(at, item)| {
            let identity = item.identity.as_ref()?;
            (!identity.name.is_empty()).then_some((at, identity, item))
        })
    }

    /// Existing objects that a Template may update. Of several with one identity it is the first,
    /// or the first that an instance owns.
    pub(super) fn by_identity(&self) -> Existing<'_> {
        let may_be_updated = |item: &Item| !item.is_local || item.owner.is_some();
        let named = self.named().filter(|(_, _, item)| may_be_updated(item));
        let mut found: Vec<_> = named.collect();
        // Those that an instance owns come first, otherwise they keep their order.
        found.sort_by(|(_, one, item), (_, other, other_item)| {
            by_name(one, other).then_with(|| item.owner.is_none().cmp(&other_item.owner.is_none()))
        });
        found.dedup_by(|(_, one, _), (_, other, _)| one == other);
        let positions = found.into_iter().map(|(at, identity, _)| (identity, at));
        Existing(positions.collect())
    }

    /// Objects that an instance owns, in order, also several of one identity; each with its
    /// position.
    pub(super) fn owned(&self) -> impl Iterator<Item = (usize, &Identity, &str)> {
        let named = self.named();
        named.filter_map(|(at, identity, item)| Some((at, identity, item.owner.as_deref()?)))
    }

    /// Templates, and objects that may have values for them.
    pub(super) fn inputs(
        &self,
        objects: &impl Objects,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Input> {
        let named = self.named().filter(|(_, _, item)| item.owner.is_none());
        let named = named.filter(|(_, identity, _)| Input::may_be(identity));
        named
            .filter_map(|(at, identity, _)| {
                let node = diagnostics.take(objects.at(at))?;
                Input::new(identity, node.clone())
            })
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

/// The fields of one object that decide who owns it and where it is kept.
struct Read {
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
            identity: head.identity_of_kind(),
            path: kept.path.map(Cow::into_owned),
            index: kept.index,
            is_local: local.is_some_and(|local| local != "false"),
            owner: owner.map(Into::into),
        }
    }

    fn of_value(object: &Value<'_>) -> Self {
        let annotation = |key| object.str_at(&["metadata", "annotations", key]);
        let kept = Kept::ANNOTATIONS.map(|key| annotation(key).map(Cow::Borrowed));
        let kept = Kept::from_annotations(kept);
        Self {
            identity: Identity::of_kind(object),
            path: kept.path.map(Cow::into_owned),
            index: kept.index,
            is_local: is_local(object.get("metadata")),
            owner: annotation(OWNER).map(Into::into),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::sync::Arc;

    use super::{ITEMS_AT_ONCE, Items, Storage};
    use crate::krm::long_lists::LONG_LISTS;
    use crate::krm::resource_list::ResourceList;
    use krm_yaml::Document;
    use krm_yaml::source::Source;

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
        let document = Arc::new(Document::open(&source, LONG_LISTS).unwrap());
        let list = ResourceList::read(&document).unwrap();
        let items = Items::read(&list.shared_items(), list.function_config().unwrap());
        let mut found: Vec<_> = items
            .by_identity()
            .0
            .into_iter()
            .map(|(_, at)| at)
            .collect();
        found.sort_unstable();
        assert_eq!(found, (0..count - 1).collect::<Vec<_>>());
        let Storage {
            last_index,
            config_path,
            ..
        } = items.storage;
        let expected = [("all.yaml".to_owned(), count - 1), ("t.yaml".to_owned(), 0)];
        assert!(last_index.into_iter().eq(expected));
        assert_eq!(config_path.as_deref(), Some("t.yaml"));
    }
}
