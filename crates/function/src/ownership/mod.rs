//! Decides from the owner annotation whether this functionConfig may change or remove an object.
//!
//! Each object that is created has two annotations: the instance that created it, and its origin:
//! its identity as it was created, before any later function, and where the functionConfig is
//! kept, relative to the object's own file. So a package, a folder or a subpackage can be moved or
//! copied as a whole. Nothing is removed unless both prove that this functionConfig made it.

pub(crate) mod matching;
pub(crate) mod messages;

use std::collections::{BTreeMap, BTreeSet};

use crate::input::config_place::{ConfigPlace, FUNCTION_INPUT};
use crate::input::items::{Item, Items};
use crate::input::kptfile::{self, PipelineFunction, is_kptfile};
use crate::input::objects::Objects;
use crate::input::paths;
use crate::plan::Owns;
use krm_core::identity::Identity;

/// What a functionConfig may do with an object that has a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// It made the object: it may change and remove it.
    Own,
    /// Nothing that is there made it, and this functionConfig may have, under another name or at
    /// another place: it may change what it creates.
    Orphan,
    /// Nothing that is there made it, nor did this functionConfig.
    OthersOrphan,
    /// A part of its mark is missing or cannot be read, so it proves nothing.
    Unreadable,
    /// A functionConfig that is still there made it; with its file.
    Others(Option<String>),
}

/// An object with a mark.
#[derive(Debug)]
pub(crate) struct Marked {
    /// Its position.
    pub(crate) at: usize,
    /// Its identity as it was created.
    pub(crate) recorded: Identity,
    /// Whether the mark has an origin.
    pub(crate) has_origin: bool,
    pub(crate) level: Level,
}

/// The parts of the annotation with the owner.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Owner<'m> {
    kind: &'m str,
    namespace: &'m str,
    name: &'m str,
}

impl<'m> Owner<'m> {
    fn parse(owner: &'m str) -> Option<Self> {
        let mut parts = owner.split('/');
        let mut part = || parts.next();
        Some(Self { kind: part()?, namespace: part()?, name: part()? })
    }
}

/// The parts of the annotation with the origin: the identity, and the place of the functionConfig.
pub(crate) fn parse_origin(origin: &str) -> Option<(Identity, Option<&str>)> {
    let (identity, from) = match origin.split_once(" from ") {
        Some((identity, from)) => (identity, Some(from)),
        None => (origin, None),
    };
    let (kind, name) = identity.split_once(' ')?;
    let (kind, group) = kind.split_once('.').unwrap_or((kind, ""));
    let (namespace, name) = name.split_once('/').unwrap_or(("", name));
    let is_whole = !kind.is_empty() && !name.is_empty() && from != Some("");
    is_whole.then(|| {
        let identity = Identity {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        (identity, from)
    })
}

/// Tells whose the marked objects are.
pub(crate) struct Ownership<'o> {
    items: &'o Items,
    place: &'o ConfigPlace,
    owns: &'o Owns,
    package: String,
    /// The items that may be functionConfigs of marked objects.
    configs: Configs<'o>,
}

/// The functionConfigs that marks may name: this one, and those among the items.
#[derive(Default)]
struct Configs<'o> {
    /// By the full path of their file.
    by_file: BTreeMap<String, Vec<Owner<'o>>>,
    /// How many of a kind, namespace and name are in each package, with the file of one.
    by_package: BTreeMap<(String, &'o str, &'o str, &'o str), Vec<String>>,
    /// The functions of each Kptfile, by its full path.
    kptfiles: BTreeMap<String, Vec<PipelineFunction>>,
}

impl<'o> Configs<'o> {
    fn of<O: Objects>(objects: &O, items: &'o Items) -> Self {
        let owners = items.marked().filter_map(|(_, _, item)| {
            let owner = Owner::parse(item.owner.as_deref()?)?;
            Some((owner.kind, owner.name))
        });
        let owners: BTreeSet<(&str, &str)> = owners.collect();
        let mut configs = Self::default();
        if owners.is_empty() {
            return configs;
        }
        for (at, item) in items.list.iter().enumerate() {
            let Some(identity) = &item.identity else {
                continue;
            };
            let is_package = is_kptfile(identity);
            let is_named = owners.contains(&(identity.kind.as_str(), identity.name.as_str()));
            if item.owner.is_some() || !(is_package || is_named) {
                continue;
            }
            let Some(full) = item.file.and_then(|file| items.storage.full(file)) else {
                continue;
            };
            if is_package {
                let node = objects.at(at).ok();
                let functions = node.map(|node| kptfile::functions(node.cursor()));
                configs.kptfiles.insert(full, functions.unwrap_or_default());
                continue;
            }
            let config = Owner {
                kind: &identity.kind,
                namespace: &identity.namespace,
                name: &identity.name,
            };
            configs.add(items.package(item), config, full);
        }
        configs
    }

    fn add(&mut self, package: String, config: Owner<'o>, file: String) {
        let in_file = self.by_file.entry(file.clone()).or_default();
        if in_file.contains(&config) {
            return;
        }
        in_file.push(config);
        let key = (package, config.kind, config.namespace, config.name);
        self.by_package.entry(key).or_default().push(file);
    }

    /// Whether a place is there and has a functionConfig of this owner.
    fn has(&self, file: &str, function: Option<&str>, owner: &Owner<'_>) -> bool {
        if let Some(functions) = self.kptfiles.get(file) {
            return functions
                .iter()
                .any(|one| one.values.is_some() && one.name.as_deref() == function);
        }
        let items = self.by_file.get(file).map(Vec::as_slice);
        let named = items.unwrap_or_default().iter();
        let mut named = named.filter(|one| one.kind == owner.kind && one.name == owner.name);
        match (named.next(), named.next()) {
            (None, _) => false,
            (Some(_), None) => true,
            // Of several, the namespace counts.
            (Some(_), Some(_)) => items
                .unwrap_or_default()
                .iter()
                .any(|one| one.name == owner.name && one.namespace == owner.namespace),
        }
    }

    /// The places of the functionConfigs with this name in a package.
    fn in_package(&self, package: &str, owner: &Owner<'_>) -> Vec<(String, Option<String>)> {
        if owner.kind == "ConfigMap" && owner.name == FUNCTION_INPUT {
            let file = paths::joined(package, "Kptfile").unwrap_or_default();
            let functions = self.kptfiles.get(&file).into_iter().flatten();
            let functions = functions.filter(|one| one.values.is_some());
            return functions.map(|one| (file.clone(), one.name.clone())).collect();
        }
        let key = (package.to_owned(), owner.kind, owner.namespace, owner.name);
        let files = self.by_package.get(&key).into_iter().flatten();
        files.map(|file| (file.clone(), None)).collect()
    }
}

impl<'o> Ownership<'o> {
    pub(crate) fn new<O: Objects>(
        objects: &O,
        items: &'o Items,
        place: &'o ConfigPlace,
        owns: &'o Owns,
    ) -> Self {
        let package = items.storage.config_package();
        let mut configs = Configs::of(objects, items);
        // kpt may hide it behind a selector.
        let own = Owner::parse(&owns.base).filter(|own| own.name != FUNCTION_INPUT);
        if let (Some(own), Some(file)) = (own, &place.file) {
            configs.add(package.clone(), own, file.clone());
        }
        Self { items, place, owns, package, configs }
    }

    /// The annotation with the origin of an object that is kept in a file.
    pub(crate) fn origin(&self, created: &Identity, file: &str) -> String {
        let mut origin = created.to_string();
        if let Some(config) = &self.place.file {
            origin.push_str(" from ");
            origin.push_str(&paths::relative(paths::parent(file), config));
            if let Some(function) = &self.place.function {
                origin.push('#');
                origin.push_str(function);
            }
        }
        origin
    }

    /// All objects with a mark.
    pub(crate) fn marked(&self) -> Vec<Marked> {
        let marked = self.items.marked();
        marked.map(|(at, identity, item)| self.mark(at, identity, item)).collect()
    }

    fn mark(&self, at: usize, identity: &Identity, item: &Item) -> Marked {
        let parsed = item.origin.as_deref().map(parse_origin);
        let marked = |recorded: Option<Identity>, level| Marked {
            at,
            recorded: recorded.unwrap_or_else(|| identity.clone()),
            has_origin: item.origin.is_some(),
            level,
        };
        let owner = item.owner.as_deref().unwrap_or_default();
        match (Owner::parse(owner), parsed) {
            (Some(parts), Some(Some((recorded, from)))) => {
                // Without a file, it leads nowhere.
                let level = match from.filter(|_| item.file.is_some()) {
                    Some(from) => self.level_from(item, owner, &parts, from),
                    None => self.level_without(item, owner, &parts),
                };
                marked(Some(recorded), level)
            }
            (Some(parts), None) => marked(None, self.level_without(item, owner, &parts)),
            (_, parsed) => {
                let recorded = parsed.flatten().map(|(recorded, _)| recorded);
                marked(recorded, Level::Unreadable)
            }
        }
    }

    /// Whether the owner has the kind and the name of this functionConfig.
    fn is_named(&self, owner: &Owner<'_>) -> bool {
        let own = Owner::parse(&self.owns.base);
        own.is_some_and(|own| own.kind == owner.kind && own.name == owner.name)
    }

    fn is_place(&self, file: &str, function: Option<&str>) -> bool {
        self.place.file.as_deref() == Some(file) && self.place.function.as_deref() == function
    }

    /// The level of an object whose mark names the place of a functionConfig.
    fn level_from(&self, item: &Item, owner: &str, parts: &Owner<'_>, from: &str) -> Level {
        let full = item.file.and_then(|file| self.items.storage.full(file));
        let directory = full.as_deref().map_or("", paths::parent);
        let (file, function) = match from.rsplit_once("Kptfile#") {
            Some((before, function)) => (format!("{before}Kptfile"), Some(function)),
            None => (from.to_owned(), None),
        };
        let target = paths::joined(directory, &file);
        let target = target.filter(|file| paths::is_within(&self.items.storage.current, file));
        let Some(target) = target else {
            return Level::Others(Some(from.to_owned()));
        };
        let is_place = self.is_place(&target, function);
        let is_named = self.is_named(parts);
        let shown = || Some(self.items.storage.shown(&target));
        if is_place && is_named && self.is_own_namespace(&target, parts) {
            if self.owns.is_others(owner) {
                return Level::Others(shown());
            }
            return Level::Own;
        }
        if self.configs.has(&target, function, parts) {
            return Level::Others(shown());
        }
        let is_below = full.is_some_and(|full| paths::is_within(&self.package, &full));
        if is_below && (is_named || is_place) { Level::Orphan } else { Level::OthersOrphan }
    }

    /// If several items of the file have the kind and the name, the namespace counts.
    fn is_own_namespace(&self, file: &str, parts: &Owner<'_>) -> bool {
        let items = self.configs.by_file.get(file).map(Vec::as_slice);
        let items = items.unwrap_or_default().iter();
        let named = items.filter(|one| one.kind == parts.kind && one.name == parts.name);
        let own = Owner::parse(&self.owns.base).map(|own| own.namespace);
        named.count() < 2 || own == Some(parts.namespace)
    }

    /// The level of an object whose mark names no place: of an older version, or where it was not
    /// known.
    fn level_without(&self, item: &Item, owner: &str, parts: &Owner<'_>) -> Level {
        let mut package = self.items.package(item);
        let is_in = package == self.package;
        let is_below = paths::is_within(&self.package, &package);
        let current = &self.items.storage.current;
        loop {
            let places = self.configs.in_package(&package, parts);
            let is_one =
                places.iter().any(|(file, function)| self.is_place(file, function.as_deref()));
            match places.as_slice() {
                [] => {}
                [_] if is_one && !self.owns.is_others(owner) => return Level::Own,
                [(file, _)] => return Level::Others(Some(self.items.storage.shown(file))),
                _ if is_one => return Level::Orphan,
                _ => return Level::OthersOrphan,
            }
            if package.is_empty() || package == *current {
                break;
            }
            let above = paths::parent(&package).to_owned();
            package = self.items.storage.package_at(&above);
        }
        let is_ours = self.is_named(parts) && !self.owns.is_others(owner);
        match (is_ours && self.place.file.is_none(), is_in, is_below) {
            (true, true, _) => Level::Own,
            (true, false, true) => Level::Orphan,
            _ => Level::OthersOrphan,
        }
    }
}
