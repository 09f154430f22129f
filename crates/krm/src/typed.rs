//! Reads a value as a type, strictly: a mapping only from a mapping, and a string only from a
//! string.
//!
//! A value of another type is a [`Mismatch`] with its field.
//!
//! It is a serde `Deserializer` of our own, because its errors must be data that have places.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};

use crate::keys::{Fields, unknown_field};
use krm_yaml::scalar::resolve;
use krm_yaml::suggest::closest;
use krm_yaml::{Data, FieldPath, Scalar, Step, Value, is_word, name_of, space_hint};

pub use crate::keys::{AnyCase, OddKey, backticked, in_any_case, spelled};

/// The maximum length of a string that a message repeats.
const MAX_SHOWN: usize = 60;

/// Reads a value as a type.
///
/// # Errors
/// If a field is unknown, missing, or of another type.
pub fn read<'v, T: Deserialize<'v>>(value: &'v Value<'_>) -> Result<T, Mismatch> {
    read_without(&[], value, None)
}

/// Reads a mapping as a type, without some keys that are not part of the type, and perhaps in any
/// case of the keys.
///
/// # Errors
/// As [`read`].
pub fn read_without<'v, T: Deserialize<'v>>(
    keys: &'v [&'v str],
    value: &'v Value<'_>,
    any_case: Option<&AnyCase>,
) -> Result<T, Mismatch> {
    T::deserialize(Typed { value, keys, any_case })
}

/// Reads a mapping as a type, as Go does: the case of keys does not matter. Also returns the keys
/// that are not written as the fields of the type.
pub fn read_in_any_case<'v, T: Deserialize<'v>>(
    value: &'v Value<'_>,
    ignores_unknown: bool,
) -> (Result<T, Mismatch>, Vec<OddKey>) {
    let any_case = AnyCase::new(ignores_unknown);
    let read = read_without(&[], value, Some(&any_case));
    (read, any_case.into_keys())
}

/// Reads a field that may be null: then it has its default, as if it were absent.
///
/// # Errors
/// If the value is not null and does not fit the type.
pub fn or_default<'v, D: Deserializer<'v>, T: Default + Deserialize<'v>>(
    field: D,
) -> Result<T, D::Error> {
    Option::deserialize(field).map(Option::unwrap_or_default)
}

/// A value that does not fit its type.
#[derive(Debug)]
pub struct Mismatch {
    /// The path of the value, from the inside out.
    way: Vec<Step>,
    /// The difference from the type, without its place.
    pub problem: Problem,
}

/// The reason why a value does not fit its type.
#[derive(Debug, PartialEq, Eq)]
pub enum Problem {
    /// A field of this name does not exist.
    UnknownField(String, &'static [&'static str]),
    /// A required field is missing.
    MissingField(&'static str),
    /// A field is given under both of its names.
    DuplicateField(&'static str),
    /// The string is not one of those allowed.
    UnknownVariant(String, &'static [&'static str]),
    /// The value is of another type.
    Type {
        /// The type that the message asks for.
        expected: Expected,
        /// The value, or its type if it is long.
        found: String,
    },
    /// A number instead of a string.
    Number(String),
    /// The message of the type itself.
    Other(String),
}

/// The type that a value has to be of.
#[derive(Debug, PartialEq, Eq)]
pub enum Expected {
    /// A string; a number or boolean is not taken for one.
    Text,
    /// `true` or `false`, without quotes.
    Bool,
    /// A number without a fraction, in the range of the field's type.
    WholeNumber,
    /// A sequence, also with one item.
    List,
    /// A mapping, as its type describes it.
    Mapping(String),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "a string",
            Self::Bool => "a boolean",
            Self::WholeNumber => "a whole number",
            Self::List => "a list",
            Self::Mapping(description) => description,
        })
    }
}

impl Mismatch {
    fn new(problem: Problem) -> Self {
        Self { way: Vec::new(), problem }
    }

    fn within(mut self, step: Step) -> Self {
        self.way.push(step);
        self
    }

    /// The path of the value, where the whole value is the field `start`.
    pub fn field(&self, start: &FieldPath) -> FieldPath {
        start.clone().join(self.way.iter().rev())
    }

    /// The message and the hint.
    pub fn in_words(&self) -> (String, Option<String>) {
        let last = match self.way.first() {
            Some(Step::Key(key)) => key.as_str(),
            _ => "",
        };
        match &self.problem {
            Problem::UnknownField(name, known) => unknown_field(name, known),
            Problem::MissingField(name) => (format!("`{name}` is missing"), None),
            Problem::DuplicateField(name) => (
                format!("`{name}` is given under both of its names"),
                Some("they are two names of one field".to_owned()),
            ),
            Problem::UnknownVariant(found, known) => (
                format!("unknown value `{found}` for `{last}`"),
                Some(match closest(found, known.iter().copied()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("it is one of {}", backticked(known)),
                }),
            ),
            Problem::Type { expected, found } => (
                format!("expected {expected}, found {found}"),
                hint_for_type(last, expected, found),
            ),
            Problem::Number(digits) => (
                format!("expected a string, found the number `{digits}`"),
                Some("put it in quotes".to_owned()),
            ),
            Problem::Other(message) => (message.clone(), None),
        }
    }
}

fn hint_for_type(last: &str, expected: &Expected, found: &str) -> Option<String> {
    let is_parted = matches!(found, "a list" | "a mapping");
    match expected {
        Expected::Text if is_parted && matches!(last, "patch" | "jsonOp") => {
            Some(format!("a patch is a string: write `{last}: |` before it"))
        }
        Expected::Text if found == "a list" && last == "patches" => Some(
            "patches are one string: write `patches: |` before them; list files under `paths`"
                .to_owned(),
        ),
        Expected::Mapping(_) => space_hint(found.strip_prefix("the string `")?.strip_suffix('`')?),
        Expected::Text if found.starts_with("the boolean") => Some("put it in quotes".to_owned()),
        Expected::WholeNumber if found.contains("string") => {
            Some("write it without quotes, as `3`".to_owned())
        }
        _ => None,
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words().0)
    }
}

impl std::error::Error for Mismatch {}

impl de::Error for Mismatch {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Problem::Other(message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        match found {
            Unexpected::Seq => Self::custom(format_args!("expected {expected}, found a list")),
            Unexpected::Map => Self::custom(format_args!("expected {expected}, found a mapping")),
            found => Self::custom(format_args!("expected {expected}, found {found}")),
        }
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Self {
        Self::new(Problem::UnknownVariant(found.to_owned(), known))
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        let problem = Problem::UnknownField(field.to_owned(), known);
        Self::new(problem).within(Step::Key(field.to_owned()))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Problem::MissingField(field))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(Problem::DuplicateField(field))
    }
}

/// Deserializes a type from a value that was read before.
#[derive(Clone, Copy)]
struct Typed<'v, 's, 'l> {
    value: &'v Value<'s>,
    /// Keys of the mapping that are not part of the type.
    keys: &'v [&'v str],
    /// If the case of keys does not matter.
    any_case: Option<&'l AnyCase>,
}

impl<'v> Typed<'v, '_, '_> {
    fn mismatch(self, expected: Expected) -> Mismatch {
        let found = match &self.value.data {
            Data::Scalar(Scalar::Number(digits)) if expected == Expected::Text => {
                return Mismatch::new(Problem::Number(digits.to_string()));
            }
            Data::Scalar(Scalar::Number(digits)) => format!("the number `{digits}`"),
            Data::Scalar(Scalar::Bool(flag)) => format!("the boolean `{flag}`"),
            Data::Scalar(Scalar::String(text))
                if !text.contains('\n') && text.len() <= MAX_SHOWN =>
            {
                format!("the string `{text}`")
            }
            data => name_of(data).to_owned(),
        };
        Mismatch::new(Problem::Type { expected, found })
    }

    fn whole_number<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        let Data::Scalar(Scalar::Number(digits)) = &self.value.data else {
            return Err(self.mismatch(Expected::WholeNumber));
        };
        let visited = if let Ok(number) = digits.parse::<i64>() {
            visitor.visit_i64::<Mismatch>(number)
        } else if let Ok(number) = digits.parse::<u64>() {
            visitor.visit_u64(number)
        } else {
            return Err(self.mismatch(Expected::WholeNumber));
        };
        // The visitor refuses a number that does not fit its type.
        visited.map_err(|_| self.mismatch(Expected::WholeNumber))
    }
}

impl<'v> Deserializer<'v> for Typed<'v, '_, '_> {
    type Error = Mismatch;

    fn deserialize_any<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        let number = |digits: &str, visitor: V| {
            if let Ok(number) = digits.parse::<i64>() {
                visitor.visit_i64(number)
            } else if let Ok(number) = digits.parse::<u64>() {
                visitor.visit_u64(number)
            } else if let Ok(number) = digits.parse::<f64>()
                && number.is_finite()
            {
                visitor.visit_f64(number)
            } else {
                Err(de::Error::custom(format_args!("`{digits}` is a number that JSON cannot hold")))
            }
        };
        match &self.value.data {
            Data::Scalar(Scalar::Null) => visitor.visit_unit(),
            Data::Scalar(Scalar::Bool(flag)) => visitor.visit_bool(*flag),
            Data::Scalar(Scalar::Number(digits)) => number(digits, visitor),
            Data::Scalar(Scalar::String(text)) => visitor.visit_str(text),
            Data::Sequence(items) => {
                visitor.visit_seq(Items { all: items, index: 0, any_case: self.any_case })
            }
            Data::Mapping(entries) => visitor.visit_map(Entries {
                left: entries,
                keys: self.keys,
                entry: None,
                any_case: self.any_case,
                fields: None,
            }),
        }
    }

    /// Accepts words such as `yes`, which are strings elsewhere in a configuration.
    fn deserialize_bool<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match &self.value.data {
            Data::Scalar(Scalar::Bool(flag)) => visitor.visit_bool(*flag),
            Data::Scalar(Scalar::String(text)) if is_word(text) => match resolve(text) {
                Scalar::Bool(flag) => visitor.visit_bool(flag),
                _ => Err(self.mismatch(Expected::Bool)),
            },
            _ => Err(self.mismatch(Expected::Bool)),
        }
    }

    fn deserialize_i64<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.whole_number(visitor)
    }

    fn deserialize_u64<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.whole_number(visitor)
    }

    fn deserialize_str<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match &self.value.data {
            Data::Scalar(Scalar::String(text)) => visitor.visit_str(text),
            _ => Err(self.mismatch(Expected::Text)),
        }
    }

    fn deserialize_string<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'v>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.value.items() {
            Some(_) => self.deserialize_any(visitor),
            None => Err(self.mismatch(Expected::List)),
        }
    }

    fn deserialize_map<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.value.entries() {
            Some(_) => self.deserialize_any(visitor),
            None => Err(self.mismatch(Expected::Mapping("a mapping".to_owned()))),
        }
    }

    fn deserialize_struct<V: Visitor<'v>>(
        self,
        name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        let Some(left) = self.value.entries() else {
            let mut expected = (&visitor as &dyn de::Expected).to_string();
            // The default description of a type.
            if expected == format!("struct {name}") {
                "a mapping".clone_into(&mut expected);
            }
            return Err(self.mismatch(Expected::Mapping(expected)));
        };
        visitor.visit_map(Entries {
            left,
            keys: self.keys,
            entry: None,
            any_case: self.any_case,
            fields: self.any_case.map(|_| Box::new(Fields::of(left, known))),
        })
    }

    fn deserialize_enum<V: Visitor<'v>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        match self.value.as_str() {
            Some(text) => visitor.visit_enum(text.into_deserializer()),
            None => Err(self.mismatch(Expected::Text)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'v>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        <V: Visitor<'v>>
        i8 i16 i32 i128 u8 u16 u32 u128 f32 f64 char bytes byte_buf
        unit unit_struct tuple tuple_struct identifier
    }
}

/// The items of a list.
struct Items<'v, 's, 'l> {
    all: &'v [Value<'s>],
    index: usize,
    any_case: Option<&'l AnyCase>,
}

impl<'v> SeqAccess<'v> for Items<'v, '_, '_> {
    type Error = Mismatch;

    fn next_element_seed<S: DeserializeSeed<'v>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Mismatch> {
        let index = self.index;
        let Some(value) = self.all.get(index) else {
            return Ok(None);
        };
        self.index += 1;
        let any_case = self.any_case;
        if let Some(any_case) = any_case {
            any_case.enter_item(index);
        }
        let read = seed.deserialize(Typed { value, keys: &[], any_case });
        if let Some(any_case) = any_case {
            any_case.leave();
        }
        read.map(Some).map_err(|mismatch| mismatch.within(Step::Index(index)))
    }
}

/// The entries of a mapping.
struct Entries<'v, 's, 'l> {
    left: &'v [(Cow<'s, str>, Value<'s>)],
    keys: &'v [&'v str],
    /// The entry after its key was read: its field, its key and its value.
    entry: Option<(&'v str, &'v str, &'v Value<'s>)>,
    any_case: Option<&'l AnyCase>,
    /// If the case of keys does not matter; none if any keys are allowed.
    fields: Option<Box<Fields<'v>>>,
}

impl<'v> Entries<'v, '_, '_> {
    /// The field that a key means; none if it is ignored. Notes a key that is not written so.
    fn field(&self, key: &'v str) -> Option<&'v str> {
        match self.any_case.zip(self.fields.as_deref()) {
            Some((any_case, fields)) => fields.meant(key, any_case),
            None => Some(key),
        }
    }
}

impl<'v> MapAccess<'v> for Entries<'v, '_, '_> {
    type Error = Mismatch;

    fn next_key_seed<S: DeserializeSeed<'v>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Mismatch> {
        while let Some(((key, value), rest)) = self.left.split_first() {
            self.left = rest;
            if self.keys.contains(&key.as_ref()) {
                continue;
            }
            let Some(field) = self.field(key) else {
                continue;
            };
            self.entry = Some((field, key, value));
            let key: StrDeserializer<'_, Mismatch> = field.into_deserializer();
            return seed.deserialize(key).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'v>>(&mut self, seed: S) -> Result<S::Value, Mismatch> {
        let Some((field, key, value)) = self.entry.take() else {
            return Err(de::Error::custom("a value is read after its key"));
        };
        let any_case = self.any_case;
        if let Some(any_case) = any_case {
            any_case.enter(field, key);
        }
        let read = seed.deserialize(Typed { value, keys: &[], any_case });
        if let Some(any_case) = any_case {
            any_case.leave();
        }
        read.map_err(|mismatch| mismatch.within(Step::Key(key.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde::Deserialize;

    use super::read;
    use krm_yaml::diagnostic::Diagnostics;
    use krm_yaml::source::Source;
    use krm_yaml::{Document, DuplicateKeys, FieldPath, Words};

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "it is printed")]
    struct Outer {
        name: String,
        #[serde(default, alias = "number")]
        count: usize,
        #[serde(default)]
        inner: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, expecting = "a mapping with `flag`")]
    #[expect(dead_code, reason = "it is printed")]
    struct Inner {
        #[serde(default)]
        flag: bool,
        which: Option<Which>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Which {
        First,
        Second,
    }

    #[track_caller]
    fn check(text: &str, expected: &Expect) {
        let document = Document::parse(&Source::new("test", text)).unwrap();
        let root = document.roots().next().unwrap();
        let value = root.value_with(DuplicateKeys::Refuse, Words::Texts, &mut Diagnostics::new());
        let read = read::<Outer>(&value.unwrap());
        let found = match read {
            Ok(outer) => format!("{outer:?}"),
            Err(mismatch) => format!(
                "{}: {:?}",
                mismatch.field(&FieldPath::root().key("top")),
                mismatch.in_words()
            ),
        };
        expected.assert_eq(&found);
    }

    #[test]
    fn a_mapping_is_read_as_a_type() {
        check(
            "{name: a, count: 3, inner: [{flag: yes, which: second}, {flag: false, which: null}]}",
            &expect![[
                r#"Outer { name: "a", count: 3, inner: [Inner { flag: true, which: Some(Second) }, Inner { flag: false, which: None }] }"#
            ]],
        );
    }

    #[test]
    fn says_which_field_is_wrong_and_how() {
        check(
            "{name: a, inner: [{}, {flga: true}]}",
            &expect![[
                r#"top.inner[1].flga: ("unknown field `flga`", Some("did you mean `flag`?"))"#
            ]],
        );
        check("{count: 1}", &expect![[r#"top: ("`name` is missing", None)"#]]);
        check(
            "{name: 1.10}",
            &expect![[
                r#"top.name: ("expected a string, found the number `1.10`", Some("put it in quotes"))"#
            ]],
        );
        check(
            "{name: a, count: -1}",
            &expect![[r#"top.count: ("expected a whole number, found the number `-1`", None)"#]],
        );
        check(
            "{name: a, count: 1.5}",
            &expect![[r#"top.count: ("expected a whole number, found the number `1.5`", None)"#]],
        );
        check(
            "{name: a, count: '3'}",
            &expect![[
                r#"top.count: ("expected a whole number, found the string `3`", Some("write it without quotes, as `3`"))"#
            ]],
        );
        check(
            "{name: a, count: 1, number: 1}",
            &expect![[
                r#"top: ("`count` is given under both of its names", Some("they are two names of one field"))"#
            ]],
        );
        check(
            "{name: a, inner: {}}",
            &expect![[r#"top.inner: ("expected a list, found a mapping", None)"#]],
        );
        check(
            "{name: a, inner: [a]}",
            &expect![[
                r#"top.inner[0]: ("expected a mapping with `flag`, found the string `a`", None)"#
            ]],
        );
        check(
            "{name: a, inner: [{which: frist}]}",
            &expect![[
                r#"top.inner[0].which: ("unknown value `frist` for `which`", Some("did you mean `first`?"))"#
            ]],
        );
        check(
            "{name: a, inner: [{flag: 1}]}",
            &expect![[r#"top.inner[0].flag: ("expected a boolean, found the number `1`", None)"#]],
        );
        check("[name]", &expect![[r#"top: ("expected a mapping, found a list", None)"#]]);
    }
}
