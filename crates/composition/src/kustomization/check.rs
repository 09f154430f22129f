//! Checks the types of a Kustomization, all of them at once.
//!
//! As kustomize decodes it: strictly, except that the case of keys does not matter, and that null
//! counts as missing.

use std::borrow::Cow;

use crate::kustomization::fields::{Field, Type};
use krm_core::typed::{backticked, in_any_case, spelled};
use krm_yaml::diagnostic::{Diagnostic, Diagnostics};
use krm_yaml::source::Place;
use krm_yaml::suggest::closest;
use krm_yaml::{Cursor, Data, Document, FieldPath, Scalar, Step, Value, name_of, space_hint};

/// A part of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Key,
    Value,
}

/// Checks values against types.
pub(crate) struct Checker<'c> {
    /// The place of a value: of its key or of itself.
    pub(crate) places: &'c dyn Fn(&Value<'_>, &FieldPath, Part) -> Option<Place>,
    /// The text of a value.
    pub(crate) document: &'c Document,
    pub(crate) diagnostics: &'c mut Diagnostics,
    /// The kind of the whole, for messages.
    pub(crate) kind: &'c str,
}

impl Checker<'_> {
    /// The mapping with the spelling of `fields`, without nulls. Reports all that does not fit.
    pub(crate) fn mapping<'v>(
        &mut self,
        value: Value<'v>,
        fields: &'static [Field],
        at: &FieldPath,
    ) -> Value<'v> {
        let origin = value.origin;
        let Data::Mapping(entries) = value.data else {
            return self.wrong(value, "a mapping", at);
        };
        let mut checked: Vec<(Cow<'v, str>, Value<'v>)> = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let Some((name, kind)) = self.field(&key, &value, fields, at) else {
                continue;
            };
            // As in Go, the last of equal keys counts.
            checked.retain(|(known, _)| known != name);
            if value.is_null() {
                continue;
            }
            let path = at.clone().key(*name);
            checked.push((Cow::Borrowed(*name), self.value(value, *kind, &path)));
        }
        let data = Data::Mapping(checked);
        Value { origin, data }
    }

    /// The field that a key means; none if it is unknown, which is reported.
    fn field(
        &mut self,
        key: &str,
        value: &Value<'_>,
        fields: &'static [Field],
        at: &FieldPath,
    ) -> Option<&'static Field> {
        let name = in_any_case(key, fields.iter().map(|(name, _)| *name));
        let known = fields.iter().find(|(known, _)| Some(*known) == name);
        if name != Some(key) {
            let path = at.clone().key(key);
            let mut diagnostic = match known {
                Some((name, _)) => Diagnostic::warning(spelled(key, name)),
                None => self.unknown(key, fields, at),
            };
            diagnostic.place = (self.places)(value, &path, Part::Key);
            self.diagnostics.push(diagnostic.field(path.to_string()));
        }
        known
    }

    /// The error for a field that does not exist.
    fn unknown(&self, key: &str, fields: &[Field], at: &FieldPath) -> Diagnostic {
        let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
        let hint = match closest(key, names.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("its fields are {}", backticked(&names)),
        };
        let of = if at.steps().is_empty() { format!("a {}", self.kind) } else { format!("`{at}`") };
        Diagnostic::error(format!("unknown field `{key}` of {of}")).hint(hint)
    }

    fn value<'v>(&mut self, value: Value<'v>, kind: Type, at: &FieldPath) -> Value<'v> {
        match (kind, &value.data) {
            (Type::Any, _)
            | (Type::Text, Data::Scalar(Scalar::String(_)))
            | (Type::Bool, Data::Scalar(Scalar::Bool(_))) => value,
            (Type::Number, Data::Scalar(Scalar::Number(digits)))
                if digits.parse::<i64>().is_ok() =>
            {
                value
            }
            (Type::Text, _) => self.wrong(value, "a string", at),
            (Type::Bool, _) => self.wrong(value, "a boolean", at),
            (Type::Number, _) => self.wrong(value, "a whole number", at),
            (Type::StringMap, _) => self.entries(value, Type::Text, at),
            (Type::Bools, _) => self.entries(value, Type::Bool, at),
            (Type::List(item), _) => self.items(value, *item, at),
            (Type::Mapping(fields), _) => self.mapping(value, fields, at),
        }
    }

    fn items<'v>(&mut self, value: Value<'v>, kind: Type, at: &FieldPath) -> Value<'v> {
        let origin = value.origin;
        let Data::Sequence(items) = value.data else {
            return self.wrong(value, "a list", at);
        };
        let items = items.into_iter().enumerate();
        let items = items.map(|(index, item)| {
            let at = at.clone().index(index);
            match kind {
                Type::Text if item.is_null() => Value::from(""),
                Type::Mapping(_) if item.is_null() => Value::mapping(Vec::new()),
                kind => self.value(item, kind, &at),
            }
        });
        let data = Data::Sequence(items.collect());
        Value { origin, data }
    }

    /// The values of a mapping with any keys.
    fn entries<'v>(&mut self, value: Value<'v>, kind: Type, at: &FieldPath) -> Value<'v> {
        let origin = value.origin;
        let Data::Mapping(entries) = value.data else {
            return self.wrong(value, "a mapping", at);
        };
        let entries = entries.into_iter().map(|(key, value)| {
            let path = at.clone().key(key.as_ref());
            let value = match kind {
                Type::Text if value.is_null() => Value::from(""),
                kind => self.value(value, kind, &path),
            };
            (key, value)
        });
        let data = Data::Mapping(entries.collect());
        Value { origin, data }
    }

    fn cursor(&self, value: &Value<'_>) -> Option<Cursor<'_>> {
        value.origin.map(|origin| self.document.cursor(origin))
    }

    /// Reports a value of another type.
    fn wrong<'v>(&mut self, value: Value<'v>, expected: &str, at: &FieldPath) -> Value<'v> {
        let cursor = self.cursor(&value);
        let raw = cursor.map(Cursor::raw).unwrap_or_default();
        let found = match &value.data {
            Data::Scalar(Scalar::Number(_)) => format!("the number `{raw}`"),
            Data::Scalar(Scalar::Bool(_)) => format!("the boolean `{raw}`"),
            Data::Scalar(Scalar::String(text)) if is_short(text) => format!("the string `{text}`"),
            data => name_of(data).to_owned(),
        };
        let is_plain = matches!(value.data, Data::Scalar(Scalar::Number(_) | Scalar::Bool(_)));
        let hint = match expected {
            "a string" if is_plain => Some(format!("put it in quotes: `\"{raw}\"`")),
            "a list" => Some("begin each item with `- `".to_owned()),
            "a mapping" => value
                .as_str()
                .filter(|_| names_files(at))
                .filter(|text| is_short(text))
                .map(|path| space_hint(path).unwrap_or_else(|| format!("write `path: {path}`"))),
            _ => None,
        };
        let mut wrong = Diagnostic::error(format!("expected {expected}, found {found}"));
        wrong.place = (self.places)(&value, at, Part::Value);
        let wrong = wrong.field(at.to_string()).maybe_hint(hint);
        self.diagnostics.push(wrong);
        value
    }
}

/// Whether a message repeats a string.
fn is_short(text: &str) -> bool {
    !text.contains('\n') && text.len() < 60
}

/// Whether the value at a path is a mapping that may have the `path` of a file.
fn names_files(at: &FieldPath) -> bool {
    match at.steps() {
        [Step::Key(key)] => key == "openapi",
        [Step::Key(key), Step::Index(_)] => {
            matches!(key.as_str(), "patches" | "patchesJson6902" | "replacements")
        }
        _ => false,
    }
}
