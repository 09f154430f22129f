//! Lists of fields that are merged, each field compared only with those of its path and kind.
//!
//! Source: kustomize 5.8, `api/types/fieldspec.go`.

use std::collections::BTreeMap;

use crate::fields::field_spec::{FieldSpec, Kind};
use crate::tables::kind_order::legacy_rank;

/// Places by a path and the kind of the objects that have it.
pub(crate) type ByKind<'t> = BTreeMap<(&'t str, Kind<'t>), usize>;

/// A list of fields in the making.
#[derive(Default)]
pub(crate) struct MergedFields<'t> {
    /// None where another field has taken the place of one.
    fields: Vec<Option<&'t FieldSpec>>,
    /// The field for exactly a kind.
    exact: ByKind<'t>,
    /// The first field for some of a kind.
    first: ByKind<'t>,
}

impl<'t> MergedFields<'t> {
    /// Adds fields as they are.
    pub(crate) fn extend(&mut self, fields: &'t [FieldSpec]) {
        for field in fields {
            self.push(field);
        }
    }

    /// Adds a field unless the list has it for some of its kinds. With `hides`, one for a kind takes
    /// the place of those for more kinds that would be sorted after it.
    ///
    /// # Errors
    /// If two entries for one field differ in `create`.
    pub(crate) fn add(&mut self, new: &'t FieldSpec, hides: bool) -> Result<(), String> {
        let kind = new.kind();
        if let Some(old) = self.at(self.first.get(&(&*new.path, kind))) {
            return same_create(old, new);
        }
        if hides {
            let place = position(kind);
            let wider = wider(kind).filter_map(|wide| {
                let index = *self.exact.get(&(&*new.path, wide))?;
                self.at(Some(&index))?;
                (place < position(wide)).then_some(index)
            });
            let mut hidden: Vec<usize> = wider.collect();
            hidden.sort_unstable();
            if let Some(old) = self.at(hidden.first()) {
                same_create(new, old)?;
            }
            for index in hidden {
                if let Some(old) = self.fields.get_mut(index) {
                    *old = None;
                }
            }
        }
        self.push(new);
        Ok(())
    }

    /// As [`add`](Self::add), for several fields that hide none.
    ///
    /// # Errors
    /// As `add`.
    pub(crate) fn add_all(&mut self, fields: &'t [FieldSpec]) -> Result<(), String> {
        fields.iter().try_for_each(|field| self.add(field, false))
    }

    fn push(&mut self, new: &'t FieldSpec) {
        let index = self.fields.len();
        let kind = new.kind();
        self.exact.insert((&new.path, kind), index);
        for wide in wider(kind) {
            let first = self.first.entry((&new.path, wide)).or_insert(index);
            if self.fields.get(*first).is_some_and(Option::is_none) {
                *first = index;
            }
        }
        self.fields.push(Some(new));
    }

    fn at(&self, index: Option<&usize>) -> Option<&'t FieldSpec> {
        self.fields.get(*index?).copied().flatten()
    }

    /// The fields in the order in which they were added.
    pub(crate) fn fields(self) -> Vec<FieldSpec> {
        self.fields.into_iter().flatten().cloned().collect()
    }
}

/// A kind, and those with fewer parts, which include it.
fn wider(kind: Kind<'_>) -> impl Iterator<Item = Kind<'_>> {
    let masks = (0..8).filter(move |mask| {
        let mut parts = kind.iter().enumerate();
        parts.all(|(part, text)| mask & (1 << part) == 0 || !text.is_empty())
    });
    masks.map(move |mask| {
        let mut wide = kind;
        for (part, text) in wide.iter_mut().enumerate() {
            if mask & (1 << part) != 0 {
                *text = "";
            }
        }
        wide
    })
}

fn same_create(old: &FieldSpec, new: &FieldSpec) -> Result<(), String> {
    if old.create == new.create {
        return Ok(());
    }
    let kind = if new.kind.is_empty() { "all kinds" } else { &new.kind };
    Err(format!(
        "`{}` of {kind} has `create: {}` in one entry and `create: {}` in another",
        new.path, old.create, new.create
    ))
}

/// The position of a kind in the tables. An empty part comes last, as `~`.
pub(crate) fn position([group, version, kind]: Kind<'_>) -> (usize, String) {
    let or = |text: &str, none: &str| {
        if text.is_empty() { none.to_owned() } else { text.to_owned() }
    };
    let parts = [or(group, "~G"), or(version, "~V"), or(kind, "~K")];
    (legacy_rank(kind), parts.join("_"))
}
