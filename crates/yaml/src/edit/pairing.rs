//! Which items of two lists are the same, so that comments and layout move with an item.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::scalar::data::Scalar;
use crate::value::{Data, Value};

/// The fields by which items of lists are recognized, for one kind of documents.
///
/// YAML itself has none. With [`ItemKeys::NONE`], the default, an item is recognized by its data and its
/// place. The order of the fields is the order in which they are tried.
///
/// ```
/// use krm_yaml::{ItemKey, ItemKeys};
///
/// const KEYS: ItemKeys = ItemKeys {
///     of_lists: &[ItemKey::field("name"), ItemKey::pair("port", "protocol", "TCP")],
///     of_items: &[ItemKey::field("name")],
/// };
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ItemKeys {
    /// Fields that may tell all items of a list apart. The first one counts that every item of both
    /// lists has, and no two items of one list with the same text.
    pub of_lists: &'static [ItemKey],
    /// Fields that a single item is recognized by where no field tells all items apart.
    pub of_items: &'static [ItemKey],
}

/// A field that tells the items of a list apart, maybe together with a second one.
///
/// ```
/// use krm_yaml::{ItemKey, Value};
///
/// let port = |port: i64, protocol: &'static str| {
///     Value::mapping(vec![("port".into(), port.into()), ("protocol".into(), protocol.into())])
/// };
/// let old = [port(53, "TCP"), port(53, "UDP")];
/// let new = [port(53, "UDP"), port(80, "TCP")];
/// let key = ItemKey::pair("port", "protocol", "TCP");
/// assert_eq!(key.pairs(&new, &old), [Some(1), None]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ItemKey {
    field: &'static str,
    /// A second field, and its value where an item does not have it.
    other: Option<(&'static str, &'static str)>,
}

impl ItemKey {
    /// One field with a text or a number.
    #[must_use]
    pub const fn field(field: &'static str) -> Self {
        Self { field, other: None }
    }

    /// Two fields together. `default` is the value of the second one where an item does not have it.
    #[must_use]
    pub const fn pair(field: &'static str, other: &'static str, default: &'static str) -> Self {
        Self { field, other: Some((other, default)) }
    }

    /// The values of this key in an item.
    fn of<'v>(self, item: &'v Value<'_>) -> Option<(&'v str, &'v str)> {
        let first = text(item, self.field)?;
        let second = match self.other {
            Some((field, default)) => text(item, field).unwrap_or(default),
            None => "",
        };
        Some((first, second))
    }

    /// The step of a field path that selects this item, as kustomize writes it.
    pub fn step(self, item: &Value<'_>) -> Option<String> {
        let (first, second) = self.of(item)?;
        let field = self.field;
        Some(match self.other {
            Some((other, _)) => format!("[{field}={first},{other}={second}]"),
            None => format!("[{field}={first}]"),
        })
    }

    /// Whether every item has the key, and no two the same.
    fn tells_apart(self, items: &[Value<'_>]) -> bool {
        let mut seen = BTreeSet::new();
        let mut keys = items.iter().map(|item| self.of(item));
        keys.all(|key| key.is_some_and(|key| seen.insert(key)))
    }

    /// For each new item, the index of the old item with the same key.
    pub fn pairs(self, new: &[Value<'_>], old: &[Value<'_>]) -> Vec<Option<usize>> {
        let keys = old.iter().enumerate();
        let old: BTreeMap<_, usize> =
            keys.filter_map(|(at, item)| Some((self.of(item)?, at))).collect();
        let find = |item| old.get(&self.of(item)?).copied();
        new.iter().map(find).collect()
    }
}

/// The text or number under `key`.
fn text<'v>(item: &'v Value<'_>, key: &str) -> Option<&'v str> {
    match &item.get(key)?.data {
        Data::Scalar(Scalar::String(text) | Scalar::Number(text)) => Some(text),
        _ => None,
    }
}

impl ItemKeys {
    /// Recognizes items by their data and their position alone.
    pub const NONE: Self = Self { of_lists: &[], of_items: &[] };

    /// The key that tells apart the items of both lists; `None` if one of them is empty.
    pub fn of_both(&self, one: &[Value<'_>], other: &[Value<'_>]) -> Option<ItemKey> {
        if one.is_empty() || other.is_empty() {
            return None;
        }
        let mut keys = self.of_lists.iter().copied();
        keys.find(|key| key.tells_apart(one) && key.tells_apart(other))
    }

    /// For each new item, the index of the same old item, if there is one: the item with the same
    /// key, the equal item, or the item at the same position if it may be the same.
    pub fn pairs(&self, new: &[Value<'_>], old: &[Value<'_>]) -> Vec<Option<usize>> {
        if new.len() == old.len() && new.iter().zip(old).all(|(new, old)| new == old) {
            return (0..new.len()).map(Some).collect();
        }
        let mut pairing = if let Some(key) = self.of_both(new, old) {
            Pairing::of(new, old, key.pairs(new, old))
        } else {
            let mut pairing = Pairing::of(new, old, vec![None; new.len()]);
            pairing.equal_ends();
            pairing.by_data();
            pairing
        };
        for key in self.of_items {
            pairing.by_unique(*key);
        }
        pairing.in_gaps(self.of_items);
        pairing.pairs
    }
}

/// Two lists with the pairs that are known so far.
struct Pairing<'l, 'n, 'o> {
    new: &'l [Value<'n>],
    old: &'l [Value<'o>],
    pairs: Vec<Option<usize>>,
    /// Which of the old items are paired.
    taken: Vec<bool>,
}

impl<'l, 'n, 'o> Pairing<'l, 'n, 'o> {
    fn of(new: &'l [Value<'n>], old: &'l [Value<'o>], pairs: Vec<Option<usize>>) -> Self {
        let mut taken = vec![false; old.len()];
        for at in pairs.iter().flatten() {
            if let Some(taken) = taken.get_mut(*at) {
                *taken = true;
            }
        }
        Self { new, old, pairs, taken }
    }

    fn pair(&mut self, new: usize, old: usize) {
        if let (Some(pair), Some(taken)) = (self.pairs.get_mut(new), self.taken.get_mut(old)) {
            *pair = Some(old);
            *taken = true;
        }
    }

    fn is_free(&self, old: usize) -> bool {
        self.taken.get(old) == Some(&false)
    }

    /// New items that have no partner.
    fn free_new(&self) -> Vec<usize> {
        let free = |at: &usize| self.pairs.get(*at) == Some(&None);
        (0..self.new.len()).filter(free).collect()
    }

    /// Old items that have no partner.
    fn free_old(&self) -> Vec<usize> {
        (0..self.old.len()).filter(|at| self.is_free(*at)).collect()
    }

    /// Pairs equal items from the start on, and from the end on.
    fn equal_ends(&mut self) {
        let (new, old) = (self.new, self.old);
        let is_equal = |pair: &(&Value<'_>, &Value<'_>)| pair.0 == pair.1;
        let head = new.iter().zip(old).take_while(is_equal).count();
        let tail = new.iter().rev().zip(old.iter().rev());
        let shortest = new.len().min(old.len());
        let tail = tail.take(shortest - head).take_while(is_equal).count();
        for at in 0..head {
            self.pair(at, at);
        }
        for at in 1..=tail {
            self.pair(new.len() - at, old.len() - at);
        }
    }

    /// Pairs equal items, in order.
    fn by_data(&mut self) {
        let mut olds: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
        for at in self.free_old() {
            if let Some(item) = self.old.get(at) {
                olds.entry(item.to_json()).or_default().push_back(at);
            }
        }
        for at in self.free_new() {
            let json = self.new.get(at).map(Value::to_json);
            let old = json.and_then(|json| olds.get_mut(&json)?.pop_front());
            if let Some(old) = old {
                self.pair(at, old);
            }
        }
    }

    /// Pairs items with the same key, if no other item without a partner has that key.
    fn by_unique(&mut self, key: ItemKey) {
        let (free_new, free_old) = (self.free_new(), self.free_old());
        if free_new.is_empty() || free_old.is_empty() {
            return;
        }
        let new = unique(self.new, &free_new, key);
        let old = unique(self.old, &free_old, key);
        for (name, new) in new {
            if let (Some(new), Some(Some(old))) = (new, old.get(&name)) {
                self.pair(new, *old);
            }
        }
    }

    /// Pairs runs of items between the same neighbours, as many before as after.
    fn in_gaps(&mut self, names: &[ItemKey]) {
        let mut at = 0;
        while at < self.new.len() {
            let run = self.pairs.iter().skip(at).take_while(|pair| pair.is_none());
            let run = run.count();
            let before = at.checked_sub(1).map(|at| self.pairs.get(at).copied());
            let start = match before {
                None => Some(0),
                Some(before) => before.flatten().map(|before| before + 1),
            };
            let after = self.pairs.get(at + run).copied().flatten();
            if let Some(start) = start {
                let olds = (start..self.old.len()).take_while(|old| self.is_free(*old)).count();
                let is_closed = after.unwrap_or(self.old.len()) == start + olds;
                for offset in (0..run).filter(|_| is_closed && olds == run) {
                    self.pair_if_similar(at + offset, start + offset, names);
                }
            }
            at += run + 1;
        }
    }

    fn pair_if_similar(&mut self, new: usize, old: usize, names: &[ItemKey]) {
        if let (Some(one), Some(other)) = (self.new.get(new), self.old.get(old))
            && may_be_same(one, other, names)
        {
            self.pair(new, old);
        }
    }
}

/// The items by their key; `None` for a key that several items have.
fn unique<'v>(
    items: &'v [Value<'_>],
    free: &[usize],
    key: ItemKey,
) -> BTreeMap<(&'v str, &'v str), Option<usize>> {
    let mut found = BTreeMap::new();
    for at in free {
        if let Some(name) = items.get(*at).and_then(|item| key.of(item)) {
            let is_first = !found.contains_key(&name);
            found.insert(name, Some(*at).filter(|_| is_first));
        }
    }
    found
}

/// Whether an item in the place of another may be the same item, changed. An item with another name
/// is the same only if nearly all of it is equal.
fn may_be_same(new: &Value<'_>, old: &Value<'_>, names: &[ItemKey]) -> bool {
    let (Data::Mapping(_), Data::Mapping(_)) = (&new.data, &old.data) else {
        return matches!(
            (&new.data, &old.data),
            (Data::Scalar(_), Data::Scalar(_)) | (Data::Sequence(_), Data::Sequence(_))
        );
    };
    let is_renamed = names.iter().any(|key| {
        let names = (key.of(new), key.of(old));
        names.0.is_some() && names.1.is_some() && names.0 != names.1
    });
    if !is_renamed {
        return true;
    }
    let (same, all) = similarity(new, old);
    4 * same > 3 * all
}

/// How many scalars two values have in common, and how many there are in one or both.
fn similarity(new: &Value<'_>, old: &Value<'_>) -> (usize, usize) {
    let add = |(same, all), (one, more): (usize, usize)| (same + one, all + more);
    match (&new.data, &old.data) {
        (Data::Mapping(entries), Data::Mapping(others)) => {
            let gone = others.iter().filter(|(key, _)| new.get(key).is_none());
            let gone = gone.map(|(_, value)| (0, scalars(value)));
            let both = entries.iter().map(|(key, value)| match old.get(key) {
                Some(old) => similarity(value, old),
                None => (0, scalars(value)),
            });
            both.chain(gone).fold((0, 0), add)
        }
        (Data::Sequence(items), Data::Sequence(others)) => {
            let shortest = items.len().min(others.len());
            let rest = items.iter().skip(shortest);
            let rest = rest.chain(others.iter().skip(shortest));
            let rest = rest.map(|value| (0, scalars(value)));
            let both = items.iter().zip(others);
            both.map(|(new, old)| similarity(new, old)).chain(rest).fold((0, 0), add)
        }
        (Data::Scalar(one), Data::Scalar(other)) => (usize::from(one == other), 1),
        _ => (0, scalars(new).max(scalars(old))),
    }
}

fn scalars(value: &Value<'_>) -> usize {
    match &value.data {
        Data::Scalar(_) => 1,
        Data::Sequence(items) => items.iter().map(scalars).sum(),
        Data::Mapping(entries) => entries.iter().map(|(_, value)| scalars(value)).sum(),
    }
}

impl Value<'_> {
    /// Takes over the text of another value: entries with equal keys and items that are the same
    /// are paired, so that equal parts keep their text and comments.
    pub fn adopt(&mut self, old: &Value<'_>, keys: &ItemKeys) {
        self.origin = old.origin;
        match (&mut self.data, &old.data) {
            (Data::Mapping(entries), Data::Mapping(_)) => {
                for (key, value) in entries {
                    match old.get(key) {
                        Some(old) => value.adopt(old, keys),
                        None => value.forget(),
                    }
                }
            }
            (Data::Sequence(items), Data::Sequence(old)) => {
                let pairs = keys.pairs(items, old);
                for (item, pair) in items.iter_mut().zip(pairs) {
                    match pair.and_then(|at| old.get(at)) {
                        Some(old) => item.adopt(old, keys),
                        None => item.forget(),
                    }
                }
            }
            _ => {
                self.forget();
                self.origin = old.origin;
            }
        }
    }
}

/// Puts the items of a list into the order of an older list, together with the items that only the
/// older list has. A new item stays after the item before it.
pub fn in_order_of<'s>(
    items: Vec<Value<'s>>,
    pairs: &[Option<usize>],
    old: &[Value<'s>],
) -> Vec<Value<'s>> {
    let mut by_old: BTreeMap<usize, Value<'s>> = BTreeMap::new();
    // New items, after the old one at an index; `None` before all others of the same list.
    let mut new: BTreeMap<Option<usize>, Vec<Value<'s>>> = BTreeMap::new();
    let mut before = None;
    for (item, pair) in items.into_iter().zip(pairs) {
        if let Some(at) = pair {
            before = Some(*at);
            by_old.insert(*at, item);
        } else {
            new.entry(before).or_default().push(item);
        }
    }
    let first = pairs.iter().flatten().next().copied();
    let mut leading = new.remove(&None).unwrap_or_default();
    let mut out = Vec::with_capacity(old.len() + new.len());
    for (at, old) in old.iter().enumerate() {
        if first == Some(at) {
            out.append(&mut leading);
        }
        out.push(by_old.remove(&at).unwrap_or_else(|| old.clone()));
        out.extend(new.remove(&Some(at)).unwrap_or_default());
    }
    out.append(&mut leading);
    out
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Diagnostics;
    use crate::source::Source;
    use crate::testing::ITEM_KEYS;
    use crate::{Document, DuplicateKeys, Value};

    fn with_lists(new: &str, old: &str, check: impl Fn(&[Value<'_>], &[Value<'_>])) {
        let parse = |text: &str| Document::parse(&Source::new("test", text)).unwrap();
        let (new, old) = (parse(new), parse(old));
        let value = |document: &Document| {
            let root = document.roots().next().unwrap();
            let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
            value.unwrap().into_owned()
        };
        check(value(&new).items().unwrap(), value(&old).items().unwrap());
    }

    #[track_caller]
    fn check(new: &str, old: &str, expected: &[Option<usize>]) {
        with_lists(new, old, |new, old| {
            assert_eq!(ITEM_KEYS.pairs(new, old), expected);
        });
    }

    #[test]
    fn items_are_paired_by_their_key() {
        let old = "[{name: a, value: 1}, {name: b, value: 2}]";
        check("[{name: b}, {name: a}]", old, &[Some(1), Some(0)]);
        check("[{name: b}]", old, &[Some(1)]);
        let ports = "[{port: 53}, {port: 53, protocol: UDP}]";
        check("[{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]", ports, &[Some(1), Some(0)]);
    }

    #[test]
    fn equal_items_are_paired_in_any_place() {
        check("[a, b, c]", "[c, a, b]", &[Some(1), Some(2), Some(0)]);
        check("[a, a, b]", "[a, b]", &[Some(0), None, Some(1)]);
        check("[[a], [b]]", "[[b], [a]]", &[Some(1), Some(0)]);
    }

    #[test]
    fn a_changed_item_without_a_name_is_the_one_in_its_place() {
        check("[a, x, c]", "[a, b, c]", &[Some(0), Some(1), Some(2)]);
        check("[a, x, y, c]", "[a, b, c]", &[Some(0), None, None, Some(2)]);
        check("[{host: x, to: 1}]", "[{host: y, to: 1}]", &[Some(0)]);
        check("[{a: b}, c]", "[c, {a: d}]", &[None, Some(0)]);
        check("[{a: b}]", "[c]", &[None]);
    }

    #[test]
    fn an_item_with_another_name_is_the_same_if_nearly_all_of_it_is() {
        let old = "[{name: a, image: i, tty: true, args: [x, y]}]";
        let all = "[{name: b, image: i, tty: true, args: [x, y]}]";
        check(all, old, &[Some(0)]);
        let most = "[{name: b, image: j, tty: true, args: [x, y]}]";
        check(most, old, &[None]);
        check("[{name: b, value: 1}]", "[{name: a, value: 1}]", &[None]);
    }

    #[test]
    fn a_single_item_without_a_key_does_not_unsettle_the_others() {
        let old = "[{image: x}, {name: b, image: y}, {name: a, image: z}]";
        check("[{name: a}, {name: b}]", old, &[Some(2), Some(1)]);
    }

    #[test]
    fn long_lists_are_paired_in_a_moment() {
        let old = format!("[{}]", "{name: a}, b, ".repeat(20_000));
        let new = format!("[x, {}]", "b, {name: a}, ".repeat(20_000));
        with_lists(&new, &old, |new, old| {
            assert!(ITEM_KEYS.pairs(new, old).iter().flatten().count() >= 39_999);
        });
    }
}
