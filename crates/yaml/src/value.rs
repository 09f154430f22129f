//! Plain data without layout, each part of it remembering the node it was read from.
//!
//! So a change keeps the style of a scalar if possible, a new entry gets the style of its siblings,
//! and every error has a place.

use std::borrow::Cow;

use crate::scalar::data::Scalar;
use crate::scalar::is_non_finite;
use crate::table::NodeId;

/// The content of a [`Value`].
///
/// ```
/// use krm_yaml::{Data, Value};
///
/// let ports = Value::sequence(vec![80.into(), 443.into()]);
/// let Data::Sequence(items) = &ports.data else { panic!("not a list") };
/// assert_eq!(items.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub enum Data<'s> {
    /// A string, number, bool or null.
    Scalar(Scalar<'s>),
    /// A list of items, in order.
    Sequence(Vec<Value<'s>>),
    /// Entries in the order they were written, no key twice.
    Mapping(Vec<(Cow<'s, str>, Value<'s>)>),
}

/// A tree of plain data. Each part that was read from a [`Document`](crate::Document) names its
/// node, so that errors have a place and writing changes only the parts that differ from the text.
///
/// ```
/// use krm_yaml::{Value, to_string};
///
/// let mut pod = Value::mapping(vec![("kind".into(), "Pod".into())]);
/// let labels = Value::mapping(vec![("app".into(), "web".into()), ("version".into(), "1.10".into())]);
/// pod.insert("labels".into(), labels);
/// assert_eq!(pod.str_at(&["labels", "app"]), Some("web"));
/// assert_eq!(to_string(&pod), "kind: Pod\nlabels:\n  app: web\n  version: \"1.10\"\n");
/// ```
#[derive(Clone, Debug)]
pub struct Value<'s> {
    /// The entry, item or root this was read from; `None` for new values and values that an alias
    /// refers to.
    pub origin: Option<NodeId>,
    /// The content, without the origin.
    pub data: Data<'s>,
}

/// Two values are equal if their data is: origins and the order of a mapping's entries do not
/// count.
impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.data, &other.data) {
            (Data::Scalar(a), Data::Scalar(b)) => a == b,
            (Data::Sequence(a), Data::Sequence(b)) => a == b,
            (Data::Mapping(a), Data::Mapping(b)) => {
                a.len() == b.len() && {
                    let same_order = a.iter().zip(b).all(|((key, _), (other, _))| key == other);
                    if same_order {
                        a.iter().zip(b).all(|((_, value), (_, other))| value == other)
                    } else {
                        a.iter().all(|(key, value)| other.get(key) == Some(value))
                    }
                }
            }
            _ => false,
        }
    }
}

impl Eq for Value<'_> {}

impl<'s> From<Data<'s>> for Value<'s> {
    fn from(data: Data<'s>) -> Self {
        Self { origin: None, data }
    }
}

/// JSON data, with the digits of its numbers.
///
/// ```
/// let json: serde_json::Value = serde_json::from_str(r#"{"cpu": 1.10}"#).expect("JSON");
/// assert_eq!(krm_yaml::to_string(&json.into()), "cpu: 1.10\n");
/// ```
impl From<serde_json::Value> for Value<'static> {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Data::Scalar(Scalar::Null).into(),
            serde_json::Value::Bool(flag) => Data::Scalar(Scalar::Bool(flag)).into(),
            serde_json::Value::Number(number) => Self::number(number.to_string()),
            serde_json::Value::String(text) => Self::string(text),
            serde_json::Value::Array(items) => {
                Self::sequence(items.into_iter().map(Self::from).collect())
            }
            serde_json::Value::Object(entries) => Self::mapping(
                entries
                    .into_iter()
                    .map(|(key, value)| (Cow::Owned(key), Self::from(value)))
                    .collect(),
            ),
        }
    }
}

impl<'s> From<&'s str> for Value<'s> {
    fn from(text: &'s str) -> Self {
        Self::string(text)
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::string(text)
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Data::Scalar(Scalar::Bool(flag)).into()
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::number(number.to_string())
    }
}

impl<'s> Value<'s> {
    /// Creates a string without an origin.
    pub fn string(text: impl Into<Cow<'s, str>>) -> Self {
        Data::Scalar(Scalar::String(text.into())).into()
    }

    /// Creates a number without an origin from its JSON spelling.
    pub fn number(digits: impl Into<Cow<'s, str>>) -> Self {
        Data::Scalar(Scalar::Number(digits.into())).into()
    }

    /// Creates a mapping without an origin; no key may occur twice.
    #[must_use]
    pub fn mapping(entries: Vec<(Cow<'s, str>, Self)>) -> Self {
        Data::Mapping(entries).into()
    }

    /// Creates a sequence without an origin.
    #[must_use]
    pub fn sequence(items: Vec<Self>) -> Self {
        Data::Sequence(items).into()
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::Scalar(Scalar::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The first number in it that JSON cannot hold: `.inf` or `.nan`.
    pub fn non_finite(&self) -> Option<&str> {
        match &self.data {
            Data::Scalar(Scalar::Number(digits)) => {
                Some(digits.as_ref()).filter(|digits| is_non_finite(digits))
            }
            Data::Scalar(_) => None,
            Data::Sequence(items) => items.iter().find_map(Self::non_finite),
            Data::Mapping(entries) => entries.iter().find_map(|(_, value)| value.non_finite()),
        }
    }

    /// The scalar, if this is one.
    pub const fn scalar(&self) -> Option<&Scalar<'s>> {
        match &self.data {
            Data::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// Whether the value is null.
    pub const fn is_null(&self) -> bool {
        matches!(self.data, Data::Scalar(Scalar::Null))
    }

    /// The entries, if this is a mapping.
    pub fn entries(&self) -> Option<&[(Cow<'s, str>, Self)]> {
        match &self.data {
            Data::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// The items, if this is a sequence.
    pub fn items(&self) -> Option<&[Self]> {
        match &self.data {
            Data::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The values of the entries, or the items.
    pub fn children(&self) -> impl Iterator<Item = &Self> {
        let items = self.items().unwrap_or_default().iter();
        items.chain(self.entries().unwrap_or_default().iter().map(|(_, value)| value))
    }

    /// The values of the entries, or the items, to change them.
    pub fn children_mut(&mut self) -> impl Iterator<Item = &mut Self> {
        let (items, entries) = match &mut self.data {
            Data::Scalar(_) => (None, None),
            Data::Sequence(items) => (Some(items), None),
            Data::Mapping(entries) => (None, Some(entries)),
        };
        let entries = entries.into_iter().flatten().map(|(_, value)| value);
        items.into_iter().flatten().chain(entries)
    }

    /// The entry or item with this index; an entry with its key.
    pub fn part(&self, index: usize) -> Option<(Option<&str>, &Self)> {
        match &self.data {
            Data::Scalar(_) => None,
            Data::Sequence(items) => Some((None, items.get(index)?)),
            Data::Mapping(entries) => {
                let (key, value) = entries.get(index)?;
                Some((Some(key), value))
            }
        }
    }

    /// The value under a key of a mapping.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries()?.iter().find_map(|(name, value)| (name == key).then_some(value))
    }

    /// The value under a key of a mapping, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        match &mut self.data {
            Data::Mapping(entries) => {
                entries.iter_mut().find_map(|(name, value)| (name == key).then_some(value))
            }
            _ => None,
        }
    }

    /// Follows keys downwards: `at(&["metadata", "name"])`.
    pub fn at(&self, keys: &[&str]) -> Option<&Self> {
        keys.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The value under these keys, to change it.
    pub fn at_mut(&mut self, keys: &[&str]) -> Option<&mut Self> {
        keys.iter().try_fold(self, |value, key| value.get_mut(key))
    }

    /// The string under these keys, if there is one.
    pub fn str_at(&self, keys: &[&str]) -> Option<&str> {
        self.at(keys)?.as_str()
    }

    /// Replaces the data and keeps the origin, so that the old layout is edited.
    pub fn set(&mut self, data: Data<'s>) {
        self.data = data;
    }

    /// Sets `key` of a mapping, in its place if it exists, otherwise at the end. Does nothing if
    /// this is not a mapping.
    pub fn insert(&mut self, key: Cow<'s, str>, value: Self) {
        let Data::Mapping(entries) = &mut self.data else {
            return;
        };
        match entries.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => old.data = value.data,
            None => entries.push((key, value)),
        }
    }

    /// Removes the entry `key` of a mapping.
    pub fn remove(&mut self, key: &str) -> Option<Self> {
        let Data::Mapping(entries) = &mut self.data else {
            return None;
        };
        let index = entries.iter().position(|(name, _)| name == key)?;
        Some(entries.remove(index).1)
    }

    /// The mapping under `key`, created if it is missing or null; `None` if another value is there
    /// or this is not a mapping.
    pub fn mapping_at(&mut self, key: &'static str) -> Option<&mut Self> {
        if self.get(key).is_none_or(Self::is_null) {
            self.insert(Cow::Borrowed(key), Self::mapping(Vec::new()));
        }
        self.get_mut(key).filter(|value| matches!(value.data, Data::Mapping(_)))
    }

    /// Removes the origin of this value and of all values inside.
    #[must_use]
    pub fn without_origin(mut self) -> Self {
        self.forget();
        self
    }

    pub(crate) fn forget(&mut self) {
        self.origin = None;
        match &mut self.data {
            Data::Scalar(_) => {}
            Data::Sequence(items) => items.iter_mut().for_each(Self::forget),
            Data::Mapping(entries) => entries.iter_mut().for_each(|(_, value)| value.forget()),
        }
    }

    /// The same data without borrowed text.
    pub fn into_owned(self) -> Value<'static> {
        let data = match self.data {
            Data::Scalar(scalar) => Data::Scalar(scalar.into_owned()),
            Data::Sequence(items) => {
                let mut owned = Vec::with_capacity(items.len());
                for item in items {
                    owned.push(item.into_owned());
                }
                Data::Sequence(owned)
            }
            Data::Mapping(entries) => {
                let mut owned = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    owned.push((Cow::Owned(key.into_owned()), value.into_owned()));
                }
                Data::Mapping(owned)
            }
        };
        Value { origin: self.origin, data }
    }
}
