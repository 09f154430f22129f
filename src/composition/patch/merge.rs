//! Strategic merge: a patch that looks like the object it changes.
//!
//! Source: kustomize 5.8, `kyaml/yaml/merge2` and `kyaml/yaml/walk`. Mappings are merged, null takes
//! a field out, `$patch: delete | replace | merge` says what is done with a mapping, an item or a
//! list. A list is replaced, but for those of [`merge_keys`](crate::composition::tables::merge_keys): of
//! these, the items of the patch come first, in its order, then the others. Ports, which have two
//! keys, stay where they are, and only new ones come first.
//!
//! Parts of the object that stay keep their origin, so their text stays, too. Here and there kyaml
//! loses data, and this does not:
//! - A field without a value (`key:`) that the patch does not name is kept.
//! - An item of the patch without the key of its list is an error where the object has items; kyaml
//!   leaves it out, and sometimes items of the object with it. Two items with equal keys are one;
//!   kyaml takes the first.
//! - `$patch: replace` in an item of a list that is merged replaces the item; kyaml lets it be.
//! - A list that the patch does not name is kept; kyaml drops items with equal keys from it.
//! - Ports are merged, too, where only some have a `protocol`.
//! - `$retainKeys`, `$setElementOrder/…` and `$deleteFromPrimitiveList/…` do what they do for
//!   `kubectl patch`, and `- $patch: …` is heeded in a list that is replaced, in another item of
//!   which `$patch` is an error; kyaml writes them into the object.

use std::borrow::Cow;

use crate::composition::tables::merge_keys::Type;
use crate::composition::values::scalar::text_of;
use krm_yaml::suggest::closest;
use krm_yaml::{Data, FieldPath, Scalar, Step, Value, name_of};

/// What becomes of what a patch is merged into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is there, changed or not.
    Stays,
    /// The patch takes it out.
    Goes,
}

/// Why a patch cannot be merged.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The way to the part of the patch, the last step first.
    steps: Vec<Step>,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Problem {
    fn new(message: String) -> Self {
        Self {
            steps: Vec::new(),
            message,
            hint: None,
        }
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

    /// The part of the patch that it is about.
    pub(crate) fn path(&self) -> FieldPath {
        let steps = self.steps.iter().rev();
        steps.fold(FieldPath::root(), |path, step| match step {
            Step::Key(key) => path.key(key.as_str()),
            Step::Index(index) => path.index(*index),
        })
    }
}

/// Whether a text is written in quotes, or in lines of its own.
pub(crate) type IsQuoted<'q> = &'q dyn Fn(&Value<'_>) -> bool;

/// Merges `patch`, which has no origins, into `target`. A text in quotes stays a text where the patch
/// has a number or bool.
///
/// # Errors
/// If the two are of different types, or the patch is malformed; `target` is then half merged.
pub(crate) fn merge(
    target: &mut Value<'_>,
    patch: &Value<'static>,
    known: &Type,
    is_quoted: IsQuoted<'_>,
) -> Result<Fate, Problem> {
    if patch.is_null() {
        return Ok(Fate::Goes);
    }
    if target.is_null() {
        let Some(new) = made(patch, known)? else {
            return Ok(Fate::Goes);
        };
        target.data = new.data;
        return Ok(Fate::Stays);
    }
    match (&mut target.data, &patch.data) {
        (Data::Mapping(_), Data::Mapping(entries)) => {
            merge_mapping(target, patch, entries, known, is_quoted)
        }
        (Data::Sequence(items), Data::Sequence(patched)) => {
            match (directive_of_list(patched)?, known.keys) {
                (Directive::Delete, _) => return Ok(Fate::Goes),
                (Directive::Merge, Some([])) => merge_scalars(items, patched),
                (Directive::Merge, Some(keys)) => {
                    merge_items(items, patched, keys, known, is_quoted)?;
                }
                (Directive::Replace, _) | (Directive::Merge, None) => {
                    replace(target, patch, known)?;
                }
            }
            Ok(Fate::Stays)
        }
        (Data::Scalar(_), Data::Scalar(new)) => {
            let text = text_of(patch).filter(|_| is_quoted(target));
            let text = text.map(|text| Scalar::String(text.to_owned().into()));
            target.data = Data::Scalar(text.unwrap_or_else(|| new.clone()));
            Ok(Fate::Stays)
        }
        _ => Err(Problem::new(format!(
            "expected {}, as in the object, found {}",
            name_of(&target.data),
            name_of(&patch.data)
        ))
        .hint("to change the type of a field, take it out with `null` in a patch before".into())),
    }
}

/// What a patch says is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    /// The two are merged.
    Merge,
    /// What the patch holds takes the place of what is there.
    Replace,
    /// What is there is taken out.
    Delete,
}

/// The key under which a patch says what is done.
pub(crate) const DIRECTIVE: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder/";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

/// Whether an entry of a patch is no field of the object.
fn is_directive(key: &str) -> bool {
    key == DIRECTIVE || key == RETAIN || key.starts_with(ORDER) || key.starts_with(DELETE_FROM)
}

/// What a mapping of a patch says is done.
///
/// # Errors
/// If that is none of what can be done.
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

/// What the item of a list says that holds nothing but a directive.
///
/// # Errors
/// As [`directive`].
pub(crate) fn directive_of_list(items: &[Value<'_>]) -> Result<Directive, Problem> {
    let mut directives = items
        .iter()
        .enumerate()
        .filter(|(_, item)| is_for_list(item));
    directives
        .next()
        .map_or(Ok(Directive::Merge), |(index, item)| {
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
    known: &Type,
    is_quoted: IsQuoted<'_>,
) -> Result<Fate, Problem> {
    match directive(patch)? {
        Directive::Delete => return Ok(Fate::Goes),
        Directive::Replace => {
            replace(target, patch, known)?;
            return Ok(Fate::Stays);
        }
        Directive::Merge => {}
    }
    for (key, value) in entries.iter().filter(|(key, _)| !is_directive(key)) {
        let inner = known.field(key);
        let outcome = match target.get_mut(key) {
            Some(field) => merge(field, value, inner, is_quoted).map(|fate| {
                if fate == Fate::Goes {
                    target.remove(key);
                }
            }),
            None => made(value, inner).map(|new| {
                if let Some(new) = new {
                    target.insert(key.clone(), new);
                }
            }),
        };
        outcome.map_err(|problem| problem.in_field(key))?;
    }
    for (key, value) in entries {
        if let Some(list) = key.strip_prefix(DELETE_FROM) {
            delete_from(target, list, value);
        } else if let Some(list) = key.strip_prefix(ORDER) {
            set_order(target, list, value, known.field(list).keys);
        } else if key == RETAIN {
            retain(target, value);
        }
    }
    Ok(Fate::Stays)
}

/// Puts what a patch holds in place of the old; the text stays of what is the same in both.
fn replace(target: &mut Value<'_>, patch: &Value<'static>, known: &Type) -> Result<(), Problem> {
    let old = std::mem::replace(target, Data::Scalar(Scalar::Null).into());
    let empty = match &patch.data {
        Data::Sequence(_) => Data::Sequence(Vec::new()),
        _ => Data::Mapping(Vec::new()),
    };
    let without = without_directive(patch);
    let new = made(&without, known)?.unwrap_or_else(|| empty.into());
    *target = new;
    target.adopt(&old, &crate::krm::item_keys::ITEM_KEYS);
    Ok(())
}

/// A patch without what it says about itself.
fn without_directive(patch: &Value<'static>) -> Value<'static> {
    let mut patch = patch.clone();
    match &mut patch.data {
        Data::Mapping(entries) => entries.retain(|(key, _)| key != DIRECTIVE),
        Data::Sequence(items) => items.retain(|item| !is_for_list(item)),
        Data::Scalar(_) => {}
    }
    patch
}

/// What is made of a part of a patch where the object has nothing: without nulls and directives.
fn made(patch: &Value<'static>, known: &Type) -> Result<Option<Value<'static>>, Problem> {
    match &patch.data {
        Data::Scalar(Scalar::Null) => Ok(None),
        Data::Scalar(_) => Ok(Some(patch.clone())),
        Data::Mapping(_) if directive(patch)? == Directive::Delete => Ok(None),
        Data::Mapping(entries) => {
            let mut new = Vec::with_capacity(entries.len());
            for (key, value) in entries.iter().filter(|(key, _)| !is_directive(key)) {
                let field = made(value, known.field(key)).map_err(|error| error.in_field(key))?;
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
            match known.keys {
                Some([]) => merge_scalars(&mut new, items),
                Some(keys) => merge_items(&mut new, items, keys, known, &|_| false)?,
                // All of it is taken as it is, nulls and all.
                None => {
                    check_plain(items)?;
                    new.extend(items.iter().filter(|item| !is_for_list(item)).cloned());
                }
            }
            Ok(Some(Value::sequence(new)))
        }
    }
}

/// Refuses to write directives into items that are taken as they are.
fn check_plain(items: &[Value<'_>]) -> Result<(), Problem> {
    let mut items = items.iter().enumerate();
    let is_directed = |item: &Value<'_>| item.get(DIRECTIVE).is_some() && !is_for_list(item);
    let Some((index, _)) = items.find(|(_, item)| is_directed(item)) else {
        return Ok(());
    };
    let problem = Problem::new("`$patch` cannot be said of an item of this list".to_owned());
    let hint =
        "the list is replaced as a whole: nothing is known by which its items are told apart";
    Err(problem
        .hint(hint.to_owned())
        .in_field(DIRECTIVE)
        .in_item(index))
}

/// Merges lists of scalars: each is there once, those of the patch first.
fn merge_scalars(items: &mut Vec<Value<'_>>, patched: &[Value<'static>]) {
    let mut merged = Vec::with_capacity(items.len() + patched.len());
    for new in patched.iter().filter(|item| !is_for_list(item)) {
        if !merged.contains(new) {
            let old = items.iter().position(|item| item == new);
            merged.push(old.map_or_else(|| new.clone(), |at| items.remove(at)));
        }
    }
    merged.append(items);
    *items = merged;
}

/// Merges lists whose items are told apart by keys. Those of the patch come first; where it takes
/// several keys, only those that are new.
fn merge_items<'s>(
    items: &mut Vec<Value<'s>>,
    patched: &[Value<'static>],
    keys: &[&str],
    known: &Type,
    is_quoted: IsQuoted<'_>,
) -> Result<(), Problem> {
    let stays_in_place = keys.len() > 1;
    let mut old: Vec<Option<Value<'s>>> = items.drain(..).map(Some).collect();
    let mut front: Vec<Value<'s>> = Vec::with_capacity(old.len() + patched.len());
    let partners = partners(&old, patched, keys);
    for (index, (new, partner)) in patched.iter().zip(partners).enumerate() {
        if is_for_list(new) {
            continue;
        }
        let in_item = |problem: Problem| problem.in_item(index);
        // Where there is nothing to merge with, nothing is meant by a key.
        if !(old.is_empty() && new.entries().is_some()) {
            check_key(new, keys).map_err(in_item)?;
        }
        let mut slot = partner.and_then(|at| old.get_mut(at));
        if let Some(mut item) = slot.as_mut().and_then(|slot| slot.take()) {
            let fate = merge_item(&mut item, new, known, is_quoted).map_err(in_item)?;
            match slot {
                _ if fate == Fate::Goes => {}
                Some(slot) if stays_in_place => *slot = Some(item),
                _ => front.push(item),
            }
        } else if let Some(item) = front.iter_mut().find(|item| is_same(item, new, keys, true)) {
            merge_item(item, new, known, is_quoted).map_err(in_item)?;
        } else {
            front.extend(made(new, known).map_err(in_item)?);
        }
    }
    front.extend(old.into_iter().flatten());
    *items = front;
    Ok(())
}

/// For each item of a patch, which of the object's is the same: one with all the same keys, else
/// one that no other item of the patch means so.
fn partners(
    old: &[Option<Value<'_>>],
    patched: &[Value<'static>],
    keys: &[&str],
) -> Vec<Option<usize>> {
    let find = |new: &Value<'_>, exact, taken: &[Option<usize>]| {
        let mut items = old.iter().enumerate();
        items.position(|(at, item)| {
            let same = item
                .as_ref()
                .is_some_and(|item| is_same(item, new, keys, exact));
            same && !taken.contains(&Some(at))
        })
    };
    let exact: Vec<_> = patched.iter().map(|new| find(new, true, &[])).collect();
    let loose =
        |(new, found): (&Value<'_>, &Option<usize>)| found.or_else(|| find(new, false, &exact));
    patched.iter().zip(&exact).map(loose).collect()
}

/// As [`merge`], where `known` is what is known of the list that the item is in.
fn merge_item(
    item: &mut Value<'_>,
    patch: &Value<'static>,
    known: &Type,
    is_quoted: IsQuoted<'_>,
) -> Result<Fate, Problem> {
    match &patch.data {
        Data::Mapping(entries) => merge_mapping(item, patch, entries, known, is_quoted),
        _ => Ok(Fate::Stays),
    }
}

/// Whether items are the same by the keys of their list. The first must be equal, the others only
/// where both have them, or, if it is to be exact, where one has them.
fn is_same(item: &Value<'_>, other: &Value<'_>, keys: &[&str], exact: bool) -> bool {
    let mut pairs = keys
        .iter()
        .map(|key| (scalar(item, key), scalar(other, key)));
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
    let hint = format!("items of this list are merged by `{key}`: it says which one is meant");
    Err(Problem::new(message).hint(hint))
}

/// Takes scalars out of a list.
fn delete_from(target: &mut Value<'_>, list: &str, values: &Value<'_>) {
    let values = values.items().unwrap_or_default();
    if let Some(items) = target.get_mut(list).and_then(Value::items_mut) {
        items.retain(|item| !values.contains(item));
    }
}

/// Has the items of a list that are named in `order` stand in that order, where such items stood.
fn set_order(target: &mut Value<'_>, list: &str, order: &Value<'_>, keys: Option<&[&str]>) {
    let order = order.items().unwrap_or_default();
    let Some(items) = target.get_mut(list).and_then(Value::items_mut) else {
        return;
    };
    let rank = |item: &Value<'_>| {
        order.iter().position(|named| match keys {
            Some(keys) if !keys.is_empty() => is_same(item, named, keys, false),
            _ => item == named,
        })
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
    items.extend(
        others
            .into_iter()
            .filter_map(|other| other.or_else(|| ranked.next())),
    );
}

/// Takes out the fields that are not named.
fn retain(target: &mut Value<'_>, names: &Value<'_>) {
    let names = names.items().unwrap_or_default();
    if let Data::Mapping(entries) = &mut target.data {
        entries.retain(|(key, _)| names.iter().any(|name| name.as_str() == Some(key)));
    }
}
