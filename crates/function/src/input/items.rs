//! The objects that a function works on.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::input::kptfile::is_kptfile;
use crate::input::objects::Objects;
use crate::input::storage::{FileId, Storage};
use crate::plan::Input;
use krm_core::annotations::{
    INDEX, LEGACY_INDEX, LEGACY_PATH, LOCAL_CONFIG, ORIGIN, OWNER, PACKAGE_PATH, PATH, RESOURCE_ID,
    is_local,
};
use krm_core::identity::{self, Head, Identity, Kept};
use krm_core::threads;
use krm_yaml::diagnostic::Diagnostics;
use krm_yaml::{Cursor, SharedNode, Value, View};

/// The objects that a function works on: the items of a ResourceList, or the resources of a
/// Composition.
pub(crate) struct Items {
    /// All of them, in order.
    pub(crate) list: Vec<Item>,
    /// The files that they are kept in.
    pub(crate) storage: Storage,
    /// Whether kpt sent only those that selectors choose.
    pub(crate) are_selected: bool,
}

/// The positions of named objects, ordered by name.
pub(crate) struct ByName<'i>(Vec<(&'i Identity, usize)>);

impl ByName<'_> {
    /// The positions of the objects of this group, kind and name, in any namespace.
    pub(crate) fn in_any_namespace(&self, identity: &Identity) -> impl Iterator<Item = usize> {
        let key = |one: &Identity| {
            let by_name = one.name.cmp(&identity.name);
            by_name
                .then_with(|| one.group.cmp(&identity.group))
                .then_with(|| one.kind.cmp(&identity.kind))
        };
        let Self(positions) = self;
        let first = positions.partition_point(|(one, _)| key(one).is_lt());
        let from = positions.get(first..).unwrap_or_default().iter();
        from.take_while(move |(one, _)| key(one).is_eq()).map(|(_, at)| *at)
    }

    /// The positions of the objects with this identity, in order.
    pub(crate) fn get(&self, identity: &Identity) -> impl Iterator<Item = usize> {
        let Self(positions) = self;
        let first = positions.partition_point(|(one, _)| by_name(one, identity).is_lt());
        let from = positions.get(first..).unwrap_or_default().iter();
        from.take_while(move |(one, _)| *one == identity).map(|(_, at)| *at)
    }
}

/// Orders identities with the name first, in which they differ most, and the namespace last.
fn by_name(one: &Identity, other: &Identity) -> Ordering {
    one.name
        .cmp(&other.name)
        .then_with(|| one.group.cmp(&other.group))
        .then_with(|| one.kind.cmp(&other.kind))
        .then_with(|| one.namespace.cmp(&other.namespace))
}

/// The facts about an object that are kept after it was read.
pub(crate) struct Item {
    /// Its identity if it has a kind; the name may be empty.
    pub(crate) identity: Option<Identity>,
    /// The annotation with the instance that created it.
    pub(crate) owner: Option<Box<str>>,
    /// The annotation with the identity as it was created, and the place of the functionConfig.
    pub(crate) origin: Option<Box<str>>,
    /// The file that it is kept in.
    pub(crate) file: Option<FileId>,
    /// Whether it is a copy of the functionConfig.
    pub(crate) is_config: bool,
    /// Whether it is kept out of the cluster.
    pub(crate) is_local: bool,
}

/// The file an item is kept in.
pub(crate) fn path_of(node: Cursor<'_>) -> Option<String> {
    identity::reference(node.open().cursor()).path
}

/// How many items a thread is worth starting for.
const ITEMS_A_THREAD: usize = 64;
/// How many items are read before they are put in order: the paths of more are not held at once.
const ITEMS_AT_ONCE: usize = 2_048;

impl Items {
    /// Reads the items of a ResourceList.
    pub(crate) fn read(nodes: &[SharedNode], config: Cursor<'_>) -> Self {
        let chunks = nodes.chunks(ITEMS_AT_ONCE).flat_map(|some| {
            let read = threads::in_chunks(some, ITEMS_A_THREAD, |chunk| {
                let read = chunk.iter().map(|item| Read::of(item.cursor().open().cursor()));
                read.collect::<Vec<Read>>()
            });
            read.into_iter().flatten()
        });
        Self::of(nodes.len(), chunks, Read::of(config))
    }

    /// Reads items that are the resources of a Composition.
    pub(crate) fn of_views<'v>(
        views: impl ExactSizeIterator<Item = View<'v>>,
        config: &Value<'_>,
    ) -> Self {
        let config = Read::of_view(config.into());
        Self::of(views.len(), views.map(Read::of_view), config)
    }

    fn of(count: usize, objects: impl Iterator<Item = Read>, config: Read) -> Self {
        let mut items = Self {
            // A list that grows is copied, and both copies take memory.
            list: Vec::with_capacity(count),
            storage: Storage::default(),
            are_selected: false,
        };
        let mut kptfiles = Vec::new();
        for object in objects {
            let is_package = object.identity.as_ref().is_some_and(is_kptfile);
            let file = items.add(object);
            kptfiles.extend(file.filter(|_| is_package));
        }
        let storage = &mut items.storage;
        storage.are_kept |= config.path.is_some();
        storage.has_package_path = config.package_path.is_some();
        storage.set_current(config.package_path);
        for file in kptfiles {
            storage.add_package(file);
        }
        if let Some(path) = config.path {
            storage.config_file = storage.full_path("", &path);
            storage.config_path = Some(path);
        }
        items.mark_config(config.identity.as_ref());
        items
    }

    fn add(&mut self, read: Read) -> Option<FileId> {
        let file = read.path.map(|path| {
            let package = read.package_path.as_deref().unwrap_or_default();
            self.storage.add(package, &path, read.index)
        });
        self.are_selected |= read.is_selected;
        self.list.push(Item {
            identity: read.identity,
            owner: read.owner,
            origin: read.origin,
            file,
            is_config: false,
            is_local: read.is_local,
        });
        file
    }

    /// Marks what may be the functionConfig among the items.
    fn mark_config(&mut self, config: Option<&Identity>) {
        let Some(config) = config.filter(|config| !config.name.is_empty()) else {
            return;
        };
        for item in &mut self.list {
            item.is_config = item.identity.as_ref() == Some(config);
        }
    }

    /// Leaves only the items of the functionConfig's file marked.
    pub(crate) fn keep_config_in(&mut self, full: &str) {
        let Self { list, storage, .. } = self;
        for item in list.iter_mut().filter(|item| item.is_config) {
            let file = item.file.and_then(|file| storage.full(file));
            item.is_config = file.as_deref() == Some(full);
        }
    }

    /// Sets the file of the functionConfig, which was found among the items.
    pub(crate) fn set_config_file(&mut self, at: usize, path: String) {
        let file = self.list.get(at).and_then(|item| item.file);
        self.storage.config_file = file.and_then(|file| self.storage.full(file));
        self.storage.config_path = Some(path);
        for (position, item) in self.list.iter_mut().enumerate() {
            item.is_config &= position == at;
        }
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

    /// Existing objects that a Template may update.
    pub(crate) fn by_name(&self) -> ByName<'_> {
        let may_be_updated = |item: &Item| !item.is_local || item.owner.is_some();
        let named = self.named().filter(|(_, _, item)| may_be_updated(item));
        let mut found: Vec<_> = named.map(|(at, identity, _)| (identity, at)).collect();
        found.sort_by(|(one, _), (other, _)| by_name(one, other));
        ByName(found)
    }

    /// Objects that have a mark, or a part of one, in order; each with its position.
    pub(crate) fn marked(&self) -> impl Iterator<Item = (usize, &Identity, &Item)> {
        let is_marked = |item: &Item| item.owner.is_some() || item.origin.is_some();
        self.named().filter(move |(_, _, item)| is_marked(item))
    }

    /// The directory of the package of an item.
    pub(crate) fn package(&self, item: &Item) -> String {
        let file = item.file.map(|file| self.storage.package(file));
        file.unwrap_or_else(|| self.storage.current.clone())
    }

    /// The file of an item as the user knows it.
    pub(crate) fn shown_file(&self, at: usize) -> Option<String> {
        let full = self.storage.full(self.list.get(at)?.file?)?;
        Some(self.storage.shown(&full))
    }

    /// Templates, and objects that may have values for them.
    pub(crate) fn inputs(
        &self,
        objects: &impl Objects,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Input> {
        let named = self.named().filter(|(_, _, item)| item.owner.is_none());
        let named = named.filter(|(_, identity, _)| Input::may_be(identity));
        let package = self.storage.config_package();
        named
            .filter_map(|(at, identity, item)| {
                let node = diagnostics.take(objects.at(at))?;
                let mut input = Input::new(identity, node.clone())?;
                input.is_near = self.package(item) == package;
                Some(input)
            })
            .collect()
    }
}

/// The fields of one object that decide who owns it and where it is kept.
struct Read {
    identity: Option<Identity>,
    path: Option<String>,
    /// The directory of its package.
    package_path: Option<String>,
    index: usize,
    is_local: bool,
    owner: Option<Box<str>>,
    origin: Option<Box<str>>,
    /// Whether kpt sent it because a selector chooses it.
    is_selected: bool,
}

impl Read {
    fn of(item: Cursor<'_>) -> Self {
        let head = Head::of(item);
        let [local, owner, origin, package, selected, path, legacy_path, index, legacy_index] =
            head.annotations([
                LOCAL_CONFIG,
                OWNER,
                ORIGIN,
                PACKAGE_PATH,
                RESOURCE_ID,
                PATH,
                LEGACY_PATH,
                INDEX,
                LEGACY_INDEX,
            ]);
        let kept = Kept::from_annotations([path, legacy_path, index, legacy_index]);
        Self {
            identity: head.identity_of_kind(),
            path: kept.path.map(Cow::into_owned),
            package_path: package.map(Cow::into_owned),
            index: kept.index,
            is_local: local.is_some_and(|local| local != "false"),
            owner: owner.map(Into::into),
            origin: origin.map(Into::into),
            is_selected: selected.is_some(),
        }
    }

    fn of_view(object: View<'_>) -> Self {
        let metadata = object.get("metadata");
        let annotations = metadata.and_then(|metadata| metadata.get("annotations"));
        let annotation = |key| annotations?.get(key)?.as_str();
        let kept = Kept::from_annotations(Kept::ANNOTATIONS.map(annotation));
        Self {
            identity: Identity::of_kind(object),
            path: kept.path.map(Cow::into_owned),
            package_path: annotation(PACKAGE_PATH).map(Into::into),
            index: kept.index,
            is_local: is_local(metadata),
            owner: annotation(OWNER).map(Into::into),
            origin: annotation(ORIGIN).map(Into::into),
            is_selected: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::sync::Arc;

    use super::{ITEMS_AT_ONCE, Items};
    use krm_core::identity::Identity;
    use krm_core::long_lists::LONG_LISTS;
    use krm_core::resource_list::ResourceList;
    use krm_yaml::Document;
    use krm_yaml::source::Source;

    #[test]
    fn of_many_items_all_of_an_identity_and_the_last_index_are_known() {
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
        let found = items.by_name();
        let named = |name: &str| {
            let identity = Identity {
                group: String::new(),
                kind: "ConfigMap".to_owned(),
                namespace: String::new(),
                name: name.to_owned(),
            };
            found.get(&identity).collect::<Vec<_>>()
        };
        assert_eq!(named("n0"), [0, count - 1]);
        assert_eq!(named("n1"), [1]);
        assert_eq!(items.storage.last_index("all.yaml"), Some(count - 1));
        assert_eq!(items.storage.last_index("t.yaml"), Some(0));
        assert_eq!(items.storage.last_index("other.yaml"), None);
    }
}
