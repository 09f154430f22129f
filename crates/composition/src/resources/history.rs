//! Notes which transformer has set each field of an object, for those who ask.

use std::sync::Arc;

use krm_yaml::source::Place;
use krm_yaml::{Data, FieldPath, Value};

/// The number of items and entries among which one is looked for that has another place now.
const MAX_PARTS: usize = 1_000;

/// A transformer that has set a field.
#[derive(Debug)]
pub struct Setter {
    /// Its kind and name.
    pub name: String,
    /// The place of its declaration.
    pub place: Option<Place>,
    /// The files with its patches.
    pub patches: Vec<String>,
}

/// The transformers that have set the fields of an object.
#[derive(Clone, Debug)]
pub(crate) struct History {
    /// The object as it was last seen.
    last: Value<'static>,
    setters: Setters,
}

/// The transformer that has set a value; none if it is as it was read.
#[derive(Clone, Debug)]
struct Setters {
    own: Option<Arc<Setter>>,
    /// Those of the items or entries; if there are none, they are the same.
    parts: Vec<Self>,
}

impl History {
    /// The history of an object as it was read, or of one that is new.
    pub(crate) const fn new(object: Value<'static>) -> Self {
        Self { last: object, setters: Setters::of(None) }
    }

    /// Notes that `setter` has made `object` of the object that it was.
    pub(crate) fn note(&mut self, object: &Value<'_>, setter: &Arc<Setter>) {
        if self.last != *object {
            self.setters = self.setters.after(&self.last, object, setter);
            self.last = object.clone().into_owned();
        }
    }

    /// The transformer that has set a field; none if it is as it was read.
    pub(crate) fn setter(&self, field: &FieldPath) -> Option<&Setter> {
        let (mut value, mut setters) = (&self.last, &self.setters);
        for step in field.steps() {
            let next = value.step(step);
            let place =
                next.and_then(|next| parts(value).position(|part| std::ptr::eq(part, next)));
            match (next, place.and_then(|place| setters.parts.get(place))) {
                (Some(next), Some(part)) => (value, setters) = (next, part),
                _ => break,
            }
        }
        setters.own.as_deref()
    }
}

impl Setters {
    const fn of(own: Option<Arc<Setter>>) -> Self {
        let parts = Vec::new();
        Self { own, parts }
    }

    /// The setters of the parts of `new`, which `setter` has made of `old`.
    fn after(&self, old: &Value<'_>, new: &Value<'_>, setter: &Arc<Setter>) -> Self {
        if old == new {
            return self.clone();
        }
        let part = |place: usize, old: &Value<'_>, new: &Value<'_>| {
            let inherited = || Self::of(self.own.clone());
            let before = self.parts.get(place).map_or_else(inherited, Self::clone);
            before.after(old, new, setter)
        };
        let added = || Self::of(Some(Arc::clone(setter)));
        let parts = match (&old.data, &new.data) {
            (Data::Mapping(old), Data::Mapping(new)) => new
                .iter()
                .enumerate()
                .map(|(index, (key, new))| {
                    let place = find(index, old, |(other, _)| other == key);
                    let before = place.and_then(|place| Some((place, &old.get(place)?.1)));
                    before.map_or_else(added, |(place, old)| part(place, old, new))
                })
                .collect(),
            (Data::Sequence(old), Data::Sequence(new)) => new
                .iter()
                .enumerate()
                .map(|(index, new)| {
                    let before = place_of(new, index, old);
                    let before = before.and_then(|place| Some((place, old.get(place)?)));
                    before.map_or_else(added, |(place, old)| part(place, old, new))
                })
                .collect(),
            _ => return added(),
        };
        Self { own: self.own.clone(), parts }
    }
}

/// The place of the item that was this one: read from the same text, with the same name, or equal.
fn place_of(item: &Value<'_>, index: usize, old: &[Value<'_>]) -> Option<usize> {
    let name = |item: &Value<'_>| item.str_at(&["name"]).map(str::to_owned);
    find(index, old, |other| match (item.origin, other.origin) {
        (Some(one), Some(other)) => one == other,
        _ if name(item).is_some() => name(item) == name(other),
        _ => item == other,
    })
}

/// The place of what is the same: most often where it was.
fn find<T>(index: usize, old: &[T], is_same: impl Fn(&T) -> bool) -> Option<usize> {
    if old.get(index).is_some_and(&is_same) {
        return Some(index);
    }
    let searched = old.get(..MAX_PARTS).unwrap_or(old);
    searched.iter().position(is_same)
}

/// The items or the values of the entries.
fn parts<'v, 'd>(value: &'v Value<'d>) -> impl Iterator<Item = &'v Value<'d>> {
    let items = value.items().unwrap_or_default().iter();
    let entries = value.entries().unwrap_or_default().iter();
    items.chain(entries.map(|(_, value)| value))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{History, Setter};
    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::source::Source;
    use krm_yaml::{Document, DuplicateKeys, Value};

    fn read(text: &str) -> Value<'static> {
        let document = Document::parse(&Source::new("test", text)).unwrap();
        let root = document.roots().next().unwrap();
        let value = root.value(DuplicateKeys::Refuse, &mut Diagnostics::new());
        value.unwrap().into_owned().without_origin()
    }

    #[test]
    fn each_field_has_the_last_one_that_set_it() {
        let mut history =
            History::new(read("{a: 1, list: [{name: x, b: 1}, {name: y}], texts: [p]}"));
        for (name, text) in [
            ("first", "{a: 2, list: [{name: new}, {name: x, b: 1}, {name: y}], texts: [p]}"),
            ("second", "{c: {d: 1}, a: 2, list: [{name: x, b: 3}, {name: new}], texts: [q, p]}"),
            ("third", "{c: {d: 1}, a: 2, list: [{name: x, b: 3}, {name: new}], texts: [q, p]}"),
        ] {
            let setter = Setter { name: name.to_owned(), place: None, patches: Vec::new() };
            history.note(&read(text), &Arc::new(setter));
        }
        for (field, expected) in [
            ("a", Some("first")),
            ("c.d", Some("second")),
            ("list[0].name", None),
            ("list[0].b", Some("second")),
            ("list[1].name", Some("first")),
            ("texts[0]", Some("second")),
            ("texts[1]", None),
        ] {
            let found = history.setter(&field.parse().unwrap());
            assert_eq!(found.map(|one| one.name.as_str()), expected, "{field}");
        }
    }
}
