//! Finds the existing object for each one that is created, and what is left of earlier runs.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::input::items::{ByName, Items};
use crate::ownership::{Level, Marked, Ownership};
use krm_core::identity::Identity;

/// The identities that a run creates, which are known after it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Created {
    /// As they are created.
    pub(crate) identities: BTreeSet<Identity>,
    /// As they leave the functionConfig.
    pub(crate) called: BTreeSet<Identity>,
}

/// The identities of an object: as created, and after later transformers.
pub(crate) struct Names<'n> {
    /// The transformer of a Composition that made it; else empty.
    pub(crate) maker: &'n str,
    /// As it is created.
    pub(crate) identity: Identity,
    /// As it leaves the functionConfig.
    pub(crate) called: Identity,
}

/// The existing object for one that is created.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// One at this position that the functionConfig may change.
    Marked(usize),
    /// One of its package with the same name, which it did not create.
    Foreign(usize),
    /// Several, of which none or more than one has the name.
    Several(Vec<usize>),
    /// None.
    Nothing,
}

/// What earlier runs created, and this one did not find.
#[derive(Default)]
pub(crate) struct Rest {
    /// It is no longer created.
    pub(crate) removed: Vec<usize>,
    /// It is a copy of another object.
    pub(crate) copies: Vec<usize>,
    /// It is unclear whose it is.
    pub(crate) orphans: Vec<usize>,
}

/// Own objects without an origin, by their names from either end.
struct WithoutOrigin {
    forwards: BTreeSet<(String, String, String, usize)>,
    backwards: BTreeSet<(String, String, String, usize)>,
}

impl WithoutOrigin {
    fn of<'i>(objects: impl Iterator<Item = (&'i Identity, usize)> + Clone) -> Self {
        let key = |one: &Identity, name| (one.group.clone(), one.kind.clone(), name);
        let forwards = objects.clone().map(|(one, at)| {
            let (group, kind, name) = key(one, one.name.clone());
            (group, kind, name, at)
        });
        let backwards = objects.map(|(one, at)| {
            let (group, kind, name) = key(one, one.name.chars().rev().collect());
            (group, kind, name, at)
        });
        Self { forwards: forwards.collect(), backwards: backwards.collect() }
    }

    /// The positions of those whose names begin or end with that of `identity`.
    fn around(&self, identity: &Identity) -> impl Iterator<Item = usize> {
        let from = |set: &BTreeSet<(String, String, String, usize)>, name: String| {
            let first = (identity.group.clone(), identity.kind.clone(), name.clone(), 0);
            let from = set.range(first..);
            let same = from.take_while(|(group, kind, other, _)| {
                (group, kind) == (&identity.group, &identity.kind) && other.starts_with(&name)
            });
            same.map(|(.., at)| *at).collect::<BTreeSet<usize>>()
        };
        let mut found = from(&self.forwards, identity.name.clone());
        found.extend(from(&self.backwards, identity.name.chars().rev().collect()));
        found.into_iter()
    }
}

/// Finds existing objects.
pub(crate) struct Matching<'m> {
    items: &'m Items,
    by_name: ByName<'m>,
    marked: Vec<Marked>,
    /// Positions in `marked`, by the identity as it was created.
    by_recorded: BTreeMap<Identity, Vec<usize>>,
    /// Positions in `marked`, by position.
    by_position: BTreeMap<usize, usize>,
    without_origin: WithoutOrigin,
    package: String,
    /// None in the first run.
    created: RefCell<Option<Created>>,
    /// Whether it depended on what is created.
    has_guessed: Cell<bool>,
    /// Objects without an origin, of which several fit.
    unsettled: RefCell<BTreeSet<usize>>,
}

impl<'m> Matching<'m> {
    pub(crate) fn new(items: &'m Items, ownership: &Ownership<'m>) -> Self {
        let marked = ownership.marked();
        let mut by_recorded: BTreeMap<Identity, Vec<usize>> = BTreeMap::new();
        for (index, one) in marked.iter().enumerate() {
            let known = by_recorded.entry(one.recorded.clone()).or_default();
            known.push(index);
        }
        let old = marked.iter().filter(|one| one.level == Level::Own && !one.has_origin);
        let without_origin = WithoutOrigin::of(old.map(|one| (&one.recorded, one.at)));
        let by_position = marked.iter().enumerate();
        let by_position = by_position.map(|(index, one)| (one.at, index)).collect();
        Self {
            items,
            by_name: items.by_name(),
            marked,
            by_recorded,
            by_position,
            without_origin,
            package: items.storage.config_package(),
            created: RefCell::default(),
            has_guessed: Cell::new(false),
            unsettled: RefCell::default(),
        }
    }

    /// Whether the first run depended on what is created: the next one knows.
    pub(crate) const fn has_guessed(&self) -> bool {
        self.has_guessed.get()
    }

    /// Takes over what the first run created.
    pub(crate) fn learn(&self, created: Created) {
        self.created.replace(Some(created));
        self.has_guessed.set(false);
        self.unsettled.take();
    }

    /// The mark of an object.
    pub(crate) fn mark(&self, at: usize) -> Option<&Marked> {
        self.marked.get(*self.by_position.get(&at)?)
    }

    fn is_called(&self, at: usize, called: &Identity) -> bool {
        let identity = self.items.list.get(at).and_then(|item| item.identity.as_ref());
        identity.is_some_and(|one| {
            (&one.group, &one.kind, &one.name) == (&called.group, &called.kind, &called.name)
                && (called.namespace.is_empty() || one.namespace == called.namespace)
        })
    }

    /// The existing object for one with these names.
    pub(crate) fn find(&self, names: &Names<'_>) -> Found {
        let called = &names.called;
        for level in [Level::Own, Level::Orphan] {
            let recorded = self.by_recorded.get(&names.identity).into_iter().flatten();
            let recorded = recorded.filter_map(|index| self.marked.get(*index));
            let of_level = recorded.filter(|one| one.level == level && self.is_made_by(one, names));
            let positions: Vec<usize> = of_level.map(|one| one.at).collect();
            let now = positions.iter().copied();
            let now: Vec<usize> = now.filter(|at| self.is_called(*at, called)).collect();
            match (positions.as_slice(), now.as_slice()) {
                ([], _) => {}
                ([at], _) | (_, [at]) => return Found::Marked(*at),
                (_, []) => return Found::Several(positions),
                _ => return Found::Several(now),
            }
        }
        self.renamed(&names.identity)
            .or_else(|| self.called(called))
            .map_or_else(|| self.foreign(names), Found::Marked)
    }

    /// Whether the owner of an object names the transformer, or none.
    fn is_made_by(&self, one: &Marked, names: &Names<'_>) -> bool {
        let item = self.items.list.get(one.at);
        let owner = item.and_then(|item| item.owner.as_deref()).unwrap_or_default();
        names.maker.is_empty()
            || owner.splitn(4, '/').nth(3).is_none_or(|maker| maker == names.maker)
    }

    /// Whether this functionConfig made an object, or may have.
    pub(crate) fn is_ours(&self, at: usize) -> bool {
        let mark = self.mark(at);
        mark.is_some_and(|mark| matches!(mark.level, Level::Own | Level::Orphan))
    }

    /// The only own object without an origin whose name a later function may have made of this
    /// one's. Older versions recorded no origin.
    fn renamed(&self, identity: &Identity) -> Option<usize> {
        let found: Vec<usize> = self
            .without_origin
            .around(identity)
            .filter(|at| {
                let item = self.items.list.get(*at).and_then(|item| item.identity.as_ref());
                item.is_some_and(|now| {
                    (identity.namespace.is_empty() || now.namespace == identity.namespace)
                        && !self.is_created(now)
                })
            })
            .collect();
        if !found.is_empty() && self.created.borrow().is_none() {
            self.has_guessed.set(true);
        }
        match found.as_slice() {
            [at] => Some(*at),
            several => {
                self.unsettled.borrow_mut().extend(several);
                None
            }
        }
    }

    /// Whether another object of this run is called so.
    fn is_created(&self, called: &Identity) -> bool {
        let created = self.created.borrow();
        created.as_ref().is_some_and(|created| created.called.contains(called))
    }

    /// The own object that is called so now, and is no longer created under its first name.
    fn called(&self, called: &Identity) -> Option<usize> {
        let mut positions = self.by_name.in_any_namespace(called);
        let found = positions.find(|at| {
            let Some(marked) = self.mark(*at).filter(|_| self.is_called(*at, called)) else {
                return false;
            };
            let created = self.created.borrow();
            let is_created = created
                .as_ref()
                .is_some_and(|created| created.identities.contains(&marked.recorded));
            marked.level == Level::Own && !is_created
        });
        if found.is_some() && self.created.borrow().is_none() {
            self.has_guessed.set(true);
        }
        found
    }

    /// The object of the same package that is called so and belongs to others, or that one which is
    /// not there any more created as this.
    fn foreign(&self, names: &Names<'_>) -> Found {
        let is_here = |at: &usize| {
            let item = self.items.list.get(*at);
            item.is_some_and(|item| self.items.package(item) == self.package)
        };
        let is_copy_or_others = |at: &usize| {
            self.mark(*at).is_none_or(|marked| {
                let others = self.by_recorded.get(&marked.recorded);
                !matches!(marked.level, Level::Own | Level::Orphan)
                    || others.is_some_and(|others| others.len() > 1)
            })
        };
        let mut called = self.by_name.get(&names.called).filter(is_copy_or_others);
        let orphans = self.by_recorded.get(&names.identity).into_iter().flatten();
        let orphans = orphans.filter_map(|index| self.marked.get(*index));
        let is_orphan = |level: &Level| matches!(level, Level::OthersOrphan | Level::Unreadable);
        let orphans = orphans.filter(|one| is_orphan(&one.level));
        let mut orphans = orphans.map(|one| one.at);
        // One without an origin may have been moved to a namespace.
        let mut moved = self.by_name.in_any_namespace(&names.identity).filter(|at| {
            let mark = self.mark(*at);
            mark.is_some_and(|one| is_orphan(&one.level) && !one.has_origin)
                && self.is_called(*at, &names.identity)
        });
        let found = called.find(is_here);
        let found = found.or_else(|| orphans.find(is_here));
        let found = found.or_else(|| moved.find(is_here));
        found.map_or(Found::Nothing, Found::Foreign)
    }

    /// Objects that are called so in packages below.
    pub(crate) fn below(&self, called: &Identity) -> Option<usize> {
        let mut positions = self.by_name.get(called);
        positions.find(|at| {
            let item = self.items.list.get(*at);
            item.is_some_and(|item| self.items.package(item) != self.package)
        })
    }

    /// Whether the functionConfig made or may have made objects for an instance. It may have had
    /// another name.
    pub(crate) fn has_objects_of(&self, owner: &str) -> bool {
        let instance = |owner: &str| owner.splitn(4, '/').nth(3).map(str::to_owned);
        self.marked.iter().any(|one| {
            let item = self.items.list.get(one.at);
            let other = item.and_then(|item| item.owner.as_deref());
            other.is_some_and(|other| match one.level {
                Level::Own => other == owner,
                Level::Orphan => instance(other) == instance(owner),
                _ => false,
            })
        })
    }

    /// Objects of earlier runs without a match among `found`, to be pruned. `is_followed` tells
    /// whether a later function may have renamed them.
    pub(crate) fn rest(
        &self,
        created: &BTreeSet<Identity>,
        found: &BTreeSet<usize>,
        is_followed: bool,
    ) -> Rest {
        let mut rest = Rest::default();
        let left = self.marked.iter().filter(|one| !found.contains(&one.at));
        for one in left {
            match one.level {
                Level::Own if self.unsettled.borrow().contains(&one.at) => {
                    rest.orphans.push(one.at);
                }
                Level::Own
                    if created.contains(&one.recorded) || self.may_be_copy(one, is_followed) =>
                {
                    rest.copies.push(one.at);
                }
                Level::Own => rest.removed.push(one.at),
                Level::Orphan => rest.orphans.push(one.at),
                Level::OthersOrphan | Level::Unreadable | Level::Others(_) => {}
            }
        }
        rest
    }

    /// Whether an own object may be a copy of another one, which may be gone: it is the original if
    /// it is called so, and no other is. If later functions rename objects, only a single one is.
    fn may_be_copy(&self, one: &Marked, is_followed: bool) -> bool {
        let same = self.by_recorded.get(&one.recorded).into_iter().flatten();
        let same = same.filter_map(|index| self.marked.get(*index));
        let own = same.filter(|other| other.level == Level::Own);
        let own: Vec<usize> = own.map(|other| other.at).collect();
        if is_followed {
            return own.len() > 1;
        }
        let is_called = |at: &usize| self.is_called(*at, &one.recorded);
        !is_called(&one.at) || own.iter().filter(|at| is_called(at)).count() > 1
    }
}
