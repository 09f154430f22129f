//! Strategic merge: a patch that looks like the object it changes.
//!
//! Source: kustomize 5.8, `kyaml/yaml/merge2` and `kyaml/yaml/walk`. Mappings are merged, null
//! removes a field, and `$patch: delete | replace | merge` sets what to do with a mapping, an item
//! or a list. A list is replaced, except for those in
//! [`merge_keys`](crate::tables::merge_keys): there, the items of the patch come
//! first, in its order, then the others. Where a port has both of its keys, all ports keep their
//! position, and only new ones come first.
//!
//! Parts of the object that stay keep their origin, and so their text. In some cases kyaml loses
//! data, and this code does not:
//!
//! - A field without a value (`key:`) that the patch does not name is kept.
//! - An item of the patch without the key of its list is an error where the object has items; kyaml
//!   drops it, and sometimes items of the object too. Two items with equal keys are one; kyaml
//!   takes the first.
//! - `$patch: replace` in an item of a merged list replaces the item; kyaml ignores it.
//! - A list that the patch does not name is kept; kyaml drops items with equal keys from it.
//! - Ports are also merged where only some have a `protocol`.
//! - `$retainKeys`, `$setElementOrder/…` and `$deleteFromPrimitiveList/…` work as in `kubectl
//!   patch`. `- $patch: …` works in a list that is replaced, and `$patch` in another item of that
//!   list is an error; kyaml writes them into the object.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::tables::merge_keys::Known;
use krm_core::scalar::text_of;
use krm_yaml::suggest::closest;
use krm_yaml::{Data, FieldPath, Scalar, Step, Value, name_of};

/// How many parts of a replaced list a warning names.
const MAX_LOST: usize = 5;

/// Whether the target of a patch stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merged {
    /// It stays, changed or not.
    Kept,
    /// It is removed.
    Deleted,
}

/// Why a patch cannot be merged.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The path in the patch, the last step first.
    steps: Vec<Step>,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Problem {
    fn new(message: String) -> Self {
        Self { steps: Vec::new(), message, hint: None }
    }

    fn hint(mut self, hint: String) -> Self {
        self.hint = Some(hint);
        self
    }

    fn in_field(mut self, key: &str) -> Self {
        self.steps.push(Step::Key(key.to_owned()));
        self
    }

    fn in_item(mut self, index: usize) -> Self {
        self.steps.push(Step::Index(index));
        self
    }

    /// The path in the patch.
    pub(crate) fn path(&self) -> FieldPath {
        FieldPath::root().join(self.steps.iter().rev())
    }
}

/// The settings and the findings of a merge.
pub(crate) struct Merging<'m> {
    /// Whether a string is written in quotes or as a block.
    pub(crate) is_quoted: &'m dyn Fn(&Value<'_>) -> bool,
    /// The lists with named items that are replaced and lose some of them: warnings.
    pub(crate) losses: Vec<Problem>,
}

impl Merging<'_> {
    /// Adds a step to the paths of the losses after the first `before`.
    fn add_step(&mut self, before: usize, step: &Step) {
        for loss in self.losses.iter_mut().skip(before) {
            loss.steps.push(step.clone());
        }
    }
}

/// Merges `patch`, which has no origins, into `target`. A quoted string stays a string where the
/// patch has a number or bool.
///
/// # Errors
/// If the two are of different types, or the patch is malformed; `target` is then half merged.
pub(crate) fn merge(
    target: &mut Value<'_>,
    patch: &Value<'static>,
    known: Known<'_>,
    merging: &mut Merging<'_>,
) -> Result<Merged, Problem> {
    if patch.is_null() {
        return Ok(Merged::Deleted);
    }
    if target.is_null() {
        let Some(new) = from_patch(patch, known)? else {
            return Ok(Merged::Deleted);
        };
        target.data = new.data;
        return Ok(Merged::Kept);
    }
    match (&mut target.data, &patch.data) {
        (Data::Mapping(_), Data::Mapping(entries)) => {
            merge_mapping(target, patch, entries, known, merging)
        }
        (Data::Sequence(items), Data::Sequence(patched)) => {
            match (directive_of_list(patched)?, known.keys().as_deref()) {
                (Directive::Delete, _) => return Ok(Merged::Deleted),
                (Directive::Merge, Some([])) => merge_scalars(items, patched),
                (Directive::Merge, Some(keys)) => {
                    merge_items(items, patched, keys, known, merging)?;
                }
                (Directive::Merge, None) => {
                    merging.losses.extend(dropped_items(items, patched));
                    replace(target, patch, known)?;
                }
                (Directive::Replace, _) => replace(target, patch, known)?,
            }
            Ok(Merged::Kept)
        }
        (Data::Scalar(_), Data::Scalar(new)) => {
            let text = text_of(patch).filter(|_| (merging.is_quoted)(target));
            let text = text.map(|text| Scalar::String(text.to_owned().into()));
            target.data = Data::Scalar(text.unwrap_or_else(|| new.clone()));
            Ok(Merged::Kept)
        }
        _ => Err(Problem::new(format!(
            "expected {}, as in the object, found {}",
            name_of(&target.data),
            name_of(&patch.data)
        ))
        .hint(
            "to change the type of a field, remove it first with `null` in another patch".into(),
        )),
    }
}

/// The treatment of a part of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    /// Merge the two, the default.
    Merge,
    /// Replace it by the patch.
    Replace,
    Delete,
}

/// The key for a directive in a patch.
pub(crate) const DIRECTIVE: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder/";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

/// Whether an entry of a patch is a directive and not a field.
fn is_directive(key: &str) -> bool {
    key == DIRECTIVE || key == RETAIN || key.starts_with(ORDER) || key.starts_with(DELETE_FROM)
}

/// The directive in a mapping of a patch.
///
/// # Errors
/// If the directive is unknown.
pub(crate) fn directive(mapping: &Value<'_>) -> Result<Directive, Problem> {
    let Some(value) = mapping.get(DIRECTIVE) else {
        return Ok(Directive::Merge);
    };
    match value.as_str() {
        Some("merge") => Ok(Directive::Merge),
        Some("replace") => Ok(Directive::Replace),
        Some("delete") => Ok(Directive::Delete),
        other => {
            let known = ["merge", "replace", "delete"];
            let hint = match closest(other.unwrap_or_default(), known) {
                Some(close) => format!("did you mean `{close}`?"),
                None => "it is `merge`, `replace` or `delete`".to_owned(),
            };
            let message = match other {
                Some(text) => format!("`$patch` cannot be `{text}`"),
                None => format!("`$patch` cannot be {}", name_of(&value.data)),
            };
            Err(Problem::new(message).hint(hint).in_field(DIRECTIVE))
        }
    }
}

/// The directive for a list, which is an item with nothing else in it.
///
/// # Errors
/// As [`directive`].
pub(crate) fn directive_of_list(items: &[Value<'_>]) -> Result<Directive, Problem> {
    let mut directives = items.iter().enumerate().filter(|(_, item)| is_for_list(item));
    directives.next().map_or(Ok(Directive::Merge), |(index, item)| {
        directive(item).map_err(|problem| problem.in_item(index))
    })
}

/// Whether the item of a list holds nothing but a directive.
pub(crate) fn is_for_list(item: &Value<'_>) -> bool {
    matches!(item.entries(), Some([(key, _)]) if key == DIRECTIVE)
}

fn merge_mapping(
    target: &mut Value<'_>,
    patch: &Value<'static>,
    entries: &[(Cow<'static, str>, Value<'static>)],
    known: Known<'_>,
    merging: &mut Merging<'_>,
) -> Result<Merged, Problem> {
    match directive(patch)? {
        Directive::Delete => return Ok(Merged::Deleted),
        Directive::Replace => {
            replace(target, patch, known)?;
            return Ok(Merged::Kept);
        }
        Directive::Merge => {}
    }
    for (key, value) in entries.iter().filter(|(key, _)| !is_directive(key)) {
        let before = merging.losses.len();
        let outcome = match target.get_mut(key) {
            Some(field) => {
                let inner = known.field_of(key, field);
                merge(field, value, inner, merging).map(|fate| {
                    if fate == Merged::Deleted {
                        target.remove(key);
                    }
                })
            }
            None => from_patch(value, known.field(key)).map(|new| {
                if let Some(new) = new {
                    target.insert(key.clone(), new);
                }
            }),
        };
        outcome.map_err(|problem| problem.in_field(key))?;
        merging.add_step(before, &Step::Key(key.clone().into_owned()));
    }
    for (key, value) in entries {
        if let Some(list) = key.strip_prefix(DELETE_FROM) {
            delete_from(target, list, value);
        } else if let Some(list) = key.strip_prefix(ORDER) {
            let keys = known.field(list).keys();
            set_order(target, list, value, keys.as_deref());
        } else if key == RETAIN {
            retain(target, value);
        }
    }
    Ok(Merged::Kept)
}

/// The loss if a patch replaces a list whose items have names: items that the patch does not name,
/// and fields that it does not give.
fn dropped_items(items: &[Value<'_>], patched: &[Value<'_>]) -> Option<Problem> {
    let name = |item: &Value<'_>| Some(item.str_at(&["name"])?.to_owned());
    let patched: BTreeMap<String, &Value<'_>> =
        patched.iter().map(|item| Some((name(item)?, item))).collect::<Option<_>>()?;
    let mut lost = Vec::new();
    for item in items {
        let name = name(item)?;
        let entries = item.entries().unwrap_or_default();
        match patched.get(&name) {
            None => lost.push(format!("`{name}`")),
            Some(new) => {
                let is_lost = |(key, _): &&(Cow<'_, str>, _)| new.get(key).is_none();
                let keys = entries.iter().filter(is_lost);
                lost.extend(keys.map(|(key, _)| format!("`{key}` of `{name}`")));
            }
        }
    }
    if lost.is_empty() {
        return None;
    }
    if let more @ 1.. = lost.len().saturating_sub(MAX_LOST) {
        lost.truncate(MAX_LOST);
        lost.push(format!("and {more} more"));
    }
    let lost = lost.join(", ");
    Some(
        Problem::new(format!("the list is replaced, and loses {lost}"))
            .hint("to merge its items, name their key in a schema under `openapi` of the Composition; to replace them on purpose, add the item `- $patch: replace`".to_owned()),
    )
}

/// Replaces the old value by that of a patch; equal parts keep their text.
fn replace(
    target: &mut Value<'_>,
    patch: &Value<'static>,
    known: Known<'_>,
) -> Result<(), Problem> {
    let old = std::mem::replace(target, Data::Scalar(Scalar::Null).into());
    let empty = match &patch.data {
        Data::Sequence(_) => Data::Sequence(Vec::new()),
        _ => Data::Mapping(Vec::new()),
    };
    let without = without_directive(patch);
    let new = from_patch(&without, known)?.unwrap_or_else(|| empty.into());
    *target = new;
    target.adopt(&old, &krm_core::item_keys::ITEM_KEYS);
    Ok(())
}

/// Copies a patch without its directives, also those for lists.
fn without_directive(patch: &Value<'static>) -> Value<'static> {
    let mut patch = patch.clone();
    match &mut patch.data {
        Data::Mapping(entries) => entries.retain(|(key, _)| key != DIRECTIVE),
        Data::Sequence(items) => items.retain(|item| !is_for_list(item)),
        Data::Scalar(_) => {}
    }
    patch
}

/// The value for a part of a patch that the object does not have: without nulls and directives.
fn from_patch(patch: &Value<'static>, known: Known<'_>) -> Result<Option<Value<'static>>, Problem> {
    match &patch.data {
        Data::Scalar(Scalar::Null) => Ok(None),
        Data::Scalar(_) => Ok(Some(patch.clone())),
        Data::Mapping(_) if directive(patch)? == Directive::Delete => Ok(None),
        Data::Mapping(entries) => {
            let mut new = Vec::with_capacity(entries.len());
            for (key, value) in entries.iter().filter(|(key, _)| !is_directive(key)) {
                let field =
                    from_patch(value, known.field(key)).map_err(|error| error.in_field(key))?;
                new.extend(field.map(|field| (key.clone(), field)));
            }
            Ok(Some(Value::mapping(new)))
        }
        Data::Sequence(items) => {
            let directive = directive_of_list(items)?;
            if directive == Directive::Delete {
                return Ok(None);
            }
            let mut new = Vec::with_capacity(items.len());
            match known.keys().as_deref() {
                Some([]) => merge_scalars(&mut new, items),
                Some(keys) => {
                    let mut merging = Merging { is_quoted: &|_| false, losses: Vec::new() };
                    merge_items(&mut new, items, keys, known, &mut merging)?;
                }
                // It is used as it is, with nulls.
                None => {
                    check_plain(items)?;
                    new.extend(items.iter().filter(|item| !is_for_list(item)).cloned());
                }
            }
            Ok(Some(Value::sequence(new)))
        }
    }
}

/// Refuses directives in items that are used as they are.
fn check_plain(items: &[Value<'_>]) -> Result<(), Problem> {
    let mut items = items.iter().enumerate();
    let is_directed = |item: &Value<'_>| item.get(DIRECTIVE).is_some() && !is_for_list(item);
    let Some((index, _)) = items.find(|(_, item)| is_directed(item)) else {
        return Ok(());
    };
    let problem = Problem::new("`$patch` is not allowed in an item of this list".to_owned());
    let hint = "the list is replaced as a whole, because its items have no known key";
    Err(problem.hint(hint.to_owned()).in_field(DIRECTIVE).in_item(index))
}

/// Merges lists of scalars without duplicates; those of the patch come first.
fn merge_scalars(items: &mut Vec<Value<'_>>, patched: &[Value<'static>]) {
    let (old, new) = (Positions::of(&*items, &[]), Positions::of(patched, &[]));
    let equal = |positions: &Positions<'_>, all: &[Value<'_>], one: &Value<'_>| {
        positions.find(one, |at| all.get(at).is_some_and(|other| other == one))
    };
    let firsts = patched
        .iter()
        .enumerate()
        .filter(|(at, item)| !is_for_list(item) && equal(&new, patched, item) == Some(*at));
    let pairs: Vec<_> = firsts.map(|(_, item)| (item, equal(&old, &*items, item))).collect();
    drop(old);
    let mut old: Vec<_> = items.drain(..).map(Some).collect();
    for (new, partner) in pairs {
        let partner = partner.and_then(|at| old.get_mut(at)?.take());
        items.push(partner.unwrap_or_else(|| new.clone()));
    }
    items.extend(old.into_iter().flatten());
}

/// The positions of the items of a list, by the first of their keys; of scalars, by themselves.
struct Positions<'v> {
    key: Option<&'v str>,
    /// None for what has no such scalar.
    positions: BTreeMap<Option<&'v Scalar<'v>>, Vec<usize>>,
}

impl<'v> Positions<'v> {
    fn of(items: impl IntoIterator<Item = &'v Value<'v>>, keys: &[&'v str]) -> Self {
        let mut own = Self { key: keys.first().copied(), positions: BTreeMap::new() };
        for (at, item) in items.into_iter().enumerate() {
            own.add(item, at);
        }
        own
    }

    fn add(&mut self, item: &'v Value<'v>, at: usize) {
        self.positions.entry(by(self.key, item)).or_default().push(at);
    }

    /// The first position for which `is` holds, of the items that may be the same.
    fn find(&self, item: &Value<'_>, is: impl Fn(usize) -> bool) -> Option<usize> {
        let positions = self.positions.get(&by(self.key, item));
        positions.into_iter().flatten().copied().find(|at| is(*at))
    }
}

/// The scalar that tells most items apart.
fn by<'v>(key: Option<&str>, item: &'v Value<'v>) -> Option<&'v Scalar<'v>> {
    key.map_or_else(|| item.scalar(), |key| scalar(item, key))
}

/// Merges lists by the keys of their items. Items of the patch come first; where an item has several
/// keys, only new ones do.
fn merge_items<'s>(
    items: &mut Vec<Value<'s>>,
    patched: &[Value<'static>],
    keys: &[&str],
    known: Known<'_>,
    merging: &mut Merging<'_>,
) -> Result<(), Problem> {
    let has_all = |item: &Value<'_>| keys.iter().all(|key| scalar(item, key).is_some());
    let stays_in_place =
        keys.len() > 1 && (items.iter().any(has_all) || patched.iter().any(has_all));
    let partners = partners(items, patched, keys);
    let mut old: Vec<Option<Value<'s>>> = items.drain(..).map(Some).collect();
    let mut front: Vec<Value<'s>> = Vec::with_capacity(old.len() + patched.len());
    let mut positions = Positions::of([], keys);
    for (index, (new, partner)) in patched.iter().zip(partners).enumerate() {
        if is_for_list(new) {
            continue;
        }
        let in_item = |problem: Problem| problem.in_item(index);
        // With nothing to merge, the keys do not matter.
        if !(old.is_empty() && new.entries().is_some()) {
            check_key(new, keys).map_err(in_item)?;
        }
        let same = positions
            .find(new, |at| front.get(at).is_some_and(|item| is_same(item, new, keys, true)));
        let before = front.len();
        let mut slot = partner.and_then(|at| old.get_mut(at));
        if let Some(mut item) = slot.as_mut().and_then(|slot| slot.take()) {
            let before = merging.losses.len();
            let fate = merge_item(&mut item, new, known, merging).map_err(in_item)?;
            merging.add_step(before, &Step::Index(index));
            match slot {
                _ if fate == Merged::Deleted => {}
                Some(slot) if stays_in_place => *slot = Some(item),
                _ => front.push(item),
            }
        } else if let Some(item) = same.and_then(|at| front.get_mut(at)) {
            let before = merging.losses.len();
            merge_item(item, new, known, merging).map_err(in_item)?;
            merging.add_step(before, &Step::Index(index));
        } else {
            front.extend(from_patch(new, known).map_err(in_item)?);
        }
        if front.len() > before {
            positions.add(new, before);
        }
    }
    front.extend(old.into_iter().flatten());
    *items = front;
    Ok(())
}

/// For each item of a patch, the same item of the object: one with the same values of all keys, or
/// else one that matches no other item of the patch.
fn partners(old: &[Value<'_>], patched: &[Value<'static>], keys: &[&str]) -> Vec<Option<usize>> {
    let positions = Positions::of(old, keys);
    let find = |new: &Value<'_>, exact, taken: &BTreeSet<usize>| {
        positions.find(new, |at| {
            let is_same = old.get(at).is_some_and(|item| is_same(item, new, keys, exact));
            is_same && !taken.contains(&at)
        })
    };
    let none = BTreeSet::new();
    let exact: Vec<_> = patched.iter().map(|new| find(new, true, &none)).collect();
    let taken = exact.iter().flatten().copied().collect();
    let loose =
        |(new, found): (&Value<'_>, &Option<usize>)| found.or_else(|| find(new, false, &taken));
    patched.iter().zip(&exact).map(loose).collect()
}

/// As [`merge`]; `known` is the type of the list that holds the item.
fn merge_item(
    item: &mut Value<'_>,
    patch: &Value<'static>,
    known: Known<'_>,
    merging: &mut Merging<'_>,
) -> Result<Merged, Problem> {
    match &patch.data {
        Data::Mapping(entries) => merge_mapping(item, patch, entries, known, merging),
        _ => Ok(Merged::Kept),
    }
}

/// Whether items are the same by the keys of their list. The first key must be equal. The others
/// must be equal where both items have them or, if the match has to be exact, where either has
/// them.
fn is_same(item: &Value<'_>, other: &Value<'_>, keys: &[&str], exact: bool) -> bool {
    let mut pairs = keys.iter().map(|key| (scalar(item, key), scalar(other, key)));
    let is_first = matches!(pairs.next(), Some((Some(a), Some(b))) if a == b);
    is_first
        && pairs.all(|pair| match pair {
            (Some(a), Some(b)) => a == b,
            (None, None) => true,
            _ => !exact,
        })
}

fn scalar<'v>(item: &'v Value<'_>, key: &str) -> Option<&'v Scalar<'v>> {
    match &item.get(key)?.data {
        Data::Scalar(Scalar::Null) => None,
        Data::Scalar(scalar) => Some(scalar),
        _ => None,
    }
}

fn check_key(item: &Value<'_>, keys: &[&str]) -> Result<(), Problem> {
    let key = keys.first().copied().unwrap_or_default();
    if scalar(item, key).is_some() {
        return Ok(());
    }
    let message = match &item.data {
        Data::Mapping(_) => format!("this item has no `{key}`"),
        other => format!("expected a mapping with `{key}`, found {}", name_of(other)),
    };
    let hint = format!("items of this list are merged by `{key}`");
    Err(Problem::new(message).hint(hint))
}

/// Removes scalars from a list.
fn delete_from(target: &mut Value<'_>, list: &str, values: &Value<'_>) {
    let values = values.items().unwrap_or_default();
    let positions = Positions::of(values, &[]);
    let is_named =
        |item: &Value<'_>| positions.find(item, |at| values.get(at) == Some(item)).is_some();
    if let Some(items) = target.get_mut(list).and_then(Value::items_mut) {
        items.retain(|item| !is_named(item));
    }
}

/// Sorts the items of a list that `order` names, among their own positions.
fn set_order(target: &mut Value<'_>, list: &str, order: &Value<'_>, keys: Option<&[&str]>) {
    let order = order.items().unwrap_or_default();
    let Some(items) = target.get_mut(list).and_then(Value::items_mut) else {
        return;
    };
    let keys = keys.unwrap_or_default();
    let positions = Positions::of(order, keys);
    let rank = |item: &Value<'_>| {
        let is_it = |named: &Value<'_>| match keys {
            [] => item == named,
            keys => is_same(item, named, keys, false),
        };
        positions.find(item, |at| order.get(at).is_some_and(is_it))
    };
    let mut ranked: Vec<(usize, Value<'_>)> = Vec::new();
    let mut others = Vec::new();
    for item in items.drain(..) {
        match rank(&item) {
            Some(rank) => {
                ranked.push((rank, item));
                others.push(None);
            }
            None => others.push(Some(item)),
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut ranked = ranked.into_iter().map(|(_, item)| item);
    items.extend(others.into_iter().filter_map(|other| other.or_else(|| ranked.next())));
}

/// Removes the fields that are not named.
fn retain(target: &mut Value<'_>, names: &Value<'_>) {
    let names = names.items().unwrap_or_default();
    if let Data::Mapping(entries) = &mut target.data {
        entries.retain(|(key, _)| names.iter().any(|name| name.as_str() == Some(key)));
    }
}
